"""The options of `fouriertree fit`: those of the estimators, and those that only the command line has."""

from __future__ import annotations

from dataclasses import replace

from fouriertree.cli.options import FILE, JSON, NAME, SHEET, TABLE, option
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
    one_of,
    path,
)  # fmt: skip

#: traverses after which genetic programming ends where no limit is given: it has no stopping criterion
GP_TRAVERSES = 100_000
TABLE_FILE = path("DATA")
COLUMN = {"heading": COLUMNS, "completion": "columns"}

COMMAND_LINE = (
    option("data", TABLE_FILE, f"Table whose first line names the columns: {TABLE}.", argument=True),
    option("target", NAME, "Column to predict.", **COLUMN, short="-t"),
    option("column", NAME, "Column to use as a feature, all of them by default; may be repeated.", **COLUMN,
           short="-c", repeated=True),
    option("ignore", NAME, "Column to leave out; may be repeated.", **COLUMN, repeated=True),
    option("weights", NAME, "Column of sample weights, which is no feature.", **COLUMN),
    replace(SHEET, heading=COLUMNS),
    option("search", one_of("hybrid", "ftg", "one-plus-lambda", "gp"),
           "Search algorithm: hybrid is the strongest, ftg sums random trees, the others are genetic programming "
           f"of one tree, for {GP_TRAVERSES:,} traverses where no limit is given.", SEARCH, "hybrid"),
    option("projector", one_of("qr", "gram-svd"),
           "Projector of ftg: gram-svd is FTG as published, with its operators and deep trees.", SEARCH, shown="qr"),
    option("validation", replace(FRACTION, phrase="a number between 0 and 1, such as 0.2"),
           "Fraction of the rows to hold out, drawn by the seed; every equation is scored on them. The "
           "`validation` loss of the table is that of other rows, which take part in model selection.", VALIDATION),
    option("validation_last", BOOLEAN, "Hold out the last rows, not random ones: for time series.", VALIDATION,
           False),
    option("validation_file", FILE,
           "Score every equation on the rows of this table, which has the same columns.", VALIDATION),
    option("output", FILE, "Write the model to this file, as JSON, for `predict`.", OUTPUT, short="-o"),
    option("plot", FILE, "Write a plot of the fit to this file (.png, .pdf or .svg).", OUTPUT),
)  # fmt: skip
NO_RUN = option("no_run", BOOLEAN, "Create no run folder.", OUTPUT, False)
#: the options that run.json records, by name
RECORDED = {each.key: each for each in (*COMMAND_LINE, *OPTIONS) if each.flag is not None}
#: all options of `fit`, in the order of their headings
HEADINGS = ("", COLUMNS, SEARCH, EQUATIONS, VALIDATION, OUTPUT)
FIT = sorted((*RECORDED.values(), NO_RUN, JSON), key=lambda each: HEADINGS.index(each.heading))
#: what `runs resume` may change
CHANGEABLE = (
    option("data", TABLE_FILE, f"The table, where it has moved: {TABLE}."),
    *(
        replace(RECORDED[key], flag=replace(RECORDED[key].flag or Flag(), default=None))
        for key in ("time_limit", "max_evaluations", "memory_limit", "jobs", "output", "plot")
    ),
)
