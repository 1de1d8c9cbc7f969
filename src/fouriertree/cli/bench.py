"""`fouriertree bench`: laws to find again and tables to predict, by this package and by other systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fouriertree.cli import completion
from fouriertree.cli.choices import SUITES, SYSTEMS
from fouriertree.cli.documents import Json, document
from fouriertree.cli.help import OUTPUT, examples
from fouriertree.cli.options import LARGEST_SEED, float_or_nan, seconds, whole_number

DATA = Path("../shared/data")
CASES, FITS = "Cases", "Fits"
EXAMPLES = examples(
    ("a short list of laws to find again", "fouriertree bench --quick"),
    ("a suite with noise, by all systems that are installed", "fouriertree bench feynman --system all --noise 0.01"),
    ("twenty generated laws in units of their own", "fouriertree bench everyday --generate 20 --disguise"),
    ("your own tables: `target`, or the last column", "fouriertree bench --folder my_tables --report tables.md"),
    ("one case, for a script", "fouriertree bench classic --case Koza-1 --json"),
)  # fmt: skip


def level(text: str) -> float:
    """A level of noise."""
    number = float_or_nan(text)
    if not 0.0 <= number < 10.0:
        raise typer.BadParameter(f"it must be a share of the target, such as 0.01; got {str(text)!r}")
    return number


Suites = Annotated[
    list[str] | None,
    typer.Argument(
        help=f"{', '.join(SUITES)}; by default all of them.", autocompletion=completion.words(*SUITES)
    ),
]
Case = Annotated[
    list[str],
    typer.Option(
        "--case",
        metavar="NAME",
        autocompletion=completion.cases,
        rich_help_panel=CASES,
        help="Only this case; may be given several times.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", rich_help_panel=CASES, help="The short list of cases.")]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        rich_help_panel=CASES,
        help="Folder with tables of measurements; ../shared/data if there is one.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="FOLDER",
        rich_help_panel=CASES,
        help="A folder of your own tables (CSV, TSV, Parquet, Excel), as a suite of its own.",
    ),
]
Noise = Annotated[
    list[float],
    typer.Option(
        "--noise",
        parser=level,
        metavar="LEVEL",
        rich_help_panel=CASES,
        help="Noise on the training target, as a share of its root mean square; may be given several times.",
    ),
]
Rows = Annotated[
    int,
    typer.Option(
        "--rows",
        parser=whole_number(10),
        metavar="N",
        rich_help_panel=CASES,
        help="Rows to train on, and as many to test on.",
    ),
]
Disguise = Annotated[
    bool,
    typer.Option(
        "--disguise",
        rich_help_panel=CASES,
        help="Multiply every variable and the target by a random factor, and permute the columns.",
    ),
]
Generate = Annotated[
    int,
    typer.Option(
        "--generate",
        parser=whole_number(0),
        metavar="N",
        rich_help_panel=CASES,
        help="Generate N laws for the suite everyday, in place of the published ones.",
    ),
]
GeneratorSeed = Annotated[
    int,
    typer.Option(
        "--generator-seed",
        parser=whole_number(0, LARGEST_SEED),
        metavar="N",
        rich_help_panel=CASES,
        help="Seed of the generated laws; law 3 of seed 5 is the case everyday_g5_03.",
    ),
]
System = Annotated[
    list[str],
    typer.Option(
        "--system",
        metavar="NAME",
        autocompletion=completion.words(*SYSTEMS, "all"),
        rich_help_panel=FITS,
        help=f"{', '.join(SYSTEMS)}, or all; may be given several times.",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds", parser=seconds, metavar="SECONDS", rich_help_panel=FITS, help="Time of one fit."
    ),
]
Seed = Annotated[
    list[int],
    typer.Option(
        "--seed",
        parser=whole_number(0, LARGEST_SEED),
        metavar="N",
        rich_help_panel=FITS,
        help="Seed of data and search; may be given several times.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        parser=whole_number(1),
        metavar="N",
        rich_help_panel=FITS,
        help="Fits at the same time, each on one core.",
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FOLDER", rich_help_panel=OUTPUT, help="Folder of the results."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write tables and plots to this Markdown file.",
    ),
]


def bench(
    suites: Suites = None,
    case: Case = [],
    quick: Quick = False,
    data: Data = None,
    folder: Folder = None,
    noise: Noise = [0.0],
    rows: Rows = 1000,
    disguise: Disguise = False,
    generate: Generate = 0,
    generator_seed: GeneratorSeed = 0,
    system: System = ["ours"],
    seconds: Seconds = 20.0,
    seed: Seed = [0],
    jobs: Jobs = 1,
    out: Out = Path("bench-results"),
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Compare systems on laws that they should find and on tables that they should predict.

    Results are kept one by one: the same command goes on where an earlier one was interrupted. Ends with one line
    per goal, and with status 1 if one of them is missed.
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
