"""From a sum in an image back to y: the values are those of factor · g⁻¹(Σ c·e), and of fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.assemble import (
    fraction_parts,
    terms_for_target,
    uses,
    weighted_sum,
    without,
)
from fouriertree.search.hybrid.links import IDENTITY, LINKS
from fouriertree.search.hybrid.symmetry import View

V = Vocabulary(PrimitiveSet.default())
#: the column that holds the image of the target
TARGET = 3
ATOMS = ["1", "x0", "x1^2", "x0*x1/x2", "sin(1.3*x0)", "exp(-0.4*x1)", "sqrt(x2)", "1/(x0 + x2)"]
LINKS_BY_NAME = {link.name: link for link in LINKS}
seeds = st.integers(0, 2**32 - 1)
links = pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)


def rows(seed, n=30):
    return np.random.default_rng(seed).uniform(0.3, 2.0, (n, TARGET + 1))


def view_of(X, factor=()):
    x = tuple(Expression.variable(i) for i in range(TARGET))
    scale = np.prod([X[:, i] ** p for i, p in factor], axis=0) * np.ones(len(X))
    bases = tuple((x[i], p) for i, p in factor)
    return View(x, X[:, :TARGET].T, np.ones(len(X)), scale**2, bases, scale)


def drawn_sum(seed, k=3):
    """Coefficients and expressions of a positive sum, and its values."""
    rng = np.random.default_rng(seed)
    X = rows(seed)
    expressions = tuple(parse(ATOMS[i]) for i in rng.choice(len(ATOMS), k, replace=False))
    coefficients = tuple(rng.uniform(0.2, 2.0, k).tolist())
    values = sum(c * e.evaluate(X) for c, e in zip(coefficients, expressions, strict=True))
    # exp and its neighbours need room above 1: a logarithm of the sum must keep its sign.
    return X, coefficients, expressions, values


def inverse_values(link, z):
    """g⁻¹(z), by NumPy alone; a law log(z)/k is told without k."""
    powers = {"t": 1.0, "1/t": -1.0, "t^2": 0.5, "1/t^2": -0.5, "sqrt t": 2.0, "1/sqrt t": -2.0}
    if link.name in powers:
        return z ** powers[link.name]
    return np.exp(z) if link.name == "log t" else np.log(z)


FACTORS = [(), ((0, 1.0),), ((1, -2.0), (2, 0.5)), ((0, -1.0), (1, 3.0))]


@links
@pytest.mark.parametrize("factor", FACTORS, ids=str)
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_a_sum_in_an_image_becomes_factor_times_the_inverse_of_the_sum(link, factor, seed):
    X, coefficients, expressions, z = drawn_sum(seed)
    view = view_of(X, factor)
    terms = terms_for_target(V, view, link, coefficients, expressions, TARGET)
    wanted = view.scale * inverse_values(link, z)
    values = np.stack([term.evaluate(X) for term in terms])
    if link is IDENTITY:
        found = np.array(coefficients) @ values
    else:
        assert len(terms) == 1
        found = values[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, n_above=st.integers(1, 3), n_below=st.integers(1, 2), factor=st.sampled_from(FACTORS))
def test_terms_with_the_target_become_a_denominator(seed, n_above, n_below, factor):
    X, coefficients, expressions, _ = drawn_sum(seed, n_above + n_below)
    above, below = expressions[:n_above], [e for e in expressions[n_above:] if e != ONE]
    if not below:
        return
    z = Expression.variable(TARGET)
    held = tuple(V.product([e, z]) for e in below)
    coefficients = coefficients[: n_above + len(below)]
    view = view_of(X, factor)
    [term] = terms_for_target(V, view, IDENTITY, coefficients, (*above, *held), TARGET)
    top = sum(c * e.evaluate(X) for c, e in zip(coefficients, above, strict=False))
    bottom = 1.0 - sum(c * e.evaluate(X) for c, e in zip(coefficients[n_above:], below, strict=True))
    wanted, found = view.scale * top / bottom, term.evaluate(X)
    # The number in front of a single term above is left to the fit.
    if n_above == 1:
        found = coefficients[0] * found
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert not uses(term, TARGET)


@pytest.mark.parametrize("n_above", [1, 2])
def test_a_fraction_in_an_image_becomes_the_inverse_of_the_fraction(n_above):
    X = rows(0)
    above, below = (
        (parse("x0"), parse("x1^2"))[:n_above],
        V.product([parse("x2"), Expression.variable(TARGET)]),
    )
    coefficients = (*(2.0, 0.5)[:n_above], -0.7)
    fraction = (2.0 * X[:, 0] + (0.5 * X[:, 1] ** 2 if n_above == 2 else 0.0)) / (1.0 + 0.7 * X[:, 2])
    [term] = terms_for_target(V, view_of(X), LINKS_BY_NAME["t^2"], coefficients, (*above, below), TARGET)
    ratio = term.evaluate(X) / np.sqrt(fraction)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-10)


def test_a_fraction_without_a_numerator_is_no_formula():
    held = V.product([parse("x0"), Expression.variable(TARGET)])
    assert terms_for_target(V, view_of(rows(0)), IDENTITY, (2.0,), (held,), TARGET) is None


@settings(max_examples=30, deadline=None)
@given(seed=seeds, k=st.integers(0, 5))
def test_a_weighted_sum_has_the_values_of_the_sum(seed, k):
    X, coefficients, expressions, values = drawn_sum(seed, k)
    np.testing.assert_allclose(
        weighted_sum(V, coefficients, expressions).evaluate(X), values + np.zeros(len(X)), rtol=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(seed=seeds, place=st.integers(0, 2))
def test_a_product_is_what_is_left_without_a_factor_times_that_factor(seed, place):
    X, _, expressions, _ = drawn_sum(seed, 2)
    factors = list(expressions)
    factors.insert(place, Expression.variable(TARGET))
    product = V.product(factors)
    rest = without(product, TARGET)
    assert not uses(rest, TARGET)
    np.testing.assert_allclose(rest.evaluate(X) * X[:, TARGET], product.evaluate(X), rtol=1e-12)


def test_the_target_alone_without_itself_is_one():
    assert without(Expression.variable(TARGET), TARGET) == ONE


def test_terms_go_above_or_below_by_whether_they_hold_the_target():
    z = Expression.variable(TARGET)
    terms = (parse("x0"), V.product([parse("x1/x2"), z]), parse("sin(x1)"))
    above, below = fraction_parts((1.0, 2.0, 3.0), terms, TARGET)
    assert above == [(1.0, parse("x0")), (3.0, parse("sin(x1)"))]
    assert below == [(2.0, parse("x1/x2"))]


def test_a_column_is_used_where_it_occurs_and_not_where_its_number_is_a_constant():
    assert uses(parse("sin(x0 + x3)"), 3)
    assert not uses(parse("sin(x0 + 3)"), 3)
    assert not uses(parse("x0 + x1"), -1)
