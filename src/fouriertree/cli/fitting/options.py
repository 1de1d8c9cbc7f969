"""The options of `fouriertree fit`: those of the estimators, and those that only the command line has."""

from __future__ import annotations

from dataclasses import replace

from fouriertree.cli.options import JSON, SHEET, TABLE, File
from fouriertree.fit.options import (
    BOOLEAN,
    COLUMNS,
    EQUATIONS,
    FRACTION,
    OPTIONS,
    OUTPUT,
    SEARCH,
    VALIDATION,
    Flag,
    Kind,
    Option,
    one_of,
    path,
    text,
)

#: traverses after which genetic programming ends where no limit is given: it has no stopping criterion
GP_TRAVERSES = 100_000

NAME = text("NAME")
TABLE_FILE = path("DATA")


def column(name: str, help: str, short: str | None = None, repeated: bool = False) -> Option:
    return Option(name, None, NAME, help, COLUMNS, Flag(short=short, repeated=repeated, completion="columns"))


def file(name: str, help: str, heading: str = OUTPUT, short: str | None = None) -> Option:
    return Option(name, None, File, help, heading, Flag(short=short))


def named(name: str, kind: Kind, help: str, default: str | None = None, shown: str | None = None) -> Option:
    return Option(name, default, kind, help, SEARCH, Flag(default=default, shown=shown))


COMMAND_LINE = (
    Option("data", None, TABLE_FILE, f"Table whose first line names the columns: {TABLE}.", "", Flag(argument=True)),
    column("target", "Column to predict.", "-t"),
    column("column", "Column to use as a feature, all of them by default; may be repeated.", "-c", True),
    column("ignore", "Column to leave out; may be repeated.", repeated=True),
    column("weights", "Column of sample weights, which is no feature."),
    SHEET,
    named(
        "search", one_of("hybrid", "ftg", "one-plus-lambda", "gp"),
        "Search algorithm: hybrid is the strongest, ftg sums random trees, the others are genetic programming of one "
        f"tree, for {GP_TRAVERSES:,} traverses where no limit is given.", "hybrid",
    ),
    named(
        "projector", one_of("qr", "gram-svd"),
        "Projector of ftg: gram-svd is FTG as published, with its operators and deep trees.", shown="qr",
    ),
    Option(
        "validation", None, FRACTION,
        "Fraction of the rows to hold out, drawn by the seed; every equation is scored on them. The `validation` loss "
        "of the table is that of other rows, which take part in model selection.", VALIDATION, Flag(),
    ),
    Option(
        "validation_last", False, BOOLEAN, "Hold out the last rows, not random ones: for time series.", VALIDATION,
        Flag(default=False),
    ),
    file("validation_file", "Score every equation on the rows of this table, which has the same columns.", VALIDATION),
    file("output", "Write the model to this file, as JSON, for `predict`.", short="-o"),
    file("plot", "Write a plot of the fit to this file (.png, .pdf or .svg)."),
)  # fmt: skip
NO_RUN = Option("no_run", False, BOOLEAN, "Create no run folder.", OUTPUT, Flag(default=False))
#: the options that run.json records, by name
RECORDED = {option.key: option for option in (*COMMAND_LINE, *OPTIONS) if option.flag is not None}
#: all options of `fit`, in the order of their headings
HEADINGS = ("", COLUMNS, SEARCH, EQUATIONS, VALIDATION, OUTPUT)
FIT = sorted((*RECORDED.values(), NO_RUN, JSON), key=lambda option: HEADINGS.index(option.heading))
#: what `runs resume` may change
CHANGEABLE = (
    Option("data", None, TABLE_FILE, f"The table, where it has moved: {TABLE}.", "", Flag()),
    *(
        replace(RECORDED[key], flag=replace(RECORDED[key].flag or Flag(), default=None))
        for key in ("time_limit", "max_evaluations", "jobs", "output", "plot")
    ),
)
