"""Executors: who performs the tasks of a search, of refits and of experiments.

A task is a pure function of one item, so it does not matter which process performs it, nor when, nor how often:
results are used in the order of the items, and are the same bits for any number of workers.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, TypeVar

from fouriertree.engine.compiled import one_blas_thread
from fouriertree.search.processes import WAIT_SECONDS, ProcessPool, process_pool, wait_for
from fouriertree.search.shared import Packed, Shared

__all__ = ["ProcessPool", "Shared", "TaskQueue", "completed", "ordered", "process_pool"]

T = TypeVar("T")
R = TypeVar("R")

#: how often a task may be lost because a worker was killed: in the shared pool, and then in a worker of its own
MAX_BREAKS, MAX_BREAKS_ALONE = 2, 3


class TaskQueue:
    """Tasks that are waiting for their results.

    Without an executor, a result is computed when it is asked for.  With one, tasks are submitted ahead of that.  BLAS
    has one thread in a task, wherever it runs.  Tasks of a killed worker are submitted again; a broken executor of the
    user is replaced by this process, with a RuntimeWarning.

    Parameters
    ----------
    executor : concurrent.futures.Executor or None

    Examples
    --------
    >>> queue, items = TaskQueue(None), (-1, 2, -3)
    >>> [queue.first(abs, items[i:]) for i in range(3)]
    [1, 2, 3]
    """

    def __init__(self, executor: Executor | None) -> None:
        self._executor = executor
        self._count = 0
        self._items: dict[int, Any] = {}  #: by number, until the result is taken
        self._futures: dict[int, Future[Any]] = {}
        self._losses: Counter[int] = Counter()

    def first(self, function: Callable[[T], R], items: Sequence[T]) -> R:
        """function(items[0]), while the executor works on the others.

        Parameters
        ----------
        function : callable
            Pure: it may be called more than once with the same item, and in other processes.
        items : sequence
            Different objects.  Those that were not among the items of the last call are submitted, and what is left of
            that call is cancelled if it is not among them.

        Raises
        ------
        BrokenExecutor
            If this task was lost again and again because workers were killed, at last one that had no other task.
        ValueError
            If the function or the item cannot be pickled.
        """
        wanted = {id(item) for item in items}
        for number in [n for n, item in self._items.items() if id(item) not in wanted]:
            self._cancel(number)
        known = {id(item): number for number, item in self._items.items()}
        self.submit(function, [item for item in items if id(item) not in known])
        number = next(n for n, item in self._items.items() if item is items[0])
        future = self._futures.get(number)
        is_starting = isinstance(self._executor, ProcessPool) and not self._executor.ready
        if is_starting and future is not None and future.cancel():
            # A short search is over before the workers have started.
            del self._futures[number]
        return self.take(function, number)

    def submit(self, function: Callable[[T], R], items: Sequence[T]) -> None:
        """Submit items, which are numbered in the order in which they come."""
        numbers = range(self._count, self._count + len(items))
        self._items.update(zip(numbers, items, strict=True))
        self._count += len(items)
        self._submit(function, numbers)

    def take(self, function: Callable[[T], R], number: int) -> R:
        """The result of an item, which is not kept; one that the executor does not have is computed here."""
        try:
            while number in self._futures:
                future = self._futures[number]
                wait_for(future)
                if not _is_lost(future):
                    del self._futures[number]
                    return future.result().value  # type: ignore[no-any-return]
                self._recover(function, number)
            return _with_one_blas_thread(function, self._items[number])
        finally:
            self._items.pop(number, None)

    def next_done(self) -> int | None:
        """The number of a task that has ended; None if the executor has none."""
        while self._futures:
            wait(self._futures.values(), WAIT_SECONDS, FIRST_COMPLETED)
            for number, future in self._futures.items():
                if future.done():
                    return number
        return None

    def close(self) -> None:
        """Cancel the tasks that have not started."""
        for number in list(self._items):
            self._cancel(number)
        self._count, self._losses = 0, Counter()

    def _cancel(self, number: int) -> None:
        del self._items[number]
        if (future := self._futures.pop(number, None)) is not None:
            future.cancel()

    def interrupt(self) -> None:
        """Cancel all tasks; of the local process pool, those that are running, too."""
        self.close()
        if isinstance(self._executor, ProcessPool):
            self._executor.terminate()

    def _submit(self, function: Callable[[T], R], numbers: Iterable[int]) -> None:
        try:
            for number in numbers:
                if self._executor is not None:
                    task = Packed((function, self._items[number]))
                    self._futures[number] = self._executor.submit(_perform, task)
        except BrokenExecutor as error:
            self._use_this_process(error)

    def _recover(self, function: Callable[[T], R], number: int) -> None:
        """Submit again what has not started or was lost, in the order of the items."""
        self._losses[number] += 1
        again = [n for n, future in sorted(self._futures.items()) if future.cancel() or _is_lost(future)]
        lost = {n: self._futures.pop(n) for n in again}
        is_last = self._losses[number] >= MAX_BREAKS
        self._submit(function, [n for n in again if not (is_last and n == number)])
        if is_last:
            is_local = isinstance(self._executor, ProcessPool)
            # A killed worker takes the tasks of all others with it: only a worker of its own tells whose fault it is.
            self._futures[number] = _alone(function, self._items[number]) if is_local else lost[number]
            if _is_lost(self._futures[number]):
                raise self._broken(number)

    def _broken(self, number: int) -> BrokenExecutor:
        # Not in this process: what kills a worker, such as a lack of memory, would kill it, too.
        broken = BrokenExecutor(
            "worker processes were killed again and again in the same task, probably because the memory is used up; "
            "use fewer workers (n_jobs), or fewer rows"
        )
        broken.__cause__ = self._futures[number].exception()
        return broken

    def _use_this_process(self, error: BrokenExecutor) -> None:
        self._executor = None
        self._futures = {n: future for n, future in self._futures.items() if not _is_lost(future)}
        [reason, *_] = str(error).splitlines() or [type(error).__name__]
        message = f"the executor is broken ({reason.rstrip('.')}), so the remaining tasks run in this process"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def ordered(
    function: Callable[[T], R], items: Iterable[T], executor: Executor | None
) -> Generator[R, None, None]:
    """The results function(item), in the order of the items, as of a `TaskQueue`.

    All items are submitted at once.  Closing the generator cancels those that have not started; after Ctrl-C, the local
    process pool also ends those that are running.  An exception of `function` is raised at its place.

    >>> list(ordered(abs, [-1, 2, -3], None))
    [1, 2, 3]
    """
    for _, result in _results(function, list(items), executor, lambda queue, position: position):
        yield result


def completed(
    function: Callable[[T], R], items: Iterable[T], executor: Executor | None
) -> Generator[tuple[T, R], None, None]:
    """Every item with its result, as `ordered`, in the order in which they are completed.

    >>> list(completed(abs, [-1, 2], None))
    [(-1, 1), (2, 2)]
    """
    yield from _results(function, list(items), executor, lambda queue, position: queue.next_done())


def _results(
    function: Callable[[T], R],
    items: list[T],
    executor: Executor | None,
    choose: Callable[[TaskQueue, int], int | None],
) -> Generator[tuple[T, R], None, None]:
    """Items and results; `choose` is asked for the next position, and may answer None for any that is left."""
    queue, left = TaskQueue(executor), dict.fromkeys(range(len(items)))
    queue.submit(function, items)
    try:
        while left:
            first = next(iter(left))
            chosen = choose(queue, first)
            position = first if chosen is None else chosen
            del left[position]
            yield items[position], queue.take(function, position)
    except KeyboardInterrupt:
        # Whoever pressed Ctrl-C does not wait for the tasks that are running, nor at the end of the program.
        queue.interrupt()
        raise
    finally:
        queue.close()


def _alone(function: Callable[[T], R], item: T) -> Future[Any]:
    """A task that has ended in a worker that has no other one; lost if that was killed every time."""
    for _ in range(MAX_BREAKS_ALONE):
        pool = ProcessPool(1)
        try:
            future = pool.submit(_perform, Packed((function, item)))
            wait_for(future)
        finally:
            pool.terminate()
        if not _is_lost(future):
            break
    return future


def _is_lost(future: Future[Any]) -> bool:
    """Whether the worker that had a task was killed."""
    return future.done() and not future.cancelled() and isinstance(future.exception(), BrokenExecutor)


def _perform(task: Packed[tuple[Callable[[T], R], T]]) -> Packed[R]:
    return Packed(_with_one_blas_thread(*task.value))


def _with_one_blas_thread(function: Callable[[T], R], item: T) -> R:
    # The bits of a matrix product depend on the number of threads.
    with one_blas_thread():
        return function(item)
