"""The Pareto filter, the candidates that searches report, and an archive of the best of every complexity."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression

Item = TypeVar("Item")

#: candidates of one complexity that are kept, and the largest ratio of their loss to that of a simpler one
KEPT, NEAR = 3, 1.1
#: candidates near the Pareto front that are finalized at most
MAX_NEAR_FRONT = 20


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


class CandidateArchive:
    """Of every complexity some of the best candidates, by one of their losses."""

    def __init__(self) -> None:
        self.entries: dict[int, list[Entry]] = {}

    def add(self, complexity: int, loss: float, candidate: Candidate) -> None:
        known = self.entries.setdefault(complexity, [])
        known.append(Entry(loss, candidate))
        known.sort(key=lambda entry: entry.loss)
        del known[KEPT:]

    def front(self) -> dict[int, Entry]:
        """The Pareto front by complexity."""
        best = {size: known[0] for size, known in self.entries.items() if known[0].loss < float("inf")}
        chosen = pareto_front(best, lambda complexity: complexity, lambda complexity: best[complexity].loss)
        return {complexity: best[complexity] for complexity in chosen}

    def worth_finalizing(self, n_rows: int, near: float = NEAR) -> list[Ranked]:
        """All of the Pareto front, and of the candidates near it those with the shortest descriptions."""
        front, others = self.front(), []
        ranked = [
            Ranked(False, approximate_length(n_rows, entry.loss, complexity), entry.candidate)
            for complexity, entry in front.items()
        ]
        best = float("inf")
        for complexity, entries in sorted(self.entries.items()):
            for entry in entries:
                if entry.loss < near * best and entry is not front.get(complexity):
                    length = approximate_length(n_rows, entry.loss, complexity)
                    others.append(Ranked(True, length, entry.candidate))
            best = min(best, entries[0].loss)
        return ranked + sorted(others, key=lambda rank: rank.description)[:MAX_NEAR_FRONT]

    def state(self) -> list[Any]:
        return [[size, [entry.to_plain() for entry in known]] for size, known in self.entries.items()]

    def restore(self, saved: Sequence[Any]) -> None:
        self.entries = {size: [Entry.from_plain(plain) for plain in known] for size, known in saved}
