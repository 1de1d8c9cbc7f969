"""Accuracy of every elementary function, in units in the last place (ulp) of the exact result.

The exact values of float64 functions come from mpmath at 160 bits; those of float32 functions from NumPy's
float64 functions, whose own error is a millionth of a float32 ulp.
"""

import mpmath
import numpy as np
import pytest

from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import Expression
from fouriertree.expr.catalogue import CATALOGUE
from tests.operators import CORRECTLY_ROUNDED, EXACT

LIMITS = {
    "sin": 1.6, "cos": 1.6, "tan": 3, "exp": 1, "log": 1, "plog": 1, "tanh": 2.5, "asin": 2.5, "acos": 2.5,
    "atan": 2.5, "erf": 2.5, "sinh": 2.5, "cosh": 2.5,
}  # fmt: skip
ANGLES = ("sin", "cos", "tan")
LIMITS_32 = dict.fromkeys(LIMITS, 3.0) | {"tan": 4.0}

# the largest numbers whose exponential and whose hyperbolic sine are finite
LARGEST_EXPONENT, LARGEST_HYPERBOLIC = 709.782712893384, 710.4758600739439


def around(values, steps=3):
    """The numbers and their neighbours up to some steps away."""
    values = np.asarray(values, dtype=np.float64)
    near = [values]
    for direction in (-np.inf, np.inf):
        v = values
        for _ in range(steps):
            v = np.nextafter(v, direction)
            near.append(v)
    return np.concatenate(near)


def signed(rng, values):
    return values * rng.choice([-1.0, 1.0], len(values))


def powers(rng, low, high, n):
    return 10.0 ** rng.uniform(low, high, n)


def angles(rng, n=700):
    quarter_turns = rng.integers(1, 630_000_000, n) * (np.pi / 2)
    parts = [rng.uniform(0, 1e9, n), rng.uniform(0, 4, n), powers(rng, -320, 9, n), quarter_turns]
    return signed(rng, np.concatenate([*parts, around(np.arange(1, 65) * (np.pi / 4)), around([1e9])]))


def whole_range(rng, n=1500):
    """Positive numbers with uniform exponents, subnormals included."""
    return np.concatenate([powers(rng, -323, 308, n), [5e-324, np.finfo(float).tiny, np.finfo(float).max]])


POINTS = {
    "exp": lambda rng: np.concatenate(
        [rng.uniform(-745, 709.78, 2000), signed(rng, powers(rng, -320, 0, 500)), rng.uniform(-745.1, -708, 500),
         around([-745.1332191019411, -708.3964185322641, np.log(2) / 2, 0.0]),
         np.minimum(around([LARGEST_EXPONENT]), LARGEST_EXPONENT)]
    ),
    "log": lambda rng: np.concatenate(
        [whole_range(rng), 1 + signed(rng, powers(rng, -16, -0.5, 1000)), rng.uniform(0.5, 2, 1000),
         around(np.sqrt([0.5, 2.0]), 20), around([1.0], 20)]
    ),
    "tanh": lambda rng: signed(
        rng, np.concatenate([rng.uniform(0, 25, 1500), powers(rng, -320, 1, 1000), around([0.3, 20.0], 20)])
    ),
    "asin": lambda rng: signed(
        rng, np.concatenate([rng.uniform(0, 1, 1500), powers(rng, -320, 0, 700), 1 - powers(rng, -16, 0, 700),
                             around([0.5], 20), [1.0, 0.0]])
    ),
    "atan": lambda rng: signed(
        rng, np.concatenate([whole_range(rng), rng.uniform(0, 5, 1500), around([1.0, np.sqrt(2) - 1], 20)])
    ),
}  # fmt: skip
POINTS |= dict.fromkeys(ANGLES, angles)
POINTS["erf"] = lambda rng: signed(
    rng,
    np.concatenate(
        [rng.uniform(0, 7, 1500), powers(rng, -307, 1, 1000), around([1.0, 6.0], 20), [1e300, 30.0]]
    ),
)
POINTS["sinh"] = lambda rng: signed(
    rng, np.concatenate([rng.uniform(0, LARGEST_HYPERBOLIC, 1500), rng.uniform(0, 3, 500), powers(rng, -320, 2, 700),
                         around([1.0, 80.0], 20), rng.uniform(709, LARGEST_HYPERBOLIC, 300), [LARGEST_HYPERBOLIC]])
)  # fmt: skip
POINTS["cosh"] = POINTS["sinh"]
POINTS |= {"plog": lambda rng: signed(rng, POINTS["log"](rng)), "acos": POINTS["asin"]}


def values(engine, name, *columns):
    arguments = [Expression.variable(i) for i in range(len(columns))]
    return engine.evaluate([Expression.apply(name, *arguments)], np.column_stack(columns))[0]


def exactly(name, x):
    """The exact values as sums of two float64, the second far below the first: 2 × (n,)."""
    with mpmath.workprec(160):
        exact = [EXACT[name](mpmath.mpf(v)) for v in x.tolist()]
        high = [float(v) for v in exact]
        return np.array(high), np.array([float(v - h) for v, h in zip(exact, high, strict=True)])


def ulps(found, high, low):
    """Distance of `found` from high + low in units of found's type at that size."""
    spacing = np.spacing(np.abs(high).astype(found.dtype)).astype(np.float64)
    return np.abs((found.astype(np.float64) - high) - low) / spacing


def assert_within(limit, found, high, low, x):
    error = ulps(found, high, low)
    worst = int(np.argmax(error))
    assert error[worst] <= limit, f"{error[worst]:.2f} ulp at {x[worst]!r}: {found[worst]!r}"


@pytest.mark.parametrize("name", LIMITS)
def test_float64_functions_are_accurate(name):
    x = POINTS[name](np.random.default_rng(7))
    assert len(x) > 2500
    assert_within(LIMITS[name], values(CompiledEngine(), name, x), *exactly(name, x), x)


@pytest.mark.parametrize("name", ANGLES)
def test_angles_beyond_the_reduction_are_as_accurate(name):
    rng = np.random.default_rng(8)
    x = signed(
        rng, np.concatenate([powers(rng, 9, 308, 500), powers(rng, 9, 20, 500), np.arange(1, 65) * 1e9])
    )
    # Alone in its vector, and between small angles, which then take the slow path with it.
    mixed = np.column_stack([x, np.tile(rng.uniform(-10, 10, len(x)), (7, 1)).T]).ravel()
    found = values(CompiledEngine(), name, mixed)
    assert_within(LIMITS[name], found, *exactly(name, mixed), mixed)


@pytest.mark.parametrize("name", LIMITS_32)
def test_float32_functions_are_accurate(name):
    rng = np.random.default_rng(9)
    points = [POINTS[name](rng) for _ in range(20)]
    if name in ANGLES:
        points += [signed(rng, powers(rng, -40, 38, 20_000)), signed(rng, rng.uniform(0, 1e5, 50_000))]
    if name == "exp":
        points.append(rng.uniform(-103.9, 88.7, 50_000))
    with np.errstate(all="ignore"):
        x = np.concatenate(points).astype(np.float32)
        x = x[np.isfinite(x)].astype(np.float64)
        exact = CATALOGUE[name].reference(x)
        # Poles, and values beyond the range of float32, are tested with the edge values.
        finite = np.isfinite(exact.astype(np.float32))
    x, exact = x[finite], exact[finite]
    assert len(x) > 2500
    found = values(CompiledEngine(np.float32), name, x)
    assert found.dtype == np.float32
    assert_within(LIMITS_32[name], found, exact, 0.0, x)


def test_exponentials_end_where_the_exact_ones_do():
    x = np.array(
        [LARGEST_EXPONENT, np.nextafter(LARGEST_EXPONENT, 1e3), 710.5, -745.1332191019411, -745.2, -1e6]
    )
    found = values(CompiledEngine(), "exp", x)
    assert np.isfinite(found).tolist() == [True, False, False, True, True, True]
    assert found[3:].tolist() == [5e-324, 0.0, 0.0]


def test_powers_are_accurate():
    rng = np.random.default_rng(10)
    a, b = powers(rng, -20, 20, 2000), rng.uniform(-14, 14, 2000)
    with mpmath.workprec(160):
        exact = [mpmath.power(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        high = np.array([float(v) for v in exact])
        low = np.array([float(v - h) for v, h in zip(exact, high.tolist(), strict=True)])
    assert_within(1, values(CompiledEngine(), "pow", a, b), high, low, a)
    single = np.abs(high) < 1e38
    a32, b32 = a.astype(np.float32)[single], b.astype(np.float32)[single]
    expected = np.power(a32.astype(np.float64), b32.astype(np.float64))
    normal = (np.abs(expected) > 1e-37) & (np.abs(expected) < 3e38)
    assert_within(1, values(CompiledEngine(np.float32), "pow", a32, b32)[normal], expected[normal], 0.0, a32)


def random_bits(rng, dtype, n):
    """Any finite numbers: all exponents are equally likely."""
    integers = (
        rng.integers(0, 2**32, n, dtype=np.uint32)
        if dtype == np.float32
        else rng.integers(0, 2**64, n, dtype=np.uint64)
    )
    x = integers.view(dtype)
    return x[np.isfinite(x)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CORRECTLY_ROUNDED)
def test_arithmetic_is_numpys_to_the_last_bit(name, dtype):
    rng = np.random.default_rng(11)
    a, b = random_bits(rng, dtype, 20_000)[:18_000], random_bits(rng, dtype, 20_000)[:18_000]
    ordinary = rng.standard_normal((2, 5000)).astype(dtype)
    columns = [np.concatenate([a, ordinary[0]]), np.concatenate([b, ordinary[1]])][: CATALOGUE[name].arity]
    found = values(CompiledEngine(dtype), name, *columns)
    np.testing.assert_array_equal(found, values(ReferenceEngine(dtype), name, *columns))


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_accuracy_of_every_operator_is_tested(name):
    assert (name in LIMITS and name in POINTS) or name in (*CORRECTLY_ROUNDED, "pow"), (
        f"add {name!r} to LIMITS and POINTS, or to CORRECTLY_ROUNDED in tests/operators.py; for two arguments, write a "
        "test such as test_powers_are_accurate"
    )


def test_the_measure_sees_an_error_of_one_ulp():
    high, low = exactly("sin", np.array([1.0]))
    assert ulps(high, high, low)[0] <= 0.5
    assert 0.5 < ulps(np.nextafter(high, 2), high, low)[0] <= 1.5
