"""The options of `fouriertree fit`, by the headings of its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fouriertree.cli import completion
from fouriertree.cli.choices import DEFAULT_OPERATORS
from fouriertree.cli.help import COLUMNS, FORMULAS, OUTPUT, SEARCH, UNSEEN
from fouriertree.cli.options import LARGEST_SEED, TABLE, megabytes, one_of, seconds, share, whole_number

#: what SymbolicRegressor does unless told otherwise, and help texts say
MAX_TERMS, MAX_SIZE, QUANTILE = 10, 80, 0.5
#: where runs are kept
RUNS = Path("fouriertree-runs")
#: GP has no end of its own
GP_TRAVERSES = 100_000


class SearchName(StrEnum):
    hybrid = "hybrid"
    ftg = "ftg"
    one_plus_lambda = "one-plus-lambda"
    gp = "gp"


class ProjectorName(StrEnum):
    qr = "qr"
    gram_svd = "gram-svd"


class Selection(StrEnum):
    mdl = "mdl"
    best = "best"
    accuracy = "accuracy"


class LossName(StrEnum):
    squared = "squared"
    absolute = "absolute"
    huber = "huber"
    quantile = "quantile"


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help=f"Table whose first line names the columns: {TABLE}.")
]

# Columns ------------------------------------------------------------------------------------------------------
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        autocompletion=completion.columns,
        rich_help_panel=COLUMNS,
        help="Column to find a formula for.",
    ),
]
Column = Annotated[
    list[str],
    typer.Option(
        "--column",
        "-c",
        metavar="NAME",
        autocompletion=completion.columns,
        rich_help_panel=COLUMNS,
        help="Column that formulas may use; may be given several times. Without it, all of them.",
    ),
]
Ignore = Annotated[
    list[str],
    typer.Option(
        "--ignore",
        metavar="NAME",
        autocompletion=completion.columns,
        rich_help_panel=COLUMNS,
        help="Column to leave out; may be given several times.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="NAME",
        autocompletion=completion.columns,
        rich_help_panel=COLUMNS,
        help="Column that says how much every row counts; formulas do not use it.",
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        rich_help_panel=COLUMNS,
        help="Sheet of an Excel workbook; the first unless told otherwise.",
    ),
]

# Search -------------------------------------------------------------------------------------------------------
Search = Annotated[
    SearchName,
    typer.Option(
        "--search",
        parser=one_of(SearchName),
        metavar="|".join(SearchName),
        autocompletion=completion.words(*SearchName),
        rich_help_panel=SEARCH,
        help="How formulas are searched for: hybrid is the strongest; ftg adds up random trees; the others evolve one "
        f"tree by genetic programming, for {GP_TRAVERSES:,} traverses where no limit is given.",
    ),
]
Projector = Annotated[
    ProjectorName | None,
    typer.Option(
        "--projector",
        parser=one_of(ProjectorName),
        metavar="|".join(ProjectorName),
        autocompletion=completion.words(*ProjectorName),
        rich_help_panel=SEARCH,
        help="How ftg finds coefficients: qr, unless told otherwise; gram-svd is FTG as published, with its operators "
        "and deep trees.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", parser=seconds, metavar="SECONDS", rich_help_panel=SEARCH, help="Seconds at most."
    ),
]
MaxEvaluations = Annotated[
    int | None,
    typer.Option(
        "--max-evaluations",
        parser=whole_number(1),
        metavar="N",
        rich_help_panel=SEARCH,
        help="Candidates to look at, about; unlike a time limit, it gives the same formulas again.",
    ),
]
MemoryLimit = Annotated[
    float | None,
    typer.Option(
        "--memory-limit",
        parser=megabytes,
        metavar="MB",
        rich_help_panel=SEARCH,
        help="Megabytes that the process may hold; the search ends when it holds more, and keeps what it has found.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        parser=whole_number(0, LARGEST_SEED),
        metavar="N",
        rich_help_panel=SEARCH,
        help="Repeats a run; without it, every run is another one.",
    ),
]
JOBS = typer.Option(
    "--jobs",
    parser=whole_number(-1),
    metavar="N",
    rich_help_panel=SEARCH,
    help="Processes and threads; -1 for one per processor. Same result for any.",
)
Jobs = Annotated[int, JOBS]

# Formulas -----------------------------------------------------------------------------------------------------
Operators = Annotated[
    str | None,
    typer.Option(
        "--operators",
        metavar="NAMES",
        autocompletion=completion.operators,
        rich_help_panel=FORMULAS,
        help=f"Names or signs, separated by commas; {DEFAULT_OPERATORS} unless told otherwise.",
    ),
]
MaxTerms = Annotated[
    int | None,
    typer.Option(
        "--max-terms",
        parser=whole_number(1),
        metavar="N",
        rich_help_panel=FORMULAS,
        help=f"Terms at most; {MAX_TERMS}, and no limit for a line or with gram-svd.",
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        "--max-size",
        parser=whole_number(1),
        metavar="N",
        rich_help_panel=FORMULAS,
        help=f"Complexity of a formula at most, for hybrid; {MAX_SIZE} unless told otherwise.",
    ),
]
Guess = Annotated[
    list[str],
    typer.Option(
        "--guess",
        metavar="FORMULA",
        rich_help_panel=FORMULAS,
        help="Formula for hybrid to start from, such as 'a*sin(angle)'; names that are no columns are numbers to be "
        "fitted. May be given several times.",
    ),
]
Loss = Annotated[
    LossName,
    typer.Option(
        "--loss",
        parser=one_of(LossName),
        metavar="|".join(LossName),
        autocompletion=completion.words(*LossName),
        rich_help_panel=FORMULAS,
        help="What an error costs; absolute and huber do not mind a few wild rows, and quantile finds a formula that a "
        "share of the rows stays below.",
    ),
]
Quantile = Annotated[
    float | None,
    typer.Option(
        "--quantile",
        parser=share,
        metavar="SHARE",
        rich_help_panel=FORMULAS,
        help=f"That share, for --loss quantile; {QUANTILE} unless told otherwise.",
    ),
]
ModelSelection = Annotated[
    Selection,
    typer.Option(
        "--model-selection",
        parser=one_of(Selection),
        metavar="|".join(Selection),
        autocompletion=completion.words(*Selection),
        rich_help_panel=FORMULAS,
        help="Which row is chosen: the shortest description, the one after which more complexity gains little, or the "
        "smallest validation loss.",
    ),
]

# Rows that the fit never sees ---------------------------------------------------------------------------------
Validation = Annotated[
    float | None,
    typer.Option(
        "--validation",
        parser=share,
        metavar="SHARE",
        rich_help_panel=UNSEEN,
        help="Keep this share of the rows aside, drawn by the seed, and say how well every formula predicts them. The "
        "column `validation` of the table is about other rows, which help to choose a formula.",
    ),
]
ValidationLast = Annotated[
    bool,
    typer.Option(
        "--validation-last",
        rich_help_panel=UNSEEN,
        help="Keep the last rows aside, not random ones: for tables in the order of time.",
    ),
]
ValidationFile = Annotated[
    Path | None,
    typer.Option(
        "--validation-file",
        metavar="FILE",
        rich_help_panel=UNSEEN,
        help="Say how well every formula predicts the rows of this table, which has the same columns.",
    ),
]

# Output -------------------------------------------------------------------------------------------------------
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write the model there, as JSON, for `predict`.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write a picture of the fit there (.png, .pdf or .svg).",
    ),
]
RunDir = Annotated[
    Path,
    typer.Option(
        "--run-dir",
        metavar="FOLDER",
        rich_help_panel=OUTPUT,
        help="Where every fit leaves a folder of its own, with its formulas so far and checkpoints: see `runs`.",
    ),
]
NoRun = Annotated[bool, typer.Option("--no-run", rich_help_panel=OUTPUT, help="Leave no such folder.")]
