"""A benchmark under way, with a bar, and what is said at its end."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import INTERRUPTED, SHORT, unwritable
from fouriertree.cli.files import check_writable
from fouriertree.cli.output import say

if TYPE_CHECKING:
    from fouriertree.experiments.bench.plan import Plan
    from fouriertree.experiments.bench.tasks import Task
    from fouriertree.experiments.store import Store


def results(plan: Plan, folder: Path, jobs: int) -> list[dict[str, Any]]:
    """The results of all fits: those in the folder, and the missing ones after they have been run."""
    from fouriertree.experiments.bench.tasks import FILE
    from fouriertree.experiments.store import Store

    try:
        folder.mkdir(parents=True, exist_ok=True)
        store = Store(folder, FILE)
    except OSError as error:
        raise unwritable(folder, error) from None
    tasks = plan.tasks()
    compute(tasks, store, plan, jobs)
    return [store[task] for task in tasks]


def compute(tasks: list[Task], store: Store, plan: Plan, jobs: int) -> None:
    """Run what is missing, under a bar."""
    from fouriertree.experiments.bench.runs import complete

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


def check_report(path: Path) -> None:
    """InputError if the page could not be written, before hours of fits; its folder is made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None
    check_writable(path)


def conclude(
    records: list[dict[str, Any]], folder: Path, report: Path | None, content: dict[str, Any]
) -> None:
    """Print the tables and the bars; leave with status 1 if one is short."""
    from fouriertree.experiments.bench.bars import bars
    from fouriertree.experiments.bench.summary import rows, text_table

    goals, table = bars(records), rows(records)
    say(text_table(table))
    content |= {
        "rows": [asdict(row) for row in table],
        "goals": [{"name": g.name, "measured": g.measured, "goal": g.goal, "holds": g.ok} for g in goals],
        "output": folder,
        "report": None,
    }
    if report is not None:
        from fouriertree.experiments.bench.report import write

        try:
            write(report, records, goals, shlex.join(["fouriertree", *sys.argv[1:]]))
        except OSError as error:
            raise unwritable(report, error) from None
        content["report"] = report
        say(f"report: {report}")
    if goals:
        say("", *(goal.line() for goal in goals))
    if not all(goal.ok for goal in goals):
        raise typer.Exit(SHORT)
