"""A disguise changes only units and the order of features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench.cases import FACTORS, Data, Disguise
from fouriertree.experiments.bench.formulas import evaluate, parse, variables
from fouriertree.experiments.bench.judge import has_form
from fouriertree.experiments.bench.suites import load

CASES = [
    ("feynman", "feynman_I_18_4"),
    ("classic", "Koza-1"),
    ("strogatz", "strogatz_lv1"),
    ("srsd-easy", "feynman-i.27.6"),
    ("everyday", "everyday_24"),
    ("everyday", "everyday_g5_03"),
    ("compositions", "compositions_g0_03"),
    ("feynman-solved", "feynman_I_25_13_for_q"),
]


def inverse(disguise):
    """The disguise that undoes another one."""
    order = np.argsort(disguise.order).tolist()
    factors = tuple(1.0 / disguise.factors[k] for k in order)
    return Disguise(tuple(order), factors, 1.0 / disguise.target_factor)


@given(st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_a_disguise_and_its_inverse_are_the_identity(n, seed):
    rng = np.random.default_rng(seed)
    X, disguise = rng.normal(size=(7, n)), Disguise.draw(n, rng)
    np.testing.assert_allclose(inverse(disguise).columns(disguise.columns(X)), X, rtol=1e-14)
    assert inverse(disguise).target_factor * disguise.target_factor == pytest.approx(1.0)
    assert sorted(disguise.order) == list(range(n))
    assert all(FACTORS[0] <= a <= FACTORS[1] for a in (*disguise.factors, disguise.target_factor))


@pytest.mark.parametrize(("suite", "case"), CASES)
def test_a_case_that_is_disguised_and_undone_is_the_case(suite, case):
    plain = load(suite, case, 0, 50, 0.0, False, None)
    disguise = Disguise.draw(plain.X.shape[1], np.random.default_rng(1))
    again = inverse(disguise).apply(disguise.apply(plain))
    for name in ("X", "y", "X_test", "y_test"):
        np.testing.assert_allclose(getattr(again, name), getattr(plain, name), rtol=1e-13)
    np.testing.assert_allclose(evaluate(again.truth, again.symbols, plain.X), plain.y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("suite", "case"), CASES)
def test_the_disguised_law_holds_for_the_disguised_rows(suite, case):
    plain, data = (load(suite, case, 0, 50, 0.0, disguise, None) for disguise in (False, True))
    assert not np.allclose(data.y, plain.y)
    unit = np.abs(data.y_test).max()
    found = evaluate(data.truth, data.symbols, data.X_test)
    np.testing.assert_allclose(found, data.y_test, rtol=1e-9, atol=1e-12 * unit)


def test_the_disguise_of_a_case_depends_on_its_name_and_seed_alone():
    few, many = (load("everyday", "everyday_24", 3, rows, 0.0, True, None) for rows in (20, 40))
    assert few.truth == many.truth
    assert few.truth != load("everyday", "everyday_24", 4, 20, 0.0, True, None).truth


def test_noise_is_the_same_fraction_of_a_disguised_target():
    ratios = []
    for disguise in (False, True):
        clean, noisy = (load("everyday", "everyday_24", 0, 50, level, disguise, None) for level in (0.0, 0.1))
        ratios.append((noisy.y - clean.y) / np.sqrt(np.mean(clean.y**2)))
    np.testing.assert_allclose(*ratios, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "formula"),
    [
        ("power -2 1", "7*x1/x0**2"),
        ("log-power -2 1", "log(7*x1/x0**2)"),
        ("exponential 0.7", "0.4 + 0.3*exp(0.7*x0)"),
    ],
)
def test_the_form_of_a_measured_law_is_disguised_with_it(law, formula):
    symbols = tuple(variables([1.0] * (len(law.split()) - 1)))
    X = np.random.default_rng(0).uniform(1.0, 3.0, (50, len(symbols)))
    truth = parse(formula, {str(symbol): symbol for symbol in symbols})
    y = evaluate(truth, symbols, X)
    plain = Data(X, y, X, y, symbols, law=law)
    disguise = Disguise.draw(len(symbols), np.random.default_rng(5))
    data = disguise.apply(plain)
    assert has_form(truth, plain)
    assert has_form(disguise.formula(truth, symbols, data.symbols), data)
    assert not has_form(disguise.formula(truth, symbols, data.symbols) + data.symbols[0] ** 2, data)
