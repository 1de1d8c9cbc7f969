"""`fouriertree report model.json --data data.csv -o report.html`: a report about an equation."""

from __future__ import annotations

import sys
from pathlib import Path

from fouriertree.cli.files import check_writable, load_regressor, writing
from fouriertree.cli.help import examples
from fouriertree.cli.options import FILE, JSON, MODEL, REQUIRED, SHEET, TABLE, option, with_options
from fouriertree.cli.output import document, say
from fouriertree.errors import InputError
from fouriertree.fit.options import OUTPUT, path, whole

EXAMPLES = examples(
    ("the chosen equation", "fouriertree report model.json --data data.csv -o report.html"),
    ("with the stability under resampling", "fouriertree report model.json --data data.csv --refits 20"),
)  # fmt: skip


@with_options(
    MODEL,
    option("data", path("DATA"), f"Table with the features and the target, in any order: {TABLE}.", default=REQUIRED),
    SHEET,
    option("refits", whole(0), "Number of refits to bootstrap samples, which measure stability; each takes as "
           "long as the fit.", default=0),
    option("output", FILE, "Write the page to this file.", OUTPUT, Path("report.html"), short="-o"),
    JSON,
)  # fmt: skip
def report(model: Path, data: Path, sheet: str | None, refits: int, output: Path, json: bool) -> None:
    """Write a report about an equation: one HTML file, which needs no network.

    It has the table of equations, the chosen one typeset, plots of the fit and of every feature, prediction intervals,
    the certified domain, the provenance, and the equation in other languages to copy.
    """
    with document(json) as content:
        from fouriertree.io.tables.reading import read_table

        regressor, target = load_regressor(model)
        check_writable(output, data, model)
        table = read_table(data, sheet)
        if len(table) == 0:
            raise InputError(f"{table.name} has no rows")
        names = [table.column(name) for name in (*regressor._feature_labels, target)]
        values = table.numbers(names, "; a report needs a number there")
        X, y = values[:, :-1], values[:, -1]
        with writing(output):
            regressor.report(output, target, X, y, refits, progress=print_refits if refits else None)
        content |= {
            "target": target, "row": regressor.best_index_, "equation": regressor.get_best()["equation"],
            "output": str(output),
        }  # fmt: skip
        say(f"report written to {output}")


def print_refits(done: int, of: int) -> None:
    """A line that counts the refits, on a terminal."""
    if sys.stderr.isatty():
        print(f"\rrefit {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
