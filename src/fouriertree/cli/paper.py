"""`fouriertree paper`: the published experiments, their tables and figures, and how closely ours agree."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fouriertree.cli import completion
from fouriertree.cli.documents import Json, document
from fouriertree.cli.errors import INTERRUPTED, InputError, unwritable
from fouriertree.cli.help import OUTPUT, examples
from fouriertree.cli.options import one_of, whole_number
from fouriertree.cli.output import say

if TYPE_CHECKING:
    from fouriertree.experiments.paper.experiment import Experiment

AUTHORS = Path("../shared/paper")


class Part(StrEnum):
    table = "table"
    heatmaps = "heatmaps"
    lsp = "lsp"
    geometry = "geometry"


EXAMPLES = examples(
    ("a first look, in some minutes", "fouriertree paper --quick"),
    ("everything as published; may be interrupted and goes on with the same command", "fouriertree paper"),
    ("one part of it, in a folder of its own", "fouriertree paper --only heatmaps -o results/heatmaps"),
)  # fmt: skip

Quick = Annotated[
    bool, typer.Option("--quick", help="10 runs instead of 100: a first look in a few minutes.")
]
Runs = Annotated[
    int | None, typer.Option("--runs", parser=whole_number(1), metavar="N", help="So many runs instead.")
]
Only = Annotated[
    list[Part],
    typer.Option(
        "--only",
        parser=one_of(Part),
        metavar="|".join(Part),
        autocompletion=completion.words(*Part),
        help="This part alone; may be given several times.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        parser=whole_number(1),
        metavar="N",
        help="Processes; by default one per core. Same results for any.",
    ),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FOLDER", rich_help_panel=OUTPUT, help="Folder of the results."),
]
Authors = Annotated[
    Path | None,
    typer.Option(
        "--authors",
        metavar="FOLDER",
        help="Folder with the authors' single runs, to compare with; ../shared/paper if there is one.",
    ),
]
Clean = Annotated[
    bool,
    typer.Option("--clean", help="Canonical GP copies parents; as published, it changes them in place."),
]


def paper(
    quick: Quick = False,
    runs: Runs = None,
    only: Only = [],
    jobs: Jobs = None,
    authors: Authors = None,
    clean: Clean = False,
    output: Output = Path("results/paper"),
    as_json: Json = False,
) -> None:
    """Repeat the paper's experiments and compare them with the published tables, cell by cell.

    Writes tables, figures, every single run and report.html. Runs that are finished are kept: the same command goes
    on where an earlier one was interrupted.
    """
    with document(as_json) as content:
        check(quick, runs, authors, output)
        from fouriertree.experiments.paper.workers import cores

        experiment = plan(quick, runs, only, output, authors or AUTHORS, clean)
        compute(experiment, jobs or cores())
        content |= report(experiment)


def check(quick: bool, runs: int | None, authors: Path | None, output: Path) -> None:
    if quick and runs is not None:
        raise InputError("--quick means 10 runs; give it or --runs, not both")
    if authors is not None and not authors.is_dir():
        raise InputError(
            f"there is no folder {authors} with the authors' runs; leave --authors out to do without"
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(output, error) from None


def plan(
    quick: bool, runs: int | None, only: list[Part], output: Path, authors: Path, clean: bool
) -> Experiment:
    from fouriertree.experiments.paper import experiment as e
    from fouriertree.experiments.paper import facts

    wanted = runs or (e.QUICK_RUNS if quick else facts.RUNS)
    return e.Experiment(
        folder=output,
        runs=wanted,
        lsp_runs=e.QUICK_LSP_RUNS if quick else wanted,
        parts=tuple(part for part in e.PARTS if not only or part in only),
        clean=clean,
        authors_folder=authors,
        command=e.command_line(sys.argv[1:]),
    )


def compute(experiment: Experiment, jobs: int) -> None:
    """Run what is missing, under a bar that knows how long each kind of run takes."""
    missing = [task for task in experiment.tasks if task not in experiment.store]
    kept = len(experiment.tasks) - len(missing)
    if kept:
        print(
            f"{kept:,} of {len(experiment.tasks):,} runs are in {experiment.folder} already", file=sys.stderr
        )
    if missing:
        note = "; the first time ever, compiling takes half a minute"
        print(f"{len(missing):,} runs in {jobs} processes{note}", file=sys.stderr)
    with progress() as bar:
        bar_task = bar.add_task("", total=sum(task.seconds for task in missing), left=len(missing))
        left = len(missing)

        def advance(task: Any) -> None:
            nonlocal left
            left -= 1
            bar.update(bar_task, advance=task.seconds, left=left)

        try:
            experiment.compute(jobs, advance)
        except KeyboardInterrupt:
            bar.stop()
            print(
                f"interrupted: {len(missing) - left:,} more runs are kept in {experiment.folder}, {left:,} are left; "
                "the same command goes on from here",
                file=sys.stderr,
            )
            raise typer.Exit(INTERRUPTED) from None


def progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("running"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[left]} runs left, time"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


def report(experiment: Experiment) -> dict[str, Any]:
    """Write everything, print the most important, and return it."""
    from fouriertree.experiments.paper import artefacts, summary
    from fouriertree.experiments.paper import report as page

    experiment = experiment.with_earlier_parts()
    found = artefacts.write_all(experiment)
    path = page.write(experiment, found)
    numbers, agreeing = list(summary.key_numbers(experiment, found)), None
    say(*numbers)
    if experiment.comparable:
        bar = summary.bar(found["agreement"])
        say(bar.line())
        agreeing = {"cells": bar.measured, "goal": bar.goal, "holds": bar.ok}
    say(f"report: {path}")
    return {"numbers": numbers, "agreement": agreeing, "output": experiment.folder, "report": path}
