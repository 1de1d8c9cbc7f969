"""The contract of spaces.

    for check in fouriertree.testing.spaces.CHECKS:
        check(MySpace(...), numpy.random.default_rng(0))

Elements are polynomials in x0 of small degree, which every space contains.  The space must have a target.  Each check
draws its own elements from `rng` and raises AssertionError where the contract is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import mul

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs
from fouriertree.space import Space

Array = NDArray[np.float64]
Rng = np.random.Generator
Check = Callable[[Space, Rng], None]
DEGREE = 6
#: relative to the norms of both elements
TOLERANCE = 1e-12


def random_polynomial(rng: Rng, degree: int = DEGREE) -> Expression:
    """A tree by Horner's rule whose coefficients, from −2 to 2, are exact in binary."""
    x = Expression.variable(0)
    total = Expression.constant(1.0)
    for _ in range(int(rng.integers(0, degree + 1))):
        total = total * x + float(rng.integers(-16, 17)) / 8
    return total


def check_inner_product_is_symmetric(space: Space, rng: Rng) -> None:
    f, g = random_polynomial(rng), random_polynomial(rng)
    _assert_close(space, space.inner(f, g), space.inner(g, f), f, g)


def check_inner_product_is_linear(space: Space, rng: Rng) -> None:
    f, g, h = (random_polynomial(rng) for _ in range(3))
    a, b = (float(c) for c in rng.integers(-8, 9, 2) / 4)
    combination = a * f + b * g
    expected = a * space.inner(f, h) + b * space.inner(g, h)
    scale = (abs(a) * _length(space, f) + abs(b) * _length(space, g)) * _length(space, h)
    assert abs(space.inner(combination, h) - expected) <= TOLERANCE * scale


def check_inner_product_is_positive(space: Space, rng: Rng) -> None:
    f = random_polynomial(rng)
    assert space.inner(f, f) > 0.0
    assert abs(space.inner(f - f, f - f)) == 0.0


def check_cauchy_schwarz(space: Space, rng: Rng) -> None:
    f, g = random_polynomial(rng), random_polynomial(rng)
    assert abs(space.inner(f, g)) <= _length(space, f) * _length(space, g) * (1 + TOLERANCE)
    _assert_close(space, abs(space.inner(f, -2.0 * f)), 2 * _length(space, f) ** 2, f, -2.0 * f)


def check_coordinates_are_an_isometry(space: Space, rng: Rng) -> None:
    elements = [random_polynomial(rng) for _ in range(4)]
    vectors = space.coordinates(elements)
    assert vectors.shape == (4, len(space.target))
    assert vectors.dtype == np.float64
    for i, f in enumerate(elements):
        for j, g in enumerate(elements):
            _assert_close(space, float(vectors[i] @ vectors[j]), space.inner(f, g), f, g)


def check_coordinates_are_linear(space: Space, rng: Rng) -> None:
    f, g = random_polynomial(rng), random_polynomial(rng)
    u, v, w = space.coordinates([f, g, 0.5 * f - 3.0 * g])
    scale = _length(space, f) + 3 * _length(space, g)
    np.testing.assert_allclose(w, 0.5 * u - 3.0 * v, rtol=0, atol=TOLERANCE * scale)


def check_scores_are_dots_of_coordinates(space: Space, rng: Rng) -> None:
    elements = [random_polynomial(rng) for _ in range(5)]
    vectors, n = space.coordinates(elements), len(space.target)
    residual = rng.standard_normal(n)
    basis, _ = np.linalg.qr(rng.standard_normal((n, min(3, n))))
    norms = np.einsum("ij,ij->i", vectors, vectors)
    lengths = np.sqrt(norms)
    plain, full = space.scores(elements, residual), space.scores(elements, residual, basis)
    for scores in (plain, full):
        assert scores.norms.shape == scores.products.shape == scores.projected_norms.shape == (5,)
        np.testing.assert_allclose(scores.norms, norms, rtol=TOLERANCE)
        error = np.abs(scores.products - vectors @ residual)
        assert (error <= TOLERANCE * lengths * np.linalg.norm(residual)).all()
    np.testing.assert_array_equal(plain.projected_norms, 0.0)
    projected_norms = np.square(vectors @ basis).sum(axis=1)
    assert (np.abs(full.projected_norms - projected_norms) <= TOLERANCE * norms).all()
    assert (full.projected_norms <= norms * (1 + TOLERANCE)).all()


def check_samples_have_the_inner_product_of_the_space(space: Space, rng: Rng) -> None:
    f, g = random_polynomial(rng), random_polynomial(rng)
    u, v = space.coordinates([f, g])
    for X, values, weights in space.samples():
        assert X.shape == (len(values), space.n_columns)
        assert weights.shape == values.shape
        a, b = f.evaluate(X), g.evaluate(X)
        # Nodes and weights of thousands of points are accurate to about eleven digits.
        products = float(np.sum(weights * a * b)), float(np.sum(weights * a * values))
        lengths = np.linalg.norm(v), np.linalg.norm(space.target)
        for found, other, length in zip(products, (v, space.target), lengths, strict=True):
            assert abs(found - u @ other) <= 100 * TOLERANCE * np.linalg.norm(u) * length


def check_a_packed_batch_equals_the_list(space: Space, rng: Rng) -> None:
    elements = [random_polynomial(rng) for _ in range(5)]
    packed, residual = Programs.pack(elements), rng.standard_normal(len(space.target))
    np.testing.assert_array_equal(space.coordinates(packed), space.coordinates(elements))
    np.testing.assert_equal(space.scores(packed, residual), space.scores(elements, residual))


def check_no_elements_have_no_coordinates(space: Space, rng: Rng) -> None:
    n = len(space.target)
    assert space.coordinates([]).shape == (0, n)
    assert [scores.shape for scores in space.scores([], np.ones(n))] == [(0,)] * 3


def check_the_target_is_a_finite_vector(space: Space, rng: Rng) -> None:
    assert space.target.ndim == 1
    assert space.target.dtype == np.float64
    assert np.isfinite(space.target).all()
    assert space.n_columns >= 1


def check_as_many_powers_are_independent_as_the_dimension_allows(space: Space, rng: Rng) -> None:
    powers = list(accumulate([Expression.variable(0)] * DEGREE, mul, initial=Expression.constant(1.0)))
    expected = len(powers) if space.dimension is None else min(len(powers), space.dimension)
    assert np.linalg.matrix_rank(space.coordinates(powers)) == expected


def check_returned_arrays_may_be_modified(space: Space, rng: Rng) -> None:
    f = random_polynomial(rng)
    found = space.coordinates([f])
    before = found.copy()
    found[:] = 0.0
    np.testing.assert_array_equal(space.coordinates([f]), before)


CHECKS: list[Check] = [check for name, check in list(globals().items()) if name.startswith("check_")]


def _length(space: Space, f: Expression) -> float:
    return float(np.sqrt(space.inner(f, f)))


def _assert_close(space: Space, left: float, right: float, f: Expression, g: Expression) -> None:
    assert abs(left - right) <= TOLERANCE * _length(space, f) * _length(space, g)
