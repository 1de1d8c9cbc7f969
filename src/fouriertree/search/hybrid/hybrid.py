"""The hybrid search: symmetries, images of the target, all-pairs screening, variable projection and variation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from fouriertree.expr import Expression
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.problems import Problem
from fouriertree.search.hybrid.archive import Archive, Limits
from fouriertree.search.hybrid.plan import Plan
from fouriertree.search.hybrid.table import Table, make_table
from fouriertree.search.hybrid.units import loss_on_all_rows, original
from fouriertree.search.loop import Accepted, Budget, Event, Progress, Reported
from fouriertree.search.nesting import Nesting

LAW = "the law is certain: exact on all rows"


@dataclass
class HybridState:
    """Where a run of the hybrid stands; `work` does one piece after the other."""

    table: Table
    archive: Archive
    plan: Plan
    work: Iterator[bool]
    progress: Progress
    finished: str | None = None
    resting: bool = True  #: between two steps, where `snapshot` has all


@dataclass(frozen=True)
class Hybrid:
    """The default search of `SymbolicRegressor`.

    max_terms, max_complexity: of the sums that it builds.  exact_terms: of an exact polynomial, where this is more.
    most_atoms: of a pool; a screening looks at all their pairs.
    guesses: formulas over the problem's columns to start from.  nesting: what may not stand inside of what.
    rounds: how often the better half of all arms gets more time; None for no end.
    without: parts to leave out, of PARTS, to measure what they are worth.
    """

    max_terms: int = 7
    exact_terms: int = 0
    max_complexity: int = 80
    most_atoms: int = 3000
    guesses: tuple[Expression, ...] = ()
    complexity: Complexity = field(default_factory=Complexity)
    nesting: Nesting = field(default_factory=Nesting)
    rounds: int | None = None
    n_jobs: int = 1
    without: frozenset[str] = frozenset()

    def init(self, problem: Problem, seed: int) -> tuple[HybridState, list[Event]]:
        table = make_table(problem, seed, {j for guess in self.guesses for j in guess.columns})
        limits = Limits(self.max_terms, self.max_complexity, self.complexity, self.nesting)
        archive = Archive(table, limits, self.n_jobs)
        plan = Plan(self, archive, Vocabulary(problem.grammar.primitives), seed)
        loss = float(problem.space.target @ problem.space.target)
        return HybridState(table, archive, plan, plan.work(), Progress(0, 0, 0, 0, loss)), []

    def step(self, problem: Problem, state: HybridState, budget: Budget) -> tuple[HybridState, list[Event]]:
        with _quietly():
            try:
                state.resting = next(state.work)
            except StopIteration:
                state.finished = "nothing is left to try"
        events = self._news(problem, state)
        if state.archive.law is not None:
            state.finished = LAW
        return state, events

    def close(self, state: HybridState) -> None:
        """Give back what a run needs while it runs; the state can be gone on with."""
        state.plan.close()

    # To go on later ----------------------------------------------------------------------------------------
    def snapshot(self, state: HybridState) -> dict[str, Any] | None:
        """Plain data, arrays and expressions from which `restore` goes on; None in the middle of a step."""
        if not state.resting:
            return None
        return {
            "archive": state.archive.state(),
            "plan": state.plan.state(),
            "progress": asdict(state.progress),
            "finished": state.finished,
        }

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> HybridState:
        state, _ = self.init(problem, seed)
        with _quietly():
            state.archive.restore(saved["archive"])
            state.plan.restore(saved["plan"])
        state.progress, state.finished = Progress(**saved["progress"]), saved["finished"]
        return state

    # What the run tells ------------------------------------------------------------------------------------
    def _news(self, problem: Problem, state: HybridState) -> list[Event]:
        archive, before = state.archive, state.progress
        candidates = archive.fits + sum(arm.screened for arm in state.plan.arms)
        passes = archive.traverses + sum(arm.traverses for arm in state.plan.arms)
        traverses = max(before.traverses + 1, passes)
        wanted = archive.near_front() | archive.verified.identities()
        new = [entry for entry in archive.new if id(entry) in wanted]
        archive.new.clear()
        events: list[Event] = []
        best = before
        for entry in new:
            found = original(problem, state.table, entry)
            if found is None:
                continue
            coefficients, expressions, loss = found
            # Rows held back choose among formulas without poles only.
            everywhere = np.inf if entry.pole else loss_on_all_rows(problem, coefficients, expressions, loss)
            progress = Progress(traverses, candidates, 0, len(expressions), min(loss, best.loss))
            events.append(Reported(progress, coefficients, expressions, entry.complexity, loss, everywhere))
            if loss < best.loss:
                best = progress
                events.append(Accepted(progress, expressions[-1], coefficients, expressions))
        state.progress = Progress(traverses, candidates, 0, best.terms, best.loss)
        return events


@cache
def _thread_pools() -> ThreadpoolController:
    """Those of the libraries that are loaded; looking for them takes milliseconds, so that it is done once."""
    return ThreadpoolController()


@contextmanager
def _quietly() -> Iterator[None]:
    """What is not finite is left out, and nobody need be told.

    Threads share blocks of pairs and batches of fits; in matrices as small as ours, more of them only wait.
    """
    with _thread_pools().limit(limits=1), np.errstate(all="ignore"):
        yield
