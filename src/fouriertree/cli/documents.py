"""`--json`: one document on stdout and nothing else there; what is for people goes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Annotated, Any

import typer

from fouriertree.cli.errors import InputError, sentence
from fouriertree.cli.help import OUTPUT
from fouriertree.cli.output import printing
from fouriertree.io.strict_json import plain

Json = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT,
        help="Print one JSON document, and everything for people on stderr; docs/cli.md lists its keys.",
    ),
]

#: the keys of every document, for the reference; what could not be done leaves `error` there, too
KEYS: dict[str, dict[str, str]] = {
    "fit": {
        "target": "name of the column",
        "columns": "names of the columns that formulas may use",
        "rows": "number of rows that were fitted",
        "chosen": "number of the chosen row of `equations`",
        "equation": "the chosen formula",
        "equations": "the table: `row`, `n_terms`, `complexity`, `loss`, `training_loss`, `validation_loss`, "
        "`description_length`, `r2`, `equation`, `unseen_r2`, `unseen_rmse`",
        "unseen": "`rows`, `r2` and `rmse` of the chosen formula on rows that the fit never saw; null without them",
        "stop_reason": "why the search ended",
        "seed": "what repeats it",
        "traverses": "passes over the data",
        "evaluations": "candidates looked at",
        "seconds": "time of the fit",
        "run": "path of the run's folder; null with `--no-run`",
        "files": "what was written: a path or null for `model` and `plot`",
    },
    "runs": {
        "runs": "list of `id`, `status`, `created`, `target`, `rows`, `columns`, `seconds`, `stop_reason`, `equation` "
        "and `path`, oldest first; `runs compare` adds `parameters`, those in which they differ",
    },
    "runs show": {
        "about": "all of run.json",
        "front": "the formulas so far, or the table: a list of rows of front.csv",
        "checkpoints": "numbers of those that are there",
        "path": "folder of the run",
    },
    "runs resume": {"…": "the keys of `fit --json`"},
    "runs rm": {"removed": "list of IDs"},
    "predict": {
        "target": "name of the column that is predicted",
        "row": "number of the formula in the model file",
        "equation": "the formula",
        "rows": "number of rows",
        "predictions": "one number per row",
        "not_finite": "how many of them are null, since the formula has no finite value there",
        "output": "path of the file that was written, or null",
    },
    "export": {
        "to": "the target, or null where none was named",
        "row": "number of the formula in the model file",
        "equation": "the formula",
        "text": "the formula in the other language; null if it is no text, or where it went to a file",
        "output": "path of the file that was written, or null",
        "targets": "where none was named, all of them: `name`, `suffix`, `description`, `binary`; null otherwise",
    },
    "report": {
        "target": "name of the column",
        "row": "number of the chosen formula",
        "equation": "the chosen formula",
        "output": "path of the page",
    },
    "problems": {"problems": "list of `name`, `formula` and `domain`"},
    "bench": {
        "rows": "one per suite, noise, disguise and system: `suite`, `noise`, `disguise`, `system`, `cases`, `failed`, "
        "`solved`, `structure`, `exact`, `r2`, `size`, `seconds`, `solved_seconds`; `structure` is the share of "
        "formulas whose structure is right, null where it was not measured",
        "goals": "list of `name`, `measured`, `goal` and `holds`",
        "output": "folder of the results",
        "report": "path of the page, or null",
    },
    "paper": {
        "numbers": "sentences with the most important numbers",
        "agreement": "`cells` that agree with the published ones, the `goal`, and whether it `holds`; null unless the "
        "table has as many runs as the published one",
        "output": "folder of the results",
        "report": "path of the page",
    },
}


@contextmanager
def document(wanted: bool) -> Iterator[dict[str, Any]]:
    """A dictionary to fill, which is printed at the end if `wanted`; with `error` in it if the input is at fault."""
    content: dict[str, Any] = {}
    if not wanted:
        yield content
        return
    try:
        with redirect_stdout(sys.stderr):
            yield content
    except InputError as error:
        content["error"] = sentence(error)
        write(content)
        raise
    except (KeyboardInterrupt, typer.Exit):
        # A search that was interrupted has its result in the document.
        write(content or {"error": "interrupted"})
        raise
    write(content)


def write(content: Mapping[str, Any]) -> None:
    """Print it; ASCII only, since a terminal that cannot show a letter would spoil it."""
    with printing():
        print(json.dumps(plain(content), indent=2, allow_nan=False))
