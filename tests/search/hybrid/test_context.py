"""Options and context: which sums may be built, and what a task in another process is sent."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem, parse
from fouriertree.expr.complexity import Complexity
from fouriertree.projection.batches import SumBatch
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.context import HybridOptions
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transformed import Branch, transformed_problem
from fouriertree.search.nesting import Nesting

TEXTS = [
    "1",
    "x0",
    "x1",
    "x0^2",
    "x0*x1",
    "sin(x0)",
    "sin(sin(x1))",
    "cos(x0)",
    "exp(x1)",
    "x0/x1",
    "tanh(x0)",
]
TERMS = [parse(text) for text in TEXTS]


def drawn_models(seed, count):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, count)
    return [tuple(TERMS[i] for i in np.sort(rng.choice(len(TERMS), k, replace=False))) for k in sizes]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), custom=st.sampled_from([None, {"sin": 7, "mul": 3}]))
def test_limits_of_a_batch_are_those_of_its_sums(seed, custom):
    nesting = Nesting.of({"sin": {"sin": 0}}, PrimitiveSet.default())
    options = HybridOptions(2, max_complexity=15, complexity=Complexity(custom), nesting=nesting)
    models = drawn_models(seed, 40)
    batch = SumBatch.pack(models)
    assert options.complexities(batch).tolist() == [options.complexity_of(model) for model in models]
    allowed = options.allowed(batch)
    assert [allowed.expressions(i) for i in range(len(allowed))] == [m for m in models if options.allow(m)]


def test_exact_sums_may_have_more_terms():
    options = HybridOptions(max_terms=2)
    assert options.allow(TERMS[:2])
    assert not options.allow(TERMS[:3])
    assert options.allow(TERMS[:3], most=3)
    assert not options.allow((), most=3)


# The context ------------------------------------------------------------------------------------------------
@pytest.fixture
def context():
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 3.0, (60, 2))
    problem = Problem(EmpiricalSpace(X, X[:, 0] * np.sin(X[:, 1])), Grammar(PrimitiveSet.default(), 2))
    return Hybrid().init(problem, 0)[0].context


def test_what_is_derived_from_the_data_is_not_sent(context):
    before = set(context.__getstate__())
    branch = Branch(Reduction(context.data.variables), "t", "powers")
    assert transformed_problem(context, branch) is transformed_problem(context, branch)
    assert context.fit_data is not context.screening_data
    assert (context.length2, context.screening_length2, context.exact) > (0.0, 0.0, 0.0)
    assert len(vars(context)) > len(before)
    assert set(context.__getstate__()) == before == {"options", "data", "vocabulary", "seed"}


def test_the_size_of_a_sent_context_does_not_depend_on_its_caches(context):
    other = type(context)(context.options, context.data, context.vocabulary, context.seed)
    transformed_problem(context, Branch(Reduction(context.data.variables), "t", "functions"))
    assert context.fit_data is not None
    assert len(pickle.dumps(context)) == len(pickle.dumps(other))


def test_a_context_that_comes_back_is_the_same_object(context):
    assert pickle.loads(pickle.dumps(context)) is context


def test_exact_is_relative_to_the_spread_of_the_target():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(1.0, 3.0, (60, 1)), rng.normal(size=60)
    near, far = (
        Hybrid().init(Problem(EmpiricalSpace(X, y + c), Grammar(PrimitiveSet.default(), 1)), 0)[0].context
        for c in (0.0, 100.0)
    )
    spread2 = float(np.sum((far.data.y - far.data.y.mean()) ** 2))
    assert far.exact == pytest.approx(max(1e-28 * spread2 / far.length2, far.exact), rel=1e-9)
    assert far.exact < near.exact
