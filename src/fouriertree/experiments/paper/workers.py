"""Tasks in parallel: one process per core, the long tasks first, records in the order in which they finish."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from fouriertree import Budget
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.runs import WatchedGP
from fouriertree.experiments.paper.tasks import LSP, TABLE, Task, perform, search_of
from fouriertree.experiments.store import Record, Store
from fouriertree.problems import Benchmark, LargeScalePolynomial, get_problem
from fouriertree.search import run
from fouriertree.search.executors import completed, process_pool

Results = Iterator[tuple[Task, Record]]
#: evaluations of a run that compiles what the algorithm uses
FEW = Budget(1200)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(tasks: Sequence[Task], jobs: int) -> Results:
    """In `jobs` processes, whose runs end at Ctrl-C."""
    if not tasks:
        return iter(())
    # Compiled here once, so that the processes need not compile.
    warm()
    return completed(perform_warm, tasks, process_pool(min(jobs, len(tasks))))


def perform_warm(task: Task) -> Record:
    """The record of a task, whose time does not include compilation."""
    warm()
    try:
        return perform(task)
    except Exception as error:
        error.add_note(f"while running {task}")
        raise


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
