"""`fouriertree bench`: recover known laws and predict tables, with this package and with other systems."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.completion import NOISE_KINDS, SUITES, SYSTEMS
from fouriertree.cli.files import check_writable, writing
from fouriertree.cli.help import examples
from fouriertree.cli.options import FILE, FOLDER, JSON, NAME, option, with_options
from fouriertree.cli.output import INTERRUPTED, SHORT, document, note, progress_bar, say
from fouriertree.errors import InputError, listed, suggestion
from fouriertree.fit.options import BOOLEAN, LARGEST_SEED, OUTPUT, SECONDS, number, one_of, text, whole

if TYPE_CHECKING:
    from fouriertree.experiments.bench.plan import Plan, Task
    from fouriertree.experiments.store import Record, Store

DATA = Path("../shared/data")
EXAMPLES = examples(
    ("a short list of laws to recover", "fouriertree bench --quick"),
    ("a suite with noise, by all systems that are installed", "fouriertree bench feynman --system all --noise 0.01"),
    ("twenty generated laws in random units", "fouriertree bench everyday --generate 20 --disguise"),
    ("compositions of functions of several variables", "fouriertree bench compositions --disguise"),
    ("custom tables: `target`, or the last column", "fouriertree bench --folder my_tables --report tables.md"),
    ("one case, for a script", "fouriertree bench classic --case Koza-1 --json"),
)  # fmt: skip
CASES, FITS = "Cases", "Fits"
SEED = whole(0, LARGEST_SEED)
NOISE = number("a share of the target, such as 0.01", "LEVEL", lambda x: 0.0 <= x < 10.0)


@with_options(
    option("suites", text("[SUITES]...", SUITES), f"{', '.join(SUITES)}; by default all of them.", default=(),
           argument=True, repeated=True),
    option("case", NAME, "Only this case; may be repeated.", CASES, repeated=True, completion="cases"),
    option("quick", BOOLEAN, "The short list of cases.", CASES, False),
    option("data", FOLDER, "Folder with tables of measurements.", CASES, shown=f"{DATA} if it exists"),
    option("folder", FOLDER, "Folder of custom tables, as one more suite.", CASES),
    option("noise", NOISE, "Noise on the training target, as a share of its root mean square; may be repeated.",
           CASES, [0.0], repeated=True),
    option("noise_kind", one_of(*NOISE_KINDS), "Distribution of the noise; student has 3 degrees of freedom and the "
           "same standard deviation.", CASES, "gaussian"),
    option("rows", whole(10), "Number of training rows, and of test rows.", CASES, 1000),
    option("disguise", BOOLEAN,
           "Multiply every variable and the target by a random factor, and permute the features.", CASES, False),
    option("generate", whole(0), "Generate N laws for the suites everyday and compositions, in place of the others.",
           CASES, 0),
    option("generator_seed", SEED, "Seed of the generated laws; law 3 of seed 5 is the case everyday_g5_03.",
           CASES, 0),
    option("system", text("NAME", (*SYSTEMS, "all")), f"{', '.join(SYSTEMS)}, or all; may be repeated.", FITS,
           ["ours"], repeated=True),
    option("seconds", SECONDS, "Time limit of one fit.", FITS, 20.0),
    option("seed", SEED, "Seed of data and search; may be repeated.", FITS, [0], repeated=True),
    option("jobs", whole(1), "Number of fits at the same time, each on one core.", FITS, 1),
    option("out", FOLDER, "Folder of the results.", OUTPUT, Path("bench-results"), short="-o"),
    option("report", FILE, "Write tables and plots to this Markdown file.", OUTPUT),
    JSON,
)  # fmt: skip
def bench(
    suites: list[str], system: list[str], case: list[str], noise: list[float], seed: list[int],
    data: Path | None, folder: Path | None, generate: int, jobs: int, out: Path, report: Path | None, json: bool,
    **others: Any,
) -> None:  # fmt: skip
    """Compare systems on laws to recover and on tables to predict.

    Results are stored one by one: the same command resumes an interrupted benchmark. The last lines are the goals; the
    exit status is 1 if one of them is missed.
    """
    with document(json) as content:
        from fouriertree.experiments.bench.plan import Plan

        for path in (data, folder):
            if path is not None and not path.is_dir():
                raise InputError(f"there is no folder {path}")
        data = data or (DATA if DATA.is_dir() else None)
        plan = Plan(
            suites=chosen_suites(suites, data, folder, generate), systems=chosen_systems(system), cases=case,
            noises=noise, seeds=seed, data=data, folder=folder, generate=generate, **others,
        )  # fmt: skip
        check_cases(plan)
        check_tables(plan)
        if report is not None:
            # Before hours of fits.
            with writing(report):
                report.parent.mkdir(parents=True, exist_ok=True)
            check_writable(report)
        conclude(results(plan, out, jobs), out, report, content)


# Planning: missing suites, systems and cases are refused, or skipped with a note ---------------------------------
def chosen_suites(names: list[str], data: Path | None, folder: Path | None, generate: int) -> list[str]:
    """The suites, without those whose tables are missing."""
    from fouriertree.experiments.bench.names import EVERYDAY, FOLDER, GENERATED, MEASURED

    check_known("suite", names, SUITES)
    if generate and names and not set(names) & set(GENERATED):
        suites = " and ".join(GENERATED)
        raise InputError(
            f"--generate makes laws for the suites {suites}; name one of them, or no suite at all"
        )
    # With a custom folder or generated laws, other suites are run only when they are named.
    own = [EVERYDAY] if generate else []
    wanted = names or (own if folder or generate else list(SUITES))
    absent = [suite for suite in wanted if suite in MEASURED and data is None]
    for suite in absent:
        note(f"suite {suite} is skipped: its tables are read from a folder; name it with --data")
    return [suite for suite in wanted if suite not in absent] + [FOLDER] * (folder is not None)


def chosen_systems(names: list[str]) -> list[str]:
    """The systems; those that are missing are skipped if all were wanted, and refused if they were named."""
    from fouriertree.experiments.bench.systems import SYSTEMS

    check_known("system", [name for name in names if name != "all"], SYSTEMS)
    wanted = list(SYSTEMS) if "all" in names else names
    for name in wanted:
        system = SYSTEMS[name]
        if not system.installed and "all" in names:
            note(f"{name} is skipped, for it is not installed: {system.install}")
        elif not system.installed:
            raise InputError(f"{name} is not installed: {system.install}")
    return [name for name in wanted if SYSTEMS[name].installed]


def check_known(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            hint = suggestion(name, known)
            raise InputError(f"there is no {what} {name!r}{hint}; there are {listed(known)}")


def check_cases(plan: Plan) -> None:
    names = [name for _, name in plan.every_case()]
    for case in plan.cases:
        if case not in names:
            raise InputError(f"there is no case {case!r} in {listed(plan.suites)}{suggestion(case, names)}")
    if not plan.chosen_cases():
        raise InputError("there are no cases to run; name suites, or a folder with tables")


def check_tables(plan: Plan) -> None:
    """Raise InputError for a custom table that cannot be read, before hours of fits."""
    from fouriertree.experiments.bench.names import FOLDER, folder_table
    from fouriertree.experiments.bench.sampling import own_table

    for suite, case in plan.chosen_cases():
        if suite == FOLDER and plan.folder is not None:
            own_table(folder_table(plan.folder, case))


# Running ---------------------------------------------------------------------------------------------------------
def results(plan: Plan, folder: Path, jobs: int) -> list[Record]:
    """The results of all fits: those in the folder, and the missing ones after they have been run."""
    from fouriertree.experiments.bench.plan import FILE
    from fouriertree.experiments.store import Store

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        store = Store(folder, FILE)
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

        def advance(task: Task, record: Record) -> None:
            bar.update(line, advance=1, note=f"{task.case} {task.system}")
            if "failed" in record:
                message = f"note: {task.key}: {record['failed']}"
                bar.console.print(message, highlight=False, markup=False, soft_wrap=True)

        try:
            complete(missing, store, plan.folder_of, jobs, advance)
        except KeyboardInterrupt:
            bar.stop()
            left = sum(task not in store for task in missing)
            print(f"interrupted: {left} fits are left; the same command resumes from here", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def conclude(records: list[Record], folder: Path, report: Path | None, content: dict[str, Any]) -> None:
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

        with writing(report):
            write(report, records, goals, shlex.join(["fouriertree", *sys.argv[1:]]))
        content["report"] = report
        say(f"report: {report}")
    if goals:
        say("", *(goal.line() for goal in goals))
    if not all(goal.ok for goal in goals):
        raise typer.Exit(SHORT)
