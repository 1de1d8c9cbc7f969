"""The contract of executors under `TaskQueue`, `ordered` and `completed`.

    for check in fouriertree.testing.executors.CHECKS:
        check(my_executor)

The workers must be able to import fouriertree.  None, which stands for this process, passes, too.  Each check raises
AssertionError where the contract is broken, and leaves the executor usable.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from fouriertree.expr import Expression, parse
from fouriertree.search.executors import Shared, TaskQueue, completed, ordered

Array = NDArray[np.float64]
Check = Callable[[Executor | None], None]


@dataclass(frozen=True, eq=False)
class Rows(Shared):
    """Rows that many tasks refer to."""

    values: Array  #: (n_rows, n_columns)


def inverse(item: int) -> float:
    return 1.0 / item


def gram(seed: int) -> Array:
    """A matrix product, whose last bits depend on the number of threads."""
    values = np.random.default_rng(seed).standard_normal((300, 300))
    return np.asarray(np.sin(values) @ values.T)


def blas_threads(item: int) -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def column_sum(item: tuple[Rows, int]) -> float:
    rows, column = item
    return float(rows.values[:, column].sum())


def doubled(expression: Expression) -> Expression:
    return 2.0 * expression


def check_results_have_the_order_of_the_items(executor: Executor | None) -> None:
    assert list(ordered(inverse, range(1, 21), executor)) == [1.0 / item for item in range(1, 21)]
    assert list(ordered(inverse, [], executor)) == []


def check_every_item_is_completed_once(executor: Executor | None) -> None:
    assert sorted(completed(inverse, range(1, 21), executor)) == [(item, 1.0 / item) for item in range(1, 21)]
    assert list(completed(inverse, [], executor)) == []


def check_results_have_the_bits_of_one_process(executor: Executor | None) -> None:
    for here, there in zip(ordered(gram, range(4), None), ordered(gram, range(4), executor), strict=True):
        np.testing.assert_array_equal(here, there)


def check_blas_has_one_thread_in_a_task(executor: Executor | None) -> None:
    for threads in ordered(blas_threads, range(4), executor):
        assert set(threads) <= {1}


def check_an_exception_is_raised_at_its_place(executor: Executor | None) -> None:
    results = ordered(inverse, [1, 2, 0, 4], executor)
    assert list(islice(results, 2)) == [1.0, 0.5]
    try:
        next(results)
    except ZeroDivisionError:
        return
    raise AssertionError("the exception of a task was not raised")


def check_a_caller_may_stop_early(executor: Executor | None) -> None:
    results = ordered(inverse, range(1, 100), executor)
    assert next(results) == 1.0
    results.close()
    assert list(ordered(inverse, [2], executor)) == [0.5]


def check_a_queue_goes_from_one_sequence_of_items_to_the_next(executor: Executor | None) -> None:
    queue, first, second = TaskQueue(executor), tuple(range(1, 50)), (5, 4)
    assert [queue.first(inverse, first[position:]) for position in (0, 1)] == [1.0, 0.5]
    assert [queue.first(inverse, second[position:]) for position in (0, 1)] == [0.2, 0.25]
    assert queue.first(inverse, first[48:]) == 1.0 / 49
    queue.close()
    assert queue.first(inverse, second[1:]) == 0.25


def check_tasks_may_share_an_object(executor: Executor | None) -> None:
    rows = Rows(np.arange(12.0).reshape(4, 3))
    items = [(rows, column) for column in (0, 1, 2)] * 3
    assert list(ordered(column_sum, items, executor)) == [18.0, 22.0, 26.0] * 3


def check_expressions_are_items_and_results(executor: Executor | None) -> None:
    expressions = [parse("sin(x0)"), parse("x0*x1 + 1")]
    assert list(ordered(doubled, expressions, executor)) == [2.0 * e for e in expressions]


CHECKS: list[Check] = [check for name, check in list(globals().items()) if name.startswith("check_")]
