"""The hybrid search: symmetries, images of the target, all-pairs screening, variable projection and variation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from fouriertree.expr import Expression
from fouriertree.expr.canonical import rescaled, split_number
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.opcodes import VAR
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.model import addends
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Accepted, Event, Offered, Progress
from fouriertree.search.hybrid.archive import SPARE_ROWS, Archive, Entry, Limits
from fouriertree.search.hybrid.arms import MANY, Arm, Pool, all_arms, first_arms
from fouriertree.search.hybrid.assemble import terms_for_target
from fouriertree.search.hybrid.chain import Chain
from fouriertree.search.hybrid.evolve import Evolution
from fouriertree.search.hybrid.explore import EXACT
from fouriertree.search.hybrid.fractions import fractions, passes
from fouriertree.search.hybrid.linear import linear_sums
from fouriertree.search.hybrid.links import IDENTITY, LINKS, Link
from fouriertree.search.hybrid.symmetry import View, reduced_views, single_index
from fouriertree.search.hybrid.table import Table, make_table
from fouriertree.search.nesting import Nesting

Floats = NDArray[np.float64]

LAW = "the law is certain: exact on all rows"
#: parts that can be left out
PARTS = SYMMETRIES, LINKED, RATIOS, MODULATION, FUNCTIONS, VARIATION = (
    "symmetries", "links", "ratios", "modulation", "functions", "variation"
)  # fmt: skip
#: views that are searched: the most reduced ones, and the given one
MOST_VIEWS = 3
#: polynomials up to this degree are written with powers, others as chains of products
LARGEST_POWER = 12
#: squared error of a polynomial in an image, relative to the image, below which y itself is tried
NEARLY = 1e-2
#: steps of every arm in the first round; later rounds give the better half of the arms twice as many
FIRST_STEPS, MOST_STEPS = 2, 12


@dataclass
class HybridState:
    """Where a run of the hybrid stands; `work` does one piece after the other."""

    table: Table
    archive: Archive
    work: Iterator[None]
    arms: list[Arm]
    progress: Progress
    finished: str | None = None


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
        arms: list[Arm] = []
        vocabulary = Vocabulary(problem.grammar.primitives)
        loss = float(problem.space.target @ problem.space.target)
        work = self._work(archive, vocabulary, arms, seed)
        return HybridState(table, archive, work, arms, Progress(0, 0, 0, 0, loss)), []

    def step(self, problem: Problem, state: HybridState, budget: Budget) -> tuple[HybridState, list[Event]]:
        # What is not finite is left out, and nobody need be told.
        # Threads share blocks of pairs and batches of fits; in matrices as small as ours, more of them only wait.
        with _thread_pools().limit(limits=1), np.errstate(all="ignore"):
            try:
                next(state.work)
            except StopIteration:
                state.finished = "nothing is left to try"
        events = self._news(problem, state)
        if state.archive.law is not None:
            state.finished = LAW
        return state, events

    # One piece of work after the other ---------------------------------------------------------------------
    def _work(self, archive: Archive, v: Vocabulary, arms: list[Arm], seed: int) -> Iterator[None]:
        table = archive.table
        archive.offer([(ONE,), *(in_table(guess, table) for guess in self.guesses)])
        yield
        if table.n_columns == 0:
            return

        archive.offer(linear_sums(table, self.max_terms), iterations=0)
        yield

        def make(view: View, link: Link, pool: Pool) -> Arm:
            return Arm(archive, v, view, link, pool, self.max_terms, self.most_atoms)

        yield from self._polynomials(archive, v)
        given = View(table.variables, table.X.T, table.y, table.weights)
        # Of one variable, there is nothing to reduce first, and all arms come at once.
        quick = [arm for arm in self._chosen(first_arms(make, given), v) if table.n_columns > 1]
        arms += quick
        yield from _steps(quick, 2)
        views: list[View] = []
        for view in self._views(given, v, seed):
            views.append(view)
            if len(view.variables) == 1:
                yield from self._fractions(archive, v, view)
            if not view.variables:
                archive.offer([m for m in [terms_for_target(v, view, IDENTITY, (1.0,), (ONE,), -1)] if m])
            yield
        views = [view for view in views if view.variables]
        for view in (*views[::-1][:MOST_VIEWS], *views[: 1 if len(views) > MOST_VIEWS else 0]):
            new = self._chosen(all_arms(make, view), v)
            arms += new
            for arm in new:
                yield from _steps([arm], arm.pool.first_steps)
        evolution = Evolution(archive, v, seed)
        arms += self._chosen([make(view, link, MANY) for view in views[-1:] for link in LINKS], v)
        yield from _rounds(arms, evolution if VARIATION not in self.without else None, self.rounds)

    def _views(self, given: View, v: Vocabulary, seed: int) -> Iterator[View]:
        """The given view, and what symmetries make of it, one after the other."""
        if SYMMETRIES in self.without:
            yield given
            return
        last = given
        for last in reduced_views(given, v, np.random.default_rng([seed, 2])):
            yield last
        if last.variables and (index := single_index(last, v)) is not None:
            yield index

    def _chosen(self, arms: list[Arm], v: Vocabulary) -> list[Arm]:
        """Those that the operators allow, and that belong to no part that is left out."""

        def left_out(arm: Arm) -> bool:
            pool = arm.pool
            parts = {
                LINKED: arm.link is not IDENTITY, RATIOS: pool.ratio,
                MODULATION: pool.modulated, FUNCTIONS: pool.recipe.functions,
            }  # fmt: skip
            return any(parts.get(part, False) for part in self.without)

        return [arm for arm in arms if arm.link.allowed(v) and not left_out(arm)]

    def _polynomials(self, archive: Archive, v: Vocabulary) -> Iterator[None]:
        """Of one variable, as far as terms allow: a span that either holds the law or costs next to nothing."""
        table = archive.table
        if table.n_columns != 1 or "mul" not in v or not ("add" in v and "sub" in v):
            return
        for link in [link for link in LINKS if link.allowed(v)]:
            applied = link.apply(table.y, table.weights)
            if applied is not None:
                yield from self._polynomial(archive, v, link, applied[0], applied[1])

    def _polynomial(
        self, archive: Archive, v: Vocabulary, link: Link, z: Floats, weights: Floats
    ) -> Iterator[None]:
        table = archive.table
        chain = Chain(table.X[:, 0], z, weights, v)
        most = max(self.max_terms, self.exact_terms)
        while not chain.finished and len(chain.terms) < min(most, len(z) - SPARE_ROWS):
            chain.step()
            archive.traverses += chain.traverses
            chain.traverses = 0
            yield
        degree = len(chain.terms) - 1
        if link is not IDENTITY:
            # The fit to y itself finds the rest, so the image need not be exact.
            near = [d for d in range(1, min(degree, 4) + 1) if chain.losses[d] < NEARLY]
            self._offer_powers(archive, v, link, z, weights, near)
        elif degree > LARGEST_POWER:
            archive.offer([tuple(chain.terms)], iterations=0)
        elif degree > 0 and chain.loss <= EXACT:
            self._offer_powers(archive, v, link, z, weights, [degree])
        yield

    def _offer_powers(
        self, archive: Archive, v: Vocabulary, link: Link, z: Floats, weights: Floats, degrees: list[int]
    ) -> None:
        table = archive.table
        view = View(table.variables, table.X.T, table.y, table.weights)
        powers = [v.power(table.variables[0], float(p)) for p in range(1, max(degrees, default=0) + 1)]
        sums = archive.projected([(ONE, *powers[:d]) for d in degrees], z, weights)
        models = [terms_for_target(v, view, link, c, e, -1) for c, e in sums]
        archive.offer([m for m in models if m is not None], most_terms=self.exact_terms)

    def _fractions(self, archive: Archive, v: Vocabulary, view: View) -> Iterator[None]:
        """Fractions of polynomials in the only variable of a view: they cost next to nothing, too."""
        if RATIOS in self.without or not v.complete:
            return
        rows = archive.table.screen
        found = fractions(view.V[0, rows], view.t[rows], view.weights[rows], SPARE_ROWS)
        for degree, good in enumerate(found, 1):
            archive.traverses += passes(degree)
            for fraction in good:
                written = fraction.expression(v, view.variables[0])
                model = terms_for_target(v, view, IDENTITY, (1.0,), (written,), -1)
                archive.offer([model] if model is not None else [], may_be_law=fraction.may_be_law)
            yield

    # What the run tells ------------------------------------------------------------------------------------
    def _news(self, problem: Problem, state: HybridState) -> list[Event]:
        archive, before = state.archive, state.progress
        images = [arm.image for arm in state.arms if arm.image is not None]
        candidates = archive.fits + sum(image.screened for image in images)
        passes = archive.traverses + sum(image.traverses for image in images)
        traverses = max(before.traverses + 1, passes)
        wanted = archive.near_front()
        new = [entry for entry in archive.new if id(entry) in wanted]
        archive.new.clear()
        events: list[Event] = []
        best = before
        for entry in new:
            found = original(problem, state.table, entry)
            if found is None:
                continue
            coefficients, expressions, loss = found
            progress = Progress(traverses, candidates, 0, len(expressions), min(loss, best.loss))
            events.append(Offered(progress, coefficients, expressions, entry.complexity, loss))
            if loss < best.loss:
                best = progress
                events.append(Accepted(progress, expressions[-1], coefficients, expressions))
        state.progress = Progress(traverses, candidates, 0, best.terms, best.loss)
        return events


@cache
def _thread_pools() -> ThreadpoolController:
    """Those of the libraries that are loaded; looking for them takes milliseconds, so that it is done once."""
    return ThreadpoolController()


def _steps(arms: list[Arm], count: int) -> Iterator[None]:
    for arm in arms:
        for _ in range(count):
            if arm.finished:
                break
            yield from arm.step()
            yield


def _rounds(arms: list[Arm], evolution: Evolution | None, rounds: int | None) -> Iterator[None]:
    """Ever more steps for ever fewer arms, and a generation of variation after each."""
    steps = FIRST_STEPS
    for _ in count() if rounds is None else range(rounds):
        alive = sorted((arm for arm in arms if not arm.finished), key=lambda arm: arm.best)
        alive = alive[: max(4, len(alive) // 2)]
        for arm in alive:
            yield from _steps([arm], steps)
            if evolution is not None:
                evolution.step()
                yield
        if not alive:
            if evolution is None:
                return
            evolution.step()
            yield
        steps = min(2 * steps, MOST_STEPS)


def original(
    problem: Problem, table: Table, entry: Entry
) -> tuple[Floats, tuple[Expression, ...], float] | None:
    """The entry in the problem's columns and units, with the best coefficients over all of its points."""
    expressions = tuple(in_units(term, table, problem) for term in entry.terms)
    vectors = problem.space.coordinates(expressions)
    if not np.isfinite(vectors).all():
        return None
    # Of unit size, so that neither units nor squares that overflow matter.
    lengths = np.abs(vectors).max(axis=1)
    lengths[lengths == 0.0] = 1.0
    target = problem.space.target
    coefficients = np.linalg.lstsq((vectors / lengths[:, None]).T, target, rcond=None)[0] / lengths
    residual = target - coefficients @ vectors
    return coefficients, expressions, float(residual @ residual)


def in_units(term: Expression, table: Table, problem: Problem) -> Expression:
    """A term over the table's columns as one over the problem's, without a number in front."""
    scales = np.ones(problem.space.n_columns)
    scales[table.columns] = table.scales
    positive = frozenset(table.columns[(table.X > 0.0).all(axis=0)].tolist())
    primitives = problem.grammar.primitives
    moved = rescaled(renamed(term, table.columns), scales.tolist(), primitives, positive)
    return split_number(moved, primitives, positive)[1]


def in_table(guess: Expression, table: Table) -> tuple[Expression, ...]:
    """The addends of a formula over the problem's columns as terms over the table's."""
    places = np.zeros(int(table.columns.max(initial=0)) + 1, np.intp)
    places[table.columns] = np.arange(table.n_columns)
    moved = rescaled(renamed(guess, places), (1.0 / table.scales).tolist())
    return tuple(split_number(part)[1] for _, part in addends(moved))


def renamed(expression: Expression, columns: NDArray[np.intp]) -> Expression:
    """With columns[i] in place of column i."""
    arg = expression.arg.copy()
    leaves = expression.op == VAR
    arg[leaves] = columns[arg[leaves]]
    return Expression.unchecked(expression.op, arg, expression.const, expression.primitives)
