"""The archive of candidates: immutable, with the best of every complexity, and the Pareto front of what was added."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree.criteria.archive import KEPT, NEAR, Candidate, CandidateArchive, FrontLosses, pareto_front
from fouriertree.expr import parse

points = st.tuples(st.integers(1, 12), st.floats(0.0, 10.0))
many = st.lists(points, max_size=40)


def candidate(number):
    return Candidate((float(number),), (parse("x0"),))


def archive_of(pairs):
    archive = CandidateArchive()
    for number, (complexity, loss) in enumerate(pairs):
        archive = archive.added(complexity, loss, candidate(number))
    return archive


def best_up_to(pairs, complexity):
    return min((loss for c, loss in pairs if c <= complexity), default=float("inf"))


def front_of(pairs):
    return pareto_front(pairs, lambda pair: pair[0], lambda pair: pair[1])


# The Pareto filter ------------------------------------------------------------------------------------------
@given(pairs=many)
def test_the_front_has_no_item_that_a_simpler_one_dominates_and_misses_none(pairs):
    front = front_of(pairs)
    for (simpler, larger), (longer, smaller) in pairwise(front):
        assert simpler < longer
        assert larger > smaller
    for complexity, loss in pairs:
        assert any(c <= complexity and other <= loss for c, other in front)


# The smallest losses ----------------------------------------------------------------------------------------
@given(pairs=many)
def test_front_losses_are_those_of_the_pareto_front(pairs):
    losses = FrontLosses()
    for pair in pairs:
        losses = losses.lowered(*pair)
    assert list(zip(losses.complexities, losses.losses, strict=True)) == front_of(pairs)


@given(pairs=many, complexity=st.integers(-1, 14))
def test_the_best_loss_up_to_a_complexity_is_the_smallest(pairs, complexity):
    losses = FrontLosses()
    for pair in pairs:
        losses = losses.lowered(*pair)
    assert losses.best(complexity) == losses.best(complexity + 0.5) == best_up_to(pairs, complexity)
    assert losses.best(-float("inf")) == float("inf")


@given(pairs=many, order=st.randoms())
def test_the_order_of_candidates_does_not_change_the_losses(pairs, order):
    shuffled = order.sample(pairs, len(pairs))
    one, other = (
        list(accumulate(p, lambda f, q: f.lowered(*q), initial=FrontLosses()))[-1] for p in (pairs, shuffled)
    )
    assert one == other


def test_lowered_losses_leave_the_earlier_ones_unchanged():
    before = FrontLosses((1, 3), (2.0, 0.1))
    assert before.lowered(2, 0.5) == FrontLosses((1, 2, 3), (2.0, 0.5, 0.1))
    assert before.lowered(1, 0.05) == FrontLosses((1,), (0.05,))
    assert before.lowered(4, 0.1) is before
    assert before == FrontLosses((1, 3), (2.0, 0.1))


# The archive ------------------------------------------------------------------------------------------------
@given(pairs=many)
def test_of_every_complexity_the_best_are_kept_in_order(pairs):
    archive = archive_of(pairs)
    assert archive.entries.keys() == {complexity for complexity, _ in pairs}
    for complexity, entries in archive.entries.items():
        losses = sorted(loss for c, loss in pairs if c == complexity)
        assert [entry.loss for entry in entries] == losses[:KEPT]


@given(pairs=many)
def test_the_front_of_an_archive_is_the_pareto_front_of_what_was_added(pairs):
    archive = archive_of(pairs)
    front = archive.front()
    assert [(complexity, entry.loss) for complexity, entry in front.items()] == front_of(pairs)
    losses = archive.front_losses()
    assert list(zip(losses.complexities, losses.losses, strict=True)) == front_of(pairs)


@given(pairs=many, complexity=st.integers(0, 13))
def test_the_best_loss_of_an_archive_is_that_of_its_front(pairs, complexity):
    archive = archive_of(pairs)
    assert archive.best_loss(complexity) == best_up_to(pairs, complexity)
    assert archive.best_loss(complexity) == archive.front_losses().best(complexity)


@given(pairs=many, new=points)
def test_an_archive_accepts_what_it_would_keep_near_its_front(pairs, new):
    archive, (complexity, loss) = archive_of(pairs), new
    kept = any(
        entry.candidate == candidate(-1) for entry in archive.added(*new, candidate(-1)).entries[complexity]
    )
    near = loss < NEAR * best_up_to(pairs, complexity - 1)
    assert archive.accepts(complexity, loss) == (kept and near)


@given(pairs=many, new=points)
def test_an_archive_is_immutable(pairs, new):
    archive = archive_of(pairs)
    before = archive.state()
    other = archive.added(*new, candidate(-1))
    assert archive.state() == before
    assert other is not archive


@given(pairs=many)
def test_an_archive_is_restored_from_its_state(pairs):
    archive = archive_of(pairs)
    assert CandidateArchive.from_state(archive.state()) == archive


def test_of_equal_losses_the_first_candidate_stays():
    archive = archive_of([(2, 1.0)] * (KEPT + 2))
    assert [entry.candidate for entry in archive.entries[2]] == [candidate(i) for i in range(KEPT)]


@given(pairs=many.filter(bool))
def test_all_of_the_front_is_worth_finalizing_and_the_others_are_near_it(pairs):
    archive = archive_of([(complexity, loss + 0.01) for complexity, loss in pairs])
    ranked = archive.worth_finalizing(100)
    front = [entry.candidate for entry in archive.front().values()]
    assert [rank.candidate for rank in ranked if not rank.near_front] == front
    others = [rank.description for rank in ranked if rank.near_front]
    assert others == pytest.approx(sorted(others))
