"""`fouriertree bench`: recover known laws and predict tables, with this package and with other systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fouriertree.cli import completion
from fouriertree.cli.choices import SUITES, SYSTEMS
from fouriertree.cli.documents import document
from fouriertree.cli.help import examples
from fouriertree.cli.options import File, Folder, Json, option
from fouriertree.fit.options import LARGEST_SEED, OUTPUT, SECONDS, number, text, whole

DATA = Path("../shared/data")
CASES, FITS = "Cases", "Fits"
EXAMPLES = examples(
    ("a short list of laws to recover", "fouriertree bench --quick"),
    ("a suite with noise, by all systems that are installed", "fouriertree bench feynman --system all --noise 0.01"),
    ("twenty generated laws in random units", "fouriertree bench everyday --generate 20 --disguise"),
    ("custom tables: `target`, or the last column", "fouriertree bench --folder my_tables --report tables.md"),
    ("one case, for a script", "fouriertree bench classic --case Koza-1 --json"),
)  # fmt: skip
NAME, SEED = text("NAME"), whole(0, LARGEST_SEED)
NOISE = number("a share of the target, such as 0.01", "LEVEL", lambda x: 0.0 <= x < 10.0)


def bench(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(SUITES)}; by default all of them.", autocompletion=completion.words(*SUITES)
        ),
    ] = None,
    case: Annotated[
        list[str],
        option("--case", kind=NAME, heading=CASES, help="Only this case; may be repeated.", complete=completion.cases),
    ] = [],
    quick: Annotated[bool, option("--quick", heading=CASES, help="The short list of cases.")] = False,
    data: Annotated[
        Path | None,
        option("--data", kind=Folder, heading=CASES, help="Folder with tables of measurements.",
               shown=f"{DATA} if it exists"),
    ] = None,
    folder: Annotated[
        Path | None,
        option("--folder", kind=Folder, heading=CASES, help="Folder of custom tables, as one more suite."),
    ] = None,
    noise: Annotated[
        list[float],
        option("--noise", kind=NOISE, heading=CASES,
               help="Noise on the training target, as a share of its root mean square; may be repeated."),
    ] = [0.0],
    rows: Annotated[
        int, option("--rows", kind=whole(10), heading=CASES, help="Number of training rows, and of test rows.")
    ] = 1000,
    disguise: Annotated[
        bool,
        option("--disguise", heading=CASES,
               help="Multiply every variable and the target by a random factor, and permute the features."),
    ] = False,
    generate: Annotated[
        int,
        option("--generate", kind=whole(0), heading=CASES,
               help="Generate N laws for the suite everyday, in place of the published ones."),
    ] = 0,
    generator_seed: Annotated[
        int,
        option("--generator-seed", kind=SEED, heading=CASES,
               help="Seed of the generated laws; law 3 of seed 5 is the case everyday_g5_03."),
    ] = 0,
    system: Annotated[
        list[str],
        option("--system", kind=NAME, heading=FITS, help=f"{', '.join(SYSTEMS)}, or all; may be repeated.",
               complete=completion.words(*SYSTEMS, "all")),
    ] = ["ours"],
    seconds: Annotated[
        float, option("--seconds", kind=SECONDS, heading=FITS, help="Time limit of one fit.")
    ] = 20.0,
    seed: Annotated[
        list[int], option("--seed", kind=SEED, heading=FITS, help="Seed of data and search; may be repeated.")
    ] = [0],
    jobs: Annotated[
        int, option("--jobs", kind=whole(1), heading=FITS, help="Number of fits at the same time, each on one core.")
    ] = 1,
    out: Annotated[
        Path, option("--out", "-o", kind=Folder, heading=OUTPUT, help="Folder of the results.")
    ] = Path("bench-results"),
    report: Annotated[
        Path | None, option("--report", kind=File, heading=OUTPUT, help="Write tables and plots to this Markdown file.")
    ] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Compare systems on laws to recover and on tables to predict.

    Results are stored one by one: the same command resumes an interrupted benchmark. The last lines are the goals; the
    exit status is 1 if one of them is missed.
    """
    with document(as_json) as content:
        from fouriertree.cli.benchmarks import planning, running
        from fouriertree.experiments.bench.plan import Plan

        planning.check_folders(data, folder)
        data = data or (DATA if DATA.is_dir() else None)
        plan = Plan(
            suites=planning.chosen_suites(suites or [], data, folder, generate),
            systems=planning.chosen_systems(system),
            noises=noise, seeds=seed, seconds=seconds, rows=rows, cases=case, quick=quick, disguise=disguise, data=data,
            folder=folder, generate=generate, generator_seed=generator_seed,
        )  # fmt: skip
        planning.check_cases(plan)
        planning.check_tables(plan)
        if report is not None:
            running.check_report(report)
        records = running.results(plan, out, jobs)
        running.conclude(records, out, report, content)
