"""`fouriertree runs`: the run folders of earlier fits are listed, shown, compared, resumed and removed."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fouriertree.cli.files import as_input_errors, writing
from fouriertree.cli.fit import fit_table
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.cli.fitting.options import CHANGEABLE
from fouriertree.cli.fitting.outcome import resume_command
from fouriertree.cli.help import Command, Group, examples
from fouriertree.cli.interrupts import handle_interrupts
from fouriertree.cli.options import FOLDER, JSON, info, option, with_options
from fouriertree.cli.output import aligned_rows, document, note, say
from fouriertree.cli.show import shortened
from fouriertree.errors import InputError
from fouriertree.fit.options import BOOLEAN, RUNS, text
from fouriertree.io.tables.source import DASH
from fouriertree.io.terminal import printable

if TYPE_CHECKING:
    from fouriertree.runs import RunFolder

EXAMPLES = examples(
    ("all runs", "fouriertree runs"),
    ("the newest one, in full", "fouriertree runs show last"),
    ("resume a run that was killed", "fouriertree runs resume last -o model.json"),
    ("two runs side by side", "fouriertree runs compare 8a2f 91c0"),
    ("remove one", "fouriertree runs rm 8a2f"),
)
SHOW = examples(
    ("the newest one", "fouriertree runs show last"), ("for a script", "fouriertree runs show 8a2f --json")
)
COMPARE = examples(("how do they differ?", "fouriertree runs compare 8a2f 91c0"))
RESUME = examples(
    ("resume a run that was killed", "fouriertree runs resume last -o model.json"),
    ("resume with twice the time", "fouriertree runs resume 8a2f --time-limit 120"),
    ("the table has moved", "fouriertree runs resume 8a2f --data new/place/data.csv"),
)  # fmt: skip
REMOVE = examples(("two of them, without a question", "fouriertree runs rm 8a2f 91c0 --yes"))

RUN = option(
    "run", text("RUN"), "ID of a run, its first or last letters, or `last` for the newest.", argument=True
)
SEVERAL = option("run", text("RUN..."), "IDs of runs, or parts of them.", argument=True, repeated=True)
STORE = option("run_dir", FOLDER, "Folder of the runs: the --run-dir of `fit`.", default=RUNS)
#: characters of an equation in a list
LONGEST = 60
#: parameters that do not change a result, or that are shown as the folder and the seed of the run
NOT_COMPARED = {"run_dir", "progress", "random_state"}
#: the rows of a comparison, before the parameters
SIDE_BY_SIDE = ("status", "target", "rows", "columns", "seconds", "loss", "complexity", "equation")


app = typer.Typer(
    cls=Group,
    invoke_without_command=True,
    help="List, show, compare, resume and remove the runs of earlier fits.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
)


# Commands -------------------------------------------------------------------------------------------------------
@app.callback()
def runs(
    context: typer.Context,
    run_dir: Annotated[Path, info(STORE)] = RUNS,
    json: Annotated[bool, info(JSON)] = False,
) -> None:
    """List the runs of earlier fits, the newest last.

    A run is `running`, `finished`, `interrupted` by Ctrl-C, `killed`, or `failed` with an error; the last three are
    resumed by `fouriertree runs resume`.
    """
    if context.invoked_subcommand is not None:
        return
    from fouriertree.runs import list_runs

    with document(json) as content:
        content["runs"] = found = [summary(run) for run in list_runs(run_dir)]
        if found:
            headings = ["id", "status", "target", "shape", "seconds", "equation"]
            say(aligned_rows(headings, map(list_cells, found)))
        else:
            hint = "`fouriertree fit` creates them, and --run-dir names another folder"
            note(f"there are no runs in {run_dir}; {hint}")


@app.command("show", cls=Command, epilog=SHOW)
@with_options(RUN, STORE, JSON)
def show(run: str, run_dir: Path, json: bool) -> None:
    """Print the parameters of a run, its status and its equations."""
    with document(json) as content:
        from fouriertree.runs.folder import FINISHED, MODEL, RUNNING
        from fouriertree.selection.table import CHOSEN

        [folder] = find(run_dir, run)
        front, checkpoints = front_of(folder), folder.checkpoints()
        content |= {
            "about": folder.metadata, "front": front, "checkpoints": checkpoints, "path": str(folder.path),
        }  # fmt: skip
        # Of an interrupted run, the reason is the status.
        status = dict.fromkeys(filter(None, (folder.status, folder.metadata.get("stop_reason"))))
        title = f"run {folder.id}: {', '.join(status)}"
        say(*map(printable, [title, *(f"  {name}: {value}" for name, value in details(folder))]))
        if front:
            chosen = (folder.metadata.get("result") or {}).get("equation")
            marked = [{"": CHOSEN if row.get("equation") == chosen else "", **row} for row in front]
            say("", aligned_rows(list(marked[0]), [list(map(cell, row.values())) for row in marked]))
        if (folder.path / MODEL).is_file():
            say("", f"model: {folder.path / MODEL}")
        if checkpoints and folder.status not in (FINISHED, RUNNING):
            say("", f"resume it: {resume_command(folder.path)}")


@app.command("compare", cls=Command, epilog=COMPARE)
@with_options(SEVERAL, STORE, JSON)
def compare(run: list[str], run_dir: Path, json: bool) -> None:
    """Print runs side by side: the parameters in which they differ, and their results."""
    with document(json) as content:
        if len(run) < 2:
            raise InputError("name two runs or more to compare; `fouriertree runs` lists them")
        folders = find(run_dir, *run)
        parameters, summaries = differing(folders), list(map(summary, folders))
        content |= {"runs": summaries, "parameters": parameters}
        rows = [[name, *(cell(about[name]) for about in summaries)] for name in SIDE_BY_SIDE]
        rows += [[name, *map(cell, values)] for name, values in parameters.items()]
        say(aligned_rows(["", *(folder.id for folder in folders)], rows))


@app.command("resume", cls=Command, epilog=RESUME)
@with_options(RUN, *CHANGEABLE, STORE, JSON)
def resume(run: str, run_dir: Path, json: bool, **changes: Any) -> None:
    """Resume a run that was killed or interrupted, from its newest checkpoint.

    Runs without a time limit resume bit-identically. Limits count from the beginning of the run; those given here
    replace its own. The table must be the same.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    with document(json) as content:
        from fouriertree.runs import RunError

        [folder] = find(run_dir, run)
        with closing(folder), handle_interrupts() as interrupts, as_input_errors(RunError):
            with writing(folder.path):
                folder.lock()
            fit_table(resumed_arguments(folder, given), interrupts, content, folder)


@app.command("rm", cls=Command, epilog=REMOVE)
@with_options(
    SEVERAL, option("yes", BOOLEAN, "Remove without a question.", default=False, short="-y"), STORE, JSON
)
def remove(run: list[str], yes: bool, run_dir: Path, json: bool) -> None:
    """Remove runs with all their files; one that is running is not removed."""
    with document(json) as content:
        from fouriertree.runs import RunError, remove_run

        folders = find(run_dir, *run)
        if not yes and sys.stdin.isatty():
            typer.confirm(f"remove {', '.join(folder.id for folder in folders)}?", abort=True, err=True)
        content["removed"] = []
        for folder in folders:
            with as_input_errors(RunError):
                remove_run(folder)
            content["removed"].append(folder.id)
            say(f"removed {folder.id}")


# Run folders ----------------------------------------------------------------------------------------------------
def find(store: Path, *wanted: str) -> list[RunFolder]:
    from fouriertree.runs import RunError, find_run

    with as_input_errors(RunError):
        return [find_run(store, name) for name in wanted]


def resumed_arguments(run: RunFolder, changes: Mapping[str, Any]) -> FitArguments:
    """The recorded arguments with the changes."""
    from fouriertree.runs.folder import FINISHED

    command = run.metadata.get("command")
    if not isinstance(command, dict):
        raise InputError(
            f"run {run.id} was made from Python; resume it there: SymbolicRegressor.resume({str(run.path)!r}, X, y)"
        )
    with as_input_errors(TypeError, ValueError, after=f"{run.path / 'run.json'} is damaged: "):
        recorded = FitArguments.from_json(command)
    if run.status == FINISHED and not {"time_limit", "max_evaluations"} & set(changes):
        raise InputError(
            f"run {run.id} is finished, and `fouriertree runs show {run.id}` prints it; give a larger --time-limit or "
            "--max-evaluations to continue it"
        )
    arguments = FitArguments(**{**vars(recorded), **changes, "seed": run.metadata["seed"]})
    if arguments.data == DASH:
        raise InputError(f"the table of run {run.id} came from the standard input; give it with --data FILE")
    return arguments


def details(run: RunFolder) -> Iterator[tuple[str, Any]]:
    about = run.metadata
    data = about["data"]
    yield "folder", run.path
    yield "created", about.get("created")
    yield "table", (about.get("command") or {}).get("data", "from Python")
    yield "target", about.get("target")
    yield "shape", f"{data.get('rows')} × {data.get('columns')} (rows × features)"
    yield "seed", about.get("seed")
    yield "checkpoints", len(run.checkpoints())
    yield "fouriertree", about["versions"].get("fouriertree")
    yield from (
        (name, value)
        for name, value in about["parameters"].items()
        if value not in (None, [], False) and name not in NOT_COMPARED
    )


def differing(runs: Sequence[RunFolder]) -> dict[str, list[Any]]:
    """Parameters and data in which the runs differ, by name."""

    def parameters(about: Mapping[str, Any]) -> dict[str, Any]:
        known = {**about["parameters"], **about["described"]}
        return {**known, "seed": about["seed"], "sha256": about["data"].get("sha256")}

    recorded = [parameters(run.metadata) for run in runs]
    names = sorted({name for each in recorded for name in each} - NOT_COMPARED)
    columns = {name: [each.get(name) for each in recorded] for name in names}
    return {name: values for name, values in columns.items() if any(value != values[0] for value in values)}


def summary(run: RunFolder) -> dict[str, Any]:
    about = run.metadata
    data, result = about["data"], about.get("result") or {}
    # Without a result, the most accurate equation so far.
    best: dict[str, Any] = {} if result else [{}, *front_of(run)][-1]
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
        "loss": result.get("loss", number_in(best, "loss")),
        "complexity": result.get("complexity", number_in(best, "complexity")),
        "path": str(run.path),
    }


def front_of(run: RunFolder) -> list[dict[str, str]]:
    from fouriertree.runs.folder import FRONT

    try:
        with (run.path / FRONT).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        return []
    # A full disk may cut the last line.
    return [row for row in rows if None not in row and None not in row.values()]


def number_in(row: Mapping[str, str], name: str) -> float | None:
    """A cell of a table as a number; None where it is none."""
    try:
        number = float(row[name])
    except (KeyError, TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number


# Cells ----------------------------------------------------------------------------------------------------------
def list_cells(run: dict[str, Any]) -> list[str]:
    equation = shortened(run["equation"], LONGEST) if run["equation"] else "–"
    if run["equation"] and run["seconds"] is None:
        equation += " (the most accurate so far)"
    size = "–" if run["rows"] is None else f"{run['rows']}×{run['columns']}"
    seconds = f"{run['seconds']:.1f}" if isinstance(run["seconds"], int | float) else "–"
    return [run["id"], run["status"], str(run["target"]), size, seconds, equation]


def cell(value: Any) -> str:
    """A value with six digits of a number that is not whole, and a dash for None."""
    try:
        return "–" if value is None else f"{float(value):.6g}" if "." in str(value) else str(value)
    except (TypeError, ValueError):
        return str(value)
