"""Candidates: fitted sums within the limits; an exact one is a law only if the validation set agrees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import SymbolicRegressor
from fouriertree.criteria.archive import KEPT, NEAR, pareto_front
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import PrimitiveSet, parse
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.model import sum_of_terms
from fouriertree.projection.batches import SumBatch
from fouriertree.search import Progress
from fouriertree.search.hybrid.context import HybridOptions, SearchContext
from fouriertree.search.hybrid.data import SearchData
from fouriertree.search.hybrid.evaluation import (
    EXACT,
    SPARE_ROWS,
    Cost,
    Evaluation,
    Fronts,
    evaluate,
    screened,
)
from fouriertree.search.hybrid.search import _with_candidate
from fouriertree.search.hybrid.state import HybridState
from fouriertree.search.nesting import Nesting

TEXTS = ["1", "x0", "x1", "x0^2", "x0*x1", "sin(x0)", "sin(x1)", "cos(x0)", "exp(x1)", "x0/x1", "tanh(x0)"]
TERMS = [parse(text) for text in TEXTS]
seeds = st.integers(0, 2**32 - 1)


def law(X):
    return 2.0 * X[:, 0] * X[:, 1] - np.sin(2.0 * X[:, 0])


def context_of(y=law, n=80, n_validation=40, seed=0, weights=None, **options):
    """The context of n training rows and some validation rows of y."""
    X = np.random.default_rng(seed).uniform(0.5, 2.0, (n + n_validation, 2))
    target, w = y(X), np.ones(n + n_validation) if weights is None else weights
    validation = (X[n:], target[n:], w[n:]) if n_validation else None
    screening = np.arange(min(n, 30))
    data = SearchData(X[:n], target[:n], w[:n], np.arange(2), np.ones(2), 1.0, screening, validation)
    nesting = Nesting.of(options.pop("nesting", {}), PrimitiveSet.default())
    options = HybridOptions(**{"max_terms": 5, "max_complexity": 60, "nesting": nesting} | options)
    return SearchContext(options, data, Vocabulary(PrimitiveSet.default()), 0)


def archived(context, *batches):
    """The state after candidates of batches of models have joined the archive."""
    state = HybridState(context, Progress(0, 0, 0, 0, 1.0))
    for models in batches:
        for found in evaluate(context, models, state.fronts).found:
            state, _ = _with_candidate(state, found)
    return state


def terms(*texts):
    return tuple(map(parse, texts))


def found_in(context, *models):
    return evaluate(context, models, Fronts()).found


def drawn_models(seed, count=60):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, count)
    drawn = [tuple(TERMS[i] for i in np.sort(rng.choice(len(TERMS), k, replace=False))) for k in sizes]
    return list(dict.fromkeys(drawn))


def design(model, X):
    return np.stack([e.evaluate(X) * np.ones(len(X)) for e in model], axis=1)


def slow_fit(model, data):
    """(complexity, relative loss) by NumPy's least squares; the terms here have no inner constants."""
    columns = design(model, data.X)
    coefficients = np.linalg.lstsq(columns, data.y, rcond=None)[0]
    error = data.y - columns @ coefficients
    whole = canonical(sum_of_terms(coefficients.tolist(), model), None, {0, 1})
    return Complexity()(whole), float(error @ error / (data.y @ data.y))


def slow_fit_overall(model, data):
    """(complexity, relative loss on training and validation rows) of the best fit to the training rows."""
    complexity, loss = slow_fit(model, data)
    coefficients = np.linalg.lstsq(design(model, data.X), data.y, rcond=None)[0]
    X, y, _ = data.validation
    return complexity, loss + float(np.sum((y - design(model, X) @ coefficients) ** 2) / (data.y @ data.y))


def slow_front(pairs):
    return dict(pareto_front(pairs, lambda pair: pair[0], lambda pair: pair[1]))


# What joins the archive -------------------------------------------------------------------------------------
@settings(max_examples=10, deadline=None)
@given(seed=seeds, batches=st.integers(1, 5))
def test_the_archive_has_the_pareto_front_of_all_models(seed, batches):
    noise = np.random.default_rng(seed).normal(0.0, 0.1, 120)
    context, models = context_of(lambda X: law(X) + noise, seed=seed), drawn_models(seed)
    state = archived(context, *(models[i::batches] for i in range(batches)))
    front = {complexity: entry.loss for complexity, entry in state.training.front().items()}
    assert front == pytest.approx(slow_front([slow_fit(m, context.data) for m in models]), rel=1e-7)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, batches=st.integers(1, 5))
def test_the_best_of_every_complexity_that_are_near_the_front_are_kept_in_order(seed, batches):
    context, models = context_of(), drawn_models(seed)
    state = archived(context, *(models[i::batches] for i in range(batches)))
    slow = sorted(slow_fit(model, context.data) for model in models)
    for complexity in {c for c, _ in slow}:
        best = [loss for c, loss in slow if c == complexity][:KEPT]
        simpler = min((loss for c, loss in slow if c < complexity), default=np.inf)
        near = [loss for loss in best if loss < NEAR * simpler * (1.0 - 1e-9)]
        kept = [entry.loss for entry in state.training.entries.get(complexity, ())]
        assert kept == sorted(kept)
        assert len(kept) <= KEPT
        assert kept[: len(near)] == pytest.approx(near, rel=1e-7, abs=1e-20)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, batches=st.integers(1, 5))
def test_the_overall_archive_has_the_front_of_all_models_on_all_rows(seed, batches):
    noise = np.random.default_rng(seed).normal(size=70)
    context = context_of(lambda X: law(X) + noise, n=40, n_validation=30, seed=seed)
    models = drawn_models(seed)
    state = archived(context, *(models[i::batches] for i in range(batches)))
    front = {complexity: entry.loss for complexity, entry in state.overall.front().items()}
    assert front == pytest.approx(slow_front([slow_fit_overall(m, context.data) for m in models]), rel=1e-6)


def test_a_simple_candidate_joins_after_a_longer_one_that_is_better_on_all_rows():
    context = context_of(lambda X: law(X) + np.random.default_rng(0).normal(0.0, 0.1, 120))
    state = archived(context, [terms("x0*x1", "sin(x0)", "cos(x0)")], [terms("x0*x1")], [terms("1")])
    assert len(state.training.front()) == len(state.overall.front()) == 3


def test_without_a_validation_set_the_overall_archive_is_empty():
    context = context_of(n_validation=0)
    assert archived(context, drawn_models(0)).overall.entries == {}
    assert all(found.overall_loss == np.inf for found in found_in(context, *drawn_models(0)))


def test_a_candidate_predicts_what_its_loss_says():
    weights = np.random.default_rng(1).uniform(0.2, 2.0, 120)
    context = context_of(weights=weights)
    X, y, w = context.data.X, context.data.y, context.data.weights
    candidates = found_in(context, *drawn_models(3))
    assert candidates
    for found in candidates:
        error = y - sum(c * e.evaluate(X) for c, e in zip(found.coefficients, found.terms, strict=True))
        assert found.loss == pytest.approx(np.sum(w * error**2) / np.sum(w * y**2), rel=1e-9)


def test_inner_constants_are_fitted_and_those_that_are_one_are_not():
    context = context_of(lambda X: 3.0 * np.sin(2.1 * X[:, 0]) + 1.0 / X[:, 1])
    [found] = found_in(context, terms("sin(1.8*x0)", "1/x1"))
    assert found.coefficients == pytest.approx((3.0, 1.0))
    np.testing.assert_allclose(found.terms[0].const[found.terms[0].op == 0], 2.1)
    assert found.terms[1] == parse("1/x1")


def test_sums_that_are_not_finite_are_no_candidates():
    with np.errstate(all="ignore"):
        evaluation = evaluate(context_of(), [terms("log(x0 - 5)"), terms("1/(x0 - x0)")], Fronts())
    assert (evaluation.found, evaluation.best) == ((), np.inf)


def test_candidates_and_passes_are_counted():
    context = context_of()
    evaluation = evaluate(context, [terms("x0"), terms("x0", "x1")], Fronts(), iterations=0)
    assert evaluation.cost == Cost(2, 2 + 3)
    assert screened(context, SumBatch.pack([terms("x0")]), 0, 1)[1] == Cost(1, 2)
    assert evaluation.cost + Cost(1, 2) == Cost(3, 7)


def test_evaluations_add_up():
    context, models = context_of(), drawn_models(2, 20)
    one, other = (evaluate(context, part, Fronts(), iterations=0) for part in (models[:7], models[7:]))
    both = one + other
    assert both.found == one.found + other.found
    assert (both.best, both.cost) == (min(one.best, other.best), one.cost + other.cost)
    assert one + Evaluation() == one


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_fronts_with_an_evaluation_are_those_of_the_archive(seed):
    noise = np.random.default_rng(seed).normal(size=120)
    context, models = context_of(lambda X: law(X) + noise), drawn_models(seed)
    evaluation = evaluate(context, models, Fronts())
    assert evaluation.lowered(Fronts()) == archived(context, models).fronts


def test_evaluation_is_a_pure_function_of_its_arguments():
    context, models = context_of(), drawn_models(4)
    fronts = archived(context, models[:10]).fronts
    assert evaluate(context, models, fronts) == evaluate(context, models, fronts)


# Limits -----------------------------------------------------------------------------------------------------
def test_sums_with_more_terms_than_allowed_are_not_fitted():
    context = context_of(max_terms=2)
    evaluation = evaluate(context, [TERMS[:2], TERMS[:3], ()], Fronts(), iterations=0)
    assert [len(found.terms) for found in evaluation.found] == [2]
    assert evaluation.cost.candidates == 1
    assert evaluate(context, [TERMS[:3]], Fronts(), iterations=0, max_terms=3).cost.candidates == 1


@pytest.mark.parametrize("most", [3, 8, 13, 20])
def test_no_candidate_is_more_complex_than_allowed(most):
    limited, free = (
        archived(context_of(max_complexity=m), drawn_models(5, 200)).training.entries for m in (most, 1000)
    )
    assert max(limited) <= most < max(free)
    # And those that are allowed are found as without a limit.
    expected = {c: [e.loss for e in entries] for c, entries in free.items() if c <= most}
    assert {c: [e.loss for e in entries] for c, entries in limited.items()} == expected


def test_custom_complexities_count():
    context = context_of(complexity=Complexity({"sin": 30}))
    [sine], [cosine] = found_in(context, terms("sin(x0)")), found_in(context, terms("cos(x0)"))
    assert sine.complexity - cosine.complexity == 30 - Complexity()(parse("sin(x0)")) + 1


def test_sums_that_may_not_be_nested_are_not_fitted():
    context = context_of(nesting={"sin": {"exp": 0}})
    models = [terms("sin(exp(x0))"), terms("x0", "sin(x0*exp(x1))"), terms("exp(sin(x0))")]
    assert [found.terms for found in found_in(context, *models)] == [terms("exp(sin(x0))")]


# Description lengths ----------------------------------------------------------------------------------------
def test_an_evaluation_has_the_shortest_description_of_its_models():
    context, models = context_of(), drawn_models(7, 20)
    alone = [evaluate(context, [model], Fronts()).best for model in models]
    assert evaluate(context, models, Fronts()).best == pytest.approx(min(alone))
    assert evaluate(context, [], Fronts()).best == np.inf


@pytest.mark.parametrize("count", [1, 3, 100])
def test_screening_passes_on_the_shortest_descriptions_first(count):
    context, models = context_of(), drawn_models(8, 30)
    rows = context.data.screening
    X, y = context.data.X[rows], context.data.y[rows]
    few = SearchData(X, y, np.ones(len(y)), np.arange(2), np.ones(2), 1.0, np.arange(len(y)), None)

    def length(model):
        loss = max(slow_fit(model, few)[1], EXACT)
        return approximate_length(len(y), loss, context.options.complexity_of(model))

    found, _ = screened(context, SumBatch.pack(models), 0, count)
    assert [length(m) for m in found] == pytest.approx(sorted(map(length, models))[:count])


# Laws -------------------------------------------------------------------------------------------------------
LAW = terms("x0*x1", "sin(1.9*x0)")


def test_an_exact_sum_is_a_law_if_the_validation_set_agrees():
    [found] = found_in(context_of(), LAW)
    assert found.is_law
    assert found.loss <= EXACT


def test_a_model_that_may_not_be_a_law_is_none_however_exact():
    [found] = evaluate(context_of(), [LAW], Fronts(), may_be_law=False).found
    assert found.loss <= EXACT
    assert not found.is_law


@pytest.mark.parametrize("error", [1e-3, 1e-6])
def test_an_exact_sum_is_no_law_if_the_validation_set_disagrees(error):
    def spoiled(X):
        y = law(X)
        y[100] += error
        return y

    [found] = found_in(context_of(spoiled), LAW)
    assert found.loss <= EXACT
    assert not found.is_law


def test_a_sum_that_is_nearly_exact_is_no_law():
    noise = np.random.default_rng(0).normal(0.0, 1e-8, 120)
    [found] = found_in(context_of(lambda X: law(X) + noise), LAW)
    assert found.loss < 1e-14
    assert not found.is_law


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_without_a_validation_set_a_law_needs_more_rows_than_constants(spare):
    n_constants = 3  # two coefficients and an inner one
    [found] = found_in(context_of(n=n_constants + SPARE_ROWS + spare, n_validation=0), LAW)
    assert found.loss <= EXACT
    assert found.is_law == (spare >= 0)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_laws_the_simpler_one_joins_the_front(order):
    simple, long = terms("x0*x1"), terms("(x0 + x1)^2", "x0^2", "x1^2")
    context = context_of(lambda X: 2.0 * X[:, 0] * X[:, 1])
    state = archived(context, (simple, long)[::order])
    assert simple in [entry.candidate.expressions for entry in state.training.front().values()]


# Simpler forms -----------------------------------------------------------------------------------------------
def test_an_exact_sum_of_nearly_linear_functions_is_also_tried_without_them():
    context = context_of(lambda X: 3.0 * X[:, 0] * X[:, 1] + 1.0)
    models = [found.terms for found in found_in(context, terms("1", "x1*sin(1e-4*x0)"))]
    assert any("sin" not in " ".join(map(str, model)) for model in models)


def test_a_polynomial_is_found_behind_waves_without_end():
    x = np.random.default_rng(1).uniform(0.0, 1.0, (20, 2))
    y = x[:, 0] ** 4 - x[:, 0] ** 3 + 0.5 * x[:, 1] ** 2 - x[:, 1]
    model = SymbolicRegressor(
        operators=["+", "-", "*", "sin", "cos"], random_state=0, max_evaluations=20_000_000
    )
    found = model.fit(x, y).get_best()["equation"]
    assert "sin" not in found
    assert model.score(x, y) > 1.0 - 1e-9
