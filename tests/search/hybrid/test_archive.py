"""The archive: the best of every complexity, nothing beyond the limits, and a law only where rows held back agree."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, parse
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.model import sum_of_terms
from fouriertree.projection.batches import SumBatch
from fouriertree.search.hybrid.archive import KEPT, NEAR, SPARE_ROWS, Archive, Entry, Limits
from fouriertree.search.hybrid.explore import EXACT
from fouriertree.search.hybrid.table import Table
from fouriertree.search.nesting import Nesting

TEXTS = ["1", "x0", "x1", "x0^2", "x0*x1", "sin(x0)", "sin(x1)", "cos(x0)", "exp(x1)", "x0/x1", "tanh(x0)"]
TERMS = [parse(text) for text in TEXTS]
seeds = st.integers(0, 2**32 - 1)


def law(X):
    return 2.0 * X[:, 0] * X[:, 1] - np.sin(2.0 * X[:, 0])


def archive_of(y=law, n=80, held=40, seed=0, weights=None, **limits):
    """An archive of rows of y; `held` of them are held back."""
    X = np.random.default_rng(seed).uniform(0.5, 2.0, (n + held, 2))
    target, w = y(X), np.ones(n + held) if weights is None else weights
    back = (X[n:], target[n:], w[n:]) if held else None
    table = Table(X[:n], target[:n], w[:n], np.arange(2), np.ones(2), 1.0, np.arange(min(n, 30)), back)
    rules = limits.pop("nesting", {})
    bounds = {"max_terms": 5, "max_complexity": 60, "complexity": Complexity()} | limits
    return Archive(table, Limits(**bounds, nesting=Nesting.of(rules, PrimitiveSet.default())))


def terms(*texts):
    return tuple(map(parse, texts))


def drawn_models(seed, count=60):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, count)
    return [tuple(TERMS[i] for i in np.sort(rng.choice(len(TERMS), k, replace=False))) for k in sizes]


def slow_fit(model, table):
    """(complexity, relative loss) by NumPy's least squares; the terms here have no inner constants."""
    design = np.stack([e.evaluate(table.X) * np.ones(len(table.y)) for e in model], axis=1)
    coefficients = np.linalg.lstsq(design, table.y, rcond=None)[0]
    error = table.y - design @ coefficients
    whole = canonical(sum_of_terms(coefficients.tolist(), model), None, {0, 1})
    return Complexity()(whole), float(error @ error / (table.y @ table.y))


def slow_loss_everywhere(model, table):
    """(complexity, squared error on all rows) of the best fit to those that are not held back."""
    complexity, loss = slow_fit(model, table)
    design = np.stack([e.evaluate(table.X) * np.ones(len(table.y)) for e in model], axis=1)
    coefficients = np.linalg.lstsq(design, table.y, rcond=None)[0]
    X_held, y_held, _ = table.held
    elsewhere = np.stack([e.evaluate(X_held) * np.ones(len(y_held)) for e in model], axis=1)
    return complexity, loss * float(table.y @ table.y) + float(
        np.sum((y_held - elsewhere @ coefficients) ** 2)
    )


# What is kept -----------------------------------------------------------------------------------------------
@settings(max_examples=10, deadline=None)
@given(seed=seeds, batches=st.integers(1, 5))
def test_of_every_complexity_the_best_are_kept_in_order(seed, batches):
    archive, models = archive_of(), list(dict.fromkeys(drawn_models(seed)))
    slow = {}
    for model in models:
        complexity, loss = slow_fit(model, archive.table)
        slow.setdefault(complexity, []).append(loss)
    for batch in range(batches):
        archive.offer(models[batch::batches])
    assert archive.entries.keys() == slow.keys()
    for complexity, entries in archive.entries.items():
        assert all(entry.complexity == complexity for entry in entries)
        np.testing.assert_allclose(
            [e.loss for e in entries], sorted(slow[complexity])[:KEPT], rtol=1e-7, atol=1e-20
        )


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_front_has_no_entry_that_a_simpler_one_beats_and_misses_none(seed):
    archive = archive_of()
    archive.offer(drawn_models(seed))
    front = archive.front()
    for simpler, longer in pairwise(front):
        assert simpler.complexity < longer.complexity
        assert simpler.loss > longer.loss
    every = [e for entries in archive.entries.values() for e in entries]
    for entry in every:
        assert any(f.complexity <= entry.complexity and f.loss <= entry.loss for f in front)
    near = {
        id(e) for e in every if all(e.loss < NEAR * o.loss for o in every if o.complexity < e.complexity)
    }  # fmt: skip
    assert archive.near_front() == near >= {id(e) for e in front}


def test_an_entry_predicts_what_its_loss_says():
    weights = np.random.default_rng(1).uniform(0.2, 2.0, 120)
    archive = archive_of(weights=weights)
    archive.offer(drawn_models(3))
    X, y, w = archive.table.X, archive.table.y, archive.table.weights
    for entry in archive.new:
        error = y - sum(c * e.evaluate(X) for c, e in zip(entry.coefficients, entry.terms, strict=True))
        assert entry.loss == pytest.approx(np.sum(w * error**2) / np.sum(w * y**2), rel=1e-9)


def test_inner_numbers_are_fitted_and_those_that_are_one_are_not():
    archive = archive_of(lambda X: 3.0 * np.sin(2.1 * X[:, 0]) + 1.0 / X[:, 1])
    archive.offer([terms("sin(1.8*x0)", "1/x1")])
    [entry] = archive.new
    assert entry.coefficients == pytest.approx((3.0, 1.0))
    np.testing.assert_allclose(entry.terms[0].const[entry.terms[0].op == 0], 2.1)
    assert entry.terms[1] == parse("1/x1")


def test_sums_that_are_not_finite_are_not_kept():
    archive = archive_of()
    assert archive.offer([terms("log(x0 - 5)"), terms("1/(x0 - x0)")]) == np.inf
    assert archive.entries == {}


def test_what_was_done_is_counted():
    archive = archive_of()
    archive.offer([terms("x0"), terms("x0", "x1")], iterations=0)
    assert (archive.fits, archive.traverses) == (2, 2 + 3)
    archive.screen(SumBatch.pack([terms("x0")]), iterations=0, count=1)
    assert (archive.fits, archive.traverses) == (3, 7)


# Limits -----------------------------------------------------------------------------------------------------
@settings(max_examples=20, deadline=None)
@given(seed=seeds, custom=st.sampled_from([None, {"sin": 7, "mul": 3}]))
def test_limits_of_a_batch_are_those_of_its_sums(seed, custom):
    limits = Limits(2, 15, Complexity(custom), Nesting.of({"sin": {"sin": 0}}, PrimitiveSet.default()))
    models = drawn_models(seed, 40)
    batch = SumBatch.pack(models)
    assert limits.complexities(batch).tolist() == [limits.complexity_of(model) for model in models]
    allowed = limits.allowed(batch)
    assert [allowed.expressions(i) for i in range(len(allowed))] == [m for m in models if limits.allow(m)]


def test_more_terms_than_allowed_are_not_looked_at():
    archive = archive_of(max_terms=2)
    archive.offer([TERMS[:2], TERMS[:3], ()])
    assert [len(entry.terms) for entry in archive.new] == [2]
    assert archive.fits == 1


@pytest.mark.parametrize("most", [3, 8, 13, 25])
def test_no_entry_is_more_complex_than_allowed(most):
    archive, free = archive_of(max_complexity=most), archive_of(max_complexity=1000)
    for a in (archive, free):
        a.offer(drawn_models(5, 200))
    assert max(archive.entries) <= most < max(free.entries)
    # And those that are allowed are found as without a limit.
    expected = {c: [e.loss for e in entries] for c, entries in free.entries.items() if c <= most}
    assert {c: [e.loss for e in entries] for c, entries in archive.entries.items()} == expected


def test_your_own_complexities_count():
    archive = archive_of(complexity=Complexity({"sin": 30}))
    archive.offer([terms("sin(x0)"), terms("cos(x0)")])
    sine, cosine = archive.new
    assert sine.complexity - cosine.complexity == 30 - Complexity()(parse("sin(x0)")) + 1


def test_what_may_not_be_nested_is_not_looked_at():
    archive = archive_of(nesting={"sin": {"exp": 0}})
    archive.offer([terms("sin(exp(x0))"), terms("x0", "sin(x0*exp(x1))"), terms("exp(sin(x0))")])
    assert [entry.terms for entry in archive.new] == [terms("exp(sin(x0))")]


# Scores -----------------------------------------------------------------------------------------------------
@settings(max_examples=50, deadline=None)
@given(
    loss=st.floats(1e-18, 1.0),
    factor=st.floats(1.01, 100.0),
    complexity=st.integers(1, 60),
    n=st.integers(5, 2000),
)
def test_a_description_is_shorter_if_the_loss_or_the_complexity_is_smaller(loss, factor, complexity, n):
    score = Entry((), (), loss, complexity).score(n)
    assert score < Entry((), (), factor * loss, complexity).score(n)
    assert score < Entry((), (), loss, complexity + 1).score(n)
    # Below what is exact, accuracy is worth nothing more.
    assert Entry((), (), EXACT, complexity).score(n) == Entry((), (), 0.0, complexity).score(n)


def test_an_offer_tells_the_best_score_of_its_models():
    archive = archive_of()
    models = drawn_models(7, 20)
    alone = [archive_of().offer([model]) for model in models]
    assert archive.offer(models) == pytest.approx(min(alone))
    assert archive.offer([]) == np.inf


@pytest.mark.parametrize("count", [1, 3, 100])
def test_screening_hands_on_the_shortest_descriptions_first(count):
    archive, models = archive_of(), list(dict.fromkeys(drawn_models(8, 30)))
    X, y = archive.table.X[archive.table.screen], archive.table.y[archive.table.screen]
    few = Table(X, y, np.ones(len(y)), np.arange(2), np.ones(2), 1.0, np.arange(len(y)), None)

    def score(model):
        return Entry((), model, slow_fit(model, few)[1], archive.limits.complexity_of(model)).score(len(y))

    found = archive.screen(SumBatch.pack(models), 0, count)
    assert [score(m) for m in found] == pytest.approx(sorted(map(score, models))[:count])
    assert archive.entries == {}


# Laws -------------------------------------------------------------------------------------------------------
LAW = terms("x0*x1", "sin(1.9*x0)")


def test_an_exact_sum_is_a_law_if_the_rows_held_back_say_so():
    archive = archive_of()
    archive.offer([LAW])
    assert archive.law is archive.new[0]
    assert archive.law.loss <= EXACT


@pytest.mark.parametrize("error", [1e-3, 1e-6])
def test_an_exact_sum_is_no_law_if_rows_held_back_disagree(error):
    def spoiled(X):
        y = law(X)
        y[100] += error
        return y

    archive = archive_of(spoiled)
    archive.offer([LAW])
    assert archive.new[0].loss <= EXACT
    assert archive.law is None


def test_a_sum_that_is_nearly_exact_is_no_law():
    noise = np.random.default_rng(0).normal(0.0, 1e-8, 120)
    archive = archive_of(lambda X: law(X) + noise)
    archive.offer([LAW])
    assert archive.new[0].loss < 1e-14
    assert archive.law is None


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_where_no_rows_are_held_back_a_law_needs_more_rows_than_numbers(spare):
    numbers = 3  # two coefficients and one inner
    archive = archive_of(n=numbers + SPARE_ROWS + spare, held=0)
    archive.offer([LAW])
    assert archive.new[0].loss <= EXACT
    assert (archive.law is not None) == (spare >= 0)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_laws_the_simpler_one_is_told(order):
    simple, long = terms("x0*x1"), terms("(x0 + x1)^2", "x0^2", "x1^2")
    archive = archive_of(lambda X: 2.0 * X[:, 0] * X[:, 1])
    for model in (simple, long)[::order]:
        archive.offer([model])
    assert archive.law.terms == simple


# Projection onto images -------------------------------------------------------------------------------------
def test_projected_coefficients_are_least_squares_without_those_that_are_rounding():
    archive = archive_of()
    X, rng = archive.table.X, np.random.default_rng(2)
    weights = rng.uniform(0.5, 2.0, len(X))
    z = 3.0 - 2.0 * X[:, 0] ** 2
    [(coefficients, kept)] = archive.projected([terms("1", "x0", "x0^2")], z, weights)
    assert kept == terms("1", "x0^2")
    assert coefficients == pytest.approx([3.0, -2.0])
    noisy = z + rng.standard_normal(len(X))
    [(coefficients, kept)] = archive.projected([terms("1", "x0", "x0^2")], noisy, weights)
    design = np.vander(X[:, 0], 3, increasing=True) * np.sqrt(weights)[:, None]
    assert kept == terms("1", "x0", "x0^2")
    assert coefficients == pytest.approx(np.linalg.lstsq(design, np.sqrt(weights) * noisy, rcond=None)[0])


# What holds on all rows --------------------------------------------------------------------------------------
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_of_every_complexity_the_best_on_all_rows_is_kept(seed):
    noise = np.random.default_rng(seed).normal(size=70)
    archive = archive_of(lambda X: law(X) + noise, n=40, held=30, seed=seed)
    models = drawn_models(seed)
    archive.offer(models)
    slow: dict[int, float] = {}
    for complexity, loss in sorted(slow_loss_everywhere(model, archive.table) for model in models):
        if loss < min(slow.values(), default=np.inf) * (1.0 - 1e-9):
            slow[complexity] = loss
    found = {size: loss for size, (loss, _) in archive.verified.entries.items()}
    assert found == pytest.approx(slow, rel=1e-6)


def test_without_rows_held_back_nothing_is_verified():
    archive = archive_of(held=0)
    archive.offer(drawn_models(0))
    assert archive.verified.entries == {}


def test_what_holds_on_all_rows_comes_back_from_a_state():
    noise = np.random.default_rng(1).normal(size=70)
    archive, again = (archive_of(lambda X: law(X) + noise, n=40, held=30) for _ in range(2))
    archive.offer(drawn_models(1))
    again.restore(archive.state())
    assert archive.verified.entries
    assert again.verified.entries == archive.verified.entries
