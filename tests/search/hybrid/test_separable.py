"""Products of functions of one variable each: what matrix products find is what one product after the other gives."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem, SymbolicRegressor, parse
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import SumBatch
from fouriertree.search import Hybrid
from fouriertree.search.hybrid import separable
from fouriertree.search.hybrid.dictionary import SEPARABLE, SPECS
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.separable import Factors, Screen, best_of_forms
from fouriertree.search.hybrid.transformed import Branch, Sum, transformed_problem
from fouriertree.search.loop import LAW

seeds = st.integers(0, 2**32 - 1)


def drawn_factors(rng, n_variables, n_rows):
    """Up to three forms of every variable, each with up to seven inner constants."""
    sizes = [(i, int(rng.integers(1, 8))) for i in range(n_variables) for _ in range(rng.integers(1, 4))]
    variables = np.repeat([i for i, _ in sizes], [size for _, size in sizes])
    forms = np.repeat(np.arange(len(sizes)), [size for _, size in sizes])
    values = rng.normal(size=(len(forms), n_rows)).astype(np.float32)
    complexities = rng.integers(1, 6, len(sizes)).astype(np.float32)[forms]
    rare = rng.random(len(sizes))[forms] < 0.2
    return Factors(values, variables, forms, complexities, np.arange(len(forms)), rare)


def drawn_screen(rng, n_rows, n_terms):
    roots = np.sqrt(rng.uniform(0.2, 2.0, n_rows))
    basis = np.linalg.qr(rng.normal(size=(n_rows, n_terms)))[0]
    residual = rng.normal(size=n_rows)
    residual -= basis @ (basis.T @ residual)
    residual /= np.linalg.norm(residual)
    single = [v.astype(np.float32) for v in (roots * residual, (roots[:, None] * basis).T, roots**2)]
    return Screen(*single, loss=0.3, floor=1e-3), roots, residual, basis


def slow_length(factors, chosen, screen, roots, residual, basis):
    """Description length after one product has been added, by projection in float64."""
    v = roots * np.prod(factors.values[list(chosen)].astype(float), axis=0)
    outside = v - basis @ (basis.T @ v)
    gain = (residual @ outside) ** 2 / (outside @ outside)
    cost = factors.complexities[list(chosen)].sum() + len(chosen) - 1
    return approximate_length(len(v), screen.loss * (1.0 - gain) + screen.floor, cost)


def slow_best(factors, k, *about):
    """{forms: (length, factors)} of the best product of every form of k variables; of one factor, all of them."""
    if k == 3:
        factors = factors.coarse()
    best = {}
    for subset in combinations(np.unique(factors.variables), k):
        for chosen in product(*(np.flatnonzero(factors.variables == i) for i in subset)):
            length = slow_length(factors, chosen, *about)
            key = tuple(factors.forms[list(chosen)]) if k > 1 else chosen
            if length < best.get(key, (np.inf,))[0]:
                best[key] = length, factors.numbers[list(chosen)].tolist()
    return best


@settings(max_examples=25, deadline=None)
@given(seed=seeds, n_variables=st.integers(1, 4), n_terms=st.integers(0, 3), k=st.integers(1, 3))
def test_the_best_products_of_all_forms_are_those_of_one_projection_after_the_other(
    seed, n_variables, n_terms, k
):
    rng = np.random.default_rng(seed)
    factors = drawn_factors(rng, n_variables, 30)
    screen, *about = drawn_screen(rng, 30, n_terms)
    slow = slow_best(factors, k, screen, *about)
    found, compared = best_of_forms(factors, screen, [0] * (k - 1) + [len(slow)])
    assert compared >= len(slow)
    assert len(found) == len(slow)
    lengths = [slow_length(factors, row[row >= 0], screen, *about) for row in found]
    np.testing.assert_allclose(lengths, sorted(length for length, _ in slow.values()), rtol=1e-3, atol=1e-2)
    assert np.all(np.diff(lengths) > -1e-2)


def test_only_the_best_products_are_returned_and_short_ones_are_among_them():
    rng = np.random.default_rng(3)
    factors, screen = drawn_factors(rng, 3, 40), drawn_screen(rng, 40, 1)[0]
    found, _ = best_of_forms(factors, screen, (2, 3, 1))
    assert sorted((row >= 0).sum() for row in found) == [1, 1, 2, 2, 2, 3]
    every, _ = best_of_forms(factors, screen, (2, 10_000))
    pairs = [row.tolist() for row in found if (row >= 0).sum() == 2]
    assert pairs == [row.tolist() for row in every if (row >= 0).sum() == 2][:3]


def test_a_product_inside_the_span_gains_nothing():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 50)).astype(np.float32)
    inside = np.prod(values, axis=0)[None] / np.linalg.norm(np.prod(values, axis=0))
    residual = rng.normal(size=50).astype(np.float32)
    residual /= np.linalg.norm(residual)
    ones = np.ones(50, np.float32)
    screen = Screen(residual, inside, ones, loss=0.5, floor=0.0)
    zero = np.zeros(1, np.intp)
    gains, places = screen.best_of_blocks(values[:1], values[1:], zero, zero)
    assert (gains.item(), places.item()) == (0.0, 0)


def test_of_many_variables_those_of_the_best_products_enter_products_of_three(monkeypatch):
    monkeypatch.setattr(separable, "MAX_VARIABLES_OF_TRIPLES", 3)
    rng = np.random.default_rng(1)
    n = 400
    values = rng.normal(size=(6, n)).astype(np.float32)
    numbers = np.arange(6)
    factors = Factors(values, numbers, numbers, np.ones(6, np.float32), numbers, np.zeros(6, np.bool_))
    y = values[1] * values[3] * values[4] + 0.5 * (values[1] + values[3] + values[4])
    ones = np.ones(n, np.float32)
    screen = Screen(y / np.linalg.norm(y), np.empty((0, n), np.float32), ones, 1.0, 0.0)
    found, compared = best_of_forms(factors, screen, (6, 15, 5))
    triples = [row.tolist() for row in found if (row >= 0).all()]
    assert compared == 6 + 15 + 1
    assert triples == [[1, 3, 4]]


# The grid ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1e-6, 1.0, 3e5])
def test_factors_are_those_of_the_scaled_variables(scale):
    """The grid is relative to the range of a variable, so that units do not matter."""
    rng = np.random.default_rng(2)
    V = rng.uniform(0.2, 2.0, (2, 50))
    vocabulary = Vocabulary(PrimitiveSet.default())
    plain, scaled = (separable.factors(f * V, vocabulary, 1, 1000) for f in (1.0, scale))
    assert len(plain) == len(scaled)
    for (_, one), (_, other) in zip(plain, scaled, strict=True):
        # Powers, shifts and logarithms of a scaled variable differ by a factor or a constant.
        assert abs(np.corrcoef(one, other)[0, 1]) == pytest.approx(1.0, abs=1e-9)


def test_factors_use_no_operator_that_was_not_asked_for():
    V = np.random.default_rng(2).uniform(-1.0, 2.0, (2, 50))
    made = separable.factors(V, Vocabulary(PrimitiveSet(["add", "mul", "sin"])), 1, 1000)
    assert {f.name for f, _ in made} == {"", "sin", "sinphase", "shift"}
    assert all(p in {0.0, 1.0, 2.0, 3.0, 4.0} for f, _ in made for p in f.powers)


@pytest.mark.parametrize("name", SEPARABLE)
def test_extensions_are_sums_of_products_of_functions_of_one_variable_each(name):
    X = np.random.default_rng(0).uniform(0.5, 3.0, (120, 2))
    y = X[:, 0] * np.exp(-0.7 * X[:, 1]) + np.sin(2.0 * X[:, 0])
    problem = Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), 2))
    context = Hybrid().init(problem, 0)[0].context
    made = transformed_problem(context, Branch(Reduction(context.data.variables), "t", name))
    found = made.extensions(Sum()).sums()
    assert found
    assert found == sorted(found, key=lambda s: s.length(*made.ranking))
    assert made.ranking == (120, SPECS[name].noise_floor)
    assert min(s.loss for s in found) < 1e-20
    if made.spec.max_factors == 2:
        best = min(found, key=lambda s: s.length(120))
        assert best.form == SumBatch.pack([(parse("x0*exp(-0.7*x1)"), parse("sin(2*x0)"))]).shapes[0]


LAWS = {
    "2*m*exp(-t) + v^2": lambda X: 2.0 * X[:, 0] * np.exp(-X[:, 1]) + X[:, 2] ** 2,
    "x0*x1 + sin(2*x0)": lambda X: X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 0]),
    "three factors": lambda X: 1.7 * np.sqrt(X[:, 0]) * np.sin(1.3 * X[:, 1]) * np.exp(-0.6 * X[:, 2]),
}


@pytest.mark.parametrize("law", LAWS)
def test_sums_of_products_are_found_among_other_columns(law):
    X = np.random.default_rng(4).uniform(0.3, 4.0, (300, 5))
    y = LAWS[law](X)
    model = SymbolicRegressor(random_state=0, max_evaluations=20_000_000).fit(X, y)
    assert model.stop_reason_ == LAW
    fresh = np.random.default_rng(5).uniform(0.5, 3.5, (200, 5))
    np.testing.assert_allclose(model.predict(fresh), LAWS[law](fresh), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "column", [np.zeros(50), np.full(50, 3.0), np.full(50, np.inf)], ids=["zero", "constant", "inf"]
)
def test_a_variable_that_does_not_vary_on_the_rows_has_no_factors(column):
    V = np.array([np.linspace(0.5, 2.0, 50), column])
    made = separable.factors(V, Vocabulary(PrimitiveSet.default()), 1, 1000)
    assert made
    assert all(f.powers[1] == 0.0 for f, _ in made)


def test_a_rare_indicator_is_no_error():
    X = np.column_stack([np.random.default_rng(5).uniform(0.5, 3.0, 500), np.eye(500)[7]])
    y = np.exp(-X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=500)
    for seed in range(4):
        context = (
            Hybrid().init(Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), 2)), seed)[0].context
        )
        for name in SEPARABLE:
            made = transformed_problem(context, Branch(Reduction(context.data.variables), "t", name))
            assert len(made.extensions(Sum()))


def test_of_too_many_factors_every_variable_keeps_itself():
    V = np.random.default_rng(0).uniform(0.5, 2.0, (5, 60))
    made = separable.factors(V, Vocabulary(PrimitiveSet.default()), 1, 40)
    assert len(made) <= 45
    assert {f.powers for f, _ in made if not f.name} >= {tuple(row) for row in np.eye(5)}


def test_products_of_three_have_rising_and_falling_exponentials():
    V = np.random.default_rng(0).uniform(0.5, 2.0, (1, 60))
    made = separable.factors(V, Vocabulary(PrimitiveSet.default()), 1, 1000)
    numbers = {}
    forms = np.array([numbers.setdefault(f.form, len(numbers)) for f, _ in made])
    n = len(made)
    coarse = Factors(
        np.ones((n, 2), np.float32), np.zeros(n, int), forms, np.ones(n, np.float32), np.arange(n),
        np.zeros(n, np.bool_),
    ).coarse()  # fmt: skip
    for name in ("exp", "shift"):
        signs = {np.sign(made[i][0].constant) for i in coarse.numbers if made[i][0].name == name}
        assert signs == {-1.0, 1.0}
