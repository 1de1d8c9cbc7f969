"""Custom operators in the compiled engine."""

import math

import numpy as np
import pytest

from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf

DTYPES = [np.float64, np.float32]
TOLERANCE = {np.float64: 1e-13, np.float32: 2e-5}


def bump(a):
    return 1.0 / (1.0 + a * a)


def jump(a):
    return 1.0 if a > 0 else 0.25 * a


def blend(a, b):
    return 0.75 * a + 0.25 * b - 1.0


def rank_free(a):
    # Not supported by Numba, but elementwise in NumPy.
    return np.asarray(eval("a + 0.5"))


@pytest.fixture(scope="module")
def operators():
    known = PrimitiveSet(["add", "mul", "sin"])
    for name, function, arity in (("bump", bump, 1), ("jump", jump, 1), ("blend", blend, 2)):
        assert known.add(name, function, arity).compiled
    known.add("gap", lambda a, b: math.sqrt(abs(a - b)), 2)
    with pytest.warns(UserWarning, match="slow runs as NumPy"):
        assert not known.add("slow", rank_free, 1).compiled
    return known


def table(dtype, n=530):
    X = np.random.default_rng(n).uniform(-3, 3, (n, 2)).astype(np.float32).astype(np.float64)
    return X


FORMULAS = [
    "bump(x0)", "jump(x1)", "blend(x0, x1)", "gap(x0, x1)", "blend(x0, 2)", "blend(2, x0)", "blend(2, 3)", "bump(2)",
    "bump(bump(x0)) + jump(2)*x1", "sin(blend(bump(x0), jump(x1)))", "blend(blend(x0, 1), blend(2, x1))",
    "gap(x0 + x1, sin(x0))", "blend(bump(0.5), x0*jump(-1))",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 9, 530])
def test_compiled_operators_are_the_reference(operators, dtype, n):
    X, batch = table(dtype, n), [parse(text, primitives=operators) for text in FORMULAS]
    found = CompiledEngine(dtype).evaluate(batch, X)
    np.testing.assert_allclose(
        found, ReferenceEngine(dtype).evaluate(batch, X), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )
    np.testing.assert_allclose(found[0], bump(X[:, 0]), rtol=TOLERANCE[dtype])
    np.testing.assert_allclose(found[4], blend(X[:, 0], 2.0), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    np.testing.assert_allclose(found[5], blend(2.0, X[:, 0]), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    np.testing.assert_allclose(found[6], np.full(n, blend(2.0, 3.0)), rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_operators_that_numba_cannot_compile_share_a_batch_with_those_it_can(operators, dtype, n_jobs):
    texts = ["x0 + x1", "slow(x0)", *FORMULAS, "bump(slow(x1))", "slow(2)", "x1"]
    X, batch = table(dtype), [parse(text, primitives=operators) for text in texts]
    rng = np.random.default_rng(0)
    R, weights = rng.standard_normal((len(X), 2)), rng.uniform(0, 2, len(X))
    engine, reference = CompiledEngine(dtype, n_jobs), ReferenceEngine(dtype)
    values, expected = engine.evaluate(batch, X), reference.evaluate(batch, X)
    assert values.dtype == dtype
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    found, sums = engine.inner_products(batch, X, R, weights), reference.inner_products(batch, X, R, weights)
    np.testing.assert_allclose(found.norms, sums.norms, rtol=1e3 * TOLERANCE[dtype])
    np.testing.assert_allclose(found.products, sums.products, rtol=0, atol=1e3 * TOLERANCE[dtype] * len(X))
    np.testing.assert_array_equal(found.finite, True)


def test_only_operators_that_numba_cannot_compile(operators):
    X, batch = table(np.float64, 9), [parse("slow(x0)", primitives=operators)]
    np.testing.assert_array_equal(CompiledEngine().evaluate(batch, X), [X[:, 0] + 0.5])
    assert CompiledEngine().inner_products(batch, X, X[:, 0]).products.shape == (1, 1)


def test_values_that_are_not_finite_are_reported_per_expression(operators):
    X = table(np.float64, 20)
    X[13, 0] = np.inf
    batch = [
        parse(text, primitives=operators) for text in ("blend(x0, x1)", "bump(x0)", "slow(x0)", "slow(x1)")
    ]
    found = CompiledEngine().inner_products(batch, X, np.ones(20))
    assert found.finite.tolist() == [False, True, False, True]
    assert np.isnan(found.norms).tolist() == [True, False, True, False]


def test_operators_of_two_sets_work_in_one_batch():
    first, second = PrimitiveSet(["add"]), PrimitiveSet(["mul"])
    first.add("thrice", lambda a: 3.0 * a)
    second.add("tenth", lambda a: 0.1 * a)
    batch = [parse("thrice(x0)", primitives=first), parse("tenth(x0)", primitives=second)]
    np.testing.assert_allclose(CompiledEngine().evaluate(batch, [[2.0], [5.0]]), [[6.0, 15.0], [0.2, 0.5]])


def test_two_operators_of_the_same_name_keep_their_values():
    first, second = PrimitiveSet(["add"]), PrimitiveSet(["add"])
    first.add("scale", lambda a: 2.0 * a)
    second.add("scale", lambda a: 5.0 * a)
    one, other = parse("scale(x0)", primitives=first), parse("scale(x0)", primitives=second)
    for _ in range(2):
        np.testing.assert_array_equal(CompiledEngine().evaluate([one], [[1.0]]), [[2.0]])
        np.testing.assert_array_equal(CompiledEngine().evaluate([other], [[1.0]]), [[5.0]])


def test_random_trees_may_have_custom_operators(operators):
    grammar = Grammar(operators, n_columns=2)
    X = table(np.float64, 40)
    with np.errstate(all="ignore"):
        batch = RampedHalfAndHalf(1, 5).draw(grammar, 0, 0, 200)
        own = {operators[name].opcode for name in ("bump", "jump", "blend", "gap", "slow")}
        assert own <= set(batch.op.tolist())
        expected = np.array([e.evaluate(X) for e in batch])
    np.testing.assert_allclose(CompiledEngine(n_jobs=2).evaluate(batch, X), expected, rtol=1e-9, atol=1e-9)


def test_an_operator_of_a_single_tree_needs_no_set():
    half = PrimitiveSet(["add"]).add("half", lambda a: 0.5 * a)
    tree = Expression.apply(half, Expression.variable(0))
    np.testing.assert_array_equal(CompiledEngine().evaluate([tree], [[3.0]]), [[1.5]])
