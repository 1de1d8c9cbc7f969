"""Sums, products, quotients and signs."""

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.opcodes import ATOM, NEGATIVE, POWER, PRODUCT, SUM, UNARY
from fouriertree.expr.operators.entry import Pole, Primitive, quiet
from fouriertree.expr.operators.forms import AnyForm, Form, Nodes, everywhere, infix, node


def _binary(sign: str, precedence: int, onnx: str, **own: Form) -> dict[str, AnyForm]:
    compact = infix(sign, precedence, space="")
    return everywhere(infix(sign, precedence), excel=compact, onnx=node(onnx), **own)


ROWS = (
    Primitive(
        "add", 2, op.ADD, quiet(np.add),
        kernel=lambda m, x, y: x + y, derivative=("1", "1"), interval=lambda i, a, b: i.add(a, b),
        forms=_binary("+", SUM, "Add"), symbol="+", precedence=SUM,
    ),
    Primitive(
        "sub", 2, op.SUB, quiet(np.subtract),
        kernel=lambda m, x, y: x - y, derivative=("1", "-1"), interval=lambda i, a, b: i.subtract(a, b),
        forms=_binary("-", SUM, "Sub"), symbol="-", precedence=SUM, label="−", synonyms=("minus",),
    ),
    Primitive(
        "mul", 2, op.MUL, quiet(np.multiply),
        kernel=lambda m, x, y: x * y, derivative=("b", "a"), interval=lambda i, a, b: i.multiply(a, b),
        forms=_binary(
            "*", PRODUCT, "Mul",
            latex=Form(r"{a} \cdot {b}", PRODUCT, (NEGATIVE, UNARY)),
            matlab=infix(".*", PRODUCT),
        ),
        symbol="*", precedence=PRODUCT, label="×", zeros=(0, 1), multiplicative=True, synonyms=("times",),
    ),
    Primitive(
        "div", 2, op.DIV, quiet(np.divide),
        kernel=lambda m, x, y: x / y,
        # v/b instead of a/b²: the square of the denominator overflows first.
        derivative=("inv(b)", "-(v/b)"), interval=lambda i, a, b: i.divide(a, b),
        forms=_binary(
            "/", PRODUCT, "Div",
            latex=Form(r"\frac{{a}}{{b}}", UNARY),
            matlab=infix("./", PRODUCT),
            postgresql=Form("{a} / NULLIF({b}, 0.0)", PRODUCT, (PRODUCT, 0)),
        ),
        complexity=2, symbol="/", precedence=PRODUCT, pole=Pole("b"), fault="division by zero", zeros=(0,),
        multiplicative=True,
    ),
    Primitive(
        "inv", 1, op.INV, quiet(lambda a: 1.0 / a),
        kernel=lambda m, x: 1.0 / x, derivative=("-v^2",), interval=lambda i, a: i.inverse(a),
        forms=everywhere(
            Form("1.0 / {a}", PRODUCT, (UNARY, 0)),
            sympy=Form("1 / {a}", PRODUCT, (UNARY, 0)),
            latex=Form(r"\frac{1}{{a}}", UNARY),
            matlab=Form("1.0 ./ {a}", PRODUCT, (UNARY, 0)),
            postgresql=Form("1.0 / NULLIF({a}, 0.0)", PRODUCT),
            excel=Form("1/{a}", PRODUCT, (UNARY, 0)),
            onnx=Nodes(lambda g, a: g.node("Div", g.number(1.0), a)),
        ),
        complexity=2, pole=Pole("a"), fault="division by zero", multiplicative=True, synonyms=("reciprocal",),
    ),
    Primitive(
        "neg", 1, op.NEG, quiet(np.negative),
        kernel=lambda m, x: -x, derivative=("-1",), interval=lambda i, a: i.negative(a),
        forms=everywhere(
            # Parentheses around products, too: -2.0 would be a constant, and -- a comment in SQL.
            Form("-{a}", UNARY, (POWER, 0)),
            latex=Form("-{a}", NEGATIVE, (POWER, 0)),
            excel=Form("(-{a})", ATOM, (ATOM, 0)),
            onnx=node("Neg"),
        ),
        symbol="-", precedence=UNARY, label="−", zeros=(0,),
    ),
)  # fmt: skip
