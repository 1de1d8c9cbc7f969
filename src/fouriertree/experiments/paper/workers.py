"""Tasks in parallel: one process per core, the long tasks first, records in the order in which they finish."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from typing import Any

from fouriertree import Budget
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.runs import WatchedGP
from fouriertree.experiments.paper.tasks import LSP, TABLE, Task, perform, search_of
from fouriertree.experiments.store import Record, Store
from fouriertree.experiments.threads import ONE_THREAD
from fouriertree.problems import Benchmark, LargeScalePolynomial, get_problem
from fouriertree.search import run

Results = Iterator[tuple[Task, Record]]
#: evaluations of a run that compiles what the algorithm uses
FEW = Budget(1200)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(tasks: Sequence[Task], jobs: int) -> Results:
    """In `jobs` processes, which are terminated if the caller stops early."""
    if not tasks:
        return
    warm()
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with one_thread_each():
        pool = ProcessPoolExecutor(min(jobs, len(tasks)), context, initializer=start_worker)
        futures: dict[Future[Record], Task] = {pool.submit(perform, task): task for task in tasks}
    try:
        for future in as_completed(futures):
            yield futures[future], result(futures.pop(future), future)
    except BaseException:
        # Ctrl-C does not wait for runs, which take up to half a minute.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def result(task: Task, future: Future[Record]) -> Record:
    try:
        return future.result()
    except Exception as error:
        error.add_note(f"while running {task}")
        raise


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started in this context compute with one thread."""
    before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name in ONE_THREAD:
            del os.environ[name]
        os.environ.update(before)


def start_worker() -> None:
    # Ctrl-C reaches all processes of the terminal; the parent process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm()


@cache
def warm() -> None:
    """Run every algorithm briefly, so that compilation is not timed; a second call does nothing."""
    benchmark, lsp = get_problem("koza1"), get_problem("lsp10")
    assert isinstance(benchmark, Benchmark)
    assert isinstance(lsp, LargeScalePolynomial)
    for algorithm in facts.ALGORITHMS:
        run(search_of(Task(TABLE, algorithm, "koza1", 0)), benchmark.problem(0), FEW)
    for algorithm in (facts.ONE_PLUS_LAMBDA, facts.CANONICAL):
        run(WatchedGP(search_of(Task(LSP, algorithm, "lsp10", 0))), lsp.exact_problem(), FEW)
    for algorithm in (facts.PUBLISHED_FTG, facts.ORTHONORMAL_FTG):
        run(search_of(Task(LSP, algorithm, "lsp10", 0)), lsp.problem(), FEW)


def complete(
    tasks: Iterable[Task],
    store: Store,
    compute: Callable[[Sequence[Task]], Results],
    done: Callable[[Task], Any] = lambda task: None,
) -> int:
    """Run the tasks that the store does not have; the number of them.  `done` is called with each."""
    missing = sorted((task for task in tasks if task not in store), key=lambda task: -task.seconds)
    for task, record in compute(missing):
        store.append(task, record)
        done(task)
    return len(missing)
