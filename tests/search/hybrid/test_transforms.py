"""Transforms of the target: g, its inverse as written, slopes, weights; and terms for y, also with denominators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transforms import (
    IDENTITY,
    SPREAD,
    TRANSFORMS,
    fraction_parts,
    terms_for_target,
    transform_named,
    uses,
    weighted_sum,
    without,
)

DEFAULT = Vocabulary(PrimitiveSet.default())
X0 = Expression.variable(0)
seeds = st.integers(0, 2**32 - 1)
transforms = pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)


def multiple(transform):
    """k in g(t) = exp(k·t): its inverse is written as k·t, and its coefficient comes out of the fit."""
    return (
        float(transform.name.removeprefix("exp ").removesuffix("t"))
        if transform.name.startswith("exp")
        else 1.0
    )


def targets(seed, sign=1.0, n=50):
    return sign * np.random.default_rng(seed).uniform(0.2, 5.0, n)


def inverse(transform, z, vocabulary=DEFAULT):
    return transform.inverse(vocabulary, X0).evaluate(z[:, None])


@transforms
@settings(max_examples=10, deadline=None)
@given(seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_the_inverse_as_it_is_written_undoes_the_transform(transform, seed, sign):
    t = targets(seed, sign)
    z, _ = transform.apply(t, np.ones_like(t))
    # A transform for targets of one sign works on |t|; the coefficient has the sign.
    expected = np.abs(t) if transform.one_sign else t
    np.testing.assert_allclose(inverse(transform, z) / multiple(transform), expected, rtol=1e-12)


@transforms
def test_targets_of_both_signs_come_back_where_the_transform_takes_them(transform):
    t = targets(0) * np.where(np.arange(50) % 2, 1.0, -1.0)
    applied = transform.apply(t, np.ones_like(t))
    assert (applied is None) == transform.one_sign
    if applied is not None:
        np.testing.assert_allclose(inverse(transform, applied[0]) / multiple(transform), t, rtol=1e-12)


@transforms
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_slope_is_that_of_finite_differences(transform, seed):
    t, step = targets(seed), 1e-6
    slow = (transform.function(t + step) - transform.function(t - step)) / (2.0 * step)
    np.testing.assert_allclose(transform.slope(t), slow, rtol=1e-6, atol=1e-8)


@transforms
@settings(max_examples=10, deadline=None)
@given(seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_a_small_error_of_the_transformed_target_weighs_like_the_error_of_the_target(transform, seed, sign):
    rng = np.random.default_rng(seed)
    t, weights = sign * rng.uniform(1.0, 1.5, 50), rng.uniform(0.5, 2.0, 50)
    # Steps of about one size: one far smaller than the others would be lost in rounding.
    moved = t * (1.0 + 1e-6 * rng.uniform(0.5, 1.0, 50) * rng.choice([-1.0, 1.0], 50))
    z, new_weights = transform.apply(t, weights)
    moved_z = transform.apply(moved, weights)[0]
    np.testing.assert_allclose(new_weights * (moved_z - z) ** 2, weights * (moved - t) ** 2, rtol=1e-4)


@transforms
def test_weights_stay_within_bounds_of_their_median(transform):
    t = np.geomspace(1e-4, 20.0, 101)
    z, weights = transform.apply(t, np.ones_like(t))
    free = 1.0 / np.square(transform.slope(t))
    np.testing.assert_array_equal(weights, np.clip(free, np.median(free) / SPREAD, np.median(free) * SPREAD))
    assert weights.max() <= SPREAD**2 * weights.min() * (1.0 + 1e-12)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("name", ["log t", "1/t", "1/t^2", "1/sqrt t"])
def test_a_transform_of_zero_that_is_infinite_is_refused(name):
    transform = next(transform for transform in TRANSFORMS if transform.name == name)
    assert transform.apply(np.array([0.0, 1.0, 2.0]), np.ones(3)) is None


@transforms
def test_a_transformed_target_beyond_the_range_of_numbers_is_refused(transform):
    huge = np.array([1.0, 2.0, 1e300])
    applied = transform.apply(huge, np.ones(3))
    with np.errstate(all="ignore"):
        fits = (
            np.isfinite(transform.function(huge)).all()
            and np.isfinite(1.0 / transform.slope(huge) ** 2).all()
        )
    assert (applied is not None) == fits
    assert fits or transform is not IDENTITY


@transforms
def test_values_that_are_not_numbers_are_refused(transform):
    assert transform.apply(np.array([1.0, np.nan, 2.0]), np.ones(3)) is None


OPERATORS = ["add", "sub", "mul", "div", "inv", "exp", "log", "plog", "sqrt", "square", "pow", "pdiv"]


@settings(max_examples=80, deadline=None)
@given(names=st.lists(st.sampled_from(OPERATORS), unique=True), transform=st.sampled_from(TRANSFORMS))
def test_a_transform_that_is_allowed_can_be_written_with_the_operators_there_are(names, transform):
    vocabulary = Vocabulary(PrimitiveSet(names))
    if transform.allowed(vocabulary):
        tree = transform.inverse(vocabulary, X0)
        used = {tree.primitives.by_opcode(code).name for code in tree.op.tolist() if code > 1}
        assert used <= set(names)
        t = targets(0)
        z = transform.apply(t, np.ones_like(t))[0]
        np.testing.assert_allclose(tree.evaluate(z[:, None]) / multiple(transform), t, rtol=1e-10)


@pytest.mark.parametrize(
    ("missing", "lost"),
    [
        ("exp", {"log t"}),
        ("log", {"exp 1t", "exp 3t"}),
        ("div", {"1/t", "1/t^2", "1/sqrt t"}),
        ("sqrt", set()),  # exp and log write roots, too
    ],
)
def test_an_operator_that_is_missing_takes_away_what_needs_it(missing, lost):
    names = [name for name in ("add", "sub", "mul", "div", "exp", "log", "sqrt") if name != missing]
    vocabulary = Vocabulary(PrimitiveSet(names))
    assert {transform.name for transform in TRANSFORMS if not transform.allowed(vocabulary)} == lost


def test_polynomials_alone_allow_the_target_itself_and_its_root():
    allowed = [
        transform.name for transform in TRANSFORMS if transform.allowed(Vocabulary(PrimitiveSet.polynomial()))
    ]
    assert allowed == ["t", "sqrt t"]


def test_the_identity_changes_nothing():
    t, weights = targets(1) - 2.0, targets(2)
    z, new_weights = IDENTITY.apply(t, weights)
    np.testing.assert_array_equal(z, t)
    np.testing.assert_array_equal(new_weights, weights)
    assert IDENTITY.inverse(DEFAULT, X0) == X0


# From a sum for a transformed target to terms for y ------------------------------------------------------------
#: the feature that stands for the transformed target
TARGET = 3
FUNCTIONS = ["1", "x0", "x1^2", "x0*x1/x2", "sin(1.3*x0)", "exp(-0.4*x1)", "sqrt(x2)", "1/(x0 + x2)"]


def rows(seed, n=30):
    return np.random.default_rng(seed).uniform(0.3, 2.0, (n, TARGET + 1))


def reduction_of(factor=()):
    x = tuple(Expression.variable(i) for i in range(TARGET))
    return Reduction(x, tuple((x[i], p) for i, p in factor))


def factor_values(X, factor):
    return np.prod([X[:, i] ** p for i, p in factor], axis=0) * np.ones(len(X))


def drawn_sum(seed, k=3):
    """Coefficients and expressions of a positive sum, and its values."""
    rng = np.random.default_rng(seed)
    X = rows(seed)
    expressions = tuple(parse(FUNCTIONS[i]) for i in rng.choice(len(FUNCTIONS), k, replace=False))
    coefficients = tuple(rng.uniform(0.2, 2.0, k).tolist())
    values = sum(c * e.evaluate(X) for c, e in zip(coefficients, expressions, strict=True))
    # exp and its neighbours need room above 1: a logarithm of the sum must keep its sign.
    return X, coefficients, expressions, values


def inverse_values(transform, z):
    """g⁻¹(z), by NumPy alone; a law log(z)/k is written without k."""
    powers = {"t": 1.0, "1/t": -1.0, "t^2": 0.5, "1/t^2": -0.5, "sqrt t": 2.0, "1/sqrt t": -2.0}
    if transform.name in powers:
        return z ** powers[transform.name]
    return np.exp(z) if transform.name == "log t" else np.log(z)


FACTORS = [(), ((0, 1.0),), ((1, -2.0), (2, 0.5)), ((0, -1.0), (1, 3.0))]


@transforms
@pytest.mark.parametrize("factor", FACTORS, ids=str)
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_a_sum_for_a_transformed_target_becomes_factor_times_the_inverse_of_the_sum(transform, factor, seed):
    X, coefficients, expressions, z = drawn_sum(seed)
    terms = terms_for_target(DEFAULT, reduction_of(factor), transform, coefficients, expressions, TARGET)
    wanted = factor_values(X, factor) * inverse_values(transform, z)
    values = np.stack([term.evaluate(X) for term in terms])
    if transform is IDENTITY:
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
    multiplied = tuple(DEFAULT.product([e, z]) for e in below)
    coefficients = coefficients[: n_above + len(below)]
    [term] = terms_for_target(
        DEFAULT, reduction_of(factor), IDENTITY, coefficients, (*above, *multiplied), TARGET
    )
    top = sum(c * e.evaluate(X) for c, e in zip(coefficients, above, strict=False))
    bottom = 1.0 - sum(c * e.evaluate(X) for c, e in zip(coefficients[n_above:], below, strict=True))
    wanted, found = factor_values(X, factor) * top / bottom, term.evaluate(X)
    # The coefficient of a single term above is left to the fit.
    if n_above == 1:
        found = coefficients[0] * found
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert not uses(term, TARGET)


@pytest.mark.parametrize("n_above", [1, 2])
def test_a_fraction_for_a_transformed_target_becomes_the_inverse_of_the_fraction(n_above):
    X = rows(0)
    above, below = (
        (parse("x0"), parse("x1^2"))[:n_above],
        DEFAULT.product([parse("x2"), Expression.variable(TARGET)]),
    )
    coefficients = (*(2.0, 0.5)[:n_above], -0.7)
    fraction = (2.0 * X[:, 0] + (0.5 * X[:, 1] ** 2 if n_above == 2 else 0.0)) / (1.0 + 0.7 * X[:, 2])
    [term] = terms_for_target(
        DEFAULT, reduction_of(), transform_named("t^2"), coefficients, (*above, below), TARGET
    )
    ratio = term.evaluate(X) / np.sqrt(fraction)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-10)


def test_a_fraction_without_a_numerator_is_no_formula():
    multiplied = DEFAULT.product([parse("x0"), Expression.variable(TARGET)])
    assert terms_for_target(DEFAULT, reduction_of(), IDENTITY, (2.0,), (multiplied,), TARGET) is None


@settings(max_examples=30, deadline=None)
@given(seed=seeds, k=st.integers(0, 5))
def test_a_weighted_sum_has_the_values_of_the_sum(seed, k):
    X, coefficients, expressions, values = drawn_sum(seed, k)
    np.testing.assert_allclose(
        weighted_sum(DEFAULT, coefficients, expressions).evaluate(X), values + np.zeros(len(X)), rtol=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(seed=seeds, place=st.integers(0, 2))
def test_a_product_is_what_is_left_without_a_factor_times_that_factor(seed, place):
    X, _, expressions, _ = drawn_sum(seed, 2)
    factors = list(expressions)
    factors.insert(place, Expression.variable(TARGET))
    product = DEFAULT.product(factors)
    rest = without(product, TARGET)
    assert not uses(rest, TARGET)
    np.testing.assert_allclose(rest.evaluate(X) * X[:, TARGET], product.evaluate(X), rtol=1e-12)


def test_the_target_alone_without_itself_is_one():
    assert without(Expression.variable(TARGET), TARGET) == ONE


def test_terms_with_the_target_are_those_of_the_denominator():
    z = Expression.variable(TARGET)
    terms = (parse("x0"), DEFAULT.product([parse("x1/x2"), z]), parse("sin(x1)"))
    above, below = fraction_parts((1.0, 2.0, 3.0), terms, TARGET)
    assert above == [(1.0, parse("x0")), (3.0, parse("sin(x1)"))]
    assert below == [(2.0, parse("x1/x2"))]


def test_a_feature_is_used_where_it_occurs_and_not_where_its_number_is_a_constant():
    assert uses(parse("sin(x0 + x3)"), 3)
    assert not uses(parse("sin(x0 + 3)"), 3)
    assert not uses(parse("x0 + x1"), -1)
