"""The fits of a benchmark under a progress bar, and the tables at the end."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import INTERRUPTED, SHORT
from fouriertree.cli.files import check_writable
from fouriertree.cli.output import progress_bar, say
from fouriertree.errors import unwritable

if TYPE_CHECKING:
    from fouriertree.experiments.bench.plan import Plan, Task
    from fouriertree.experiments.store import Store


def results(plan: Plan, folder: Path, jobs: int) -> list[dict[str, Any]]:
    """The results of all fits: those in the folder, and the missing ones after they have been run."""
    from fouriertree.experiments.bench.plan import FILE
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
    """Run the missing fits under a progress bar."""
    from fouriertree.experiments.bench.runs import complete

    missing = [task for task in tasks if task not in store]
    if len(missing) < len(tasks):
        print(f"{len(tasks) - len(missing)} of {len(tasks)} results are there already", file=sys.stderr)
    with progress_bar() as bar:
        line = bar.add_task("fits", total=len(missing), note="")

        def advance(task: Task, record: dict[str, Any]) -> None:
            bar.update(line, advance=1, note=f"{task.case} {task.system}")
            if "failed" in record:
                bar.console.print(
                    f"note: {task.key}: {record['failed']}", highlight=False, markup=False, soft_wrap=True
                )

        try:
            complete(missing, store, plan.folder_of, jobs, advance)
        except KeyboardInterrupt:
            bar.stop()
            left = sum(task not in store for task in missing)
            print(f"interrupted: {left} fits are left; the same command resumes from here", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def check_report(path: Path) -> None:
    """Raise InputError if the page could not be written, before hours of fits; its folder is created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None
    check_writable(path)


def conclude(
    records: list[dict[str, Any]], folder: Path, report: Path | None, content: dict[str, Any]
) -> None:
    """Print the tables and the goals; exit with status 1 if a goal is missed."""
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
