"""The compiled engine against the reference: random trees of every operator, ordinary and edge values.

Where a formula is ill conditioned nothing can be said about its last digits.  So every program also runs in
extended precision, once as it is and once with each intermediate value moved by a few units in the last place, and
engines are compared only where these two agree at every step, and the reference at the end.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.generate import GenerateComposition, Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST, VAR
from tests.operators import FUNCTIONS

EDGES = {
    np.float64: [
        0.0,
        5e-324,
        1e-310,
        2.3e-308,
        1e-200,
        1e-8,
        0.5,
        1.0,
        2.0,
        1e5,
        1e22,
        1e300,
        1.7e308,
        np.inf,
    ],
    np.float32: [0.0, 1e-45, 1e-39, 1.2e-38, 1e-20, 1e-4, 0.5, 1.0, 2.0, 8e3, 1e10, 1e30, 3.4e38, np.inf],
}
# How far apart two results of a well-conditioned program may lie, and how far the engines then.
AGREE = {np.float64: (1e-9, 1e-7), np.float32: (1e-3, 2e-2)}
UNARY = [row.name for row in CATALOGUE.values() if row.arity == 1]
BINARY = [row.name for row in CATALOGUE.values() if row.arity == 2]


def edges(dtype):
    positive = np.array(EDGES[dtype])
    return np.concatenate([positive, -positive, [np.nan]])


def close(a, b, relative):
    """Equal classes (NaN, signed infinity), or finite values within a relative distance."""
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= relative * np.maximum(np.abs(a), np.abs(b))
    return near | (np.isnan(a) & np.isnan(b)) | (a == b)


def in_extended_precision(expression, X, rng):
    """The program's values in np.longdouble, and where each of its steps is well conditioned."""
    agree, step = AGREE[X.dtype.type][0], 4 * float(np.finfo(X.dtype).eps)
    stack = []
    with np.errstate(all="ignore"):
        for op, arg, const in zip(expression.op, expression.arg, expression.const, strict=True):
            if op in (CONST, VAR):
                # A constant is rounded to the type of the data before it is used.
                leaf = np.full(len(X), const, X.dtype) if op == CONST else X[:, arg]
                stack.append((leaf.astype(np.longdouble), leaf.astype(np.longdouble), np.ones(len(X), bool)))
            else:
                row = expression.primitives.by_opcode(int(op))
                operands = [stack.pop() for _ in range(row.arity)][::-1]
                exact, disturbed = (FUNCTIONS[row.name](*(o[i] for o in operands)) for i in (0, 1))
                disturbed = disturbed * (1 + step * rng.uniform(-1, 1, len(X)))
                good = np.logical_and.reduce([o[2] for o in operands]) & close(disturbed, exact, agree)
                stack.append((exact, disturbed, good))
    exact, _, good = stack.pop()
    return exact, good


def compare(expressions, X, rng):
    """Assert that the engines agree on well-conditioned values; return the fraction of values compared."""
    dtype = X.dtype.type
    compiled = CompiledEngine(dtype).evaluate(expressions, X)
    reference = ReferenceEngine(dtype).evaluate(expressions, X)
    compared = 0
    for expression, found, expected in zip(expressions, compiled, reference, strict=True):
        exact, good = in_extended_precision(expression, X, rng)
        good &= close(expected, exact, AGREE[dtype][0])
        wrong = good & ~close(found, expected, AGREE[dtype][1])
        assert not wrong.any(), (
            f"{expression} at {X[wrong][0]!r}: {found[wrong][0]!r} compiled, {expected[wrong][0]!r} by NumPy"
        )
        compared += int(good.sum())
    return compared / compiled.size


def table(dtype, rng, n=48, columns=3):
    ordinary = rng.uniform(-3, 3, (n, columns)) * 10.0 ** rng.integers(-2, 3, (n, columns))
    awkward = rng.choice(edges(dtype), (n, columns))
    X = np.where(rng.random((n, columns)) < 0.3, awkward, ordinary)
    with np.errstate(over="ignore"):
        return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("generator", [RampedHalfAndHalf(1, 5), GenerateComposition(0.7, 1, 6)], ids=repr)
def test_engines_agree_on_random_trees_of_all_operators(generator, dtype):
    rng = np.random.default_rng(1)
    grammar = Grammar(PrimitiveSet.catalogue(), n_columns=3, constants=(-3.0, 3.0))
    batch = list(generator.draw(grammar, seed=5, first=0, n=700))
    assert {code for e in batch for code in e.op.tolist()} >= {row.opcode for row in CATALOGUE.values()}
    assert compare(batch, table(dtype, rng), rng) > 0.6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@settings(max_examples=50, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_engines_agree_on_any_two_operators_and_edge_constants(dtype, data, seed):
    rng = np.random.default_rng(seed)
    constants = st.sampled_from(edges(np.float32).tolist()) | st.floats(-10, 10, width=32)
    leaves = st.integers(0, 2).map(Expression.variable) | constants.map(Expression.constant)
    unary, binary = st.sampled_from(UNARY), st.sampled_from(BINARY)
    inner = st.builds(Expression.apply, unary, leaves) | st.builds(Expression.apply, binary, leaves, leaves)
    outer = st.builds(Expression.apply, unary, inner) | st.builds(Expression.apply, binary, inner, leaves)
    compare(data.draw(st.lists(outer, min_size=1, max_size=6)), table(dtype, rng), rng)


def apply(engine, name, *columns):
    arguments = [Expression.variable(i) for i in range(len(columns))]
    return engine.evaluate([Expression.apply(name, *arguments)], np.column_stack(columns))[0]


def assert_same_class(found, expected, zeros=True):
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    np.testing.assert_array_equal(found == 0, expected == 0)
    signed = ~np.isnan(expected) & (zeros | (expected != 0))
    np.testing.assert_array_equal(np.signbit(found)[signed], np.signbit(expected)[signed])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UNARY)
def test_edge_values_agree_with_numpy_including_the_sign_of_zero(name, dtype):
    x = edges(dtype)
    found, expected = apply(CompiledEngine(dtype), name, x), apply(ReferenceEngine(dtype), name, x)
    assert_same_class(found, expected)
    assert close(found, expected, 8 * np.finfo(dtype).eps).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_edge_values_agrees_with_numpy(name, dtype):
    a, b = (axis.ravel() for axis in np.meshgrid(edges(dtype), edges(dtype)))
    found, expected = apply(CompiledEngine(dtype), name, a, b), apply(ReferenceEngine(dtype), name, a, b)
    # NumPy itself picks either zero for min(0, −0), depending on the processor.
    assert_same_class(found, expected, zeros=name not in ("min", "max"))
    assert close(found, expected, 8 * np.finfo(dtype).eps).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UNARY)
def test_a_value_does_not_depend_on_other_rows(name, dtype):
    # An edge value may select another code path for its whole vector.
    engine, x = CompiledEngine(dtype), edges(dtype)
    together = apply(engine, name, x)
    for i in range(len(x)):
        alone = apply(engine, name, x[i : i + 1])
        assert close(alone, together[i : i + 1], 4 * np.finfo(dtype).eps).all()
        assert_same_class(alone, together[i : i + 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_constants_fold_to_what_columns_give(name, dtype):
    engine, x = CompiledEngine(dtype), edges(dtype)
    arity = CATALOGUE[name].arity
    for value in x:
        arguments = [Expression.constant(float(value)), Expression.constant(0.5)][:arity]
        folded = engine.evaluate([Expression.apply(name, *arguments)], np.empty((3, 0)))[0]
        columns = [np.full(3, value), np.full(3, 0.5)][:arity]
        np.testing.assert_array_equal(folded, apply(engine, name, *columns))


def test_the_extended_reference_is_more_precise():
    X = np.array([[0.1]])
    third, good = in_extended_precision(
        Expression.apply("inv", Expression.constant(3.0)), X, np.random.default_rng(0)
    )
    assert good.all()
    if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
        assert third[0] != np.float64(third[0])
