"""Tasks in order: steps are pure, states can be stored between any two of them, a law ends the search at its place."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import psutil
import pytest

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem
from fouriertree.expr import Expression
from fouriertree.runs.snapshots import from_bytes, to_bytes
from fouriertree.search import Budget, Hybrid, Progress, RunState, run
from fouriertree.search.executors import ProcessPool
from fouriertree.search.hybrid import search as searches
from fouriertree.search.hybrid.beam import Beam
from fouriertree.search.hybrid.continuation import (
    COMPLETE,
    MIN_BRANCHES,
    WINDOW,
    _next_branch,
)
from fouriertree.search.hybrid.evaluation import Cost, FittedCandidate, Fronts
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.scheduler import MOST_USED, branches_of, refilled
from fouriertree.search.hybrid.search import LAW, RECORDS, from_plain, to_plain
from fouriertree.search.hybrid.state import CONTINUE, INDEX, QUICK, REDUCE, START
from fouriertree.search.hybrid.tasks import Outcome, perform
from fouriertree.search.hybrid.transformed import Sum

#: rows of the training set
N_ROWS = 30
#: small dictionaries and few rounds, so that all stages take a second
OPTIONS = {"max_dictionary": 40, "rounds": 2, "max_terms": 2}


def problem_of(y, n=40, d=2):
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 5.0, (n, d))
    training, validation = slice(0, 3 * n // 4), slice(3 * n // 4, n)
    values = y(X, rng)
    return Problem(
        EmpiricalSpace(X[training], values[training]),
        Grammar(PrimitiveSet.default(), d),
        holdout=EmpiricalSpace(X[validation], values[validation]),
    )


@pytest.fixture(scope="module")
def noisy():
    """A problem without a law, with a symmetry that is found."""
    return problem_of(lambda X, rng: np.sin(X[:, 0] * X[:, 1]) / X[:, 0] + 0.05 * rng.normal(size=len(X)))


@pytest.fixture(scope="module")
def lawful():
    """A law that is found in a later round."""
    return problem_of(lambda X, rng: np.sin(X[:, 0] * X[:, 1]) + np.sqrt(X[:, 1]) / X[:, 0], 60)


def plain(event):
    """An event as plain data."""
    if isinstance(event, Progress):
        return event
    return type(event), event.progress, event.coefficients.tolist(), event.expressions


def recorded(search, problem, start=None, budget=None, checkpoint=None):
    """All events but the last one, which has the seconds, and the final state."""
    events = []
    ended = run(search, problem, budget or Budget(), [events.append], start=start, checkpoint=checkpoint)
    return [plain(event) for event in events[:-1]], ended.state, ended.reason


def bytes_of(state):
    return to_bytes(Hybrid().snapshot(state))


@pytest.fixture(scope="module")
def whole(noisy):
    """States before every step, with the events of the step, and the state at the end."""
    search, steps = Hybrid(**OPTIONS), []
    state, _ = search.init(noisy, 0)
    while state.finished is None:
        following, events = search.step(noisy, state, Budget())
        steps.append((state, list(map(plain, events))))
        state = following
    return steps, state


def kind(state):
    """What the next step of a state is about."""
    task = state.jobs[0].task if state.jobs else None
    return state.stage, bool(state.pending), type(task).__name__


@pytest.fixture(scope="module")
def kinds(whole):
    """The first and the last state of every kind, with its place."""
    steps, _ = whole
    first = {kind(state): i for i, (state, _) in reversed(list(enumerate(steps)))}
    last = {kind(state): i for i, (state, _) in enumerate(steps)}
    return sorted({*first.values(), *last.values()})


# Steps ------------------------------------------------------------------------------------------------------
def test_a_search_goes_through_all_stages(whole):
    steps, end = whole
    stages = [state.stage for state, _ in steps]
    assert stages == sorted(stages)
    assert set(stages) == {START, QUICK, REDUCE, INDEX, CONTINUE}
    assert end.finished == COMPLETE


def test_a_step_is_a_pure_function_of_the_state(whole, noisy, kinds):
    steps, end = whole
    states = [*(state for state, _ in steps), end]
    for i in kinds:
        state, before = states[i], bytes_of(states[i])
        again, events = Hybrid(**OPTIONS).step(noisy, state, Budget())
        assert bytes_of(state) == before
        assert bytes_of(again) == bytes_of(states[i + 1])
        assert list(map(plain, events)) == steps[i][1]


def test_a_search_that_is_restored_before_every_step_reports_the_same_events(whole, noisy):
    steps, end = whole
    search = Hybrid(**OPTIONS)
    state, _ = search.init(noisy, 0)
    for _, events in steps:
        state = search.restore(noisy, 0, from_bytes(bytes_of(state)))
        state, again = search.step(noisy, state, Budget())
        assert list(map(plain, again)) == events
    assert bytes_of(state) == bytes_of(end)


def test_a_search_resumes_from_a_snapshot_of_every_stage(whole, noisy):
    steps, end = whole
    places = {(state.stage, bool(state.pending)): i for i, (state, _) in enumerate(steps)}
    assert len(places) >= 7
    for i in places.values():
        search = Hybrid(**OPTIONS)
        state = search.restore(noisy, 0, from_bytes(bytes_of(steps[i][0])))
        for _, expected in steps[i : i + 15]:
            state, events = search.step(noisy, state, Budget())
            assert list(map(plain, events)) == expected
    i = len(steps) // 2
    search = Hybrid(**OPTIONS)
    state = search.restore(noisy, 0, from_bytes(bytes_of(steps[i][0])))
    events, again, reason = recorded(search, noisy, RunState(state, 0.0))
    expected = [event for _, events in steps[i:] for event in events]
    assert [event for event in events if not isinstance(event, Progress)] == expected
    assert (bytes_of(again), reason) == (bytes_of(end), COMPLETE)


def test_a_snapshot_is_restored_to_the_same_state(whole, noisy, kinds):
    steps, _ = whole
    for i in kinds:
        saved = bytes_of(steps[i][0])
        assert bytes_of(Hybrid(**OPTIONS).restore(noisy, 0, from_bytes(saved))) == saved


def test_the_counts_of_a_search_are_those_of_its_tasks(whole):
    _, end = whole
    assert end.progress.candidates == end.cost.candidates
    assert end.progress.traverses >= end.cost.traverses


# Executors --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def pool():
    with ProcessPool(2) as pool:
        wait_until_ready(pool)
        yield pool


def wait_until_ready(pool):
    pool.start()
    while not pool.ready:
        time.sleep(0.02)


def workers():
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "popen_loky" in " ".join(child.cmdline())]


@pytest.fixture(scope="module")
def serial(noisy):
    return recorded(Hybrid(**OPTIONS), noisy)


def assert_same(found, expected):
    events, state, reason = found
    assert (events, reason) == (expected[0], expected[2])
    assert bytes_of(state) == bytes_of(expected[1])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_change_no_event(noisy, serial, n_threads):
    with ThreadPoolExecutor(n_threads) as executor:
        assert_same(recorded(Hybrid(executor=executor, **OPTIONS), noisy), serial)


def test_processes_change_no_event(noisy, serial, pool):
    wait_until_ready(pool)
    assert_same(recorded(Hybrid(executor=pool, **OPTIONS), noisy), serial)


def test_a_search_that_begins_before_the_workers_have_started_is_the_same(noisy, serial):
    with ProcessPool(1) as new:
        assert not new.ready
        assert_same(recorded(Hybrid(executor=new, **OPTIONS), noisy), serial)


def test_a_worker_that_is_killed_in_a_round_changes_no_event(noisy, serial, pool):
    wait_until_ready(pool)
    in_round, killed = threading.Event(), []

    def kill():
        in_round.wait(60)
        for worker in workers()[:1]:
            worker.kill()
            killed.append(worker.pid)

    def in_the_middle(current):
        state = current.state
        if state.stage == CONTINUE and len(state.jobs) > 2 and not state.pending:
            in_round.set()

    thread = threading.Thread(target=kill)
    thread.start()
    found = recorded(Hybrid(executor=pool, **OPTIONS), noisy, checkpoint=in_the_middle)
    in_round.set()
    thread.join()
    assert killed
    assert_same(found, serial)


def test_a_search_resumes_with_another_executor(whole, noisy, pool, kinds):
    steps, end = whole
    wait_until_ready(pool)
    state = steps[kinds[len(kinds) // 2]][0]
    search = Hybrid(executor=pool, **OPTIONS)
    again = search.restore(noisy, 0, from_bytes(bytes_of(state)))
    assert bytes_of(recorded(search, noisy, RunState(again, 0.0))[1]) == bytes_of(end)


# Laws -------------------------------------------------------------------------------------------------------
@pytest.fixture
def performed(monkeypatch):
    """The tasks that are performed, with their outcomes."""
    calls, lock = [], threading.Lock()

    def counted(job):
        outcome = perform(job)
        with lock:
            calls.append((job, outcome))
        return outcome

    monkeypatch.setattr(searches, "perform", counted)
    return calls


def test_with_one_process_nothing_after_a_law_is_computed(lawful, performed):
    _, state, reason = recorded(Hybrid(), lawful)
    assert reason == LAW
    assert [outcome.evaluation.has_law for _, outcome in performed] == [False] * (len(performed) - 1) + [True]
    assert state.jobs
    assert performed[-1][0] not in state.jobs


def test_every_task_is_performed_once(noisy, performed):
    _, state, _ = recorded(Hybrid(**OPTIONS), noisy)
    assert len({id(job) for job, _ in performed}) == len(performed)
    assert sum((outcome.evaluation.cost for _, outcome in performed), Cost()) == state.cost


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_law_ends_the_search_at_its_place_with_threads(lawful, n_threads):
    serial = recorded(Hybrid(), lawful)
    with ThreadPoolExecutor(n_threads) as executor:
        found = recorded(Hybrid(executor=executor), lawful)
    assert_same(found, serial)
    assert found[1].jobs


def test_a_law_at_any_place_ends_the_search_there(noisy, whole, monkeypatch):
    """A law is put into the outcome of one waiting task, whichever it is."""
    steps, _ = whole
    state = refilled(next(state for state, _ in steps if state.stage == CONTINUE))
    x = state.context.data.variables[0]
    law = FittedCandidate((1.0,), (x,), (x,), 1, 0.0, 0.0, False, True)
    for place in (0, len(state.jobs) // 2, len(state.jobs) - 1):
        chosen = state.jobs[place]

        def with_law(job, chosen=chosen):
            if job is not chosen:
                return Outcome()
            return replace(Outcome(), evaluation=replace(Outcome().evaluation, found=(law,)))

        monkeypatch.setattr(searches, "perform", with_law)
        for executor in (None, ThreadPoolExecutor(3)):
            search, current = Hybrid(executor=executor, **OPTIONS), state
            while current.finished is None:
                current, _ = search.step(noisy, current, Budget())
            search.close(current)
            assert current.finished == LAW
            left = state.jobs[place + 1 :]
            assert current.jobs[: len(left)] == left
        executor.shutdown()


# What comes next --------------------------------------------------------------------------------------------
def test_the_better_half_of_the_branches_is_continued_and_those_with_long_descriptions_more_seldom(whole):
    steps, _ = whole
    checked = 0
    for state, _ in steps:
        if state.stage != CONTINUE or (number := _next_branch(state.branches, N_ROWS)) is None:
            continue
        alive = [i for i, branch in enumerate(state.branches) if not branch.exhausted]
        better = sorted(alive, key=lambda i: state.branches[i].best)[: max(MIN_BRANCHES, len(alive) // 2)]
        possible = [i for i in better if state.branches[i].has_starts]
        assert number in possible
        shorter = [i for i in possible if state.branches[i].best <= state.branches[number].best]
        least = min(state.branches[i].continued for i in shorter)
        assert state.branches[number].continued == least
        checked += 1
    assert checked


def test_so_many_tasks_are_waiting_while_branches_are_continued(whole):
    steps, _ = whole
    waiting = [len(refilled(state).jobs) for state, _ in steps if state.stage == CONTINUE]
    enough = [i for i, n in enumerate(waiting) if n >= WINDOW]
    assert enough == list(range(enough[0], enough[-1] + 1))
    # Of the first steps, more may wait; then, a task of a branch and one of variation may come together.
    first = next(i for i, n in enumerate(waiting) if n <= WINDOW + 1)
    assert max(waiting[first:]) <= WINDOW + 1


def test_a_task_knows_the_fronts_of_the_state_in_which_it_was_decided(whole):
    steps, _ = whole
    known: set[int] = set()
    for state, _ in steps:
        for job in refilled(state).jobs if state.finished is None and not state.pending else ():
            if id(job) not in known and job not in state.jobs:
                assert job.fronts == state.fronts
            known.add(id(job))


def test_starts_of_waiting_tasks_are_not_in_the_beam_of_their_branch(whole):
    steps, _ = whole
    for state, _ in steps:
        for job in state.jobs:
            beam = getattr(job.task, "beam", None)
            if beam is not None:
                rest = state.branches[job.task.number].beam
                assert not {*beam.starts.forms.tolist()} & {*rest.starts.forms.tolist()}


def test_of_many_features_those_of_the_best_sums_are_a_problem_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 3.0, (80, 10))
    y = X[:, 2] * X[:, 5] + np.exp(-X[:, 7]) + 0.01 * rng.normal(size=80)
    given = Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), 10))
    state, _ = Hybrid(max_dictionary=300).init(given, 0)
    while state.stage < REDUCE:
        state, _ = Hybrid().step(given, state, Budget())
    used = {state.context.data.features[i] for e in state.reductions[1].variables for i in e.columns}
    assert len(state.reductions) == 2
    assert used >= {2, 5, 7}
    assert len(used) <= MOST_USED


def test_every_reduction_has_branches_of_every_transform():
    x = tuple(map(Expression.variable, range(2)))
    for reduction in (Reduction(x), Reduction(x[:1], ((x[1], 2.0),))):
        branches = branches_of(reduction)
        assert len(set(branches)) == len(branches)
        assert len({branch.transform for branch in branches}) == 9


# Records ----------------------------------------------------------------------------------------------------
def test_records_survive_a_round_trip(whole, kinds):
    steps, _ = whole
    for i in kinds:
        state = steps[i][0]
        for value in (state.pending, state.branches, state.reductions, state.cost, state.fronts,
                      tuple(job.task for job in state.jobs)):  # fmt: skip
            plain_value = to_plain(value)
            again = from_plain(from_bytes(to_bytes({"value": plain_value}))["value"], RECORDS)
            assert type(again) is type(value)
            assert to_bytes({"value": to_plain(again)}) == to_bytes({"value": plain_value})


def test_records_are_restored_as_they_were():
    start = Sum((Expression.variable(0),), (2.0,), 0.5)
    for value in (Cost(1, 2), start, Fronts(), (Cost(), None, (1.5, "text")), Outcome().evaluation):
        assert from_plain(to_plain(value), RECORDS) == value
    beam = Beam((), np.array([1, 2**63], np.uint64), np.array([0.5, np.inf]), np.zeros(0, np.uint64))
    again = from_plain(from_bytes(to_bytes(to_plain(beam))), RECORDS)
    for name in ("forms", "losses", "started"):
        np.testing.assert_array_equal(getattr(again, name), getattr(beam, name), strict=True)


def test_only_known_records_are_made():
    with pytest.raises(KeyError):
        from_plain({"record": "Popen", "args": ["true"]}, RECORDS)
