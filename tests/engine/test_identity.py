"""Results of the compiled engine are the same to the last bit for any threads, batches and order."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import CompiledEngine
from fouriertree.engine.compiled import BLOCK_ROWS, PANEL_BLOCKS
from fouriertree.expr import PrimitiveSet, Programs, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf

N_PROGRAMS = 60
ROWS = {"several panels": 2 * BLOCK_ROWS * PANEL_BLOCKS + 777, "several blocks": 1500, "one block": 20}
DTYPES = [np.float64, np.float32]


@pytest.fixture(scope="module")
def programs():
    return RampedHalfAndHalf(1, 6).draw(Grammar(PrimitiveSet.catalogue(), n_columns=2), 3, 0, N_PROGRAMS)


@pytest.fixture(scope="module")
def answers(programs):
    """One result per (rows, type), by one thread and in one batch; computed once for all tests."""
    known = {}

    def of(size, dtype):
        if (size, dtype) not in known:
            rng = np.random.default_rng(ROWS[size])
            n = ROWS[size]
            X, R, weights = rng.uniform(-3, 3, (n, 2)), rng.standard_normal((n, 2)), rng.uniform(0, 2, n)
            rows = CompiledEngine(dtype).prepare(X, weights)
            known[size, dtype] = rows, R, results(CompiledEngine(dtype), programs, rows, R)
        return known[size, dtype]

    return of


def results(engine, programs, rows, R):
    sums = engine.inner_products(programs, rows, R)
    return engine.evaluate(programs, rows), sums.norms, sums.products, sums.finite


def assert_identical(found, expected):
    for a, b in zip(found, expected, strict=True):
        # Bits, and not values: array_equal does not distinguish 0.0 and −0.0.
        assert a.dtype == b.dtype
        assert np.where(np.isnan(a), np.nan, a).tobytes() == np.where(np.isnan(b), np.nan, b).tobytes()


def test_panels_are_really_spanned():
    assert ROWS["several panels"] > 32_768 * 2
    assert ROWS["several blocks"] > BLOCK_ROWS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", ROWS)
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7, -1])
def test_results_do_not_depend_on_the_number_of_threads(answers, programs, size, dtype, n_jobs):
    rows, R, expected = answers(size, dtype)
    assert 10 < expected[3].sum() < N_PROGRAMS  # some programs are finite and some are not
    assert_identical(results(CompiledEngine(dtype, n_jobs), programs, rows, R), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", ROWS)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_results_do_not_depend_on_batches_and_order(answers, programs, size, dtype, data):
    rows, R, expected = answers(size, dtype)
    order = np.array(data.draw(st.permutations(range(N_PROGRAMS))))
    cuts = sorted(data.draw(st.sets(st.integers(1, N_PROGRAMS - 1), max_size=6)))
    n_jobs = data.draw(st.sampled_from([1, 2, 3]))
    for part in np.split(order, cuts):
        found = results(CompiledEngine(dtype, n_jobs), programs.subset(part), rows, R)
        assert_identical(found, [whole[part] for whole in expected])


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_do_not_depend_on_other_programs_in_the_batch(answers, programs, dtype):
    rows, R, expected = answers("several blocks", dtype)
    for i in (0, 17, N_PROGRAMS - 1):
        alone = results(CompiledEngine(dtype), Programs.pack([programs[i]]), rows, R)
        assert_identical(alone, [whole[i : i + 1] for whole in expected])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", ROWS)
def test_results_do_not_depend_on_other_targets(answers, programs, size, dtype):
    rows, R, expected = answers(size, dtype)
    for j in range(2):
        alone = CompiledEngine(dtype, 2).inner_products(programs, rows, R[:, j])
        assert_identical((alone.norms, alone.products[:, 0]), (expected[1], expected[2][:, j].copy()))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_value_is_the_same_in_any_row(programs, dtype):
    # Models are fitted on many rows and may be evaluated on one.  An angle beyond the fast reduction makes its whole
    # vector use the C library, whose last digits may differ; these programs have no such angles.
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (1100, 2))
    small = Programs.pack([p for p in programs if p.depth <= 3])
    assert len(small) > 10
    engine = CompiledEngine(dtype)
    values = engine.evaluate(small, X)
    order = rng.permutation(len(X))
    calm = (np.abs(values) < 50).all(axis=1)
    assert calm.sum() > 10
    shuffled = engine.evaluate(small, X[order])
    assert_identical([shuffled[calm]], [values[calm][:, order]])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_threads_work_in_a_forked_child():
    engine = CompiledEngine(n_jobs=2)
    batch, X = [parse(f"sin(x0 + {i})") for i in range(200)], np.linspace(0, 1, 50)[:, None]
    expected = engine.evaluate(batch, X)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(engine.evaluate(batch, X), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
