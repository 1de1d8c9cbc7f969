"""The contract of engines.

    for check in fouriertree.testing.engines.CHECKS:
        check(MyEngine(), numpy.random.default_rng(0))

Each check draws its own example from `rng` and raises AssertionError where the contract is broken.  Engines may
compute in float64 or float32; tolerances follow the type of the values that they return.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine import Engine, InnerProducts
from fouriertree.expr import Expression, PrimitiveSet, Programs, parse

Array = NDArray[np.float64]
Rng = np.random.Generator
Check = Callable[[Engine, Rng], None]

#: around the width of a SIMD vector, the rows of a block, and several panels of blocks
ROW_COUNTS = (1, 7, 8, 9, 15, 16, 17, 511, 512, 513, 1025, 33_000)
#: well conditioned for features between −3 and 3; built-in operators that are missing are added, with small arguments
FORMULAS = (
    "x0 + x1", "x0 - 2*x1", "x0*x1", "x0/(x1 + 4)", "pdiv(x0, x1)", "pdiv(x0, 0)", "sin(x0)", "cos(x1)",
    "tan(x0/3)", "exp(x0)", "log(x1 + 4)", "plog(x0)", "plog(0*x0)", "sqrt(x1 + 4)", "x0^2", "x0^3",
    "inv(x1 + 4)", "-x0", "abs(x0)", "tanh(x0)", "asin(x0/4)", "acos(x0/4)", "atan(x0)", "(x1 + 4)^x0",
    "min(x0, x1)", "max(x0, x1)", "x2", "2.5", "sin(0.5) + 2", "1 + x1",
)  # fmt: skip


@cache
def expressions() -> tuple[Expression, ...]:
    written = [parse(text) for text in FORMULAS]
    used = {code for e in written for code in e.op.tolist()}
    small = [parse("x0/4"), parse("x1/4")]
    others = [row for row in PrimitiveSet.catalogue() if row.opcode not in used]
    return (*written, *(Expression.apply(row, *small[: row.arity]) for row in others))


def check_values_are_those_of_expression_evaluate(engine: Engine, rng: Rng) -> None:
    for n in ROW_COUNTS:
        X, batch = _table(rng, n), expressions()
        values = engine.evaluate(batch, X)
        assert values.shape == (len(batch), n)
        expected = np.array([e.evaluate(X) for e in batch])
        np.testing.assert_allclose(values, expected, rtol=_tolerance(engine), atol=10 * _tolerance(engine))


def check_inner_products_are_sums_of_values(engine: Engine, rng: Rng) -> None:
    for n in ROW_COUNTS:
        X, R, weights = _table(rng, n), rng.standard_normal((n, 3)), rng.uniform(0.0, 2.0, n)
        for w in (None, weights):
            found = engine.inner_products(expressions(), X, R, w)
            assert found.finite.all()
            _assert_sums(engine, found, X, R, np.ones(n) if w is None else w)


def check_an_integer_weight_repeats_its_row(engine: Engine, rng: Rng) -> None:
    n = int(rng.integers(1, 40))
    X, R = _table(rng, n), rng.standard_normal(n)
    times = rng.integers(0, 4, n)
    times[rng.integers(n)] = 2
    weighted = engine.inner_products(expressions(), X, R, times)
    repeated = engine.inner_products(expressions(), np.repeat(X, times, axis=0), np.repeat(R, times))
    scale = 1.0 + np.abs(repeated.norms).max()
    np.testing.assert_allclose(weighted.norms, repeated.norms, atol=_tolerance(engine) * scale)
    np.testing.assert_allclose(weighted.products, repeated.products, atol=_tolerance(engine) * scale)


def check_several_targets_are_each_target_alone(engine: Engine, rng: Rng) -> None:
    X, R = _table(rng, 50), rng.standard_normal((50, 4))
    together = engine.inner_products(expressions(), X, R)
    assert together.products.shape == (len(expressions()), 4)
    for j in range(4):
        alone = engine.inner_products(expressions(), X, R[:, j])
        assert alone.products.shape == (len(expressions()), 1)
        np.testing.assert_allclose(alone.products[:, 0], together.products[:, j], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(alone.norms, together.norms, rtol=1e-12)
    none = engine.inner_products(expressions(), X, np.empty((50, 0)))
    assert none.products.shape == (len(expressions()), 0)


def check_no_expressions_have_no_values(engine: Engine, rng: Rng) -> None:
    X = _table(rng, 5)
    assert engine.evaluate([], X).shape == (0, 5)
    found = engine.inner_products([], X, np.ones((5, 2)))
    assert (found.norms.shape, found.products.shape, found.finite.shape) == ((0,), (0, 2), (0,))


def check_constants_need_no_features(engine: Engine, rng: Rng) -> None:
    batch = [parse(text) for text in ("2", "1 - 3", "sin(0.5)*4", "-(1/4)", "min(2, 3)^3")]
    expected = [2.0, -2.0, 4 * np.sin(0.5), -0.25, 8.0]
    for X in (np.empty((9, 0)), _table(rng, 9), np.full((9, 2), np.nan)):
        values = engine.evaluate(batch, X)
        np.testing.assert_allclose(values, np.outer(expected, np.ones(9)), rtol=_tolerance(engine))
        found = engine.inner_products(batch, X, np.arange(9.0))
        assert found.finite.all()
        np.testing.assert_allclose(found.norms, 9 * np.square(expected), rtol=_tolerance(engine))
        np.testing.assert_allclose(found.products[:, 0], 36 * np.array(expected), rtol=_tolerance(engine))


def check_only_non_finite_expressions_are_flagged(engine: Engine, rng: Rng) -> None:
    batch = [parse(text) for text in ("x0", "x1", "x0 - x0", "x1*x2", "0*x0", "log(x3)", "pdiv(x1, x3)")]
    bad = np.array([True, False, True, False, True, True, False])
    for n in (1, 9, 513, 33_000):
        clean = _table(rng, n, columns=4)
        clean[:, 3] = 1.0 + np.abs(clean[:, 3])
        for row in {0, n // 2, min(n - 1, 512), n - 1}:
            X = clean.copy()
            X[row, 0] = rng.choice([np.nan, np.inf, -np.inf])
            X[row, 3] = 0.0
            found = engine.inner_products(batch, X, np.ones((n, 2)))
            np.testing.assert_array_equal(found.finite, ~bad)
            for sums in (found.norms, found.products):
                assert np.isnan(sums[bad]).all()
                assert np.isfinite(sums[~bad]).all()
            np.testing.assert_array_equal(np.isfinite(engine.evaluate(batch, X)).all(axis=1), ~bad)


def check_a_non_finite_value_is_flagged_at_any_weight(engine: Engine, rng: Rng) -> None:
    X, weights = _table(rng, 20), np.ones(20)
    X[7, 0], weights[7] = np.inf, 0.0
    found = engine.inner_products([parse("x0"), parse("x1")], X, np.ones(20), weights)
    assert found.finite.tolist() == [False, True]


def check_deep_expressions_are_evaluated(engine: Engine, rng: Rng) -> None:
    # Integers, so that every step and the comparison are exact.
    X = rng.integers(-8, 9, (17, 2)).astype(np.float64)
    x, y = Expression.variable(0), Expression.variable(1)
    for length in (1, 2, 7, 8, 9, 300):
        left, right, constant = x, x, Expression.constant(3.0)
        for i in range(length):
            left = left - (y if i % 2 else 1.0)
            right = (y if i % 2 else 1.0) - right
            constant = 1.0 - constant
        batch = [left, right, constant, constant + right, right + constant]
        np.testing.assert_array_equal(engine.evaluate(batch, X), [e.evaluate(X) for e in batch])


def check_a_packed_batch_equals_the_list(engine: Engine, rng: Rng) -> None:
    X, R, batch = _table(rng, 30), rng.standard_normal(30), expressions()
    packed = Programs.pack(batch)
    np.testing.assert_array_equal(engine.evaluate(packed, X), engine.evaluate(batch, X))
    which = rng.permutation(len(batch))[:7]
    np.testing.assert_array_equal(engine.evaluate(packed.subset(which), X), engine.evaluate(batch, X)[which])
    np.testing.assert_equal(engine.inner_products(packed, X, R), engine.inner_products(batch, X, R))


def check_prepared_rows_equal_their_data(engine: Engine, rng: Rng) -> None:
    X, R, weights = _table(rng, 30), rng.standard_normal(30), rng.uniform(0.5, 2.0, 30)
    rows = engine.prepare(X, weights)
    assert (rows.n_rows, rows.n_columns) == X.shape
    values = engine.evaluate(expressions(), X)
    sums = engine.inner_products(expressions(), X, R, weights)
    # Later changes of the caller's arrays must not matter.
    X[:], weights[:] = 0.0, 0.0
    np.testing.assert_array_equal(engine.evaluate(expressions(), rows), values)
    np.testing.assert_equal(engine.inner_products(expressions(), rows, R), sums)


def check_arguments_are_not_modified(engine: Engine, rng: Rng) -> None:
    arguments = _table(rng, 30), rng.standard_normal((30, 2)), rng.uniform(0.0, 2.0, 30)
    before = [a.copy() for a in arguments]
    values = engine.evaluate([parse("x0")], arguments[0])
    values[:] = 0.0
    engine.inner_products(expressions(), *arguments)
    np.testing.assert_equal(list(arguments), before)


def check_wrong_input_is_refused_with_a_message(engine: Engine, rng: Rng) -> None:
    batch, X, ones = [parse("x0 + x2")], _table(rng, 6), np.ones
    refused: Callable[..., object] = partial(np.testing.assert_raises_regex, ValueError)
    refused("feature x2", engine.evaluate, batch, X[:, :2])
    refused("feature x2", engine.inner_products, batch, X[:, :2], ones(6))
    for rows in (X[:, 0], X[None]):
        refused("two-dimensional", engine.evaluate, batch, rows)
    refused("no rows", engine.evaluate, batch, X[:0])
    refused("two-dimensional", engine.prepare, X[:, 0])
    for targets in (ones(5), ones((2, 6)), ones((6, 1, 1))):
        refused("6 rows", engine.inner_products, batch, X, targets)
    refused("weights", engine.inner_products, batch, X, ones(6), ones(5))
    refused("weights", engine.prepare, X, ones((6, 1)))


CHECKS: list[Check] = [check for name, check in list(globals().items()) if name.startswith("check_")]


def _tolerance(engine: Engine) -> float:
    return 64 * float(np.finfo(engine.evaluate([Expression.constant(1.0)], [[0.0]]).dtype).eps)


def _table(rng: Rng, n: int, columns: int = 3) -> Array:
    """Rows between −3 and 3 that float32 holds exactly, away from zero: (n, columns)."""
    X: Array = rng.uniform(0.05, 3.0, (n, columns)).astype(np.float32) * rng.choice([-1.0, 1.0], (n, columns))
    return X


def _assert_sums(engine: Engine, found: InnerProducts, X: Array, R: Array, weights: Array) -> None:
    values = engine.evaluate(expressions(), X).astype(np.longdouble)
    norms, products = np.square(values) @ weights, (values * weights) @ R
    size = np.abs(values) @ (weights[:, None] * np.abs(R))
    # Rounding errors grow with the sum of the absolute terms, and at worst with their number.
    tolerance = _tolerance(engine) + len(X) * np.finfo(np.float64).eps
    assert (np.abs(found.norms - norms) <= tolerance * norms).all()
    assert (np.abs(found.products - products) <= tolerance * size).all()
    assert found.norms.dtype == found.products.dtype == np.float64
