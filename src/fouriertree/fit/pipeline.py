"""One fit as a pipeline: training data → problem → search → candidates → equations → table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.code_lengths import SCALED_FEATURE
from fouriertree.criteria.losses import Objective
from fouriertree.data.checks import nth_seed, whole_limit
from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.vocabulary import with_rare_operators
from fouriertree.fit.config import FitConfig
from fouriertree.fit.stopping import INTERRUPTED, Stop
from fouriertree.model import Model
from fouriertree.problems import Problem
from fouriertree.projection.variable import compile_kernels
from fouriertree.search import Budget, Observer, RunState, Search, run
from fouriertree.search.executors import ProcessPool, ordered
from fouriertree.search.loop import LAW
from fouriertree.search.observers import CandidateCollector, Patience, ProgressBar
from fouriertree.selection.finalize import Deadline, Equation, Finalizer, finalized
from fouriertree.selection.guesses.fits import FEW_STARTS, NOT_FINITE, FittedGuess, GuessFitter, starts_for
from fouriertree.selection.guesses.parametric import ParametricSum
from fouriertree.selection.guesses.rows import GuessRow, competing, with_guesses
from fouriertree.selection.linear_baseline import compared_with_linear, full_linear_model, linear_models
from fouriertree.selection.table import DIGITS, EquationTable, make_table, max_terms_for
from fouriertree.selection.textbook import FEW_ROWS, textbook_models
from fouriertree.tolerances import EXACT_SQUARES

Floats = NDArray[np.float64]


class WorkingResponse(NamedTuple):
    """A target and weights of all rows, whose squared errors a search minimizes."""

    target: Floats
    weights: Floats


class History(Protocol):
    """The state that a fit resumes from, if any, and its record."""

    collector: CandidateCollector

    @property
    def is_warm_start(self) -> bool:
        """Whether the search continues from a state in memory."""

    @property
    def second_response(self) -> WorkingResponse | None:
        """The working response of the second search of a fit, if that is the one to resume."""

    def start(self, search: Search[Any], problem: Problem, seed: int) -> RunState[Any] | None:
        """The state to resume from, once; None for a new search."""

    def observers(self, text_of: Callable[[Candidate], str], n_rows: int) -> list[Observer]: ...

    def checkpointer(
        self, search: Search[Any], response: WorkingResponse, patience: Patience | None
    ) -> Callable[[RunState[Any]], None] | None:
        """A function that writes checkpoints when they are due."""

    def restore_patience(self, patience: Patience) -> None: ...


def extended(budget: Budget, collector: CandidateCollector) -> Budget:
    """The same limits once more, for a warm start, which continues the counts."""

    def more(limit: int | None, spent: int) -> int | None:
        return None if limit is None else limit + spent

    return replace(
        budget,
        max_traverses=more(budget.max_traverses, collector.traverses),
        max_candidates=more(budget.max_candidates, collector.candidates),
    )


#: rows of the sample that candidates of the hybrid search are reported and finalized on; it fits to fewer
MAX_ROWS = 20_000
#: seconds per row for evaluating the table on all rows, and for their fingerprint
TABLE_SECONDS_PER_ROW = 2e-6
#: candidates that are finalized at least if out of time by GRACE seconds; by twice as much, two, a constant among them
MIN_FINALIZED, GRACE = 6, 0.3
#: seconds for the fit of a guess at least, and share of a time limit for those of all guesses
GUESS_SECONDS, GUESS_SHARE = 0.2, 0.3
#: maximum number of terms of a candidate by default
TERMS = 10
#: tasks per branch that continue one, in a hybrid search without any limit
ROUNDS = 1


class FitPipeline:
    """A running fit; `started` is its start by `time.monotonic`."""

    def __init__(
        self, config: FitConfig, overall: Objective, stop: Stop, history: History, started: float
    ) -> None:
        self.config, self.overall = config, overall
        self.stop, self.history, self.started = stop, history, started
        # The hybrid search uses a sample; its equations are evaluated on all rows in the end.
        data = overall.data.sample(MAX_ROWS, config.seed) if config.search is None else overall.data
        self.objective = overall if data is overall.data else replace(overall, data=data)
        #: state of the last search, and its working response, for a warm start
        self.last: tuple[Any, WorkingResponse] | None = None

    # Search -----------------------------------------------------------------------------------------------------
    def search(self) -> str:
        """Run the search, and again with a working response for losses other than squares; why the last one ended."""
        data, loss = self.objective.data, self.objective.loss
        response = WorkingResponse(data.y, self.objective.weights)
        if not loss.logistic and self.config.search is None and data.y.min() == data.y.max():
            return LAW  # a constant
        _ = self.guesses  # They are fitted first, whatever the limits of the search are.
        budget = self._budget()
        if loss.squared:
            return self._run(response, budget)
        half = halved(budget)
        if (second := self.history.second_response) is not None:
            # The first search has ended before, so that all the time that is left is for the second.
            return self._run(second, replace(half, time_limit=budget.time_limit))
        if loss.logistic:
            response = self._working_response(np.full(data.n_rows, self.objective.constant))
        self._run(response, half)
        if self.stop.reason is not None:
            return self.stop.reason
        so_far = self._table(self.objective)
        with np.errstate(all="ignore"):
            predicted = so_far.equations[so_far.chosen].model.predict(data.X, self.config.engine)
            response = self._working_response(predicted)
        self.history.collector.start_next_run(n_rows=data.n_rows if loss.logistic else None)
        return self._run(response, half)

    def _working_response(self, predicted: NDArray[np.float64]) -> WorkingResponse:
        """The target and weights whose squared errors approximate the loss near a prediction."""
        data = self.objective.data
        target, weights = self.objective.loss.working(data.y, predicted)
        return WorkingResponse(target, data.weights * weights)

    def _budget(self) -> Budget:
        """The limits; a time limit includes reading the data and making the table."""
        config, target = self.config, self.objective.space.target
        exact = EXACT_SQUARES * float(target @ target)
        limit = None
        if config.time_limit is not None:
            rows = TABLE_SECONDS_PER_ROW * self.overall.data.n_rows
            table = min(1.5, 0.2 + 0.05 * config.time_limit) + rows
            limit = max(0.0, config.time_limit - (time.monotonic() - self.started) - table)
        # The hybrid search has its own test of exact laws; the others end at an exact sum.
        target_loss = 0.0 if config.search is None else exact
        if config.target_loss is not None:
            target_loss = float(config.target_loss)
        traverses, evaluations = whole_limit(config.max_traverses), whole_limit(config.max_evaluations)
        return Budget(traverses, limit, target_loss, evaluations, self.stop)

    def _problem(self, response: WorkingResponse) -> Problem:
        objective, data = self.objective, self.objective.data
        grammar = Grammar(self.config.primitives, data.n_features)
        holdout = objective.space_of(data.validation, *response) if data.n_validation else None
        return Problem(objective.space_of(data.training, *response), grammar, holdout=holdout)

    def _run(self, response: WorkingResponse, budget: Budget) -> str:
        """One search, from its start or from the state that the history has; why it ended."""
        config, history, problem = self.config, self.history, self._problem(response)
        unlimited = budget.is_unlimited
        search = self._hybrid(problem, unlimited) if config.search is None else self._given(config.search)
        seed = nth_seed(config.seed, history.collector.runs)
        recorders = history.observers(self._text_of, len(problem.space.target))
        observers: list[Observer] = [history.collector, *recorders]
        patience = Patience() if unlimited and config.search is not None else None
        if patience is not None:
            history.restore_patience(patience)
            observers.append(patience)
        if history.is_warm_start:
            budget = extended(budget, history.collector)
        start = history.start(search, problem, seed)
        if start is not None and budget.time_limit is not None:
            # The clock of the search resumes, and the time that it has had is off the limit already.
            budget = replace(budget, time_limit=budget.time_limit + start.seconds)
        with ExitStack() as stack:
            if config.progress:
                weight = float(np.sum(problem.space.samples()[-1][2]))
                bar = ProgressBar(budget, getattr(search, "share", None), weight)
                observers.append(stack.enter_context(bar))
            try:
                checkpoint = history.checkpointer(search, response, patience)
                ended = run(search, problem, budget, observers, seed, start=start, checkpoint=checkpoint)
                reason, self.last = ended.reason, (ended.state, response)
            except KeyboardInterrupt:
                # The loop catches those between its first and its last event.
                reason = INTERRUPTED
        if reason == INTERRUPTED:
            self.stop.request(reason)
        self.stop.raise_if_aborted()
        return reason

    def _hybrid(self, problem: Problem, unlimited: bool) -> Search[Any]:
        from fouriertree.search.hybrid import Hybrid

        config = self.config
        most = TERMS if config.max_terms is None else config.max_terms
        return Hybrid(
            max_terms=min(most, max_terms_for(len(problem.space.target))),
            exact_terms=most,
            max_complexity=config.max_size,
            guesses=self._starting_points,
            complexity=config.complexity,
            nesting=config.nesting,
            rounds=ROUNDS if unlimited else None,
            executor=config.executor,
        )

    def _given(self, search: Any) -> Search[Any]:
        """The search of the user, with the guesses to start from."""
        if not self.guesses:
            return search  # type: ignore[no-any-return]
        return replace(search, guesses=(*search.guesses, *self._starting_points))  # type: ignore[no-any-return]

    @property
    def _starting_points(self) -> tuple[Expression, ...]:
        """The fitted guesses, for the search."""
        fitted = (guess.on_training_set for guess in self.guesses)
        return tuple(expression for expression in fitted if expression is not None)

    def _text_of(self, candidate: Candidate) -> str:
        """The equation for y of a candidate, as a table shows it."""
        config, positive = self.config, self.objective.data.positive
        return config.target.model(Model(*candidate, config.names), config.primitives, positive).text(DIGITS)

    # Table ------------------------------------------------------------------------------------------------------
    def table(self) -> EquationTable:
        """The candidates so far, finalized and evaluated on all rows."""
        return self._table(self.overall)

    def _table(self, overall: Objective) -> EquationTable:
        config, objective = self.config, self.objective
        candidates = self.history.collector.best(objective.data.n_rows)
        # Those far beyond the size limit come last: they are in the table only if nothing smaller is.
        candidates.sort(key=lambda candidate: node_count(candidate) > 2 * config.max_size)
        if not candidates:
            # Interrupted while the engine was being compiled: a constant needs no engine.
            objective = overall = replace(objective, engine=ReferenceEngine())
        # Linear models first: they take little time, and without them a table may be worse than its baseline.
        compared = config.search is None and bool(candidates)
        linear = self._linear_models(objective) if compared else []
        # Shapes, too, where rows are few: there they are candidates like others, and an exact equation may interpolate.
        few = objective.data.n_rows <= FEW_ROWS
        textbook = self._textbook_models(objective) if compared and few else []
        constant = Candidate((objective.constant,), (Expression.constant(1.0),))
        guesses = [guess.candidate for guess in self.guesses]
        first = [constant, *(candidate for candidate in guesses if candidate is not None)]
        equations = [*textbook, *self._finalized([*first, *candidates], objective)]
        if compared and not few and all(equation.loss > objective.exact for equation in equations):
            textbook = self._textbook_models(objective)
        rows = [self._guess_row(guess, objective) for guess in self.guesses]
        equations += competing(rows, equations)
        if linear and (full := full_linear_model(objective)) is not None:
            equations, linear, textbook = (
                compared_with_linear(some, full) for some in (equations, linear, textbook)
            )
        within = self._within_limits(equations) or equations
        others = self._within_limits(linear), self._within_limits(textbook)
        table = make_table(within, objective, overall, *others, config.model_selection)
        return with_guesses(table, rows, objective, overall) if rows else table

    # Guesses ----------------------------------------------------------------------------------------------------
    @cached_property
    def guesses(self) -> list[FittedGuess]:
        """The guesses of the user, fitted."""
        config, fitted = self.config, []
        count = starts_for(len(config.guesses), config.time_limit)
        seconds = np.inf
        if config.time_limit is not None:
            seconds = max(GUESS_SECONDS, GUESS_SHARE * config.time_limit / max(len(config.guesses), 1))
        for k, guess in enumerate(config.guesses):
            found = ParametricSum.of(guess.tree, guess.n_features)
            least = sum(1 + config.complexity(term) for term in found.terms) - 1
            if least > config.max_size:
                reason = f"its complexity is at least {least}, and max_size is {config.max_size}"
                fitted.append(FittedGuess(guess.text, None, None, reason))
            else:
                starts = count if self.stop.reason is None else FEW_STARTS
                deadline = time.monotonic() + seconds
                fitter = GuessFitter(found, starts, lambda end=deadline: time.monotonic() > end)  # type: ignore[misc]
                fitted.append(fitter(guess.text, self.objective, (config.seed, k)))
        return fitted

    def _guess_row(self, guess: FittedGuess, objective: Objective) -> GuessRow:
        """The row of a fitted guess, or why there is none."""
        first, final = guess.on_training_set, guess.on_all_rows
        if first is None or final is None:
            return GuessRow(guess.text, None, guess.reason)
        equation = self._finalizer(objective).as_written(first, final)
        reason = NOT_FINITE if equation is None else self._why_excluded(equation)
        return GuessRow(guess.text, None if reason else equation, reason)

    def _why_excluded(self, equation: Equation) -> str:
        """Why the limits exclude an equation; "" if they do not."""
        config, terms = self.config, equation.model.n_terms
        if equation.complexity > config.max_size:
            return f"its complexity is {equation.complexity}, and max_size is {config.max_size}"
        if config.max_terms is not None and terms > config.max_terms:
            return f"it has {terms} terms, and max_terms is {config.max_terms}"
        if not all(map(config.nesting.allows, equation.model.expressions)):
            return "the rules of nesting exclude it"
        return ""

    # Finalized candidates ---------------------------------------------------------------------------------------
    def _linear_models(self, objective: Objective) -> list[Equation]:
        """Linear models with as many features as the limits allow."""
        if self._seconds_late > GRACE:
            return []
        config, n = self.config, objective.data.n_rows
        most = 1 + (config.max_size - 1) // SCALED_FEATURE if config.max_terms is None else config.max_terms
        data = replace(objective.data, weights=objective.weights)
        candidates = linear_models(data, min(most, max_terms_for(n)))
        return self._finalized(candidates, objective, snap=False)

    def _textbook_models(self, objective: Objective) -> list[Equation]:
        """Textbook shapes of single features."""
        if not objective.loss.squared or self._seconds_late > GRACE:
            return []
        # Few rows do not tell a short constant from a fitted one.
        snap = objective.data.n_rows > FEW_ROWS
        data = replace(objective.data, weights=objective.weights)
        return self._finalized(textbook_models(data, self.config.primitives), objective, snap)

    def _within_limits(self, equations: Sequence[Equation]) -> list[Equation]:
        """Those within `max_size` and `max_terms`: a product that a search counts as one term may expand into a sum."""
        size, terms = self.config.max_size, self.config.max_terms
        small = [equation for equation in equations if equation.complexity <= size]
        return [equation for equation in small if terms is None or equation.model.n_terms <= terms]

    def _finalized(
        self, candidates: Sequence[Candidate], objective: Objective, snap: bool = True
    ) -> list[Equation]:
        """Candidates as equations, the most promising first, and the others only while there is time."""
        config = self.config
        executor = config.executor if config.search is None else None
        if isinstance(executor, ProcessPool) and not executor.ready:
            executor = None  # a process would start for nothing
        # A task in another process has a deadline, because it cannot be asked to stop.
        out_of_time = (lambda: self._seconds_late > GRACE) if executor is None else Deadline(self._deadline)
        finalizer = replace(self._finalizer(objective), out_of_time=out_of_time)
        equations: list[Equation | None] = []
        jobs = [(finalizer, candidate, snap) for candidate in candidates]
        with closing(ordered(finalized, jobs, executor)) as results:
            for equation in results:
                equations.append(equation)
                late, done = self._seconds_late, len(equations)
                if (late > GRACE and done > MIN_FINALIZED) or (late > 2.0 * GRACE and done > 1):
                    break
        allows = config.nesting.allows
        return [e for e in equations if e is not None and all(map(allows, e.model.expressions))]

    def _finalizer(self, objective: Objective) -> Finalizer:
        config, primitives = self.config, with_rare_operators(self.config.primitives)
        # Terms of FTG and GP often cancel: they are sums as published.
        checked = config.search is None
        return Finalizer(
            replace(objective), primitives, config.complexity, config.names, checked=checked,
            of_logarithm=config.target.is_log,
        )  # fmt: skip

    @property
    def _deadline(self) -> float:
        """When refits have to end, by `time.time`."""
        return time.time() - self._seconds_late + GRACE

    @property
    def _seconds_late(self) -> float:
        """Seconds since the time limit, or since a stop was requested; −inf without either."""
        ends = [self.stop.requested_at]
        if self.config.time_limit is not None:
            ends.append(self.started + self.config.time_limit)
        return time.monotonic() - min(ends)


def halved(budget: Budget) -> Budget:
    """Half of the limits for each of two searches, without a target loss, which is not that of the working response."""
    return replace(
        budget,
        time_limit=None if budget.time_limit is None else 0.5 * budget.time_limit,
        max_candidates=None if budget.max_candidates is None else budget.max_candidates // 2,
        target_loss=0.0,
    )


def compile_kernels_of(engine: CompiledEngine, search: Search[Any] | None) -> None:
    """Compile all kernels that Numba would otherwise compile at their first use."""
    engine.evaluate([Expression.variable(0)], [[0.0]])
    RampedHalfAndHalf(1, 1).draw(Grammar(PrimitiveSet.default(), 1), 0, 0, 1)
    compile_kernels()
    if search is None:
        from fouriertree.search.hybrid import screening

        screening.compile_kernels()
    if (compile_search := getattr(search, "compile", None)) is not None:
        compile_search()


def node_count(candidate: Candidate) -> int:
    """Nodes of a sum, with those of its coefficients and additions."""
    return sum(3 + expression.size for expression in candidate.expressions) - 1
