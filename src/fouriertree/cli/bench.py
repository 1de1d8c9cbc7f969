"""`fouriertree bench`: laws to find again and tables to predict, by this package and by other systems."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import INTERRUPTED, InputError, listed, suggestion, unwritable
from fouriertree.cli.options import LARGEST_SEED, seconds, whole_number
from fouriertree.cli.output import note, say

if TYPE_CHECKING:
    from fouriertree.bench.plan import Plan
    from fouriertree.bench.store import Store
    from fouriertree.bench.tasks import Task

DATA = Path("../shared/data")
SHORT = 1


def level(text: str) -> float:
    """A level of noise."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 10.0:
        raise typer.BadParameter(f"it must be a share of the target, such as 0.01; got {str(text)!r}")
    return number


SEED = whole_number(0, LARGEST_SEED)


def bench(
    suites: list[str] = typer.Argument(
        None,
        help="feynman, classic, strogatz, srsd-easy, first-principles, blackbox; by default all of them.",
    ),
    system: list[str] = typer.Option(
        ["ours"],
        "--system",
        metavar="NAME",
        help="ours, operon, rils-rols, eggp, gplearn, linear, or all; may be given several times.",
    ),
    noise: list[float] = typer.Option(
        [0.0],
        "--noise",
        parser=level,
        metavar="LEVEL",
        help="Noise on the training target, as a share of its root mean square; may be given several times.",
    ),
    seconds: float = typer.Option(
        20.0, "--seconds", parser=seconds, metavar="SECONDS", help="Time of one fit."
    ),
    seed: list[int] = typer.Option(
        [0],
        "--seed",
        parser=SEED,
        metavar="N",
        help="Seed of data and search; may be given several times.",
    ),
    rows: int = typer.Option(
        1000, "--rows", parser=whole_number(10), metavar="N", help="Rows to train on, and as many to test on."
    ),
    jobs: int = typer.Option(
        1, "--jobs", parser=whole_number(1), metavar="N", help="Fits at the same time, each on one core."
    ),
    case: list[str] = typer.Option(
        [], "--case", metavar="NAME", help="Only this case; may be given several times."
    ),
    quick: bool = typer.Option(False, "--quick", help="The short list of cases."),
    disguise: bool = typer.Option(
        False, "--disguise", help="Columns in another order, everything in other units."
    ),
    out: Path = typer.Option(
        Path("bench-results"), "--out", "-o", metavar="FOLDER", help="Folder of the results."
    ),
    data: Path | None = typer.Option(
        None,
        "--data",
        metavar="FOLDER",
        help="Folder with tables of measurements; ../shared/data if there is one.",
    ),
    folder: Path | None = typer.Option(
        None, "--folder", metavar="FOLDER", help="A folder of your own CSV files, as a suite of its own."
    ),
    report: Path | None = typer.Option(
        None, "--report", metavar="FILE", help="Write tables and plots to this Markdown file."
    ),
) -> None:
    """Compare systems on laws that they should find and on tables that they should predict.

    Results are kept one by one: the same command goes on where an earlier one was interrupted. Ends with one line
    per goal, and with status 1 if one of them is missed.
    """
    from fouriertree.bench.plan import Plan
    from fouriertree.bench.store import Store

    check_folders(data, folder)
    data = data or (DATA if DATA.is_dir() else None)
    plan = Plan(
        suites=chosen_suites(suites or [], data, folder), systems=chosen_systems(system), noises=noise, seeds=seed,
        seconds=seconds, rows=rows, cases=case, quick=quick, disguise=disguise, data=data, folder=folder,
    )  # fmt: skip
    check_cases(plan)
    try:
        out.mkdir(parents=True, exist_ok=True)
        store = Store(out)
    except OSError as error:
        raise unwritable(out, error) from None
    tasks = plan.tasks()
    compute(tasks, store, plan, jobs)
    conclude([store[task] for task in tasks], report)


def check_folders(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and not path.is_dir():
            raise InputError(f"there is no folder {path}")


def chosen_suites(names: list[str], data: Path | None, folder: Path | None) -> list[str]:
    """The suites, without those whose tables are not there."""
    from fouriertree.bench.suites import FOLDER, MEASURED, SUITES

    for name in names:
        if name not in SUITES:
            raise InputError(
                f"there is no suite {name!r}{suggestion(name, SUITES)}; there are {listed(SUITES)}"
            )
    # A folder of one's own is a wish for that folder; the suites come with it only when they are named.
    wanted = names or ([] if folder else list(SUITES))
    absent = [suite for suite in wanted if suite in MEASURED and data is None]
    for suite in absent:
        note(f"suite {suite} is skipped: its tables are read from a folder; name it with --data")
    return [suite for suite in wanted if suite not in absent] + [FOLDER] * (folder is not None)


def chosen_systems(names: list[str]) -> list[str]:
    """The systems; those that are missing are skipped if all were wanted, and refused if they were named."""
    from fouriertree.bench.systems import SYSTEMS

    for name in names:
        if name not in (*SYSTEMS, "all"):
            raise InputError(
                f"there is no system {name!r}{suggestion(name, SYSTEMS)}; there are {listed(SYSTEMS)}"
            )
    wanted = list(SYSTEMS) if "all" in names else names
    for name in wanted:
        system = SYSTEMS[name]
        if not system.installed and "all" in names:
            note(f"{name} is skipped, for it is not installed: {system.install}")
        elif not system.installed:
            raise InputError(f"{name} is not installed: {system.install}")
    return [name for name in wanted if SYSTEMS[name].installed]


def check_cases(plan: Plan) -> None:
    names = [name for _, name in plan.every_case()]
    for case in plan.cases:
        if case not in names:
            raise InputError(f"there is no case {case!r} in {listed(plan.suites)}{suggestion(case, names)}")
    if not plan.chosen_cases():
        raise InputError("there are no cases to run; name suites, or a folder with CSV files")


def compute(tasks: list[Task], store: Store, plan: Plan, jobs: int) -> None:
    """Run what is missing, under a bar."""
    from fouriertree.bench.runs import complete

    missing = [task for task in tasks if task not in store]
    if len(missing) < len(tasks):
        print(f"{len(tasks) - len(missing)} of {len(tasks)} results are there already", file=sys.stderr)
    with progress() as bar:
        line = bar.add_task("", total=len(missing), last="")

        def advance(task: Task, record: dict[str, Any]) -> None:
            bar.update(line, advance=1, last=f"{task.case} {task.system}")
            if "failed" in record:
                bar.console.print(
                    f"note: {task.key}: {record['failed']}", highlight=False, markup=False, soft_wrap=True
                )

        try:
            complete(missing, store, plan.folder_of, jobs, advance)
        except KeyboardInterrupt:
            bar.stop()
            left = sum(task not in store for task in missing)
            print(f"interrupted: {left} fits are left; the same command goes on from here", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def progress() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    return Progress(
        TextColumn("fits"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.fields[last]}"),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


def conclude(records: list[dict[str, Any]], report: Path | None) -> None:
    """Print the tables and the bars; leave with status 1 if one is short."""
    from fouriertree.bench.bars import bars
    from fouriertree.bench.summary import rows, text_table

    goals = bars(records)
    say(text_table(rows(records)))
    if report is not None:
        from fouriertree.bench.report import write

        write(report, records, goals, shlex.join(["fouriertree", *sys.argv[1:]]))
        say(f"report: {report}")
    if goals:
        say("", *map(str, goals))
    if not all(goal.holds for goal in goals):
        raise typer.Exit(SHORT)
