"""One fit in a process of its own: `python -m fouriertree.experiments.bench.worker`; task on stdin, results on stdout.

Results come as JSON lines, one per stage, so that a process that is killed in one stage keeps those before it:
ready (imported and warm), fitted (the formula), measured (numbers on test rows), structured (whether the structure is
right), judged (the symbolic rule), sized (nodes after simplification).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from fouriertree.experiments.bench import judge
from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.forms import has_form
from fouriertree.experiments.bench.formulas import evaluate, parse, size
from fouriertree.experiments.bench.rounding import simplified
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.suites import load
from fouriertree.experiments.bench.systems import SYSTEMS, Fit
from fouriertree.experiments.bench.tasks import Task

Record = dict[str, Any]


def main() -> NoReturn:
    answers = private_stdout()
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    job = json.load(sys.stdin)
    folder = job.pop("folder")
    try:
        for record in stages(Task(**job), Path(folder) if folder else None):
            print(json.dumps(record), file=answers, flush=True)
    except Exception as error:
        print(json.dumps({"failed": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
    # No ceremony: the runtimes of some systems do not come to an end by themselves.
    os._exit(0)


def end_with(parent: int) -> None:
    """Leave when the process that wants the results is gone, however it went: nobody else would end this one."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def private_stdout() -> IO[str]:
    """The real stdout, for us alone: what systems print there, even from C++, goes to stderr."""
    private = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return private


def stages(task: Task, folder: Path | None) -> Iterator[Record]:
    """Records of the stages, one after the other."""
    fit = SYSTEMS[task.system].fit
    data = load(task.suite, task.case, task.seed, task.rows, task.noise, task.disguise, folder)
    warm_up(fit)
    yield {"stage": "ready"}
    found = fitted(fit, data, task)
    yield {"stage": "fitted", **found}
    model = parse(found["formula"], {str(symbol): symbol for symbol in data.symbols})
    measures = measured(model, data, task.noise)
    yield {"stage": "measured", **measures}
    # Before the symbolic rule, which may run out of time.
    yield {"stage": "structured", **structured(model, data)}
    yield {"stage": "judged", **judged(model, data, measures["r2"])}
    yield {"stage": "sized", **sized(model)}


def warm_up(fit: Fit) -> None:
    """A short fit to a tiny table, so that no measured one waits for imports and compilers."""
    X = np.linspace(1.0, 2.0, 40).reshape(20, 2)
    fit(X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2, 1.0, 0)


def fitted(fit: Fit, data: Data, task: Task) -> Record:
    """The formula and what it took; a processor that others use too shows as fewer seconds of it than of the clock."""
    clock, processor = time.perf_counter(), time.process_time()
    formula = fit(data.X, data.y, task.seconds, task.seed)
    return {
        "formula": formula,
        "fit_seconds": time.perf_counter() - clock,
        "processor_seconds": time.process_time() - processor,
    }


def measured(model: Any, data: Data, noise: float) -> Record:
    """Numbers on test rows; the size is that of the formula as it is, until a smaller one is known."""
    predicted = evaluate(model, data.symbols, data.X_test)
    r2, error = judge.r2(data.y_test, predicted), judge.relative_error(data.y_test, predicted)
    record: Record = {"r2": finite(r2), "error": finite(error), "size": size(model)}
    if data.truth is not None:
        record |= {
            "exact": judge.exact(error, noise),
            "equivalent": answered(lambda: judge.equivalent(model, data)),
            "truth_size": size(simplified(data.truth)),
        }
    return record


def structured(model: Any, data: Data) -> Record:
    """Whether the structure is right, where the law is known."""
    if data.truth is None:
        return {}
    return {"structure": answered(lambda: structure_right(model, data))}


def judged(model: Any, data: Data, r2: float | None) -> Record:
    """The verdict, where there is a law to find."""
    if data.truth is not None:
        close = r2 is not None and r2 > judge.LEAST_R2
        return {"symbolic": close and answered(lambda: judge.symbolic(model, data))}
    if data.law is not None:
        return {"symbolic": answered(lambda: has_form(model, data))}
    return {}


def sized(model: Any) -> Record:
    return {"size": min(size(model), size(simplified(model)))}


def finite(value: float) -> float | None:
    """JSON has no infinities."""
    return value if np.isfinite(value) else None


def answered(question: Callable[[], bool]) -> bool:
    """The answer; no, where SymPy fails: it has errors of its own, for which no fit should be lost."""
    try:
        return question()
    except Exception as error:
        print(f"undecided: {type(error).__name__}: {error}", file=sys.stderr)
        return False


if __name__ == "__main__":
    main()
