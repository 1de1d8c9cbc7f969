"""The contract of projectors.

    for check in fouriertree.testing.projectors.CHECKS:
        check(MyProjector(), numpy.random.default_rng(0))

Each check draws its own well-conditioned example from `rng` and raises AssertionError where the contract is broken.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projection import Projection, Projector

Array = NDArray[np.float64]
Rng = np.random.Generator
Check = Callable[[Projector, Rng], None]


def independent_rows(rng: Rng, k: int, n: int) -> Array:
    """k ≤ n random vectors (k, n) whose Gram matrix has a condition number of a few hundred at most."""
    frame, _ = np.linalg.qr(rng.standard_normal((n, k)))
    triangle = np.triu(rng.uniform(-0.3, 0.3, (k, k)), 1) / np.sqrt(k) + np.diag(rng.uniform(1.0, 3.0, k))
    rows: Array = (frame @ triangle).T
    return rows


def check_empty_basis_leaves_the_whole_target(projector: Projector, rng: Rng) -> None:
    target = rng.standard_normal(7)
    projection = projector.start(target)
    assert projection.size == 0
    assert projection.coefficients.shape == (0,)
    np.testing.assert_array_equal(projection.residual, target)
    assert projection.condition == 1.0
    _assert_close(projection.loss, float(target @ target))


def check_start_keeps_its_own_copy_of_the_target(projector: Projector, rng: Rng) -> None:
    target = rng.standard_normal(7)
    projection = projector.start(target)
    before = projection.residual.copy()
    target[:] = 0.0
    np.testing.assert_array_equal(projection.residual, before)


def check_loss_strictly_decreases_with_every_accepted_element(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng, accepted=0)
    for v in elements:
        loss, gain = projection.loss, projection.gain(v)
        assert projection.add(v), "an independent element was rejected"
        if gain > 1e-12 * loss:
            assert projection.loss < loss


def check_loss_is_the_squared_norm_of_the_residual(projector: Projector, rng: Rng) -> None:
    _, _, projection = _example(projector, rng)
    assert projection.loss == float(projection.residual @ projection.residual)


def check_as_many_independent_elements_as_points_give_zero_loss(projector: Projector, rng: Rng) -> None:
    n = int(rng.integers(1, 12))
    elements = independent_rows(rng, n, n)
    target = rng.standard_normal(n)
    projection = _filled(projector, target, elements)
    assert projection.loss <= 1e-24 * (target @ target)


def check_residual_is_orthogonal_to_the_span(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    np.testing.assert_allclose(elements @ projection.residual, 0.0, atol=1e-11)


def check_residual_is_target_minus_combination(projector: Projector, rng: Rng) -> None:
    target, elements, projection = _example(projector, rng)
    expected = target - projection.coefficients @ elements
    np.testing.assert_allclose(projection.residual, expected, rtol=0, atol=1e-11)


def check_coefficients_solve_the_least_squares_problem(projector: Projector, rng: Rng) -> None:
    target, elements, projection = _example(projector, rng)
    for j in range(len(elements) + 1):
        expected = np.linalg.lstsq(elements[:j].T, target, rcond=None)[0] if j else np.empty(0)
        np.testing.assert_allclose(projection.coefficients_of_prefix(j), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(projection.coefficients, expected, rtol=1e-9, atol=1e-10)


def check_gain_is_the_fall_of_the_loss(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng, accepted=0)
    for v in elements:
        loss, gain = projection.loss, projection.gain(v)
        projection.add(v)
        assert abs(loss - projection.loss - gain) <= 1e-10 * loss


def check_gains_are_the_gains_of_the_rows(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    n = elements.shape[1]
    rows = np.vstack([rng.standard_normal((5, n)), elements[:1], np.zeros(n), np.full(n, np.nan)])
    expected = [projection.gain(v) for v in rows]
    np.testing.assert_allclose(projection.gains(rows), expected, rtol=1e-9, atol=1e-11)
    assert projection.gains(np.empty((0, n))).shape == (0,)


def check_gain_changes_nothing(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    before = projection.state()
    projection.gain(rng.standard_normal(elements.shape[1]))
    np.testing.assert_equal(projection.state(), before)


def check_dependent_candidate_is_rejected_not_inverted(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    for candidate in (elements[0], -2.0 * elements[-1], rng.standard_normal(len(elements)) @ elements):
        _assert_rejected(projection, candidate)


def check_unusable_candidate_is_rejected(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    for poison in (np.nan, np.inf, -np.inf):
        candidate = rng.standard_normal(elements.shape[1:])
        candidate[rng.integers(candidate.size)] = poison
        _assert_rejected(projection, candidate)
    assert not projection.add(np.zeros(elements.shape[1])), "zero spans nothing"
    assert not projection.add(np.full(elements.shape[1], 1e308)), "its coefficient underflows float64"


def check_wrong_shapes_are_refused_with_a_message(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    n = elements.shape[1]
    refused: Callable[..., None] = np.testing.assert_raises_regex
    refused(ValueError, ".", projection.add, np.ones(n + 1))
    refused(ValueError, ".", projection.gain, np.ones((n, 1)))
    refused(ValueError, ".", projector.start, np.array([1.0, np.nan]))
    refused(ValueError, ".", projector.start, np.ones((2, 2)))
    refused(IndexError, ".", projection.drop, projection.size)
    refused(IndexError, ".", projection.coefficients_of_prefix, projection.size + 1)


def check_dropping_an_element_projects_onto_the_others(projector: Projector, rng: Rng) -> None:
    target, elements, projection = _example(projector, rng)
    while len(elements):
        i = int(rng.integers(len(elements)))
        elements = np.delete(elements, i, axis=0)
        projection.drop(i)
        afresh = _filled(projector, target, elements)
        np.testing.assert_allclose(projection.coefficients, afresh.coefficients, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(projection.residual, afresh.residual, rtol=1e-9, atol=1e-11)
        v = rng.standard_normal(target.size)
        _assert_close(projection.gain(v), afresh.gain(v))
    np.testing.assert_allclose(projection.residual, target, rtol=1e-9, atol=1e-11)


def check_a_dropped_element_can_be_added_again(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    loss = projection.loss
    i = int(rng.integers(len(elements)))
    projection.drop(i)
    assert projection.loss >= loss * (1 - 1e-9)
    assert projection.add(elements[i])
    _assert_close(projection.loss, loss)


def check_order_of_elements_does_not_matter(projector: Projector, rng: Rng) -> None:
    target, elements, projection = _example(projector, rng)
    order = rng.permutation(len(elements))
    shuffled = _filled(projector, target, elements[order])
    np.testing.assert_allclose(shuffled.coefficients, projection.coefficients[order], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(shuffled.residual, projection.residual, rtol=1e-9, atol=1e-11)


def check_state_is_restored_exactly(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    again = projector.restore(_through_npz(projection.state()))
    _assert_same_projection(again, projection)
    # Equal states must also evolve equally.
    v = rng.standard_normal(elements.shape[1])
    assert again.gain(v) == projection.gain(v)
    assert again.add(v) == projection.add(v)
    _assert_same_projection(again, projection)
    again.drop(0)
    projection.drop(0)
    _assert_same_projection(again, projection)
    assert again.add(elements[0]) == projection.add(elements[0])
    _assert_same_projection(again, projection)
    empty = projector.start(elements[0])
    _assert_same_projection(projector.restore(_through_npz(empty.state())), empty)


def check_returned_arrays_are_read_only(projector: Projector, rng: Rng) -> None:
    _, _, projection = _example(projector, rng)
    assert not projection.residual.flags.writeable
    assert not projection.coefficients.flags.writeable


def check_condition_is_that_of_the_gram_matrix(projector: Projector, rng: Rng) -> None:
    _, elements, projection = _example(projector, rng)
    np.testing.assert_allclose(projection.condition, np.linalg.cond(elements @ elements.T), rtol=1e-6)


def check_traverses_are_positive_and_grow(projector: Projector, rng: Rng) -> None:
    costs = [projector.attempt_traverses(k) for k in range(1, 30)]
    assert costs[0] >= 1
    assert costs == sorted(costs)
    assert all(projector.acceptance_traverses(k) >= 1 for k in range(1, 30))


CHECKS: list[Check] = [check for name, check in list(globals().items()) if name.startswith("check_")]


def _example(projector: Projector, rng: Rng, accepted: int | None = None) -> tuple[Array, Array, Projection]:
    """A random target (n,), independent elements (k, n), k < n, and the projection onto the first `accepted`."""
    n = int(rng.integers(3, 40))
    k = int(rng.integers(1, min(n - 1, 20) + 1))
    elements, target = independent_rows(rng, k, n), rng.standard_normal(n)
    return target, elements, _filled(projector, target, elements[:accepted])


def _filled(projector: Projector, target: Array, elements: Array) -> Projection:
    projection = projector.start(target)
    for v in elements:
        assert projection.add(v), "an independent element was rejected"
    assert projection.size == len(elements)
    return projection


def _through_npz(state: dict[str, Any]) -> dict[str, Any]:
    buffer = io.BytesIO()
    np.savez(buffer, **state)
    buffer.seek(0)
    with np.load(buffer, allow_pickle=False) as loaded:
        return dict(loaded)


def _assert_rejected(projection: Projection, candidate: Array) -> None:
    before = projection.state()
    assert projection.gain(candidate) == 0.0
    assert not projection.add(candidate)
    np.testing.assert_equal(projection.state(), before)


def _assert_same_projection(left: Projection, right: Projection) -> None:
    np.testing.assert_equal(left.state(), right.state())
    np.testing.assert_array_equal(left.coefficients, right.coefficients)
    assert (left.size, left.loss, left.condition) == (right.size, right.loss, right.condition)


def _assert_close(left: float, right: float) -> None:
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)
