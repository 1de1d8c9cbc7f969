"""The local process pool: worker processes with one thread each, shared by all fits of a process."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from typing import Any, TypeVar

from fouriertree.search.shared import dumps, same_computer

R = TypeVar("R")

#: environment of a process that computes with one thread; more would compete with other processes for the cores
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
#: seconds after which a worker without a task ends
IDLE_SECONDS = 60.0
#: seconds between two looks whether the parent process is alive
PARENT_SECONDS = 1.0
#: seconds between two looks whether Ctrl-C was pressed
WAIT_SECONDS = 0.5
#: seconds that the end of a program waits for a thread of a terminated pool at most
EXIT_SECONDS = 5.0


class ProcessPool(Executor):
    """Worker processes, started at first use.

    The processes are loky's, so tasks need no main guard and may be defined in a notebook.  A worker loads the compiled
    kernels before its first task, ignores Ctrl-C, which the parent process handles, ends after a minute without a task,
    and ends with the parent process, also if that is killed.  If a worker is killed, the tasks that had started raise
    BrokenExecutor, and new workers perform the others.

    Parameters
    ----------
    n_workers : int

    Examples
    --------
    >>> with ProcessPool(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._reset()

    def _reset(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._workers: Any = None  #: loky's pool
        # A call waits here until a worker is almost free, because loky cannot cancel what it has.
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._running: set[Future[Any]] = set()
        self._is_starting = self._closed = False
        self._last_answer = -inf

    @property
    def ready(self) -> bool:
        """Whether a worker has answered lately; until then a caller may compute in its own process."""
        return self._pid == os.getpid() and time.monotonic() - self._last_answer < IDLE_SECONDS

    @property
    def closed(self) -> bool:
        """Whether `shutdown` was called."""
        return self._closed

    def start(self) -> None:
        """Start the workers and return at once; `ready` says when the first one has loaded the kernels."""
        self._use_in_this_process()
        with self._lock:
            if self.ready or self._is_starting:
                return
            self._is_starting = True
        self._hand_over(_nothing, self._started)

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        self._use_in_this_process()
        future: Future[R] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._waiting.append((future, partial(fn, *args, **kwargs)))
        self._forward()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            waiting, running = [future for future, _ in self._waiting], list(self._running)
        if cancel_futures:
            for future in waiting:
                future.cancel()
        if wait:
            for future in waiting + running:
                wait_for(future)
        self._close_if_done(wait)

    def terminate(self) -> None:
        """Kill the workers, whose tasks raise BrokenExecutor; the next `submit` starts new ones."""
        self._use_in_this_process()
        with self._lock:
            workers, self._workers, self._last_answer = self._workers, None, -inf
        if workers is not None:
            if (feeder := workers._call_queue._thread) is not None:
                _feeders.add(feeder)
            workers.shutdown(wait=False, kill_workers=True)

    def _use_in_this_process(self) -> None:
        if self._pid != os.getpid():
            # After a fork the workers belong to the other process.  Its pool must not be finalized here.
            self._inherited = self._workers
            self._reset()

    def _forward(self) -> None:
        """Hand waiting calls over: two for each worker, so that none waits for this process."""
        while (waiting := self._next_waiting()) is not None:
            future, call = waiting
            self._hand_over(call, partial(self._finish, future))
        self._close_if_done(wait=False)

    def _next_waiting(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._lock:
            while self._waiting and self._waiting[0][0].cancelled():
                self._waiting.popleft()[0].set_running_or_notify_cancel()
            must_start = bool(self._waiting) and not self.ready
            while not must_start and self._waiting and len(self._running) < 2 * self.n_workers:
                future, call = self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    self._running.add(future)
                    return future, call
        if must_start:
            self.start()
        return None

    def _hand_over(self, call: Callable[[], Any], then: Callable[[Any, Future[Any]], None]) -> None:
        """Give a call to the workers, which are started where there are none; then `then(workers, answer)`."""
        try:
            # Pickled here, because a pool breaks if one of its workers cannot read a task.
            with same_computer():
                payload = dumps(call)
            workers, answer = self._submit(payload)
        except Exception as error:
            workers, answer = None, Future()
            answer.set_exception(error)
        answer.add_done_callback(partial(then, workers))

    def _submit(self, payload: bytes) -> tuple[Any, Future[Any]]:
        with self._lock, _interrupts_blocked():
            if self._workers is not None:
                with suppress(BrokenExecutor):
                    return self._workers, self._workers.submit(_perform, payload)
            self._workers = _new_workers(self.n_workers)
            answer = self._workers.submit(_perform, payload)
            _terminate_at_exit(self)
            return self._workers, answer

    def _started(self, workers: Any, answer: Future[None]) -> None:
        with self._lock:
            self._is_starting = False
            error = self._note(workers, answer)
            failed = [] if error is None else list(self._waiting)
            if failed:
                self._waiting.clear()
        for future, _ in failed:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        self._forward()

    def _finish(self, future: Future[Any], workers: Any, answer: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)
            error = self._note(workers, answer)
        if error is None:
            future.set_result(answer.result())
        else:
            future.set_exception(error)
        if workers is not None:
            self._forward()

    def _note(self, workers: Any, answer: Future[Any]) -> BaseException | None:
        """The error of an answer, if any: to be terminated is to be broken."""
        from joblib.externals.loky.process_executor import ShutdownExecutorError

        error = answer.exception()
        if isinstance(error, ShutdownExecutorError):
            error = BrokenExecutor("the workers were terminated")
        if workers is not None and workers is self._workers:
            self._last_answer = -inf if isinstance(error, BrokenExecutor) else time.monotonic()
        return error

    def _close_if_done(self, wait: bool) -> None:
        with self._lock:
            if not self._closed or self._waiting or self._running:
                return
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.shutdown(wait=wait)


def process_pool(n_jobs: int) -> ProcessPool:
    """The process pool of this process with so many workers, which all fits share."""
    key = os.getpid(), n_jobs
    pool = _pools.get(key)
    if pool is None or pool.closed:
        pool = _pools[key] = ProcessPool(n_jobs)
    return pool


_pools: dict[tuple[int, int], ProcessPool] = {}


def _terminate_at_exit(pool: ProcessPool) -> None:
    """A program does not wait at its end for tasks whose results were not awaited."""
    if not _started_pools:
        # Before loky's own handler, which waits: the last one to be registered is called first.
        threading._register_atexit(_terminate_all)  # type: ignore[attr-defined]
    _started_pools.add(pool)


_started_pools: set[ProcessPool] = set()
#: threads that send tasks to workers that were terminated
_feeders: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _terminate_all() -> None:
    for pool in _started_pools:
        pool.terminate()
    for feeder in list(_feeders):
        # It frees the semaphores of its queue; one would be reported as leaked if the program ended in between.
        feeder.join(EXIT_SECONDS)


def wait_for(future: Future[Any]) -> None:
    """Wait until a future is done; Ctrl-C interrupts it on Windows, too, where a wait without a limit ignores it."""
    while not future.done():
        wait([future], WAIT_SECONDS)


# Workers --------------------------------------------------------------------------------------------------------
def _new_workers(n_workers: int) -> Any:
    """A private pool of loky: its shared one belongs to joblib."""
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    return ProcessPoolExecutor(
        n_workers, timeout=IDLE_SECONDS, env=ONE_THREAD, initializer=_prepare_worker, initargs=(os.getpid(),)
    )


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes started in this context get no Ctrl-C before they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from joblib.externals.loky.backend.resource_tracker import ensure_running

    # Started first, because its start may unblock SIGINT.
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker(parent: int) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from fouriertree.projection import variable
    from fouriertree.search.hybrid import screening

    variable.compile_kernels()
    screening.compile_kernels()


def _end_with(parent: int) -> None:
    """End this process when its parent process has ended."""
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(parent)
        # On Windows, the number of the parent process does not change when that ends.
        while os.getppid() == parent and process.is_running():
            time.sleep(PARENT_SECONDS)
    os._exit(1)


def _perform(payload: bytes) -> Any:
    return pickle.loads(payload)()


def _nothing() -> None:
    pass
