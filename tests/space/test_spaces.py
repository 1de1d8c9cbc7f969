"""Three spaces with the same inner product, their special properties, and invalid input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from fouriertree.expr import parse
from fouriertree.expr.polynomial import Polynomial
from fouriertree.space import EmpiricalSpace, PolynomialSpace, QuadratureSpace
from fouriertree.testing.spaces import random_polynomial

seeds = st.integers(0, 2**32 - 1)
INTERVALS = [(-1.0, 1.0), (0.0, 1.0), (-0.5, 2.5)]


def power(i):
    return Polynomial.of([0] * i + [1])


def three_spaces(a, b, n=16):
    exact, quadrature = PolynomialSpace(a, b, max_degree=24), QuadratureSpace(a, b, n)
    points = EmpiricalSpace(quadrature.X, np.zeros(n), quadrature.weights)
    return exact, quadrature, points


@pytest.mark.parametrize(("a", "b"), INTERVALS)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_exact_integrals_quadrature_and_weighted_points_agree_on_polynomials(a, b, seed):
    rng = np.random.default_rng(seed)
    elements = [random_polynomial(rng, 10) for _ in range(4)]
    exact, quadrature, points = three_spaces(a, b)
    expected = np.array([[exact.inner(f, g) for g in elements] for f in elements])
    lengths = np.sqrt(np.diag(expected))
    scale = np.outer(lengths, lengths)
    for space in (quadrature, points):
        found = np.array([[space.inner(f, g) for g in elements] for f in elements])
        assert (np.abs(found - expected) <= 1e-12 * scale).all()
    for space in (exact, quadrature, points):
        vectors = space.coordinates(elements)
        assert (np.abs(vectors @ vectors.T - expected) <= 1e-12 * scale).all()


@pytest.mark.parametrize(("a", "b"), INTERVALS)
@pytest.mark.parametrize("n", range(1, 9))
def test_quadrature_is_exact_up_to_degree_2n_minus_1_and_not_beyond(a, b, n):
    space = QuadratureSpace(a, b, n)
    x = space.X[:, 0]
    for degree in range(2 * n + 1):
        exact = float(power(degree).integral(a, b))
        found = float(space.weights @ x**degree)
        size = float(space.weights @ np.abs(x) ** degree)
        if degree < 2 * n:
            assert abs(found - exact) <= 1e-13 * max(size, 1.0)
    # The error of x^2n is known: the squared length of the monic Legendre polynomial of degree n.
    nodes = Polynomial.of([1])
    for node in x:
        nodes = nodes * Polynomial.of([-float(node), 1])
    missing = float((nodes * nodes).integral(a, b))
    assert exact - found == pytest.approx(missing, rel=1e-6)
    assert missing > 1e-10


@pytest.mark.parametrize("text", ["sin(3*x0)", "exp(-x0^2)", "1/(2 + x0)"])
def test_quadrature_approaches_the_integral_of_any_smooth_function(text):
    f = parse(text)
    expected, _ = integrate.quad(lambda x: float(f.evaluate([[x]])[0]) ** 2, -1, 1, epsabs=1e-13)
    assert QuadratureSpace(-1, 1, 40).inner(f, f) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "target",
    ["x0^3", parse("x0^3"), power(3), lambda x: x**3],
    ids=["text", "tree", "polynomial", "function"],
)
def test_a_target_may_come_in_any_form(target):
    space = QuadratureSpace(-1, 2, 7, target)
    np.testing.assert_allclose(space.target, space.coordinates([parse("x0^3")])[0], rtol=1e-14)


@pytest.mark.parametrize(
    "target", [parse("x0^3 + 0.5"), Polynomial.of([Fraction(1, 2), 0, 0, 1])], ids=["tree", "polynomial"]
)
def test_the_exact_target_has_the_coordinates_of_the_element(target):
    space = PolynomialSpace(0, 2, target)
    np.testing.assert_array_equal(space.target, space.coordinates([parse("x0^3 + 0.5")])[0])


def test_exact_inner_products_are_fractions():
    space = PolynomialSpace(Fraction(0), Fraction(1, 3))
    assert space.exact_inner(parse("x0"), power(2)) == Fraction(1, 4) / 81
    assert space.span_size(parse("(x0 + 1)*(x0 - 1)")) == 2


def test_legendre_polynomials_are_the_coordinate_axes():
    space = PolynomialSpace(-1, 1, max_degree=5)
    found = space.coordinates([parse("1"), parse("x0"), parse("1.5*x0^2 - 0.5"), parse("2.5*x0^3 - 1.5*x0")])
    expected = np.zeros((4, 6))
    expected[range(4), range(4)] = np.sqrt(2 / (2 * np.arange(4) + 1))
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_coordinates_of_high_degree_keep_their_digits():
    # In powers of x the norm of a Legendre series of degree 60 would drown in cancellation.
    space = PolynomialSpace(-1, 1, max_degree=64)
    tree = parse("(x0^2 - 1)^30")
    vector = space.coordinates([tree])[0]
    assert vector @ vector == pytest.approx(space.inner(tree, tree), rel=1e-13)


# Rows and weights ------------------------------------------------------------------------------------
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_rows_of_weight_zero_are_dropped(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X, y, w = rng.uniform(-2, 2, (n, 1)), rng.standard_normal(n), rng.integers(0, 2, n).astype(float)
    w[0] = 1.0
    used = w > 0
    # Even a value that would ruin the row has no say there.
    X[~used] = np.inf
    space, without = EmpiricalSpace(X, y, w), EmpiricalSpace(X[used], y[used])
    assert space.dimension == used.sum()
    np.testing.assert_array_equal(space.target, without.target)
    elements = [random_polynomial(rng) for _ in range(3)]
    np.testing.assert_array_equal(space.coordinates(elements), without.coordinates(elements))


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_integer_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X, y, times = rng.uniform(-2, 2, (n, 1)), rng.standard_normal(n), rng.integers(1, 5, n)
    weighted = EmpiricalSpace(X, y, times)
    repeated = EmpiricalSpace(np.repeat(X, times, axis=0), np.repeat(y, times))
    f, g = random_polynomial(rng), random_polynomial(rng)
    scale = np.sqrt(repeated.inner(f, f) * repeated.inner(g, g))
    assert abs(weighted.inner(f, g) - repeated.inner(f, g)) <= 1e-12 * scale
    assert weighted.target @ weighted.target == pytest.approx(repeated.target @ repeated.target)
    moment = weighted.coordinates([f])[0] @ weighted.target
    assert moment == pytest.approx(repeated.coordinates([f])[0] @ repeated.target, rel=1e-9, abs=1e-9)


def test_a_space_keeps_its_own_copy_of_the_data():
    X, y, w = np.arange(1.0, 5.0)[:, None], np.arange(4.0), np.ones(4)
    space = EmpiricalSpace(X, y, w)
    target, inner = space.target.copy(), space.inner(parse("x0"), parse("x0"))
    X[:], y[:], w[:] = 0.0, 0.0, 0.0
    np.testing.assert_array_equal(space.target, target)
    assert space.inner(parse("x0"), parse("x0")) == inner


# Elements that are not in the space ------------------------------------------------------------------
def test_functions_without_a_finite_value_everywhere_are_not_in_the_space():
    space = EmpiricalSpace([[-1.0], [0.0], [2.0]], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    elements = [parse("log(x0)"), parse("x0"), parse("1/x0"), parse("exp(exp(x0*4))")]
    outside = np.array([True, False, True, True])
    np.testing.assert_array_equal(np.isnan(space.coordinates(elements)), np.tile(outside, (3, 1)).T)
    scores = space.scores(elements, np.ones(3))
    np.testing.assert_array_equal(np.isnan(scores.norms), outside)
    np.testing.assert_array_equal(np.isnan(scores.products), outside)


def test_polynomials_above_the_maximum_degree_are_not_in_the_space():
    space = PolynomialSpace(-1, 1, max_degree=4)
    elements = [parse("x0^4"), parse("x0^5"), parse("x0^5 - x0^5 + 1")]
    outside = np.array([False, True, False])
    np.testing.assert_array_equal(np.isnan(space.coordinates(elements)).any(axis=1), outside)
    np.testing.assert_array_equal(np.isnan(space.scores(elements, np.ones(5)).products), outside)


# Errors ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0]), "X must be"),
        (([[1.0], [2.0]], [1.0]), r"and y \(n_rows,\)"),
        (([[1.0], [2.0]], [[1.0], [2.0]]), r"and y \(n_rows,\)"),
        (([[1.0], [2.0]], [1.0, np.nan]), "y has values that are not finite"),
        (([[1.0], [2.0]], [1.0, np.inf]), "y has values that are not finite"),
        (([[1.0], [2.0]], [1.0, 2.0], [1.0]), "sample_weight must have one value per row, 2"),
        (([[1.0], [2.0]], [1.0, 2.0], [1.0, -1.0]), "not negative"),
        (([[1.0], [2.0]], [1.0, 2.0], [1.0, np.nan]), "finite"),
        (([[1.0], [2.0]], [1.0, 2.0], [0.0, 0.0]), "no rows with a positive weight"),
        ((np.empty((0, 1)), []), "no rows"),
    ],
)
def test_invalid_data_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        EmpiricalSpace(*arguments)


@pytest.mark.parametrize(
    "kind", [PolynomialSpace, lambda a, b: QuadratureSpace(a, b, 4)], ids=["exact", "quadrature"]
)
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0)])
def test_an_empty_interval_is_rejected(kind, a, b):
    with pytest.raises(ValueError, match="a < b"):
        kind(a, b)


def test_quadrature_needs_a_node_and_a_finite_target():
    with pytest.raises(ValueError, match="at least one node; got n = 0"):
        QuadratureSpace(-1, 1, 0)
    for target in ("log(x0)", lambda x: x[:2], lambda x: np.full(x.shape, np.nan)):
        with pytest.raises(ValueError, match="finite value at every node"):
            QuadratureSpace(-1, 1, 5, target)


@pytest.mark.parametrize(
    "space", [PolynomialSpace(-1, 1), QuadratureSpace(-1, 1, 4)], ids=["exact", "quadrature"]
)
def test_the_error_about_a_missing_target_names_the_parameter(space):
    with pytest.raises(ValueError, match="target=…"):
        _ = space.target


def test_a_target_above_the_maximum_degree_is_rejected():
    with pytest.raises(ValueError, match="degree 5 > max_degree = 4"):
        _ = PolynomialSpace(-1, 1, parse("x0^5"), max_degree=4).target


def test_trees_that_are_not_polynomials_are_named_in_the_error():
    with pytest.raises(ValueError, match="'sin' does not make polynomials"):
        PolynomialSpace(-1, 1).inner(parse("sin(x0)"), parse("x0"))


# Elements that are rounding only -----------------------------------------------------------------------
@pytest.mark.parametrize("text", ["x0*x0*(x0*x0) - x0*(x0*x0)*x0", "x0 + 0.1 + 0.2 - (x0 + (0.1 + 0.2))"])
def test_an_element_that_is_zero_up_to_rounding_is_not_in_the_space(text):
    space = EmpiricalSpace(np.random.default_rng(0).uniform(-1, 1, (50, 1)), np.zeros(50))
    values = space.engine.evaluate([parse(text)], space.X)
    assert 0 < np.abs(values).max() < 1e-14
    assert np.isnan(space.coordinates([parse(text)])).all()


@pytest.mark.parametrize("text", ["x0*1e-20", "x0^2*1e-12", "1e-30", "sin(x0)*1e-9", "x0"])
def test_functions_of_small_norm_are_in_the_space(text):
    space = EmpiricalSpace(np.random.default_rng(0).uniform(-1, 1, (50, 1)), np.zeros(50))
    assert np.allclose(space.coordinates([parse(text)])[0], parse(text).evaluate(space.X), rtol=1e-14, atol=0)


def test_features_of_any_scale_give_elements_of_the_space():
    X = np.random.default_rng(0).uniform(1, 2, (50, 1)) * 1e-25
    space = EmpiricalSpace(X, np.zeros(50))
    assert np.isfinite(space.coordinates([parse("x0"), parse("x0 + x0*0.5")])).all()
