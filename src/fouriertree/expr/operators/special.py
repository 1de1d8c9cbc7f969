"""Special functions: the error function."""

import math
from typing import Any

import numpy as np

from fouriertree.expr.operators.entry import FloatArray, Primitive, quiet
from fouriertree.expr.operators.forms import Absent, Form, Nodes, call

# Interpolants at Chebyshev nodes, computed with 60 digits (`chebyshev_fit` in tools/fit_polynomials.py).
#: erf(a)/a as a polynomial of a² for |a| ≤ 1, to 7e-18
_SMALL = (
    1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777, 0.0052239776071164225,
    -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05, 1.6447424703317362e-06,
    -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10,
)  # fmt: skip
#: e^(a²)·erfc(a) as a polynomial of (a − c)/(a + c) for 1 ≤ a ≤ 6, to 2e-18·e^(a²)
_CENTRE = 2.5
_LARGE = (
    0.2108063640611436, -0.37173673394897294, 0.2517131932174488, -0.12503305237891782, 0.03992253907546523,
    -0.003993701160123029, -0.0026423659518134547, 0.0008759152875774328, 0.0002283799633257643,
    -0.00012887483134837842, -3.4175718896856294e-05, 1.8596747731144528e-05, 7.499735050763299e-06,
    -2.2328516517555215e-06, -1.587633893127344e-06,
)  # fmt: skip
#: erf rounds to 1 from here on
_ONE = 6.0


def _erf(a: FloatArray) -> FloatArray:
    # Imported here, because importing SciPy is slow.
    from scipy.special import erf

    return np.asarray(erf(a))


def _erf_kernel(m: Any, x: Any) -> Any:
    """a·p(a²) near zero, and 1 − e^(−a²)·q((a − c)/(a + c)) beyond 1, where the second term is small."""
    size = x.absolute().minimum(_ONE)
    z = size * size
    small = size * z.horner(_SMALL)
    t = (size - _CENTRE) / (size + _CENTRE)
    large = 1.0 - m.exp(-z) * t.horner(_LARGE)
    value = size.compare("<", 1.0).where(small, large)
    return x.is_nan().where(x, value.with_sign_of(x))


def _erf_nodes(g: Any, a: str) -> str:
    """The same in ONNX, whose runtime has Erf in single precision only."""
    one, centre = g.number(1.0), g.number(_CENTRE)
    size = g.node("Min", g.node("Abs", a), g.number(_ONE))
    z = g.node("Mul", size, size)
    small = g.node("Mul", a, g.polynomial(z, _SMALL))
    t = g.node("Div", g.node("Sub", size, centre), g.node("Add", size, centre))
    tail = g.node("Mul", g.node("Exp", g.node("Neg", z)), g.polynomial(t, _LARGE))
    large = g.node("Mul", g.node("Sign", a), g.node("Sub", one, tail))
    return str(g.node("Where", g.node("Less", size, one), small, large))


# Where a language has no error function, a series with positive terms only, which loses no digits:
# erf a = 2/√π·e^(−a²)·Σ 2ⁿ·a^(2n+1)/(1·3·…·(2n+1)).
_SERIES_IN_JAVASCRIPT = f"""\
function erf_or_nan(a) {{
  const size = Math.abs(a);
  if (!(size < {_ONE})) return size >= {_ONE} ? Math.sign(a) : NaN;
  let term = a, sum = a;
  for (let n = 3; Math.abs(term) > 1e-17 * Math.abs(sum); n += 2) {{
    term *= 2.0 * a * a / n;
    sum += term;
  }}
  return {2 / math.sqrt(math.pi)!r} * Math.exp(-a * a) * sum;
}}"""
_SERIES_IN_JULIA = f"""\
function erf_or_nan(a)
    abs(a) < {_ONE} || return isnan(a) ? NaN : sign(a)
    term, total, n = a, a, 3
    while abs(term) > 1e-17 * abs(total)
        term *= 2.0 * a * a / n
        total += term
        n += 2
    end
    return {2 / math.sqrt(math.pi)!r} * exp(-a * a) * total
end"""
# The chi-squared distribution with one degree of freedom keeps the digits that 2·pnorm(a·√2) − 1 loses.
_CHI_SQUARED_IN_R = f"""\
erf_or_nan <- function(a) {{
  r <- sign(a) * pchisq(2 * a^2, 1)
  small <- which(abs(a) < 1e-8)
  r[small] <- {2 / math.sqrt(math.pi)!r} * a[small]
  r
}}"""

ROWS = (
    Primitive(
        "erf", 1, 26, quiet(_erf),
        kernel=_erf_kernel, derivative=(f"{2 / math.sqrt(math.pi)!r}*exp(-a^2)",),
        interval=lambda i, a: i.rising(_erf, a, exact_at=0.0, least=-1.0, most=1.0),
        forms=call(
            "erf",
            python=Form("erf({a})", helper="import math\n\nerf = np.vectorize(math.erf, otypes=[np.float64])"),
            latex=r"\operatorname{erf}\left({a}\right)",
            julia=Form("erf_or_nan({a})", helper=_SERIES_IN_JULIA),
            r=Form("erf_or_nan({a})", helper=_CHI_SQUARED_IN_R),
            javascript=Form("erf_or_nan({a})", helper=_SERIES_IN_JAVASCRIPT),
            sqlite=Absent("SQLite has no error function"),
            duckdb=Absent("DuckDB has no error function"),
            onnx=Nodes(_erf_nodes),
            jax=Form("erf({a})", helper="from jax.scipy.special import erf"),
        ),
        complexity=3, parity=-1, zeros=(0,),
    ),
)  # fmt: skip
