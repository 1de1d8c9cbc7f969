"""Beams: expansion is a pure function; beams are divided and merged without loss; fits have the losses they say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem, parse
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.projection.batches import SumBatch
from fouriertree.runs.snapshots import from_bytes, to_bytes
from fouriertree.search import Hybrid
from fouriertree.search.hybrid import beam as beams
from fouriertree.search.hybrid import transformed
from fouriertree.search.hybrid.beam import (
    MAX_STARTS,
    Beam,
    Starts,
    expand,
)
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Fronts
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transformed import Branch, Sum, transformed_problem

seeds = st.integers(0, 2**32 - 1)
TERMS = [parse(text) for text in ("x0", "x1", "x0*x1", "sin(x0)", "exp(x1)", "x0/x1", "cos(2*x0)", "x1^2")]


def context_of(y, n=80, **options):
    X = np.random.default_rng(0).uniform(0.5, 3.0, (n, 3))
    problem = Problem(EmpiricalSpace(X, y(X)), Grammar(PrimitiveSet.default(), 3))
    return Hybrid(**{"max_dictionary": 300} | options).init(problem, 0)[0].context


@pytest.fixture(scope="module")
def context():
    noise = np.random.default_rng(1).normal(0.0, 0.1, 80)
    return context_of(lambda X: X[:, 0] * np.sin(X[:, 1]) + X[:, 2] ** 2 / X[:, 0] + noise)


def branch_of(context, transform="t", dictionary="powers"):
    return Branch(Reduction(context.data.variables), transform, dictionary)


def form_of(*terms):
    return int(SumBatch.pack([terms]).shapes[0])


# Sums -------------------------------------------------------------------------------------------------------
def test_the_form_of_a_sum_depends_on_neither_constants_nor_the_order_of_its_terms():
    assert form_of(parse("sin(2*x0)"), parse("x1")) == form_of(parse("x1"), parse("sin(3*x0)"))
    assert len({form_of(*terms) for terms in ((), TERMS[:1], TERMS[:2], TERMS[1:3], TERMS)}) == 5
    assert form_of() == Sum().form


@settings(max_examples=50, deadline=None)
@given(
    loss=st.floats(1e-18, 1.0),
    factor=st.floats(1.01, 100.0),
    n_terms=st.integers(1, 6),
    n=st.integers(5, 2000),
)
def test_a_description_is_shorter_if_the_loss_or_the_complexity_is_smaller(loss, factor, n_terms, n):
    one = Sum(tuple(TERMS[:n_terms]), (), loss)
    assert one.length(n) < replace(one, loss=factor * loss).length(n)
    assert one.length(n) < replace(one, expressions=tuple(TERMS[: n_terms + 1])).length(n)
    # Below what is exact, accuracy is worth nothing more.
    assert replace(one, loss=EXACT).length(n) == replace(one, loss=0.0).length(n)
    assert one.length(n) == pytest.approx(approximate_length(n, loss, one.complexity))


# Beams ------------------------------------------------------------------------------------------------------
def drawn_beam(seed, n_starts):
    rng = np.random.default_rng(seed)
    starts: dict[int, tuple[float, Sum]] = {}
    for _ in range(n_starts):
        chosen = rng.choice(len(TERMS), rng.integers(0, 4), replace=False)
        coefficients, loss = tuple(rng.normal(size=len(chosen)).tolist()), float(rng.uniform())
        terms = tuple(TERMS[i] for i in chosen)
        found = Sum(terms, coefficients, loss, form_of(*terms))
        starts.setdefault(found.form, (float(rng.normal()), found))
    forms = np.unique(rng.integers(0, 40, 15).astype(np.uint64))
    ordered = Starts.pack(sorted(starts.values(), key=lambda start: start[0]))
    return Beam(ordered, forms, rng.uniform(size=len(forms)), np.array(sorted(starts), np.uint64))


def listed(starts):
    """Ranks and sums."""
    return [(float(starts.ranks[i]), starts.sum(i)) for i in range(len(starts))]


def same(one, other):
    arrays = zip(
        (one.forms, one.losses, one.started), (other.forms, other.losses, other.started), strict=True
    )
    forms = np.array_equal(one.starts.forms, other.starts.forms)
    return (
        forms and listed(one.starts) == listed(other.starts) and all(np.array_equal(a, b) for a, b in arrays)
    )


@settings(max_examples=50, deadline=None)
@given(seed=seeds, n_starts=st.integers(0, 20))
def test_starts_in_arrays_are_the_sums(seed, n_starts):
    starts = drawn_beam(seed, n_starts).starts
    pairs = listed(starts)
    again = Starts.pack(pairs)
    assert listed(again) == pairs
    assert [s.form for _, s in pairs] == starts.forms.tolist() == again.forms.tolist()
    assert listed(starts.take(slice(None, None, 2))) == pairs[::2]
    restored = Starts.from_plain(from_bytes(to_bytes(starts.to_plain())))
    assert (listed(restored), restored.forms.tolist()) == (pairs, starts.forms.tolist())


@settings(max_examples=50, deadline=None)
@given(seed=seeds, n_starts=st.integers(0, 30), n=st.integers(0, 8))
def test_dividing_and_merging_loses_no_start(seed, n_starts, n):
    whole = drawn_beam(seed, n_starts)
    first, rest = whole.divided(n)
    assert listed(first.starts) == listed(whole.starts)[:n]
    assert listed(rest.starts) == listed(whole.starts)[n:]
    assert same(first.merged(rest, rest), whole)
    assert same(rest.merged(first, first), whole)


@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_a_merged_beam_has_the_best_of_both(seed):
    one, other = drawn_beam(seed, 10), drawn_beam(seed + 1, 10)
    both = one.merged(other, other)
    known = {
        form: min(
            loss
            for beam in (one, other)
            for f, loss in zip(beam.forms.tolist(), beam.losses.tolist(), strict=True)
            if f == form
        )
        for form in {*one.forms.tolist(), *other.forms.tolist()}
    }
    assert dict(zip(both.forms.tolist(), both.losses.tolist(), strict=True)) == known
    assert set(both.started.tolist()) == {*one.started.tolist(), *other.started.tolist()}
    forms = both.starts.forms.tolist()
    assert len(set(forms)) == len(forms)
    assert set(forms) == {*one.starts.forms.tolist(), *other.starts.forms.tolist()}
    ranks: dict[int, float] = {}
    for rank, start in (*listed(one.starts), *listed(other.starts)):
        ranks[start.form] = min(rank, ranks.get(start.form, np.inf))
    assert both.starts.ranks.tolist() == sorted(ranks.values())


def test_a_merged_beam_keeps_the_best_starts(monkeypatch):
    monkeypatch.setattr(beams, "MAX_STARTS", 5)
    one, other = drawn_beam(1, 20), drawn_beam(2, 20)
    both = one.merged(other, other)
    monkeypatch.setattr(beams, "MAX_STARTS", MAX_STARTS)
    assert listed(both.starts) == listed(one.merged(other, other).starts)[:5]


def test_what_two_tasks_have_found_is_a_start_once():
    known, given = drawn_beam(1, 10), drawn_beam(2, 0)
    assert listed(known.merged(known, given).starts) == listed(known.starts)
    rest = known.divided(4)[1]
    # The first four are in the beam of another task.
    assert listed(rest.merged(known, given).starts) == listed(rest.starts)
    assert listed(rest.merged(known, known).starts) == listed(known.starts)


# Expansion --------------------------------------------------------------------------------------------------
BRANCHES = [
    ("t", "powers"),
    ("log t", "functions"),
    ("t", "ratio"),
    ("t", "modulated"),
    ("1/t", "modulated ratio"),
]


@pytest.mark.parametrize(("transform", "dictionary"), BRANCHES)
def test_expansion_is_a_pure_function_of_its_arguments(context, transform, dictionary):
    branch = branch_of(context, transform, dictionary)
    begun = expand(context, branch, None, 2, Fronts())
    fronts = begun.evaluation.lowered(Fronts())
    arrays = (begun.beam.forms, begun.beam.losses, begun.beam.started)
    copy = Beam(begun.beam.starts, *(array.copy() for array in arrays))
    first, second = (expand(context, branch, begun.beam, 3, fronts) for _ in range(2))
    # Neither caches of the process nor an earlier call matter.
    fresh = type(context)(context.options, context.data, context.vocabulary, context.seed)
    third = expand(fresh, branch, copy, 3, fronts)
    for other in (second, third):
        assert same(first.beam, other.beam)
        assert first.evaluation == other.evaluation
    assert same(begun.beam, copy)


@pytest.mark.parametrize(("transform", "dictionary"), BRANCHES)
def test_steps_in_two_calls_are_the_steps_of_one(context, transform, dictionary):
    branch = branch_of(context, transform, dictionary)
    whole = expand(context, branch, None, 4, Fronts())
    first = expand(context, branch, None, 1, Fronts())
    second = expand(context, branch, first.beam, 3, first.evaluation.lowered(Fronts()))
    assert same(second.beam, whole.beam)
    assert (first.evaluation + second.evaluation).found == whole.evaluation.found


def test_no_start_is_expanded_twice(context):
    branch, beam, fronts = branch_of(context), None, Fronts()
    expanded = []
    for _ in range(6):
        found = expand(context, branch, beam, 1, fronts)
        if beam is not None:
            expanded.append(int(beam.starts.forms[0]))
            assert expanded[-1] not in found.beam.starts.forms.tolist()
        beam, fronts = found.beam, found.evaluation.lowered(fronts)
    assert len(set(expanded)) == len(expanded)


def test_a_law_ends_an_expansion():
    context = context_of(lambda X: X[:, 0] * X[:, 1] / X[:, 2])
    few, many = (expand(context, branch_of(context), None, steps, Fronts()) for steps in (2, 50))
    assert few.evaluation.has_law
    assert few.evaluation == many.evaluation


def test_a_transform_that_is_not_defined_has_no_beam():
    context = context_of(lambda X: X[:, 0] - X[:, 1])
    assert expand(context, branch_of(context, "log t"), None, 3, Fronts()).beam is None


def test_few_transformed_problems_are_kept(context, monkeypatch):
    fresh = type(context)(context.options, context.data, context.vocabulary, context.seed)
    monkeypatch.setattr(transformed, "MAX_CACHED", 2)
    for transform in ("t", "1/t", "log t", "t"):
        transformed_problem(fresh, branch_of(fresh, transform))
    assert [branch.transform for branch in vars(fresh)["_caches"]["problems"]] == ["log t", "t"]


# Transformed problems ---------------------------------------------------------------------------------------
def test_candidates_that_are_all_infinite_are_no_extensions(context):
    problem = transformed_problem(context, branch_of(context))
    x = Expression.variable(0)
    infinite = [(Expression.apply("log", x * -1.0),), (Expression.apply("inv", x - x),)]
    assert len(problem._best_fits(SumBatch.pack(infinite), Sum())) == 0
    assert len(problem._best_fits(SumBatch.pack([]), Sum())) == 0


def test_the_loss_of_a_ratio_is_its_error_on_the_rows(context):
    problem = transformed_problem(context, branch_of(context, "t", "ratio"))
    x, z = context.data.variables, Expression.variable(3)
    [found] = problem.fitted([(x[0], x[1], x[2] * z)], 0)
    a, b, d = found.coefficients
    X, y = context.data.X[context.data.screening], problem.z
    ratio = (a * X[:, 0] + b * X[:, 1]) / (1.0 - d * X[:, 2])
    assert found.loss == pytest.approx(np.sum((y - ratio) ** 2) / np.sum(y**2), rel=1e-9)
    assert problem.fitted([(x[2] * z,)], 0) == []  # no numerator


def test_extensions_keep_the_terms_of_their_start_and_add_one_or_two(context):
    problem = transformed_problem(context, branch_of(context))
    [start] = problem.fitted([(parse("x0"), parse("x1"))], 0)
    found = problem.extensions(start).sums()
    assert found
    n = problem.n_rows
    assert [s.length(n) for s in found] == sorted(s.length(n) for s in found)
    for s in found:
        assert s.expressions[:2] == start.expressions
        assert len(s.expressions) in (3, 4)
        assert s.form == form_of(*s.expressions)
        assert s.loss <= start.loss * (1.0 + 1e-9)


def test_pruning_removes_the_least_useful_term_first(context):
    problem = transformed_problem(context, branch_of(context))
    [full] = problem.fitted([tuple(map(parse, ("x0", "x1", "x2", "x0*x1")))], 0)
    path = problem.pruned(full)
    assert [len(s.expressions) for s in path] == [4, 3, 2, 1]
    losses = [s.loss for s in path]
    assert losses == sorted(losses)


def test_the_cost_of_an_expansion_is_its_own(context):
    branch = branch_of(context)
    problem = transformed_problem(context, branch)
    before = problem.cost
    first, second = (expand(context, branch, None, 2, Fronts()).evaluation.cost for _ in range(2))
    assert first == second != Cost()
    assert problem.cost == before
