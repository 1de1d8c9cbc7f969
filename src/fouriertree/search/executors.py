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

#: a task may be lost so often, because a worker was killed
MAX_BREAKS = 3


class TaskQueue:
    """The tasks of one sequence of items after the other, whose results are asked for in order.

    Without an executor, a result is computed when it is asked for.  With one, all items are submitted when the first
    result is asked for.  BLAS has one thread in a task, wherever it runs.  Tasks of a killed worker are submitted
    again; a broken executor of the user is replaced by this process, with a RuntimeWarning.

    Parameters
    ----------
    executor : concurrent.futures.Executor or None

    Examples
    --------
    >>> queue, items = TaskQueue(None), (-1, 2, -3)
    >>> [queue.result(abs, items, position) for position in range(3)]
    [1, 2, 3]
    """

    def __init__(self, executor: Executor | None) -> None:
        self._executor = executor
        self._items: Sequence[Any] | None = None
        self._futures: dict[int, Future[Any]] = {}  #: by position in the items, until the result is taken
        self._losses: Counter[int] = Counter()

    def result(self, function: Callable[[T], R], items: Sequence[T], position: int) -> R:
        """function(items[position]).

        Parameters
        ----------
        function : callable
            Pure: it may be called more than once with the same item, and in other processes.
        items : sequence
            Another object than in the last call cancels the tasks that are left of that, and submits
            items[position:].
        position : int

        Raises
        ------
        BrokenExecutor
            If a worker was killed three times during this task.
        ValueError
            If the function or the item cannot be pickled.
        """
        self.submit(function, items, position)
        future = self._futures.get(position)
        if (
            isinstance(self._executor, ProcessPool)
            and not self._executor.ready
            and future
            and future.cancel()
        ):
            # A short search is over before the workers have started.
            del self._futures[position]
        return self.take(function, position)

    def submit(self, function: Callable[[T], R], items: Sequence[T], position: int = 0) -> None:
        """Submit items[position:], unless the items are those of the last call."""
        if items is self._items:
            return
        self.close()
        self._items = items
        self._submit(function, range(position, len(items)))

    def take(self, function: Callable[[T], R], position: int) -> R:
        """The result of a submitted item, which is not kept; one that was not submitted is computed here."""
        assert self._items is not None
        while position in self._futures:
            future = self._futures[position]
            wait_for(future)
            if _is_lost(future):
                self._recover(function, position)
            else:
                del self._futures[position]
                return future.result().value  # type: ignore[no-any-return]
        return _with_one_blas_thread(function, self._items[position])

    def next_done(self) -> int | None:
        """The position of a task that has ended; None if all results were taken."""
        while self._futures:
            wait(self._futures.values(), WAIT_SECONDS, FIRST_COMPLETED)
            for position, future in self._futures.items():
                if future.done():
                    return position
        return None

    def close(self) -> None:
        """Cancel the tasks that have not started."""
        for future in self._futures.values():
            future.cancel()
        self._items, self._futures, self._losses = None, {}, Counter()

    def interrupt(self) -> None:
        """Cancel all tasks; of the local process pool, those that are running, too."""
        self.close()
        if isinstance(self._executor, ProcessPool):
            self._executor.terminate()

    def _submit(self, function: Callable[[T], R], positions: Iterable[int]) -> None:
        assert self._items is not None
        try:
            for position in positions:
                if self._executor is not None:
                    task = Packed((function, self._items[position]))
                    self._futures[position] = self._executor.submit(_perform, task)
        except BrokenExecutor as error:
            self._use_this_process(error)

    def _recover(self, function: Callable[[T], R], position: int) -> None:
        """Submit again what has not started or was lost, in the order of the items."""
        error = self._futures[position].exception()
        assert error is not None
        self._losses[position] += 1
        if self._losses[position] >= MAX_BREAKS:
            # Not in this process: what kills a worker, such as a lack of memory, would kill it, too.
            raise BrokenExecutor(
                f"a worker process was killed {MAX_BREAKS} times in the same task, probably because the memory is used "
                "up; use fewer workers (n_jobs), or fewer rows"
            ) from error
        again = [p for p, future in sorted(self._futures.items()) if future.cancel() or _is_lost(future)]
        for p in again:
            del self._futures[p]
        self._submit(function, again)

    def _use_this_process(self, error: BrokenExecutor) -> None:
        self._executor = None
        self._futures = {p: future for p, future in self._futures.items() if not _is_lost(future)}
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


def _is_lost(future: Future[Any]) -> bool:
    """Whether the worker that had a task was killed."""
    return future.done() and not future.cancelled() and isinstance(future.exception(), BrokenExecutor)


def _perform(task: Packed[tuple[Callable[[T], R], T]]) -> Packed[R]:
    return Packed(_with_one_blas_thread(*task.value))


def _with_one_blas_thread(function: Callable[[T], R], item: T) -> R:
    # The bits of a matrix product depend on the number of threads.
    with one_blas_thread():
        return function(item)
