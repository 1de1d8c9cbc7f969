"""Links: g and its inverse as it is written, slopes, weights, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.links import IDENTITY, LINKS, SPREAD

DEFAULT = Vocabulary(PrimitiveSet.default())
X0 = Expression.variable(0)
seeds = st.integers(0, 2**32 - 1)
links = pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)


def multiple(link):
    """k in g(t) = exp(k·t): its inverse is written as k·t, and the number in front comes out of the fit."""
    return float(link.name.removeprefix("exp ").removesuffix("t")) if link.name.startswith("exp") else 1.0


def targets(seed, sign=1.0, n=50):
    return sign * np.random.default_rng(seed).uniform(0.2, 5.0, n)


def inverse(link, z, vocabulary=DEFAULT):
    return link.inverse(vocabulary, X0).evaluate(z[:, None])


@links
@settings(max_examples=10, deadline=None)
@given(seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_the_inverse_as_it_is_written_undoes_the_image(link, seed, sign):
    t = targets(seed, sign)
    z, _, told = link.apply(t, np.ones_like(t))
    np.testing.assert_allclose(told * inverse(link, z) / multiple(link), t, rtol=1e-12)


@links
def test_images_of_both_signs_come_back_where_the_link_takes_them(link):
    t = targets(0) * np.where(np.arange(50) % 2, 1.0, -1.0)
    applied = link.apply(t, np.ones_like(t))
    assert (applied is None) == link.one_sign
    if applied is not None:
        np.testing.assert_allclose(applied[2] * inverse(link, applied[0]) / multiple(link), t, rtol=1e-12)


@links
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_slope_is_that_of_finite_differences(link, seed):
    t, step = targets(seed), 1e-6
    slow = (link.image(t + step) - link.image(t - step)) / (2.0 * step)
    np.testing.assert_allclose(link.slope(t), slow, rtol=1e-6, atol=1e-8)


@links
@settings(max_examples=10, deadline=None)
@given(seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_a_small_error_of_the_image_weighs_like_the_error_of_the_target(link, seed, sign):
    rng = np.random.default_rng(seed)
    t, weights = sign * rng.uniform(1.0, 1.5, 50), rng.uniform(0.5, 2.0, 50)
    moved = t * (1.0 + 1e-7 * rng.standard_normal(50))
    z, image_weights, _ = link.apply(t, weights)
    moved_z = link.apply(moved, weights)[0]
    np.testing.assert_allclose(image_weights * (moved_z - z) ** 2, weights * (moved - t) ** 2, rtol=1e-4)


@links
def test_weights_stay_within_bounds_of_their_median(link):
    t = np.geomspace(1e-4, 20.0, 101)
    z, weights, _ = link.apply(t, np.ones_like(t))
    free = 1.0 / np.square(link.slope(t))
    np.testing.assert_array_equal(weights, np.clip(free, np.median(free) / SPREAD, np.median(free) * SPREAD))
    assert weights.max() <= SPREAD**2 * weights.min() * (1.0 + 1e-12)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("name", ["log t", "1/t", "1/t^2", "1/sqrt t"])
def test_an_image_of_zero_that_is_infinite_is_refused(name):
    link = next(link for link in LINKS if link.name == name)
    assert link.apply(np.array([0.0, 1.0, 2.0]), np.ones(3)) is None


@links
def test_an_image_beyond_the_range_of_numbers_is_refused(link):
    huge = np.array([1.0, 2.0, 1e300])
    applied = link.apply(huge, np.ones(3))
    with np.errstate(all="ignore"):
        fits = np.isfinite(link.image(huge)).all() and np.isfinite(1.0 / link.slope(huge) ** 2).all()
    assert (applied is not None) == fits
    assert fits or link is not IDENTITY


@links
def test_values_that_are_not_numbers_are_refused(link):
    assert link.apply(np.array([1.0, np.nan, 2.0]), np.ones(3)) is None


OPERATORS = ["add", "sub", "mul", "div", "inv", "exp", "log", "plog", "sqrt", "square", "pow", "pdiv"]


@settings(max_examples=80, deadline=None)
@given(names=st.lists(st.sampled_from(OPERATORS), unique=True), link=st.sampled_from(LINKS))
def test_a_link_that_is_allowed_can_be_written_with_the_operators_there_are(names, link):
    vocabulary = Vocabulary(PrimitiveSet(names))
    if link.allowed(vocabulary):
        tree = link.inverse(vocabulary, X0)
        used = {tree.primitives.by_opcode(code).name for code in tree.op.tolist() if code > 1}
        assert used <= set(names)
        t = targets(0)
        z = link.apply(t, np.ones_like(t))[0]
        np.testing.assert_allclose(tree.evaluate(z[:, None]) / multiple(link), t, rtol=1e-10)


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
    assert {link.name for link in LINKS if not link.allowed(vocabulary)} == lost


def test_polynomials_alone_allow_the_target_itself_and_its_root():
    allowed = [link.name for link in LINKS if link.allowed(Vocabulary(PrimitiveSet.polynomial()))]
    assert allowed == ["t", "sqrt t"]


def test_the_identity_changes_nothing():
    t, weights = targets(1) - 2.0, targets(2)
    z, image_weights, sign = IDENTITY.apply(t, weights)
    np.testing.assert_array_equal(z, t)
    np.testing.assert_array_equal(image_weights, weights)
    assert sign == 1.0
    assert IDENTITY.inverse(DEFAULT, X0) == X0
