"""The exponential function, the logarithm, and the hyperbolic functions."""

import math
from typing import Any

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.opcodes import POWER
from fouriertree.expr.operators.entry import Domain, Pole, Primitive, quiet
from fouriertree.expr.operators.forms import Form, Nodes, call, in_sql, or_nan

#: beyond this, e^a may overflow where (e^a)/2 does not
_LARGE = 80.0
#: sinh a = a + a³·Σ a^(2k)/(2k + 3)!; at |a| = 1 the next term is below half a unit in the last place
_SINH_TAIL = tuple(1.0 / math.factorial(2 * k + 3) for k in range(8))


def _half_exponential(m: Any, size: Any) -> Any:
    """e^size/2 for size ≥ 0, also where e^size overflows: e^(size − 1)·(e/2), and size − 1 is exact."""
    large = size.compare(">", _LARGE)
    factor = large.where(size.like(math.e / 2), size.like(0.5))
    return m.exp(large.where(size - 1.0, size)) * factor


def _sinh(m: Any, x: Any) -> Any:
    size = x.absolute()
    half = _half_exponential(m, size)
    z = size * size
    # e^a − e^−a cancels near 0, so the series is used there.
    small = (size * z).fma(z.horner(_SINH_TAIL), size)
    value = size.compare("<", 1.0).where(small, half - 0.25 / half)
    return x.is_nan().where(x, value.with_sign_of(x))


def _cosh(m: Any, x: Any) -> Any:
    half = _half_exponential(m, x.absolute())
    return half + 0.25 / half


def _half_exponential_nodes(g: Any, size: str) -> str:
    large = g.node("Greater", size, g.number(_LARGE))
    reduced = g.node("Where", large, g.node("Sub", size, g.number(1.0)), size)
    factor = g.node("Where", large, g.number(math.e / 2), g.number(0.5))
    return str(g.node("Mul", g.node("Exp", reduced), factor))


def _sinh_nodes(g: Any, a: str) -> str:
    size = g.node("Abs", a)
    half = _half_exponential_nodes(g, size)
    z = g.node("Mul", a, a)
    small = g.node("Add", a, g.node("Mul", g.node("Mul", a, z), g.polynomial(z, _SINH_TAIL)))
    large = g.node("Mul", g.node("Sign", a), g.node("Sub", half, g.node("Div", g.number(0.25), half)))
    return str(g.node("Where", g.node("Less", size, g.number(1.0)), small, large))


def _cosh_nodes(g: Any, a: str) -> str:
    half = _half_exponential_nodes(g, g.node("Abs", a))
    return str(g.node("Add", half, g.node("Div", g.number(0.25), half)))


ROWS = (
    Primitive(
        "exp", 1, op.EXP, quiet(np.exp),
        kernel=lambda m, x: m.exp(x), derivative=("v",),
        interval=lambda i, a: i.rising(np.exp, a, exact_at=0.0, least=0.0),
        forms=call(
            "exp",
            mathml=Form(r"\mathrm{e}^{{a}}", POWER),
            postgresql=Form("CASE WHEN {a} < -745.0 THEN 0.0 WHEN {a} < 709.0 THEN exp({a}) END", 0),
        ),
        complexity=3,
    ),
    Primitive(
        "log", 1, op.LOG, quiet(np.log),
        kernel=lambda m, x: m.log(x), derivative=("inv(a)",), interval=lambda i, a: i.logarithm(a),
        forms=call("log", latex="ln", sqlite="ln", excel="LN")
        | or_nan("log", outside="a < 0.0", inside="a >= 0")
        | in_sql("CASE WHEN {a} > 0.0 THEN ln({a}) END"),
        complexity=3, pole=Pole("a"), domain=Domain(lower=0.0), fault="a logarithm of zero or less",
        synonyms=("ln",),
    ),
    Primitive(
        "tanh", 1, op.TANH, quiet(np.tanh),
        kernel=lambda m, x: m.tanh(x), derivative=("1 - v^2",),
        interval=lambda i, a: i.rising(np.tanh, a, exact_at=0.0, least=-1.0, most=1.0),
        forms=call("tanh"), complexity=3, parity=-1, zeros=(0,),
    ),
    Primitive(
        "sinh", 1, 27, quiet(np.sinh),
        kernel=_sinh, derivative=("cosh(a)",), interval=lambda i, a: i.rising(np.sinh, a, exact_at=0.0),
        forms=call("sinh", onnx=Nodes(_sinh_nodes)), complexity=3, parity=-1, zeros=(0,),
    ),
    Primitive(
        "cosh", 1, 28, quiet(np.cosh),
        kernel=_cosh, derivative=("sinh(a)",),
        interval=lambda i, a: i.rising(np.cosh, i.absolute(a), exact_at=0.0, least=1.0),
        forms=call("cosh", onnx=Nodes(_cosh_nodes)), complexity=3, parity=1,
    ),
)  # fmt: skip
