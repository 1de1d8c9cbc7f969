"""Powers and roots."""

import numpy as np

from fouriertree.expr import opcodes as op
from fouriertree.expr.opcodes import ATOM, POWER, PRODUCT, UNARY
from fouriertree.expr.operators.entry import Domain, Pole, Primitive, quiet
from fouriertree.expr.operators.forms import SQL, AnyForm, Form, Nodes, call, everywhere, in_sql, or_nan


def _repeated(factors: int, **own: str | AnyForm) -> dict[str, AnyForm]:
    """a · a · …, or the power where a language has a short notation."""

    def times(sign: str) -> Form:
        return Form(f" {sign} ".join(["{a}"] * factors), PRODUCT, (UNARY, 0))

    return everywhere(
        times("*"),
        latex=Form(f"{{a}}^{{{factors}}}", POWER, (ATOM, 0)),
        sympy=Form(f"{{a}}**{factors}", POWER, (ATOM, 0)),
        matlab=times(".*"),
        **dict.fromkeys(SQL, Form(f"power({{a}}, {factors}.0)")),
        excel=f"POWER({{a}},{factors})",
        **own,
    )


_POWER_IN_JULIA = """\
function power_or_nan(a, b)
    (a == 1.0 || b == 0.0) && return 1.0
    (isnan(a) || isnan(b)) && return NaN
    size = abs(a)^b
    (signbit(a) && !isinf(b)) || return size
    b == floor(b) && return mod(b, 2.0) == 1.0 ? -size : size
    return (a == 0.0 || isinf(a)) ? size : NaN
end"""
_POWER_IN_MATLAB = """
function r = power_or_nan(a, b)
  a = a .* ones(size(b));
  b = b .* ones(size(a));
  r = abs(a) .^ b;
  odd = (a < 0 | (a == 0 & 1 ./ a < 0)) & mod(b, 2) == 1;
  r(odd) = -r(odd);
  r(a < 0 & ~isinf(a) & ~isinf(b) & b ~= floor(b)) = NaN;
  r(a == 1 | b == 0) = 1;
end"""
# R ignores the sign of a zero here, and has no infinite powers of negative values.
_POWER_IN_R = """\
power_or_nan <- function(a, b) {
  n <- max(length(a), length(b))
  a <- rep_len(a, n)
  b <- rep_len(b, n)
  r <- abs(a)^b
  odd <- which((a < 0 | (a == 0 & 1 / a < 0)) & b %% 2 == 1)
  r[odd] <- -r[odd]
  r[which(a < 0 & is.finite(a) & (is.na(b) | (is.finite(b) & b != floor(b))))] <- NaN
  r
}"""
_PLAIN_IN_JAVASCRIPT = Form("Math.pow({a}, {b})")

ROWS = (
    Primitive(
        "sqrt", 1, op.SQRT, quiet(np.sqrt),
        kernel=lambda m, x: x.sqrt(), derivative=("finite(0.5/v)",), interval=lambda i, a: i.square_root(a),
        forms=call("sqrt", latex=r"\sqrt{{a}}")
        | or_nan("sqrt", outside="a < 0.0", inside="a >= 0")
        | in_sql("CASE WHEN {a} >= 0.0 THEN sqrt({a}) END"),
        complexity=2, domain=Domain(lower=0.0), fault="an argument outside of the domain", zeros=(0,),
        multiplicative=True,
    ),
    Primitive(
        "square", 1, op.SQUARE, quiet(np.square),
        kernel=lambda m, x: x * x, derivative=("2*a",), interval=lambda i, a: i.square(a),
        forms=_repeated(2, python="square", onnx=Nodes(lambda g, a: g.node("Mul", a, a))),
        complexity=2, symbol="^2", precedence=POWER, label="( )²", zeros=(0,), multiplicative=True,
    ),
    Primitive(
        "cube", 1, op.CUBE, quiet(lambda a: a * a * a),
        kernel=lambda m, x: x * x * x, derivative=("3*a^2",), interval=lambda i, a: i.cube(a),
        forms=_repeated(3, onnx=Nodes(lambda g, a: g.node("Mul", g.node("Mul", a, a), a))),
        complexity=2, symbol="^3", precedence=POWER, label="( )³", zeros=(0,),
    ),
    Primitive(
        "pow", 2, op.POW, quiet(np.power),
        kernel=lambda m, x, y: m.library("pow", x, y),
        # a^b/a for a^(b − 1), which avoids a second power.
        derivative=("b*(finite(inv(a))*v)", "v*finite(log(a))"), interval=lambda i, a, b: i.power(a, b),
        forms=call(
            "pow", 2,
            python="power",
            sympy=Form("{a}**{b}", POWER, (ATOM, UNARY)),
            latex=Form("{a}^{{b}}", POWER, (ATOM, 0)),
            julia=Form("power_or_nan({a}, {b})", helper=_POWER_IN_JULIA),
            matlab=Form("power_or_nan({a}, {b})", helper=_POWER_IN_MATLAB),
            r=Form("power_or_nan({a}, {b})", helper=_POWER_IN_R),
            # 1 to any power is 1, and so is -1 to an infinite one: JavaScript gives NaN there.
            javascript=Form(
                "(Math.abs({a}) === 1 && ({a} === 1 || Math.abs({b}) === Infinity) ? 1.0 : Math.pow({a}, {b}))",
                whole=_PLAIN_IN_JAVASCRIPT,
                broken=_PLAIN_IN_JAVASCRIPT,
            ),
            sqlite="power",
            duckdb="power",
            postgresql=Form(
                "CASE WHEN ({a} > 0.0) OR ({a} = 0.0 AND {b} >= 0.0) OR ({a} < 0.0 AND {b} = floor({b}))"
                " THEN power({a}, {b}) END",
                0,
                whole=Form("CASE WHEN {a} <> 0.0 OR {b} > 0.0 THEN power({a}, {b}) END", 0),
                broken=Form("CASE WHEN {a} > 0.0 OR ({a} = 0.0 AND {b} > 0.0) THEN power({a}, {b}) END", 0),
            ),
            # 0^0 is an error in spreadsheets, too.
            excel=Form(
                "IF({b}=0,1,IF(AND({a}<0,{b}<>INT({b})),NA(),POWER({a},{b})))",
                whole=Form("POWER({a},{b})"),
                broken=Form("IF({a}<0,NA(),POWER({a},{b}))"),
            ),
            jax="power",
        ),
        complexity=3, symbol="^", precedence=POWER,
        pole=Pole("a", only_if=lambda exponent: exponent < 0.0),
        domain=Domain(lower=0.0, only_if=lambda exponent: exponent != np.rint(exponent)),
        fault="a power that is undefined or infinite", multiplicative=True, synonyms=("power",),
    ),
)  # fmt: skip
