"""The protected operators of the published runs: ``pdiv(a, 0) = 1`` and ``plog(0) = 0``, otherwise a/b and ln|a|."""

from typing import Any

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.opcodes import PRODUCT, UNARY
from fouriertree.expr.operators.entry import FloatArray, Pole, Primitive, quiet
from fouriertree.expr.operators.forms import SQL, Form, Nodes


def _pdiv(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.where(b == 0, 1.0, np.divide(a, b))


def _plog(a: FloatArray) -> FloatArray:
    return np.where(a == 0, 0.0, np.log(np.abs(a)))


def _where(module: str, place: str, constant: float, other: str) -> str:
    """`constant` where an argument is 0; the inner `where` keeps the derivative of the other branch finite there."""
    safe = f"{module}.where({place} == 0.0, 1.0, {place})"
    return f"{module}.where({place} == 0.0, {constant}, {other.replace('safe', safe)})"


def _is_zero(g: Any, a: str) -> str:
    return str(g.node("Equal", a, g.number(0.0)))


_NEEDED = (PRODUCT, UNARY)
# ifelse() has the length of its condition, which can be a scalar.
_PDIV_IN_R = """\
pdiv <- function(a, b) {
  r <- a / b
  r[which(rep_len(b, length(r)) == 0)] <- 1
  r
}"""
_PLOG_IN_R = """\
plog <- function(a) {
  r <- log(abs(a))
  r[which(a == 0)] <- 0
  r
}"""
_PDIV_IN_MATLAB = """
function r = pdiv(a, b)
  r = a ./ b;
  r((b == 0) & true(size(r))) = 1;
end"""
_PLOG_IN_MATLAB = """
function r = plog(a)
  r = log(abs(a));
  r(a == 0) = 0;
end"""

ROWS = (
    Primitive(
        "pdiv", 2, op.PDIV, quiet(_pdiv),
        kernel=lambda m, x, y: y.compare("==", 0.0).where(x.like(1.0), x / y),
        derivative=("finite(inv(b))", "-finite(v/b)"), interval=lambda i, a, b: i.protected_divide(a, b),
        forms={
            "python": Form("np.where({b} == 0.0, 1.0, {a} / {b})", needed=_NEEDED),
            "sympy": Form("sympy.Piecewise((1, sympy.Eq({b}, 0)), ({a} / {b}, True))", needed=_NEEDED),
            "latex": Form(r"\operatorname{pdiv}\left({a}, {b}\right)", helper="% pdiv(a, b) is a/b, and 1 where b = 0"),
            "mathml": Form(r"\begin{cases}1&\text{if }{b}=0\\\frac{{a}}{{b}}&\text{otherwise}\end{cases}", 0),
            **dict.fromkeys(("c", "cpp", "julia"), Form("({b} == 0.0 ? 1.0 : {a} / {b})", needed=_NEEDED)),
            "matlab": Form("pdiv({a}, {b})", helper=_PDIV_IN_MATLAB),
            "r": Form("pdiv({a}, {b})", helper=_PDIV_IN_R),
            "javascript": Form("({b} === 0 ? 1.0 : {a} / {b})", needed=_NEEDED),
            **dict.fromkeys(SQL, Form("CASE WHEN {b} = 0.0 THEN 1.0 ELSE {a} / {b} END", 0, _NEEDED)),
            "excel": Form("IF({b}=0,1,{a}/{b})", needed=_NEEDED),
            "torch": Form(_where("torch", "{b}", 1.0, "{a} / safe"), needed=_NEEDED),
            "jax": Form(_where("jnp", "{b}", 1.0, "{a} / safe"), needed=_NEEDED),
            "onnx": Nodes(lambda g, a, b: g.node("Where", _is_zero(g, b), g.number(1.0), g.node("Div", a, b))),
        },
        complexity=2, pole=Pole("b", protected=True), fault="division by zero", protects="div",
        synonyms=("pdivide",),
    ),
    Primitive(
        "plog", 1, op.PLOG, quiet(_plog),
        kernel=lambda m, x: m.plog(x), derivative=("finite(inv(a))",),
        interval=lambda i, a: i.protected_logarithm(a),
        forms={
            "python": Form("np.where({a} == 0.0, 0.0, np.log(np.abs({a})))", needed=(PRODUCT, 0)),
            "sympy": Form("sympy.Piecewise((0, sympy.Eq({a}, 0)), (sympy.log(sympy.Abs({a})), True))"),
            "latex": Form(r"\operatorname{plog}\left({a}\right)", helper="% plog(a) is ln|a|, and 0 where a = 0"),
            "mathml": Form(r"\begin{cases}0&\text{if }{a}=0\\\ln\left|{a}\right|&\text{otherwise}\end{cases}", 0),
            "c": Form("({a} == 0.0 ? 0.0 : log(fabs({a})))"),
            "cpp": Form("({a} == 0.0 ? 0.0 : std::log(std::fabs({a})))"),
            "julia": Form("({a} == 0.0 ? 0.0 : log(abs({a})))"),
            "matlab": Form("plog({a})", helper=_PLOG_IN_MATLAB),
            "r": Form("plog({a})", helper=_PLOG_IN_R),
            "javascript": Form("({a} === 0 ? 0.0 : Math.log(Math.abs({a})))"),
            **dict.fromkeys(SQL, Form("CASE WHEN {a} = 0.0 THEN 0.0 ELSE ln(abs({a})) END", 0)),
            "excel": Form("IF({a}=0,0,LN(ABS({a})))"),
            "torch": Form(_where("torch", "{a}", 0.0, "torch.log(torch.abs(safe))")),
            "jax": Form(_where("jnp", "{a}", 0.0, "jnp.log(jnp.abs(safe))")),
            "onnx": Nodes(
                lambda g, a: g.node("Where", _is_zero(g, a), g.number(0.0), g.node("Log", g.node("Abs", a)))
            ),
        },
        complexity=3, parity=1, pole=Pole("a", protected=True), fault="a logarithm of zero", protects="log",
    ),
)  # fmt: skip
