"""With helpers or without, and whatever becomes of them, a run is the same."""

from typing import ClassVar

import numpy as np
import pytest

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem
from fouriertree.runs.snapshots import to_bytes
from fouriertree.search import Budget, Hybrid, run
from fouriertree.search.hybrid import crew as crews
from fouriertree.search.hybrid import plan as plans
from fouriertree.search.hybrid.worker import Growths, Piece, Step, Turn, answers

BUDGET = Budget(max_candidates=400_000)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 5.0, (40, 2))
    y = np.sin(X[:, 0] * X[:, 1]) / (1.0 + X[:, 0]) + 0.1 * rng.normal(size=40)
    return Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), 2))


@pytest.fixture(scope="module")
def alone(problem):
    return outcome(run(Hybrid(), problem, BUDGET))


def outcome(ended):
    return to_bytes(ended.state.archive.state()), ended.state.progress, ended.reason


class Watched(crews.Crew):
    """Waits for its members, and counts what they did."""

    made: ClassVar[list["Watched"]] = []

    def __init__(self, size):
        super().__init__(size)
        self.steps = 0
        Watched.made.append(self)
        for member in self._members:
            while not member._ready and member._process.poll() is None:
                member._thread.join(0.01)

    def grown(self, number):
        order = self._orders[number]
        sums = yield from super().grown(number)
        self.steps += order.given
        return sums


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(plans, "Crew", Watched)
    Watched.made.clear()
    return Watched.made


def test_helpers_change_nothing(problem, alone, watched):
    assert outcome(run(Hybrid(n_jobs=3), problem, BUDGET)) == alone
    assert watched[0].steps > 0
    assert all(member._process.returncode is not None for member in watched[0]._members)


def test_a_helper_that_is_gone_is_missed_by_nobody(problem, alone, watched):
    def murder(event):
        for crew in watched:
            if crew.steps == 2:
                crew._members[0]._process.kill()

    ended = run(Hybrid(n_jobs=2), problem, BUDGET, [murder])
    assert outcome(ended) == alone
    assert watched[0].steps >= 2


def test_helpers_that_cannot_start_are_missed_by_nobody(problem, alone, watched, monkeypatch):
    monkeypatch.setattr(crews, "PROGRAM", "raise SystemExit(1)")
    assert outcome(run(Hybrid(n_jobs=2), problem, BUDGET)) == alone


def test_a_run_with_helpers_goes_on_from_a_snapshot(problem, alone, watched):
    search, kept = Hybrid(n_jobs=2), []

    def keep(standing):
        if watched and watched[0].steps == 3 and (snapshot := search.snapshot(standing.state)) is not None:
            kept.append(snapshot)

    run(search, problem, BUDGET, checkpoint=keep)
    state = search.restore(problem, 0, kept[0])
    while BUDGET.reason_to_stop(0, 0.0, 1.0, state.progress.candidates) is None:
        state, _ = search.step(problem, state, BUDGET)
    search.close(state)
    assert to_bytes(state.archive.state()) == alone[0]


def test_nobody_helps_with_operators_that_only_this_process_knows(problem, watched):
    mine = PrimitiveSet(["+", "*", "sin"])
    mine.add("half", lambda a: 0.5 * a)
    run(Hybrid(n_jobs=2), Problem(problem.space, Grammar(mine, 2)), Budget(max_candidates=200_000))
    assert watched == []


# The work itself, in this process ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def arm(problem):
    state, _ = Hybrid().init(problem, 0)
    for _ in range(6):
        Hybrid().step(problem, state, BUDGET)
    return state.plan.arms[0]


def taken(turn, growths):
    with np.errstate(all="ignore"):
        return list(answers(turn, growths))


def test_a_turn_in_pieces_is_the_turn(arm):
    whole = taken(Turn(0, arm.ground(), None, 0, 3), Growths())
    growths = Growths()
    first = taken(Turn(0, arm.ground(), None, 0, 1), growths)
    state = first[-1].saved
    kept = taken(Turn(0, arm.ground(), state, 1, 2), growths)
    anew = taken(Turn(0, arm.ground(), state, 1, 2), Growths())
    for parts in (first + kept, first + anew):
        assert [type(answer) for answer in parts] == [type(answer) for answer in whole]
        assert [a for a in parts if isinstance(a, Piece)] == [a for a in whole if isinstance(a, Piece)]
        assert [a.sums for a in parts if isinstance(a, Step)] == [
            a.sums for a in whole if isinstance(a, Step)
        ]


def test_few_images_are_kept(arm):
    growths = Growths()
    for number in range(30):
        growths.keep(number, None, 1)
    assert len(growths._kept) < 30
