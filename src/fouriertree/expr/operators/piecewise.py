"""Operators with kinks and jumps: absolute value, minimum, maximum, sign, step and relu.

NaN in any argument gives NaN; languages that do not propagate it have a longer form.
"""

from typing import Any

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.operators.entry import FloatArray, Primitive, quiet
from fouriertree.expr.operators.forms import AnyForm, Form, Nodes, call, in_sql


def _extreme(name: str, sign: str) -> dict[str, AnyForm]:
    """min or max: the left argument where left `sign` right."""
    # Propagates NaN of either side; fmin does not.
    choice = f"({{a}} {sign}= {{b}} || {{a}} != {{a}} ? {{a}} : {{b}})"
    # least() ignores NULL, and NaN is greater than all other values.
    first, second = ("{b}", "{a}") if sign == "<" else ("{a}", "{b}")
    left = f"WHEN {{a}} {sign}= {{b}} AND {first} <> {{nan}} THEN {{a}}"
    right = f"WHEN {{b}} {sign} {{a}} AND {second} <> {{nan}} THEN {{b}}"
    keeping_nan = f"""
function r = {name}_with_nan(a, b)
  r = {name}(a, b);
  r(isnan(a) | isnan(b)) = NaN;
end"""
    # With two arguments, SQLite's min and max are not aggregates, and give NULL if one is NULL.
    in_matlab = Form(f"{name}_with_nan({{a}}, {{b}})", helper=keeping_nan)
    forms = call(
        name, 2, numpy=f"{name}imum", sympy=name.capitalize(), c=choice, cpp=choice, matlab=in_matlab, r=f"p{name}"
    )  # fmt: skip
    return forms | in_sql(f"CASE {left} {right} END")


def _step(a: FloatArray) -> FloatArray:
    return np.heaviside(a, 0.0)


def _relu(a: FloatArray) -> FloatArray:
    # + 0, since the maximum of −0 and 0 may be either.
    return np.maximum(a, 0.0) + 0.0


def _sign_kernel(m: Any, x: Any) -> Any:
    nonzero = x.compare("<", 0.0).where(x.like(-1.0), x.like(1.0))
    return x.is_nan().where(x, x.compare("==", 0.0).where(x.like(0.0), nonzero))


def _step_kernel(m: Any, x: Any) -> Any:
    return x.is_nan().where(x, x.compare(">", 0.0).where(x.like(1.0), x.like(0.0)))


def _in_matlab(name: str, value: str) -> Form:
    helper = f"""
function r = {name}_with_nan(a)
  r = {value};
  r(isnan(a)) = NaN;
end"""
    return Form(f"{name}_with_nan({{a}})", helper=helper)


ROWS = (
    Primitive(
        "abs", 1, op.ABS, quiet(np.abs),
        kernel=lambda m, x: x.absolute(), derivative=("pdiv(a, v)",), interval=lambda i, a: i.absolute(a),
        forms=call("abs", c="fabs", cpp="fabs", sympy="Abs", latex=r"\left|{a}\right|"), zeros=(0,),
    ),
    # On ties the derivative is that of exactly one of the arguments.
    Primitive(
        "min", 2, op.MIN, quiet(np.minimum),
        kernel=lambda m, x, y: x.minimum(y), derivative=("step(b - a)", "1 - step(b - a)"),
        interval=lambda i, a, b: i.minimum(a, b),
        forms=_extreme("min", "<"), complexity=2,
    ),
    Primitive(
        "max", 2, op.MAX, quiet(np.maximum),
        kernel=lambda m, x, y: x.maximum(y), derivative=("1 - step(b - a)", "step(b - a)"),
        interval=lambda i, a, b: i.maximum(a, b),
        forms=_extreme("max", ">"), complexity=2,
    ),
    # 1, 0 or −1: sign(0) = 0.
    Primitive(
        "sign", 1, 29, quiet(np.sign),
        kernel=_sign_kernel, derivative=("0",), interval=lambda i, a: i.exact_rising(np.sign, a),
        forms=call(
            "sign",
            latex=r"\operatorname{sgn}\left({a}\right)",
            **dict.fromkeys(("c", "cpp"), "({a} > 0.0 ? 1.0 : {a} < 0.0 ? -1.0 : {a})"),
            # Integers would be divided by integer division.
            sqlite="CAST(sign({a}) AS REAL)",
            # torch.sign(NaN) is 0.
            torch="torch.where(torch.isnan({a}), {a}, torch.sign({a}))",
        )
        | in_sql(
            "CAST(CASE WHEN {a} > 0.0 AND {a} <> {nan} THEN 1.0 WHEN {a} < 0.0 THEN -1.0 WHEN {a} = 0.0 THEN 0.0 END"
            " AS {double})"
        ),
        complexity=2, parity=-1, jump="a", synonyms=("sgn", "signum"),
    ),
    # Heaviside's function: 1 for a > 0, else 0, with step(0) = 0.
    Primitive(
        "step", 1, 30, quiet(_step),
        kernel=_step_kernel, derivative=("0",), interval=lambda i, a: i.exact_rising(_step, a),
        forms=call(
            "step",
            python="np.heaviside({a}, 0.0)",
            sympy="sympy.Heaviside({a}, 0)",
            latex=Form(r"\operatorname{step}\left({a}\right)", helper="% step(a) is 1 where a > 0, and 0 elsewhere"),
            mathml=Form(r"\begin{cases}1&\text{if }{a}>0\\0&\text{otherwise}\end{cases}", 0),
            **dict.fromkeys(("c", "cpp", "julia", "javascript"), "({a} > 0.0 ? 1.0 : {a} <= 0.0 ? 0.0 : {a})"),
            matlab=_in_matlab("step", "double(a > 0)"),
            r="as.double({a} > 0)",
            sqlite="CAST({a} > 0.0 AS REAL)",
            excel="IF({a}>0,1,0)",
            onnx=Nodes(lambda g, a: g.node("Max", g.node("Sign", a), g.number(0.0))),
            torch="torch.where({a} > 0.0, 1.0, torch.where({a} <= 0.0, 0.0, {a}))",
            jax="jnp.where({a} > 0.0, 1.0, jnp.where({a} <= 0.0, 0.0, {a}))",
        )
        | in_sql("CAST(CASE WHEN {a} > 0.0 AND {a} <> {nan} THEN 1.0 WHEN {a} <= 0.0 THEN 0.0 END AS {double})"),
        complexity=2, jump="a", synonyms=("heaviside", "theta"),
    ),
    # max(a, 0); the derivative at the kink is the left one.
    Primitive(
        "relu", 1, 31, quiet(_relu),
        kernel=lambda m, x: x.maximum(0.0), derivative=("step(a)",),
        interval=lambda i, a: i.exact_rising(_relu, a),
        forms=call(
            "relu",
            python="np.maximum({a}, 0.0)",
            sympy="sympy.Max({a}, 0)",
            latex=r"\max\left({a}, 0\right)",
            **dict.fromkeys(("c", "cpp"), "({a} <= 0.0 ? 0.0 : {a})"),
            julia="max({a}, 0.0)",
            matlab=_in_matlab("relu", "max(a, 0)"),
            r="pmax({a}, 0)",
            javascript="Math.max({a}, 0.0)",
            sqlite="max({a}, 0.0)",
            excel="MAX({a},0)",
            onnx=Nodes(lambda g, a: g.node("Max", a, g.number(0.0))),
            # The derivative of maximum() at the kink is ½ in JAX.
            jax="jnp.where({a} <= 0.0, 0.0, {a})",
        )
        | in_sql("CASE WHEN {a} > 0.0 AND {a} <> {nan} THEN {a} WHEN {a} <= 0.0 THEN 0.0 END"),
        complexity=2,
    ),
)  # fmt: skip
