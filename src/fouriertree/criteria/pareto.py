"""The one Pareto filter of the package."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


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
