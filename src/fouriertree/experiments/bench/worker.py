"""One fit in its own process: `python -m fouriertree.experiments.bench.worker`; task on stdin, results on stdout.

Results are JSON lines, one per stage of `runs.LIMITS`, so that those before a killed stage are kept.
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
from fouriertree.experiments.bench.formulas import evaluate, parse, size
from fouriertree.experiments.bench.plan import Task
from fouriertree.experiments.bench.rounding import simplified
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.suites import load
from fouriertree.experiments.bench.systems import SYSTEMS, Fit
from fouriertree.experiments.store import Record


def main() -> NoReturn:
    results = private_stdout()
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    job = json.load(sys.stdin)
    folder = job.pop("folder")
    try:
        for record in stages(Task(**job), Path(folder) if folder else None):
            print(json.dumps(record), file=results, flush=True)
    except Exception as error:
        print(json.dumps({"failed": f"{type(error).__name__}: {error}"}), file=results, flush=True)
    # Without clean-up: the runtimes of some systems never end by themselves.
    os._exit(0)


def end_with(parent: int) -> None:
    """Exit when the parent process has ended, even if it was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def private_stdout() -> IO[str]:
    """The real stdout for the results; what systems print, even from C++, goes to stderr."""
    private = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return private


def stages(task: Task, folder: Path | None) -> Iterator[Record]:
    """Records of the stages, one after the other."""
    fit = SYSTEMS[task.system].fit
    data = load(
        task.suite, task.case, task.seed, task.rows, task.noise, task.disguise, folder, task.noise_kind
    )
    # A short fit to a tiny table, so that imports and compilation are not timed.
    X = np.linspace(1.0, 2.0, 40).reshape(20, 2)
    fit(X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2, 1.0, 0)
    yield {"stage": "ready"}
    found = fitted(fit, data, task)
    yield {"stage": "fitted", **found}
    model = parse(found["formula"], {str(symbol): symbol for symbol in data.symbols})
    measures = measured(model, data, task.noise)
    yield {"stage": "measured", **measures}
    # Before the symbolic criterion, which may run out of time.
    right = {} if data.truth is None else {"structure": answered(structure_right, model, data)}
    yield {"stage": "structured", **right}
    yield {"stage": "judged", **judged(model, data, measures["r2"])}
    yield {"stage": "sized", "size": min(size(model), size(simplified(model)))}


def fitted(fit: Fit, data: Data, task: Task) -> Record:
    """The model with its wall and CPU time; on a machine under load the latter is shorter."""
    clock, processor = time.perf_counter(), time.process_time()
    formula = fit(data.X, data.y, task.seconds, task.seed)
    return {
        "formula": formula,
        "fit_seconds": time.perf_counter() - clock,
        "processor_seconds": time.process_time() - processor,
    }


def measured(model: Any, data: Data, noise: float) -> Record:
    """Measures on the test set, None where they are not finite, and the size before simplification."""
    predicted = evaluate(model, data.symbols, data.X_test)
    r2, error = judge.r2(data.y_test, predicted), judge.relative_error(data.y_test, predicted)
    finite = {name: value if np.isfinite(value) else None for name, value in (("r2", r2), ("error", error))}
    record: Record = {**finite, "size": size(model)}
    if data.truth is not None:
        record |= {
            "exact": judge.exact(error, noise),
            "equivalent": answered(judge.equivalent, model, data),
            "truth_size": size(simplified(data.truth)),
        }
    return record


def judged(model: Any, data: Data, r2: float | None) -> Record:
    """The symbolic criterion, where the case has a ground truth."""
    if data.truth is not None:
        close = r2 is not None and r2 > judge.LEAST_R2
        return {"symbolic": close and answered(judge.symbolic, model, data)}
    return {} if data.law is None else {"symbolic": answered(judge.has_form, model, data)}


def answered(question: Callable[[Any, Data], bool], model: Any, data: Data) -> bool:
    """The answer; False where SymPy raises, so that its errors do not lose the fit."""
    try:
        return question(model, data)
    except Exception as error:
        print(f"undecided: {type(error).__name__}: {error}", file=sys.stderr)
        return False


if __name__ == "__main__":
    main()
