"""One fit, from data that are valid to a table of formulas: what is searched, for how long, and what becomes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.code_lengths import SCALED_FEATURE
from fouriertree.criteria.rows import Rows
from fouriertree.data.checks import nth_seed, whole_limit
from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.fit.history import History, WorkingResponse, extended
from fouriertree.fit.stopping import INTERRUPTED, Stop
from fouriertree.problems import Problem
from fouriertree.projection.variable import compile_kernels
from fouriertree.search import Budget, Hybrid, Observer, Search, run
from fouriertree.search.nesting import Nesting
from fouriertree.search.observers import CandidateCollector, Patience, ProgressBar
from fouriertree.selection.linear_baseline import compared_with_linear_model, full_linear_model, linear_models
from fouriertree.selection.table import ROUNDING, Equation, choose, finalize, max_terms_for, pareto_table
from fouriertree.space import EmpiricalSpace

#: rows that the hybrid looks at, where there are more
MOST_ROWS = 20_000
#: what judging the table by all rows takes, and their fingerprint
TABLE_SECONDS_PER_ROW = 2e-6
#: formulas that are described even in a out_of_time, and seconds after the end of the time when out_of_time begins
MIN_FINALIZED, GRACE = 6, 0.3
#: terms of a sum that a search finds, where nobody says how many
TERMS = 10
#: rounds of the hybrid where nothing else ends it
ROUNDS = 2


@dataclass(frozen=True)
class FitConfig:
    """What a regressor asks of a fit; `search` is None for the hybrid."""

    search: Search[Any] | None
    primitives: PrimitiveSet
    engine: CompiledEngine
    complexity: Complexity
    nesting: Nesting
    guesses: tuple[Expression, ...]
    names: tuple[str, ...] | None  #: of the columns
    seed: int
    max_terms: int | None
    max_size: int
    model_selection: str
    time_limit: float | None
    max_evaluations: float | None
    max_traverses: float | None
    target_loss: float | None
    progress: bool


@dataclass(frozen=True)
class FitResult:
    """The rows of the table, from simplest to most accurate, and the number of the chosen one."""

    rows: list[Equation]
    equations: pd.DataFrame
    chosen: int


class Fitting:
    """A fit that runs.  `started` is when it did, by the clock `time.monotonic`."""

    def __init__(
        self, config: FitConfig, everything: Rows, stop: Stop, journal: History, started: float
    ) -> None:
        self.config = config
        self.everything = everything
        # The hybrid needs no more rows to find a formula; it is judged by all of them in the end.
        self.rows = everything.sample(MOST_ROWS, config.seed) if config.search is None else everything
        self.stop, self.journal, self.started = stop, journal, started
        self.left: tuple[Any, WorkingResponse] | None = (
            None  #: where the last search stood, and what it looked for
        )

    @property
    def found(self) -> CandidateCollector:
        return self.journal.found

    # The search -----------------------------------------------------------------------------------------------
    def search(self) -> str:
        """Run the search, and again with the weights that the loss asks for; why the last one ended."""
        rows, budget = self.rows, self._budget()
        space, loss = rows.space, rows.loss
        given = space.y, space.weights
        if loss.squared:
            return self._run(given, budget)
        half = replace(
            budget,
            time_limit=None if budget.time_limit is None else 0.5 * budget.time_limit,
            max_candidates=None if budget.max_candidates is None else budget.max_candidates // 2,
            target_loss=0.0,
        )
        if (again := self.journal.again) is not None:
            # The first half has been before, so that all the time that is left is for the second.
            return self._run(again, replace(half, time_limit=budget.time_limit))
        if loss.logistic:
            given = self._working_response(np.full(len(space.y), loss.constant(*given)))
        self._run(given, half)
        if self.stop.reason is not None:
            return self.stop.reason
        so_far = self._table_on(rows)
        with np.errstate(all="ignore"):
            response = self._working_response(
                so_far.rows[so_far.chosen].model.predict(space.X, self.config.engine)
            )
        self.found.start_next_run(n_rows=len(space.y) if loss.logistic else None)
        return self._run(response, half)

    def _working_response(self, predicted: NDArray[np.float64]) -> WorkingResponse:
        """The target and weights whose squares stand in for the loss, near a prediction."""
        rows = self.rows
        target, weights = rows.loss.working(rows.space.y, predicted)
        return target, rows.space.weights * weights

    def _budget(self) -> Budget:
        """The limits; what reading the data took is off the time, and writing the table gets a share of it."""
        config, space = self.config, self.rows.space
        exact = ROUNDING**2 * float(space.target @ space.target)
        target = exact if config.target_loss is None else float(config.target_loss)
        limit = None
        if config.time_limit is not None:
            table = min(1.5, 0.2 + 0.05 * config.time_limit) + TABLE_SECONDS_PER_ROW * len(
                self.everything.seen
            )
            limit = max(0.0, config.time_limit - (time.monotonic() - self.started) - table)
        return Budget(
            whole_limit(config.max_traverses), limit,
            # The hybrid knows when an exact sum is a law; for the others, exact is enough.
            0.0 if config.search is None and config.target_loss is None else target,
            whole_limit(config.max_evaluations), self.stop,
        )  # fmt: skip

    def _problem(self, response: WorkingResponse) -> Problem:
        space, seen, (target, weights) = self.rows.space, self.rows.seen, response

        def part(which: NDArray[np.bool_]) -> EmpiricalSpace:
            return EmpiricalSpace(space.X[which], target[which], weights[which], self.config.engine)

        grammar = Grammar(self.config.primitives, space.n_columns)
        return Problem(part(seen), grammar, holdout=None if seen.all() else part(~seen))

    def _run(self, response: WorkingResponse, budget: Budget) -> str:
        """One search, from its beginning or from where the journal has it; why it ended."""
        problem, journal = self._problem(response), self.journal
        limits = (budget.time_limit, budget.max_traverses, budget.max_candidates)
        unlimited = all(limit is None for limit in limits)
        given = self.config.search
        search = self._hybrid(problem, unlimited) if given is None else given
        seed = nth_seed(self.config.seed, self.found.runs)
        observers: list[Observer] = [
            self.found, *journal.observers(self.config.names, len(problem.space.target))
        ]  # fmt: skip
        patience = Patience() if unlimited and given is not None else None
        if patience is not None:
            journal.restore_patience(patience)
            observers.append(patience)
        if journal.is_warm_start:
            budget = extended(budget, self.found)
        start = journal.standing(search, problem, seed)
        if start is not None and budget.time_limit is not None:
            # The clock of the search goes on from where it stood, and what it had before is off the limit already.
            budget = replace(budget, time_limit=budget.time_limit + start.seconds)
        with ExitStack() as stack:
            if self.config.progress:
                weight = float(np.sum(problem.space.samples()[-1][2]))
                bar = ProgressBar(budget, getattr(search, "max_terms", None), weight)
                observers.append(stack.enter_context(bar))
            try:
                keep = journal.checkpointer(search, response, patience)
                ended = run(search, problem, budget, observers, seed, start=start, checkpoint=keep)
                reason, self.left = ended.reason, (ended.state, response)
            except KeyboardInterrupt:
                # The loop catches those between its first and its last event.
                reason = INTERRUPTED
        if reason == INTERRUPTED:
            self.stop.ask(reason)
        self.stop.leave_if_told()
        return reason

    def _hybrid(self, problem: Problem, unlimited: bool) -> Hybrid:
        config = self.config
        most = TERMS if config.max_terms is None else config.max_terms
        return Hybrid(
            max_terms=min(most, max_terms_for(len(problem.space.target))),
            exact_terms=most,
            max_complexity=config.max_size,
            guesses=config.guesses,
            complexity=config.complexity,
            nesting=config.nesting,
            rounds=ROUNDS if unlimited else None,
            n_jobs=config.engine.n_threads,
        )

    # The table ------------------------------------------------------------------------------------------------
    def table(self) -> FitResult:
        """What the search has found, judged by all rows."""
        return self._table_on(self.everything)

    def _table_on(self, everything: Rows) -> FitResult:
        config, rows = self.config, self.rows
        space = rows.space
        # What is far too large is not in the table where anything smaller is, so that it can wait.
        sums = sorted(
            self.found.sums(len(space.y)), key=lambda terms: node_count(terms) > 2 * config.max_size
        )
        if not sums:
            # Interrupted while the engine was being compiled: the mean needs none, and nobody waits again.
            rows = everything = rows.with_engine(ReferenceEngine())
        # Lines first: they take little time, and a table without them may be worse than a line.
        linear = self._linear_models(rows) if config.search is None and sums else []
        constant: Candidate = ((rows.loss.constant(space.y, space.weights),), (Expression.constant(1.0),))
        made = self._finalized([constant, *sums], rows)
        if linear and (line := full_linear_model(rows)) is not None:
            made, linear = (
                compared_with_linear_model(made, line),
                compared_with_linear_model(linear, line),
            )
        kept, equations = pareto_table(self._small(made) or made, rows, everything, self._small(linear))
        preferred = [row.preferred for row in kept]
        chosen = choose(equations, len(everything.space.y), config.model_selection, preferred)
        return FitResult(kept, equations, chosen)

    def _linear_models(self, rows: Rows) -> list[Equation]:
        """A constant and as many columns as are small enough."""
        config = self.config
        most = 1 + (config.max_size - 1) // SCALED_FEATURE if config.max_terms is None else config.max_terms
        found = (
            linear_models(rows, min(most, max_terms_for(len(rows.space.y))))
            if self._seconds_late <= GRACE
            else []
        )
        return self._finalized(found, rows, snap=False)

    def _small(self, made: Sequence[Equation]) -> list[Equation]:
        """Those within the limits: a product that the search counts as one term may be a sum when it is written."""
        size, terms = self.config.max_size, self.config.max_terms
        return [
            row for row in made if row.complexity <= size and (terms is None or row.model.n_terms <= terms)
        ]

    def _finalized(self, sums: Sequence[Candidate], rows: Rows, snap: bool = True) -> list[Equation]:
        """Sums as one would write them; the most promising come first, and others only while there is time."""
        config = self.config

        def out_of_time() -> bool:
            return self._seconds_late > GRACE

        made: list[Equation | None] = []
        for terms in sums:
            late = self._seconds_late
            if (late > GRACE and len(made) > MIN_FINALIZED) or (late > 2.0 * GRACE and len(made) > 1):
                break
            row = finalize(terms, rows, config.primitives, config.complexity, config.names, out_of_time, snap)
            made.append(row)
        rules = config.nesting
        return [row for row in made if row is not None and all(map(rules.allows, row.model.expressions))]

    @property
    def _seconds_late(self) -> float:
        """Seconds since the fit should have ended, or was asked to; −inf where nobody waits."""
        ends = [self.stop.asked_at]
        if self.config.time_limit is not None:
            ends.append(self.started + self.config.time_limit)
        return time.monotonic() - min(ends)


def compile_kernels_of(engine: CompiledEngine, search: Search[Any] | None) -> None:
    """Have all that is compiled at its first use compiled."""
    engine.evaluate([Expression.variable(0)], [[0.0]])
    RampedHalfAndHalf(1, 1).draw(Grammar(PrimitiveSet.default(), 1), 0, 0, 1)
    compile_kernels()
    if (compile_search := getattr(search, "compile", None)) is not None:
        compile_search()


def node_count(terms: Candidate) -> int:
    """Nodes of a sum, with those that its coefficients and additions are."""
    return sum(3 + expression.size for expression in terms[1]) - 1
