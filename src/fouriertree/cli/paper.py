"""`fouriertree paper`: the published experiments, their tables and figures, and the agreement with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.files import writing
from fouriertree.cli.help import examples
from fouriertree.cli.options import FOLDER, JSON, option, with_options
from fouriertree.cli.output import INTERRUPTED, document, progress_bar, say
from fouriertree.errors import InputError
from fouriertree.fit.options import BOOLEAN, OUTPUT, one_of, whole

if TYPE_CHECKING:
    from fouriertree.experiments.paper.experiment import Experiment

AUTHORS = Path("../shared/paper")
EXAMPLES = examples(
    ("preliminary results, in some minutes", "fouriertree paper --quick"),
    ("everything as published; the same command resumes it after an interrupt", "fouriertree paper"),
    ("one part, in another folder", "fouriertree paper --only heatmaps -o results/heatmaps"),
)  # fmt: skip


@with_options(
    option("quick", BOOLEAN, "10 runs instead of 100: preliminary results in a few minutes.", default=False),
    option("runs", whole(1), "Number of runs.", shown="100"),
    option("only", one_of("table", "heatmaps", "lsp", "geometry"), "This part alone; may be repeated.",
           repeated=True),
    option("jobs", whole(1), "Number of processes; results do not depend on it.", shown="one per core"),
    option("authors", FOLDER, "Folder with the authors' runs, to compare with.", shown=f"{AUTHORS} if it exists"),
    option("clean", BOOLEAN, "Canonical GP copies parents; as published, it changes them in place.", default=False),
    option("output", FOLDER, "Folder of the results.", OUTPUT, Path("results/paper"), short="-o"),
    JSON,
)  # fmt: skip
def paper(
    quick: bool, runs: int | None, only: list[str], jobs: int | None, authors: Path | None, clean: bool,
    output: Path, json: bool,
) -> None:  # fmt: skip
    """Repeat the paper's experiments and compare them with the published tables, cell by cell.

    Writes tables, figures, all runs and report.html. Finished runs are stored: the same command resumes an
    interrupted one.
    """
    with document(json) as content:
        check(quick, runs, authors, output)
        from fouriertree.experiments.paper import experiment as e
        from fouriertree.experiments.paper import facts
        from fouriertree.experiments.paper.workers import cores

        wanted = runs or (e.QUICK_RUNS if quick else facts.RUNS)
        experiment = e.Experiment(
            folder=output,
            runs=wanted,
            lsp_runs=e.QUICK_LSP_RUNS if quick else wanted,
            parts=tuple(part for part in e.PARTS if not only or part in only),
            clean=clean,
            authors_folder=authors or AUTHORS,
            command=e.command_line(sys.argv[1:]),
        )
        compute(experiment, jobs or cores())
        content |= report(experiment)


def check(quick: bool, runs: int | None, authors: Path | None, output: Path) -> None:
    if quick and runs is not None:
        raise InputError("--quick means 10 runs; give it or --runs, not both")
    if authors is not None and not authors.is_dir():
        raise InputError(
            f"there is no folder {authors} with the authors' runs; leave --authors out to do without"
        )
    with writing(output):
        output.mkdir(parents=True, exist_ok=True)


def compute(experiment: Experiment, jobs: int) -> None:
    """Run the missing tasks under a progress bar, weighted by the typical duration of each kind of run."""
    tasks, folder = experiment.tasks, experiment.folder
    missing = [task for task in tasks if task not in experiment.store]
    left = len(missing)
    if left < len(tasks):
        print(f"{len(tasks) - left:,} of {len(tasks):,} runs are in {folder} already", file=sys.stderr)
    if missing:
        note = "; the first time ever, compiling takes half a minute"
        print(f"{left:,} runs in {jobs} processes{note}", file=sys.stderr)
    with progress_bar() as bar:
        total = sum(task.seconds for task in missing)
        bar_task = bar.add_task("runs", total=total, note=f"{left} runs left")

        def advance(task: Any) -> None:
            nonlocal left
            left -= 1
            bar.update(bar_task, advance=task.seconds, note=f"{left} runs left")

        try:
            experiment.compute(jobs, advance)
        except KeyboardInterrupt:
            bar.stop()
            done = f"interrupted: {len(missing) - left:,} more runs are kept in {folder}, {left:,} are left"
            print(f"{done}; the same command resumes from here", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


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
