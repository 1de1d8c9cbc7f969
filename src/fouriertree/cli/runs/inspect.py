"""Printed runs: a list, one in full, some side by side."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from fouriertree.cli.output import aligned_rows, note, say
from fouriertree.cli.show import shortened
from fouriertree.errors import InputError
from fouriertree.io.terminal import printable
from fouriertree.runs import RunError, RunFolder, find_run, list_runs, remove_run
from fouriertree.runs.folder import FRONT, MODEL

#: characters of an equation in a list
LONGEST = 60


@contextmanager
def run_errors_as_input_errors() -> Iterator[None]:
    try:
        yield
    except RunError as error:
        raise InputError(str(error)) from None


def list_all(store: Path, content: dict[str, Any]) -> None:
    runs = [summary(run) for run in list_runs(store)]
    content["runs"] = runs
    if not runs:
        note(
            f"there are no runs in {store}; `fouriertree fit` creates them, and --run-dir names another folder"
        )
        return
    say(
        aligned_rows(
            ["id", "status", "target", "rows", "seconds", "equation"], [list_cells(run) for run in runs]
        )
    )


def list_cells(run: dict[str, Any]) -> list[str]:
    equation = shortened(run["equation"], LONGEST) if run["equation"] else "–"
    size = "–" if run["rows"] is None else f"{run['rows']}×{run['columns']}"
    return [run["id"], run["status"], str(run["target"]), size, seconds(run["seconds"]), equation]


def show_one(store: Path, wanted: str, content: dict[str, Any]) -> None:
    with run_errors_as_input_errors():
        run = find_run(store, wanted)
    front = front_of(run)
    content |= {
        "about": run.metadata,
        "front": front,
        "checkpoints": run.checkpoints(),
        "path": str(run.path),
    }
    about = summary(run)
    lines = [f"run {run.id}: {run.status}" + (f", {about['stop_reason']}" if about["stop_reason"] else "")]
    lines += [f"  {name}: {value}" for name, value in details(run)]
    say(*map(printable, lines))
    if front:
        say(
            "", aligned_rows(list(front[0]), [[short_number(cell) for cell in row.values()] for row in front])
        )
    if (run.path / MODEL).is_file():
        say("", f"model: {run.path / MODEL}")
    elif run.checkpoints():
        say("", f"resume it: fouriertree runs resume {run.id}")


def details(run: RunFolder) -> Iterator[tuple[str, Any]]:
    about = run.metadata
    data = about["data"]
    yield "folder", run.path
    yield "created", about.get("created")
    yield "table", (about.get("command") or {}).get("data", "from Python")
    yield "target", about.get("target")
    yield "size", f"{data.get('rows')} rows, {data.get('columns')} columns"
    yield "seed", about.get("seed")
    yield "checkpoints", len(run.checkpoints())
    yield "fouriertree", about["versions"].get("fouriertree")
    for name, value in about["parameters"].items():
        if value not in (None, [], False):
            yield name, value


def compare_some(store: Path, wanted: Sequence[str], content: dict[str, Any]) -> None:
    if len(wanted) < 2:
        raise InputError("name two runs or more to compare; `fouriertree runs` lists them")
    with run_errors_as_input_errors():
        runs = [find_run(store, name) for name in wanted]
    parameters = differing(runs)
    summaries = [summary(run) for run in runs]
    content |= {"runs": summaries, "parameters": parameters}
    rows = [[name, *(cell(about[name]) for about in summaries)] for name in SIDE_BY_SIDE]
    rows += [[name, *map(cell, values)] for name, values in parameters.items()]
    say(aligned_rows(["", *(run.id for run in runs)], rows))


SIDE_BY_SIDE = ("status", "target", "rows", "columns", "seconds", "loss", "complexity", "equation")


def cell(value: Any) -> str:
    """A value with six digits, and a dash for None."""
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def differing(runs: Sequence[RunFolder]) -> dict[str, list[Any]]:
    """Parameters and data in which the runs differ, by name."""

    def parameters(run: RunFolder) -> dict[str, Any]:
        about = run.metadata
        known = {**about["parameters"], **about["described"]}
        return {**known, "seed": about["seed"], "sha256": about["data"].get("sha256")}

    recorded = [parameters(run) for run in runs]
    names = sorted({name for each in recorded for name in each} - {"run_dir", "progress", "random_state"})
    columns = {name: [each.get(name) for each in recorded] for name in names}
    return {name: values for name, values in columns.items() if any(value != values[0] for value in values)}


def remove_some(store: Path, wanted: Sequence[str], yes: bool, content: dict[str, Any]) -> None:
    with run_errors_as_input_errors():
        runs = [find_run(store, name) for name in wanted]
        if not yes and sys.stdin.isatty():
            typer.confirm(f"remove {', '.join(run.id for run in runs)}?", abort=True, err=True)
        content["removed"] = []
        for run in runs:
            remove_run(run)
            content["removed"].append(run.id)
            say(f"removed {run.id}")


def summary(run: RunFolder) -> dict[str, Any]:
    about = run.metadata
    data, result = about["data"], about.get("result") or {}
    best = chosen_row(run, result)
    return {
        "id": run.id,
        "status": run.status,
        "created": about.get("created"),
        "target": about.get("target"),
        "rows": data.get("rows"),
        "columns": data.get("columns"),
        "seconds": result.get("seconds"),
        "stop_reason": about.get("stop_reason"),
        "equation": result.get("equation") or result.get("formula") or best.get("equation"),
        "loss": result.get("loss", best.get("loss")),
        "complexity": result.get("complexity", best.get("complexity")),
        "path": str(run.path),
    }


def chosen_row(run: RunFolder, result: dict[str, Any]) -> dict[str, Any]:
    """The most accurate row so far, of a run without a result."""
    front = [] if result else front_of(run)
    if not front:
        return {}
    last = front[-1]
    return {**last, "loss": number_in(last, "loss"), "complexity": number_in(last, "complexity")}


def number_in(row: Mapping[str, str], name: str) -> float | None:
    """A cell of a table as a number; None where it is none."""
    try:
        number = float(row[name])
    except (KeyError, TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number


def front_of(run: RunFolder) -> list[dict[str, str]]:
    try:
        with (run.path / FRONT).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        return []
    # A full disk may cut the last line.
    return [row for row in rows if None not in row and None not in row.values()]


def short_number(cell: str) -> str:
    """A cell with six digits of a number; other cells as they are."""
    try:
        return f"{float(cell):.6g}" if "." in cell else cell
    except ValueError:
        return cell


def seconds(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, int | float) else "–"
