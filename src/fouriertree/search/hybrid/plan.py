"""What the hybrid does, one piece of work after the other, and where it stands, so that it can go on from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain as joined
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.archive import Archive
from fouriertree.search.hybrid.arms import MANY, Arm, all_arms, first_arms
from fouriertree.search.hybrid.assemble import terms_for_target
from fouriertree.search.hybrid.crew import Crew
from fouriertree.search.hybrid.evolve import Evolution
from fouriertree.search.hybrid.explore import Sums
from fouriertree.search.hybrid.ground import Pool
from fouriertree.search.hybrid.growth import State
from fouriertree.search.hybrid.linear import linear_sums
from fouriertree.search.hybrid.links import IDENTITY, LINKS, Link
from fouriertree.search.hybrid.spans import Polynomials, fractions_of
from fouriertree.search.hybrid.symmetry import View, reduced_views, single_index
from fouriertree.search.hybrid.units import in_table

Floats = NDArray[np.float64]

#: parts that can be left out
PARTS = SYMMETRIES, LINKED, RATIOS, MODULATION, FUNCTIONS, VARIATION = (
    "symmetries", "links", "ratios", "modulation", "functions", "variation"
)  # fmt: skip
#: views that are searched: the most reduced ones, and the given one
MOST_VIEWS = 3
#: steps of the quick look
QUICK_STEPS = 2
#: steps of every arm in the first round; later rounds give the better half of the arms twice as many
FIRST_STEPS, MOST_STEPS = 2, 12
#: what a piece of work yields: whether `Plan.state` says all about where the plan stands, or a step is under way
RESTING, BUSY = True, False


class Settings(Protocol):
    """Of the hybrid, what its plan depends on."""

    @property
    def max_terms(self) -> int: ...
    @property
    def exact_terms(self) -> int: ...
    @property
    def most_atoms(self) -> int: ...
    @property
    def guesses(self) -> tuple[Expression, ...]: ...
    @property
    def rounds(self) -> int | None: ...
    @property
    def n_jobs(self) -> int: ...
    @property
    def without(self) -> frozenset[str]: ...


@dataclass
class Cursor:
    """Which piece of work comes next: a phase, and in those with arms, whose turn it is."""

    phase: int = 0
    turns: list[list[int]] = field(default_factory=list)  #: arm and number of steps
    turn: int = 0
    done: int = 0  #: steps of this turn
    round: int = 0
    steps: int = FIRST_STEPS


class Plan:
    """The quick look, symmetries, every arm in turn, and ever more steps for ever fewer arms."""

    def __init__(self, settings: Settings, archive: Archive, vocabulary: Vocabulary, seed: int) -> None:
        self.settings, self.archive, self.vocabulary, self.seed = settings, archive, vocabulary, seed
        table = archive.table
        self.given = View(table.variables, table.X.T, table.y, table.weights)
        self.views: list[View] = []
        self.arms: list[Arm] = []
        self.evolution = Evolution(archive, vocabulary, seed)
        self.cursor = Cursor()
        self._crew: Crew | None = None

    def work(self) -> Iterator[bool]:
        """All pieces from where the cursor stands, each with whether it ends at rest."""
        phases = [self._guesses]
        if self.archive.table.n_columns:
            phases += [self._spans, self._quick_look, self._symmetries, self._first_turns, self._rounds]
        for number in range(self.cursor.phase, len(phases)):
            if number > self.cursor.phase:
                self.cursor = Cursor(number)
            yield from phases[number]()

    # Phases ---------------------------------------------------------------------------------------------------
    def _guesses(self) -> Iterator[bool]:
        table = self.archive.table
        self.archive.offer([(ONE,), *(in_table(guess, table) for guess in self.settings.guesses)])
        yield BUSY

    def _spans(self) -> Iterator[bool]:
        """Lines, and of one variable polynomials: they cost next to nothing."""
        settings = self.settings
        self.archive.offer(linear_sums(self.archive.table, settings.max_terms), iterations=0)
        yield BUSY
        spans = Polynomials(self.archive, self.vocabulary, settings.max_terms, settings.exact_terms)
        for _ in spans.work():
            yield BUSY

    def _quick_look(self) -> Iterator[bool]:
        if not self.cursor.turns:
            self.arms = self._quick_arms()
            self.cursor.turns = [[number, QUICK_STEPS] for number in range(len(self.arms))]
        yield from self._take_turns()

    def _symmetries(self) -> Iterator[bool]:
        v = self.vocabulary
        for view in self._all_views():
            if view is None:
                yield BUSY
                continue
            self.views.append(view)
            if len(view.variables) == 1 and RATIOS not in self.settings.without:
                for _ in fractions_of(view, self.archive, v):
                    yield BUSY
            if not view.variables:
                model = terms_for_target(v, view, IDENTITY, (1.0,), (ONE,), -1)
                self.archive.offer([] if model is None else [model])
            yield BUSY

    def _first_turns(self) -> Iterator[bool]:
        if not self.cursor.turns:
            known, new = len(self.arms), self._arms_of_views()
            self.arms += [*new, *self._late_arms()]
            self.cursor.turns = [[known + i, arm.pool.first_steps] for i, arm in enumerate(new)]
        self._hire()
        yield from self._take_turns()

    def _rounds(self) -> Iterator[bool]:
        """Ever more steps for ever fewer arms, and a generation of variation after each."""
        cursor, varied = self.cursor, VARIATION not in self.settings.without
        self._hire()
        while self.settings.rounds is None or cursor.round < self.settings.rounds:
            if not cursor.turns:
                cursor.turns = [[number, cursor.steps] for number in self._alive()]
            if not cursor.turns:
                if not varied:
                    return
                self.evolution.step()
                yield BUSY
            yield from self._take_turns(varied)
            cursor.turns, cursor.turn = [], 0
            cursor.round, cursor.steps = cursor.round + 1, min(2 * cursor.steps, MOST_STEPS)

    def _alive(self) -> list[int]:
        """Numbers of the better half of the arms that can go on, best first."""
        numbers = [n for n, arm in enumerate(self.arms) if not arm.finished]
        numbers.sort(key=lambda n: self.arms[n].best)
        return numbers[: max(4, len(numbers) // 2)]

    def _take_turns(self, varied: bool = False) -> Iterator[bool]:
        """What is left of the turns under way: every arm its steps."""
        cursor = self.cursor
        if self._crew is not None:
            self._crew.begin(self.arms, self._turns_left())
        while cursor.turn < len(cursor.turns):
            number, steps = cursor.turns[cursor.turn]
            arm = self.arms[number]
            while cursor.done < steps and not arm.finished:
                for _ in arm.step(self._grown(number)):
                    yield BUSY
                cursor.done += 1
                yield RESTING
            if varied:
                self.evolution.step()
            cursor.turn, cursor.done = cursor.turn + 1, 0
            if varied:
                yield RESTING

    def _grown(self, number: int) -> Sums:
        return self.arms[number].grown() if self._crew is None else self._crew.grown(number)

    def _turns_left(self) -> list[list[int]]:
        cursor = self.cursor
        left = [list(turn) for turn in cursor.turns[cursor.turn :]]
        if left:
            left[0][1] -= cursor.done
        return [turn for turn in left if turn[1] > 0]

    # Helpers --------------------------------------------------------------------------------------------------
    def _hire(self) -> None:
        """Processes beside this one, now that there is much to do; user operators are known to this one only."""
        primitives = self.vocabulary.primitives
        if self._crew is None and self.settings.n_jobs > 1 and (primitives.opcodes < USER_OPCODE_START).all():
            self._crew = Crew(self.settings.n_jobs - 1)
            # Threads would only take the processors that the helpers work on.
            self.archive.n_jobs = 1

    def close(self) -> None:
        """Send the helpers away; the plan goes on without them, or with new ones."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    # Views and arms -------------------------------------------------------------------------------------------
    def _all_views(self) -> Iterator[View | None]:
        """The given view, and what symmetries make of it, one after the other; None where a run may be ended."""
        if SYMMETRIES in self.settings.without:
            yield self.given
            return
        last = self.given
        for view in reduced_views(self.given, self.vocabulary, np.random.default_rng([self.seed, 2])):
            last = last if view is None else view
            yield view
        if last.variables and (index := single_index(last, self.vocabulary)) is not None:
            yield index

    def _quick_arms(self) -> list[Arm]:
        # Of one variable, there is nothing to reduce first, and all arms come at once.
        return self._chosen(first_arms(self._arm, self.given)) if self.archive.table.n_columns > 1 else []

    def _arms_of_views(self) -> list[Arm]:
        views = self._of_variables()
        searched = (*views[::-1][:MOST_VIEWS], *views[: 1 if len(views) > MOST_VIEWS else 0])
        return self._chosen([*joined.from_iterable(all_arms(self._arm, view) for view in searched)])

    def _late_arms(self) -> list[Arm]:
        return self._chosen(
            [self._arm(view, link, MANY) for view in self._of_variables()[-1:] for link in LINKS]
        )

    def _of_variables(self) -> list[View]:
        return [view for view in self.views if view.variables]

    def _arm(self, view: View, link: Link, pool: Pool) -> Arm:
        settings = self.settings
        return Arm(self.archive, self.vocabulary, view, link, pool, settings.max_terms, settings.most_atoms)

    def _chosen(self, arms: Sequence[Arm]) -> list[Arm]:
        """Those that the operators allow, and that belong to no part that is left out."""

        def left_out(arm: Arm) -> bool:
            pool = arm.pool
            parts = {
                LINKED: arm.link is not IDENTITY, RATIOS: pool.ratio,
                MODULATION: pool.modulated, FUNCTIONS: pool.recipe.functions,
            }  # fmt: skip
            return any(parts.get(part, False) for part in self.settings.without)

        return [arm for arm in arms if arm.link.allowed(self.vocabulary) and not left_out(arm)]

    # To go on later -------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        return {
            "cursor": asdict(self.cursor),
            "arms": [arm.state() for arm in self.arms],
            "evolution": self.evolution.state(),
        }

    def restore(self, saved: State) -> None:
        """Go on from there; views and arms follow from the table, and are made anew."""
        self.cursor = Cursor(**saved["cursor"])
        self.arms = self._quick_arms()
        if len(saved["arms"]) > len(self.arms):
            self.views = [view for view in self._all_views() if view is not None]
            self.arms += [*self._arms_of_views(), *self._late_arms()]
        for arm, known in zip(self.arms, saved["arms"], strict=True):
            arm.restore(known)
        self.evolution.restore(saved["evolution"])
