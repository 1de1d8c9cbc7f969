"""The surrogate: what it says of itself by formulas, finite differences say too; smooth functions are recovered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.search.hybrid.surrogate import Surrogate, fit_surrogate, gaussian, negative_evidence

seeds = st.integers(0, 2**32 - 1)


def differences(function, x, step=1e-5):
    """∂function/∂x by central differences: (len(x), *shape of the value)."""
    return np.array([(function(x + e) - function(x - e)) / (2.0 * step) for e in step * np.eye(len(x))])


def drawn(seed, n=25, d=2):
    """Standardised inputs, targets, and logarithms of lengths, height and noise."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n), rng.uniform(-1.0, 1.0, d + 2)


def smooth(Z):
    return np.sin(Z[:, 0]) + 0.5 * Z[:, 0] * Z[:, 1]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2, 2, (250, 2))
    return fit_surrogate(Z, smooth(Z), rng)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, d=st.integers(1, 4))
def test_the_kernel_is_that_of_the_distances_in_lengths(seed, d):
    a, _, parameters = drawn(seed, 5, d)
    b, lengths = a[::-1] + 0.3, np.exp(parameters[:d])
    slow = [[np.exp(-0.5 * sum(((p - q) / lengths) ** 2)) for q in b] for p in a]
    np.testing.assert_allclose(gaussian(a, b, lengths), slow, rtol=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, d=st.integers(1, 4))
def test_the_evidence_is_the_density_of_the_targets(seed, d):
    z, u, parameters = drawn(seed, d=d)
    lengths, height, noise = np.exp(parameters[:-2]), np.exp(parameters[-2]), np.exp(parameters[-1])
    kernel = height**2 * gaussian(z, z, lengths) + noise**2 * np.eye(len(u))
    slow = 0.5 * u @ np.linalg.solve(kernel, u) + 0.5 * np.linalg.slogdet(kernel)[1]
    assert negative_evidence(parameters, z, u)[0] == pytest.approx(slow, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, d=st.integers(1, 4))
def test_the_gradient_of_the_evidence_is_that_of_finite_differences(seed, d):
    z, u, parameters = drawn(seed, d=d)
    slow = differences(lambda p: negative_evidence(p, z, u)[0], parameters)
    np.testing.assert_allclose(negative_evidence(parameters, z, u)[1], slow, rtol=1e-5, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, d=st.integers(1, 4))
def test_the_gradient_of_a_surrogate_is_that_of_finite_differences(seed, d):
    rng = np.random.default_rng(seed)
    centres, alpha, parameters = drawn(seed, 8, d)
    spread, centre, none = rng.uniform(0.1, 10.0, d), rng.standard_normal(d), np.zeros(d, bool)
    surrogate = Surrogate(
        centres, alpha, np.exp(parameters[:d]), 1.3, 0.1, none, centre, spread, mean=2.0, scale=5.0
    )
    for point in rng.standard_normal((3, d)) * spread:
        _, gradient = surrogate.values_and_gradient(point[None])
        steps = np.diag(1e-5 * spread)
        slow = [
            (
                surrogate.values_and_gradient((point + e)[None])[0]
                - surrogate.values_and_gradient((point - e)[None])[0]
            )
            / (2.0 * e.sum())
            for e in steps
        ]
        np.testing.assert_allclose(gradient[:, 0] * spread, np.ravel(slow) * spread, rtol=1e-5, atol=1e-7)


def test_the_slopes_by_a_logged_input_are_those_by_its_logarithm():
    centres, alpha, parameters = drawn(0, 8, 2)
    given = centres, alpha, np.exp(parameters[:2]), 1.3, 0.1
    units = np.array([0.2, -1.0]), np.array([0.7, 2.0]), 2.0, 5.0
    of_logarithms = Surrogate(*given, np.array([True, False]), *units)
    of_inputs = Surrogate(*given, np.array([False, False]), *units)
    Z = np.random.default_rng(1).uniform(0.5, 3.0, (6, 2))
    for found, expected in zip(
        of_logarithms.values_and_gradient(Z),
        of_inputs.values_and_gradient(np.column_stack([np.log(Z[:, 0]), Z[:, 1]])),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_of_a_power_the_logarithm_is_an_input_and_of_a_wave_the_variable_itself():
    rng = np.random.default_rng(5)
    Z = rng.uniform(0.5, 6.0, (500, 2))
    t = 2.0 * np.log(Z[:, 0]) + np.cos(4.0 * Z[:, 1]) + 0.03 * rng.standard_normal(500)
    assert fit_surrogate(Z, t, rng).logged.tolist() == [True, False]


def test_a_smooth_function_and_its_gradient_are_recovered_between_the_rows(fitted):
    Z = np.random.default_rng(1).uniform(-1.8, 1.8, (400, 2))
    values, gradient = fitted.values_and_gradient(Z)
    slopes = np.stack([np.cos(Z[:, 0]) + 0.5 * Z[:, 1], 0.5 * Z[:, 0]])
    assert np.std(values - smooth(Z)) < 1e-3 * np.std(smooth(Z))
    assert np.abs(gradient - slopes).max() < 0.02
    assert fitted.noise < 1e-3


def test_units_do_not_matter(fitted):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2, 2, (250, 2))
    units, shift = np.array([1e-3, 37.5]), np.array([5e-4, -30.0])
    other = fit_surrogate(Z * units + shift, 1e6 * smooth(Z) - 7.0, rng)
    point = np.array([[0.3, -0.8], [1.2, 0.1]])
    values, gradient = fitted.values_and_gradient(point)
    moved, moved_gradient = other.values_and_gradient(point * units + shift)
    np.testing.assert_allclose(moved, 1e6 * values - 7.0, rtol=1e-3)
    np.testing.assert_allclose(moved_gradient, 1e6 * gradient / units[:, None], rtol=2e-2)


def test_the_order_of_columns_does_not_matter(fitted):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2, 2, (250, 2))
    other = fit_surrogate(Z[:, ::-1], smooth(Z), rng)
    np.testing.assert_allclose(other.lengths[::-1], fitted.lengths, rtol=0.05)


def test_a_column_of_no_use_gets_the_greatest_length():
    rng = np.random.default_rng(2)
    Z = rng.uniform(-2, 2, (200, 3))
    assert np.argmax(fit_surrogate(Z, smooth(Z), rng).lengths) == 2


def test_noise_is_taken_for_noise():
    rng = np.random.default_rng(3)
    Z = rng.uniform(-2, 2, (240, 1))
    y = np.sin(2.0 * Z[:, 0]) + 0.2 * rng.standard_normal(240)
    surrogate = fit_surrogate(Z, y, rng)
    assert surrogate.noise * y.std() == pytest.approx(0.2, rel=0.25)
    values, _ = surrogate.values_and_gradient(Z)
    assert np.std(values - np.sin(2.0 * Z[:, 0])) < 0.08


@pytest.mark.parametrize("what", ["column", "target"])
def test_what_does_not_vary_has_no_surrogate(what):
    rng = np.random.default_rng(4)
    Z, t = rng.standard_normal((30, 2)), rng.standard_normal(30)
    if what == "column":
        Z[:, 1] = 3.0
    else:
        t[:] = 3.0
    assert fit_surrogate(Z, t, rng) is None


def test_parameters_for_which_no_factor_exists_are_never_the_best():
    z = np.zeros((5, 1))
    value, gradient = negative_evidence(np.array([0.0, 5.0, -1000.0]), z, np.arange(5.0))
    assert value >= 1e10
    assert (gradient == 0.0).all()
