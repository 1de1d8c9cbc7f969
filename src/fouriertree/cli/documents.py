"""`--json`: one JSON document on stdout, and everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import typer

from fouriertree.cli.output import printing, sentence
from fouriertree.errors import InputError
from fouriertree.io.strict_json import plain

#: the keys of every document, for the reference; a failure adds the key `error`
KEYS: dict[str, dict[str, str]] = {
    "fit": {
        "target": "name of the target column",
        "columns": "names of the features",
        "rows": "number of training rows",
        "chosen": "index of the chosen row of `equations`",
        "equation": "the chosen equation",
        "equations": "the table: `row`, `n_terms`, `complexity`, `loss`, `training_loss`, `validation_loss`, "
        "`description_length`, `r2`, `equation`, `unseen_r2`, `unseen_rmse`",
        "unseen": "`rows`, `r2` and `rmse` of the chosen equation on the hold-out set; null without one",
        "stop_reason": "why the search ended",
        "seed": "seed that repeats the fit",
        "traverses": "passes over the data",
        "evaluations": "number of candidates evaluated",
        "seconds": "duration of the fit",
        "run": "path of the run folder; null with `--no-run`",
        "files": "files written: a path or null for `model` and `plot`",
    },
    "runs": {
        "runs": "list of `id`, `status`, `created`, `target`, `rows`, `columns`, `seconds`, `stop_reason`, `equation` "
        "and `path`, oldest first; `runs compare` adds `parameters`, the ones that differ",
    },
    "runs show": {
        "about": "content of run.json",
        "front": "Pareto front so far, or the final table: a list of rows of front.csv",
        "checkpoints": "numbers of the checkpoints",
        "path": "path of the run folder",
    },
    "runs resume": {"…": "the keys of `fit --json`"},
    "runs rm": {"removed": "list of IDs"},
    "predict": {
        "target": "name of the predicted column",
        "row": "row of the equation in the model file",
        "equation": "the equation",
        "rows": "number of rows",
        "predictions": "one value per row",
        "not_finite": "number of predictions that are null, since the equation has no finite value there",
        "output": "path of the file written, or null",
    },
    "export": {
        "to": "the target, or null where none was named",
        "row": "row of the equation in the model file",
        "equation": "the equation",
        "text": "the exported equation; null if it is binary or written to a file",
        "output": "path of the file written, or null",
        "targets": "where none was named, all targets: `name`, `suffix`, `description`, `binary`; null otherwise",
    },
    "report": {
        "target": "name of the target column",
        "row": "index of the chosen equation",
        "equation": "the chosen equation",
        "output": "path of the page",
    },
    "problems": {"problems": "list of `name`, `formula` and `domain`"},
    "bench": {
        "rows": "one per suite, noise, disguise and system: `suite`, `noise`, `disguise`, `system`, `cases`, `failed`, "
        "`solved`, `structure`, `exact`, `r2`, `size`, `seconds`, `solved_seconds`; `structure` is the share of "
        "equations whose structure is right, null where it was not measured",
        "goals": "list of `name`, `measured`, `goal` and `holds`",
        "output": "folder of the results",
        "report": "path of the page, or null",
    },
    "paper": {
        "numbers": "sentences with the key figures",
        "agreement": "`cells` that agree with the published ones, the `goal`, and whether it `holds`; null unless the "
        "table has as many runs as the published one",
        "output": "folder of the results",
        "report": "path of the page",
    },
}


@contextmanager
def document(wanted: bool) -> Iterator[dict[str, Any]]:
    """A dictionary to fill, which is printed at the end if `wanted`, with the key `error` for bad input."""
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
        # The document of an interrupted search has its result.
        write(content or {"error": "interrupted"})
        raise
    write(content)


def write(content: Mapping[str, Any]) -> None:
    """Print it in ASCII, which every terminal can show."""
    with printing():
        print(json.dumps(plain(content), indent=2, allow_nan=False))
