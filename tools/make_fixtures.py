"""Write model files and runs of this version, which later ones must read: python tools/make_fixtures.py FOLDER

tests/fixtures/version-0.1 was made by this script with version 0.1.0.  Fixtures are never made again: a new version of
the file formats gets a folder of its own, and `tests/test_fixtures.py` reads all of them.

    models/NAME.json           what `save` writes
    models/NAME.expected.json  rows, and what the model predicts for them, to the last bit
    data.csv                   the table of the runs
    runs/                      a store of runs: finished, interrupted (one per search), and killed

Runs are interrupted by a signal once a checkpoint is there.  Their folders get readable names, and dates that tell
their order; paths are made relative to the folder of the fixtures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SEED, EVALUATIONS = 0, 100_000
#: name of a run → the signal that ends it, after how many events with a checkpoint, and what the command is given
RUNS = {
    "finished": ("none", 0, ["--max-evaluations", "50000"]),
    "hybrid-interrupted": ("SIGINT", 2, ["--max-evaluations", "1000000"]),
    "ftg-interrupted": ("SIGINT", 4, ["--search", "ftg", "--max-terms", "4"]),
    "gp-interrupted": ("SIGINT", 4, ["--search", "gp", "--max-evaluations", "20000"]),
    "hybrid-killed": ("SIGKILL", 40, ["--max-evaluations", "1000000"]),
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    write_models(folder / "models")
    table().round(6).to_csv(folder / "data.csv", index=False)
    for number, (name, (end, events, options)) in enumerate(RUNS.items()):
        # In a process of its own: one of them is killed.
        arguments = [str(folder), end, str(events), *options]
        subprocess.run(
            [sys.executable, __file__, "--run", *arguments], check=False, stdout=subprocess.DEVNULL
        )
        [new] = [path for path in (folder / "runs").iterdir() if path.name not in RUNS]
        tidy(new.rename(folder / "runs" / name), folder, new.name, number)


# Models -------------------------------------------------------------------------------------------------------
def uniform(n: int, p: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, n, p]).uniform(1.0, 3.0, (n, p))


def write_models(folder: Path) -> None:
    from fouriertree import SymbolicClassifier, SymbolicRegressor

    folder.mkdir()
    X = uniform(24, 2)
    noise = 0.05 * np.random.default_rng(1).normal(size=24)
    y = 2.0 * np.sin(X[:, 0]) + X[:, 0] / X[:, 1] + noise
    limits = {"max_evaluations": EVALUATIONS, "random_state": SEED}
    named = pd.DataFrame(X, columns=["top speed", "c%"])
    fits = {
        "regressor": SymbolicRegressor(**limits).fit(X, y),
        "names": SymbolicRegressor(**limits).fit(named, y),
        "quantile": SymbolicRegressor(loss="quantile", quantile=0.8, **limits).fit(X, y),
        "operators": SymbolicRegressor(
            operators=own_operators(), guesses=["a*ramp(x0 - 2) + b*mean(x0, x1)"], **limits
        ).fit(X, 3.0 * np.maximum(X[:, 0] - 2.0, 0.0) + 0.5 * (X[:, 0] + X[:, 1]) + noise),
        "outputs": SymbolicRegressor(**limits).fit(X, pd.DataFrame({"sum": y, "product": X[:, 0] * X[:, 1]})),
        "classifier": SymbolicClassifier(**limits).fit(
            X, np.array(["low", "middle", "high"])[np.digitize(y, [2.2, 2.8])]
        ),
    }
    new = 1.5 + 0.4 * uniform(6, 2, seed=9)
    for name, model in fits.items():
        model.save(folder / f"{name}.json")
        write_json(folder / f"{name}.expected.json", expected(model, new, name))


def own_operators() -> Any:
    from fouriertree import PrimitiveSet

    operators = PrimitiveSet(["+", "*", "sin"])
    operators.add("ramp", lambda a: max(a, 0.0))
    operators.add("mean", lambda a, b: 0.5 * (a + b), arity=2)
    return operators


def expected(model: Any, X: Any, name: str) -> dict[str, Any]:
    """What is asked of a model, and its answers; JSON gives every float back exactly."""
    columns = list(map(str, getattr(model, "feature_names_in_", []))) or None
    rows = X if columns is None else pd.DataFrame(X, columns=columns)
    answers: dict[str, Any] = {"predict": model.predict(rows).tolist()}
    if name == "classifier":
        answers["predict_proba"] = model.predict_proba(rows).tolist()
    elif name != "outputs":
        answers["every row"] = [model.predict(rows, index=i).tolist() for i in range(len(model.models_))]
        answers["interval 0.8"] = [part.tolist() for part in model.predict(rows, interval=0.8)]
    return {"columns": columns, "X": X.tolist(), "answers": answers}


# Runs ---------------------------------------------------------------------------------------------------------
def table() -> pd.DataFrame:
    X = uniform(30, 2, seed=4)
    y = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(3.0 * X[:, 1]) + 0.05 * np.cos(5.0 * X[:, 0])
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def run(folder: str, end: str, events: str, *options: str) -> None:
    """One run of the command, which a signal ends."""
    from fouriertree.cli import main as command
    from fouriertree.runs.journal import Checkpoints, Recorder

    Checkpoints.due = property(lambda self: True)  # type: ignore[method-assign,assignment]
    told, observe = 0, Recorder.__call__

    def observed(self: Any, event: Any) -> None:
        nonlocal told
        observe(self, event)
        # GP has no checkpoints.
        told += bool(self.folder.checkpoints() or "gp" in options)
        if end != "none" and told == int(events):
            os.kill(os.getpid(), getattr(signal, end))

    Recorder.__call__ = observed  # type: ignore[method-assign]
    with chdir(folder):
        given = ["fit", "data.csv", "-t", "y", "--run-dir", "runs", "--seed", str(SEED)]
        sys.argv = ["fouriertree", *given, *options]
        command()


def tidy(path: Path, folder: Path, name: str, number: int) -> None:
    """A run folder without what tells where and when it was made."""
    (path / "lock").unlink(missing_ok=True)
    for file in path.glob("*.json*"):
        text = file.read_text("utf-8").replace(f"{folder.resolve()}/", "").replace(name, path.name)
        file.write_text(dated(text, number), "utf-8")


def dated(text: str, number: int) -> str:
    pattern = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d")
    return pattern.sub(f"2026-01-{number + 1:02d}T00:00:00.000+00:00", text)


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run(*sys.argv[2:])
    else:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        main(Path(sys.argv[1]).resolve())
