"""`fouriertree runs`: the run folders of earlier fits are listed, shown, compared, resumed and removed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fouriertree.cli.documents import document
from fouriertree.cli.fitting.options import CHANGEABLE
from fouriertree.cli.help import Command, examples, write_epilog
from fouriertree.cli.options import JSON, Folder, Json, info, option, with_options
from fouriertree.fit.options import RUNS, Flag, Option, text

EXAMPLES = examples(
    ("all runs", "fouriertree runs"),
    ("the newest one, in full", "fouriertree runs show last"),
    ("resume a run that was killed", "fouriertree runs resume last -o model.json"),
    ("two runs side by side", "fouriertree runs compare 8a2f 91c0"),
    ("remove one", "fouriertree runs rm 8a2f"),
)
SHOW = examples(
    ("the newest one", "fouriertree runs show last"), ("for a script", "fouriertree runs show 8a2f --json")
)
COMPARE = examples(("how do they differ?", "fouriertree runs compare 8a2f 91c0"))
RESUME = examples(
    ("resume a run that was killed", "fouriertree runs resume last -o model.json"),
    ("resume with twice the time", "fouriertree runs resume 8a2f --time-limit 120"),
    ("the table has moved", "fouriertree runs resume 8a2f --data new/place/data.csv"),
)  # fmt: skip
REMOVE = examples(("two of them, without a question", "fouriertree runs rm 8a2f 91c0 --yes"))

RUN = Option(
    "run", None, text("ID"), "ID of a run, its first or last letters, or `last` for the newest.", "",
    Flag(argument=True),
)  # fmt: skip
STORE = Option("run_dir", RUNS, Folder, "Folder of the runs: the --run-dir of `fit`.", "", Flag(default=RUNS))
Store = Annotated[Path, info(STORE)]
Run = Annotated[str, info(RUN)]
Runs = Annotated[list[str], typer.Argument(metavar="ID...", help="IDs of runs, or parts of them.")]


class Group(TyperGroup):
    """A group whose examples are printed as they are."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_epilog(self.epilog, formatter)


app = typer.Typer(
    cls=Group,
    invoke_without_command=True,
    help="List, show, compare, resume and remove the runs of earlier fits.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
)


@app.callback()
def runs(context: typer.Context, run_dir: Store = RUNS, as_json: Json = False) -> None:
    """List the runs of earlier fits, the newest last.

    A run is `running`, `finished`, `interrupted` by Ctrl-C, `killed`, or `failed` with an error; the last three are
    resumed by `fouriertree runs resume`.
    """
    if context.invoked_subcommand is None:
        from fouriertree.cli.runs.inspect import list_all

        with document(as_json) as content:
            list_all(run_dir, content)


@app.command("show", cls=Command, epilog=SHOW)
def show(run: Run, run_dir: Store = RUNS, as_json: Json = False) -> None:
    """Print the parameters of a run, its status and its equations."""
    from fouriertree.cli.runs.inspect import show_one

    with document(as_json) as content:
        show_one(run_dir, run, content)


@app.command("compare", cls=Command, epilog=COMPARE)
def compare(run: Runs, run_dir: Store = RUNS, as_json: Json = False) -> None:
    """Print runs side by side: the parameters in which they differ, and their results."""
    from fouriertree.cli.runs.inspect import compare_some

    with document(as_json) as content:
        compare_some(run_dir, run, content)


@app.command("resume", cls=Command, epilog=RESUME)
@with_options([RUN, *CHANGEABLE, STORE, JSON])
def resume(run: str, run_dir: Path, json: bool, **changes: Any) -> None:
    """Resume a run that was killed or interrupted, from its newest checkpoint.

    Runs without a time limit resume bit-identically. Limits count from the beginning of the run; those given here
    replace its own. The table must be the same.
    """
    from fouriertree.cli.runs.resume import resume_run

    given = {name: value for name, value in changes.items() if value is not None}
    with document(json) as content:
        resume_run(run_dir, run, given, content)


@app.command("rm", cls=Command, epilog=REMOVE)
def remove(
    run: Runs,
    yes: Annotated[bool, option("--yes", "-y", help="Remove without a question.")] = False,
    run_dir: Store = RUNS,
    as_json: Json = False,
) -> None:
    """Remove runs with all their files; one that is running is not removed."""
    from fouriertree.cli.runs.inspect import remove_some

    with document(as_json) as content:
        remove_some(run_dir, run, yes, content)
