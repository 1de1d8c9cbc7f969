"""Sine, cosine, tangent and their inverses."""

import math
from typing import Any

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.operators.entry import Domain, Pole, Primitive, quiet
from fouriertree.expr.operators.forms import AnyForm, Nodes, call, in_sql, or_nan

#: atan t = t − t³/3 + t⁵/5 − …, for |t| ≤ tan(π/16)
_ATAN_TAIL = tuple((-1.0) ** k / (2 * k + 1) for k in range(1, 12))


def _wave(name: str, **own: AnyForm) -> dict[str, AnyForm]:
    """With guards: infinite arguments raise in Julia, and are errors in SQL."""
    guards = in_sql(f"CASE WHEN abs({{a}}) < {{inf}} THEN {name}({{a}}) END")
    return call(name) | own | or_nan(name, outside="isinf(a)") | guards


def _inverse(name: str, numpy: str, build: Any) -> dict[str, AnyForm]:
    """With guards: outside of [−1, 1], some languages raise or give complex values."""
    guards = in_sql(f"CASE WHEN abs({{a}}) <= 1.0 THEN {name}({{a}}) END")
    forms = call(name, numpy=numpy, latex=numpy, onnx=Nodes(build))
    return forms | or_nan(name, outside="abs(a) > 1.0", inside="abs(a) <= 1") | guards


# ONNX Runtime does not implement these in double precision.
def _tan_nodes(g: Any, a: str) -> str:
    return str(g.node("Div", g.node("Sin", a), g.node("Cos", a)))


def _atan_nodes(g: Any, a: str) -> str:
    """By arithmetic: 1/a instead of a for |a| > 1, the angle halved twice, and then the series."""
    one, half_pi = g.number(1.0), g.number(math.pi / 2)
    size = g.node("Abs", a)
    large = g.node("Greater", size, one)
    t = g.node("Where", large, g.node("Div", one, size), size)
    for _ in range(2):
        root = g.node("Sqrt", g.node("Add", one, g.node("Mul", t, t)))
        t = g.node("Div", t, g.node("Add", one, root))
    z = g.node("Mul", t, t)
    angle = g.node("Add", t, g.node("Mul", g.node("Mul", t, z), g.polynomial(z, _ATAN_TAIL)))
    angle = g.node("Mul", g.number(4.0), angle)
    angle = g.node("Where", large, g.node("Sub", half_pi, angle), angle)
    return str(g.node("Mul", g.node("Sign", a), angle))


def _asin_nodes(g: Any, a: str) -> str:
    one = g.number(1.0)
    cosine = g.node("Sqrt", g.node("Mul", g.node("Sub", one, a), g.node("Add", one, a)))
    return _atan_nodes(g, g.node("Div", a, cosine))


def _acos_nodes(g: Any, a: str) -> str:
    one = g.number(1.0)
    half = g.node("Sqrt", g.node("Div", g.node("Sub", one, a), g.node("Add", one, a)))
    return str(g.node("Mul", g.number(2.0), _atan_nodes(g, half)))


# (1 − a)(1 + a) keeps the digits that 1 − a² loses near ±1.
_ARC = "finite(inv(sqrt((1 - a)*(1 + a))))"

ROWS = (
    Primitive(
        "sin", 1, op.SIN, quiet(np.sin),
        kernel=lambda m, x: m.sin(x), derivative=("cos(a)",),
        interval=lambda i, a: i.wave(np.sin, a, crest=0.5),
        forms=_wave("sin"), complexity=3, parity=-1,
    ),
    Primitive(
        "cos", 1, op.COS, quiet(np.cos),
        kernel=lambda m, x: m.cos(x), derivative=("-sin(a)",),
        interval=lambda i, a: i.wave(np.cos, a, crest=0.0),
        forms=_wave("cos"), complexity=3, parity=1,
    ),
    Primitive(
        "tan", 1, op.TAN, quiet(np.tan),
        kernel=lambda m, x: m.tan(x), derivative=("1 + v^2",), interval=lambda i, a: i.tangent(a),
        forms=_wave("tan", onnx=Nodes(_tan_nodes)),
        complexity=3, parity=-1, pole=Pole("cos(a)"), fault="a pole of the tangent",
    ),
    Primitive(
        "asin", 1, op.ASIN, quiet(np.arcsin),
        kernel=lambda m, x: m.asin(x), derivative=(_ARC,),
        interval=lambda i, a: i.rising(np.arcsin, a, exact_at=0.0, domain=(-1.0, 1.0)),
        forms=_inverse("asin", "arcsin", _asin_nodes),
        complexity=3, parity=-1, zeros=(0,), domain=Domain(-1.0, 1.0), fault="an argument outside of the domain",
    ),
    Primitive(
        "acos", 1, op.ACOS, quiet(np.arccos),
        kernel=lambda m, x: m.acos(x), derivative=(f"-{_ARC}",),
        interval=lambda i, a: i.falling(np.arccos, a, exact_at=1.0, least=0.0, domain=(-1.0, 1.0)),
        forms=_inverse("acos", "arccos", _acos_nodes),
        complexity=3, domain=Domain(-1.0, 1.0), fault="an argument outside of the domain",
    ),
    Primitive(
        "atan", 1, op.ATAN, quiet(np.arctan),
        kernel=lambda m, x: m.atan(x), derivative=("inv(1 + a^2)",),
        interval=lambda i, a: i.rising(np.arctan, a, exact_at=0.0),
        forms=call("atan", numpy="arctan", latex="arctan", onnx=Nodes(_atan_nodes)),
        complexity=3, parity=-1, zeros=(0,),
    ),
)  # fmt: skip
