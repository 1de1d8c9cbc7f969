"""The Pareto filter, the candidates that searches report, and an archive of the best of every complexity."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression

Item = TypeVar("Item")

#: candidates of one complexity that are kept, and the largest ratio of their loss to that of a simpler one
KEPT, NEAR = 3, 1.1
#: candidates near the Pareto front that are finalized at most
MAX_NEAR_FRONT = 20
INFINITY = float("inf")


def pareto_front(
    items: Iterable[Item],
    complexity: Callable[[Item], int],
    loss: Callable[[Item], float],
    improves: Callable[[Item, Item], bool] | None = None,
) -> list[Item]:
    """The items that improve on every simpler one, from the simplest on, one of each complexity.

    An item joins the front if `improves(item, last)` holds for the last one that joined; without it, if its loss is
    smaller.

    >>> pareto_front([(3, 0.1), (1, 2.0), (2, 2.5), (3, 0.3)], lambda p: p[0], lambda p: p[1])
    [(1, 2.0), (3, 0.1)]
    """
    better = improves or (lambda item, last: loss(item) < loss(last))
    front: list[Item] = []
    for item in sorted(items, key=lambda item: (complexity(item), loss(item))):
        if not front or (complexity(item) > complexity(front[-1]) and better(item, front[-1])):
            front.append(item)
    return front


@dataclass(frozen=True)
class FrontLosses:
    """The smallest loss up to every complexity: increasing complexities with decreasing losses.

    >>> front = FrontLosses().lowered(3, 0.1).lowered(1, 2.0).lowered(2, 2.5)
    >>> front, front.best(2), front.best(0)
    (FrontLosses(complexities=(1, 3), losses=(2.0, 0.1)), 2.0, inf)
    """

    complexities: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()

    def best(self, complexity: float) -> float:
        """The smallest loss up to a complexity."""
        number = bisect_right(self.complexities, complexity)
        return self.losses[number - 1] if number else INFINITY

    def lowered(self, complexity: int, loss: float) -> "FrontLosses":
        """With another candidate."""
        if not loss < self.best(complexity):
            return self
        points = zip(self.complexities, self.losses, strict=True)
        others = [(c, other) for c, other in points if c < complexity or other < loss]
        chosen = sorted([*others, (complexity, loss)])
        return FrontLosses(tuple(c for c, _ in chosen), tuple(loss for _, loss in chosen))


class Candidate(NamedTuple):
    """A sum Σ coefficients[i]·expressions[i]."""

    coefficients: tuple[float, ...]
    expressions: tuple[Expression, ...]


class Entry(NamedTuple):
    """A candidate with the loss that ranks it."""

    loss: float
    candidate: Candidate

    def to_plain(self) -> list[Any]:
        return [self.loss, *map(list, self.candidate)]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> Self:
        loss, coefficients, expressions = plain
        return cls(loss, Candidate(tuple(coefficients), tuple(expressions)))


class Ranked(NamedTuple):
    """A candidate worth finalizing; those of the Pareto front come first, then the shortest descriptions."""

    near_front: bool
    description: float
    candidate: Candidate


@dataclass(frozen=True)
class CandidateArchive:
    """Of every complexity some of the best candidates, by one of their losses; immutable."""

    entries: Mapping[int, tuple[Entry, ...]] = field(default_factory=dict)

    def accepts(self, complexity: int, loss: float) -> bool:
        """Whether a candidate would be kept, and is near the Pareto front: at most NEAR times a simpler one's loss."""
        known = self.entries.get(complexity, ())
        kept = len(known) < KEPT or loss < known[-1].loss
        return kept and loss < NEAR * self.best_loss(complexity - 1)

    def added(self, complexity: int, loss: float, candidate: Candidate) -> "CandidateArchive":
        known = [*self.entries.get(complexity, ()), Entry(loss, candidate)]
        best = tuple(sorted(known, key=lambda entry: entry.loss)[:KEPT])
        return CandidateArchive({**self.entries, complexity: best})

    def best_loss(self, complexity: int) -> float:
        """The smallest loss up to a complexity."""
        return min(
            (known[0].loss for size, known in self.entries.items() if size <= complexity), default=INFINITY
        )

    def front(self) -> dict[int, Entry]:
        """The Pareto front by complexity."""
        best = {size: known[0] for size, known in self.entries.items() if known[0].loss < INFINITY}
        chosen = pareto_front(best, lambda complexity: complexity, lambda complexity: best[complexity].loss)
        return {complexity: best[complexity] for complexity in chosen}

    def front_losses(self) -> FrontLosses:
        """The Pareto front without its candidates."""
        front = self.front()
        return FrontLosses(tuple(front), tuple(entry.loss for entry in front.values()))

    def worth_finalizing(self, n_rows: int, near: float = NEAR) -> list[Ranked]:
        """All of the Pareto front, and of the candidates near it those with the shortest descriptions."""
        front, others = self.front(), []
        ranked = [
            Ranked(False, approximate_length(n_rows, entry.loss, complexity), entry.candidate)
            for complexity, entry in front.items()
        ]
        best = INFINITY
        for complexity, entries in sorted(self.entries.items()):
            for entry in entries:
                if entry.loss < near * best and entry is not front.get(complexity):
                    length = approximate_length(n_rows, entry.loss, complexity)
                    others.append(Ranked(True, length, entry.candidate))
            best = min(best, entries[0].loss)
        return ranked + sorted(others, key=lambda rank: rank.description)[:MAX_NEAR_FRONT]

    def state(self) -> list[Any]:
        """Plain data and expressions."""
        return [[size, [entry.to_plain() for entry in known]] for size, known in self.entries.items()]

    @classmethod
    def from_state(cls, saved: Sequence[Any]) -> "CandidateArchive":
        return cls({size: tuple(Entry.from_plain(plain) for plain in known) for size, known in saved})
