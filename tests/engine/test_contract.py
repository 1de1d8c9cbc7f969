"""Every engine satisfies the contract suite of the package."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import CompiledEngine, ReferenceEngine, evaluate, inner_products, make_engine
from fouriertree.expr import Expression, parse
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.testing.engines import CHECKS, expressions

ENGINES = [
    ReferenceEngine(),
    ReferenceEngine(np.float32),
    CompiledEngine(),
    CompiledEngine(np.float32),
    CompiledEngine(n_jobs=2),
    CompiledEngine(np.float32, n_jobs=2),
]


def label(engine):
    jobs = getattr(engine, "n_jobs", "")
    return f"{type(engine).__name__}-{np.dtype(engine.dtype).name}{'-' if jobs else ''}{jobs}"


@pytest.mark.parametrize("engine", ENGINES, ids=label)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_engine_satisfies(check, engine, seed):
    check(engine, np.random.default_rng(seed))


def test_the_suite_collects_every_check_and_its_formulas_every_operator():
    assert len(CHECKS) >= 12
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
    used = {code for e in expressions() for code in e.op.tolist()}
    assert {row.opcode for row in CATALOGUE.values()} <= used


@pytest.mark.parametrize("engine", ENGINES, ids=label)
def test_values_have_the_requested_type(engine):
    assert engine.evaluate([parse("x0")], [[1.0]]).dtype == engine.dtype


@pytest.mark.parametrize("n_jobs", [0, -2])
@pytest.mark.parametrize("batch", [[parse("x0")], []], ids=["one", "none"])
def test_zero_threads_raise(n_jobs, batch):
    with pytest.raises(ValueError, match="n_jobs must be a positive number of threads, or -1 for all"):
        CompiledEngine(n_jobs=n_jobs).evaluate(batch, [[1.0]])
    with pytest.raises(ValueError, match="n_jobs"):
        CompiledEngine(n_jobs=n_jobs).inner_products(batch, [[1.0]], [1.0])


def test_rows_of_another_engine_raise():
    batch, X = [parse("x0")], np.ones((3, 1))
    for engine in ENGINES:
        for other in ENGINES:
            rows = other.prepare(X)
            if (type(engine), engine.dtype) == (type(other), other.dtype):
                np.testing.assert_array_equal(engine.evaluate(batch, rows), np.ones((1, 3)))
            else:
                with pytest.raises(TypeError, match="prepared by another engine"):
                    engine.evaluate(batch, rows)
                with pytest.raises(TypeError, match="prepared by another engine"):
                    engine.inner_products(batch, rows, np.ones(3))


@pytest.mark.parametrize("engine", ENGINES[::2], ids=label)
def test_weights_with_prepared_rows_raise(engine):
    rows = engine.prepare(np.ones((3, 1)))
    with pytest.raises(ValueError, match="weights"):
        engine.inner_products([parse("x0")], rows, np.ones(3), np.full(3, 2.0))


def test_engines_are_made_by_name():
    assert make_engine() == CompiledEngine()
    assert make_engine("compiled", np.float32, 2) == CompiledEngine(np.float32, 2)
    assert make_engine("reference", np.float32) == ReferenceEngine(np.float32)
    with pytest.raises(ValueError, match="unknown engine 'fast'; choose 'compiled' or 'reference'"):
        make_engine("fast")
    with pytest.raises(ValueError, match="float64 or float32; got int64"):
        make_engine("compiled", np.int64)


@pytest.mark.parametrize("name", ["compiled", "reference"])
def test_the_plain_functions_are_the_engines_methods(name):
    X, R = np.arange(6.0).reshape(3, 2), np.ones(3)
    batch, weights = [parse("x0*x1"), Expression.constant(2.0)], [1.0, 0.0, 2.0]
    engine = make_engine(name)
    np.testing.assert_array_equal(evaluate(batch, X, engine=name), engine.evaluate(batch, X))
    for found, expected in zip(
        inner_products(batch, X, R, weights, engine=name),
        engine.inner_products(batch, X, R, weights),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
