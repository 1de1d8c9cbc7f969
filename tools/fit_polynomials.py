"""Print the polynomial coefficients used by `fouriertree.engine.elementary`.

Each function is reduced to a short interval, and the remainder is a smooth function of z that a Chebyshev
interpolant of low degree approximates to the last bit.  The fit has 60 digits, so the only rounding error is that of
the printed coefficients.  Run: python tools/fit_polynomials.py
"""

import textwrap
from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60


def chebyshev_fit(f: Callable[[mp.mpf], mp.mpf], lo: mp.mpf, hi: mp.mpf, n: int) -> list[mp.mpf]:
    """Monomial coefficients, lowest first, of the interpolant of f at the n Chebyshev nodes of [lo, hi]."""
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    vandermonde = mp.matrix(n, n)
    for i, x in enumerate(nodes):
        for j in range(n):
            vandermonde[i, j] = x**j
    return list(mp.lu_solve(vandermonde, mp.matrix([f(x) for x in nodes])))


def series(f: Callable[[mp.mpf], mp.mpf]) -> Callable[[mp.mpf], mp.mpf]:
    """f with more working digits, for quotients that cancel near zero."""

    def g(x: mp.mpf) -> mp.mpf:
        with mp.workdps(200):
            return f(x)

    return g


def sin_tail(z: mp.mpf) -> mp.mpf:
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def cos_tail(z: mp.mpf) -> mp.mpf:
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def exp_tail(r: mp.mpf) -> mp.mpf:
    return (mp.exp(r) - 1 - r) / r**2 if r else mp.mpf(1) / 2


def log_tail(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


def atan_tail(z: mp.mpf) -> mp.mpf:
    r = mp.sqrt(z)
    return (mp.atan(r) / r - 1) / z


def asin_tail(z: mp.mpf) -> mp.mpf:
    r = mp.sqrt(z)
    return (mp.asin(r) / r - 1) / z


def tanh_tail(z: mp.mpf) -> mp.mpf:
    r = mp.sqrt(z)
    return (mp.tanh(r) / r - 1) / z


def main() -> None:
    tiny = mp.mpf(10) ** -30
    quarter_pi = (mp.pi / 4) ** 2
    half_ln2 = mp.log(2) / 2
    log_s = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    fits = [
        ("SIN", sin_tail, tiny, quarter_pi, 6, 4),
        ("COS", cos_tail, tiny, quarter_pi, 6, 4),
        ("EXP", exp_tail, -half_ln2, half_ln2, 11, 5),
        ("LOG", log_tail, tiny, log_s, 7, 4),
        ("ATAN", atan_tail, tiny, mp.tan(mp.pi / 8) ** 2, 12, 5),
        ("ASIN", asin_tail, tiny, mp.mpf(1) / 4, 13, 6),
        ("TANH", tanh_tail, tiny, mp.mpf("0.3") ** 2, 9, 4),
    ]
    for name, f, lo, hi, n64, n32 in fits:
        for width, n in ((64, n64), (32, n32)):
            coefficients = chebyshev_fit(series(f), lo, hi, n)
            worst = max(
                abs(
                    mp.polyval(coefficients[::-1], lo + (hi - lo) * i / 500)
                    - series(f)(lo + (hi - lo) * i / 500)
                )
                for i in range(501)
            )
            print(f"# absolute error of the tail {mp.nstr(worst, 2)}")
            numbers = ", ".join(repr(float(c)) for c in coefficients) + ","
            lines = textwrap.fill(
                numbers, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
            )
            print(f"{name}{width} = (\n{lines}\n)  # fmt: skip")


if __name__ == "__main__":
    main()
