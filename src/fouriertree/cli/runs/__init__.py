"""`fouriertree runs`: what earlier fits have left, and going on with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fouriertree.cli.documents import Json, document
from fouriertree.cli.fitting import options as o
from fouriertree.cli.help import Command, examples, write_epilog
from fouriertree.cli.options import TABLE

EXAMPLES = examples(
    ("what is there", "fouriertree runs"),
    ("the newest one, in full", "fouriertree runs show last"),
    ("go on with a run that was killed", "fouriertree runs resume last -o model.json"),
    ("two runs side by side", "fouriertree runs compare 8a2f 91c0"),
    ("remove one", "fouriertree runs rm 8a2f"),
)
SHOW = examples(
    ("the newest one", "fouriertree runs show last"), ("for a script", "fouriertree runs show 8a2f --json")
)
COMPARE = examples(("how do they differ?", "fouriertree runs compare 8a2f 91c0"))
RESUME = examples(
    ("go on with a run that was killed", "fouriertree runs resume last -o model.json"),
    ("search on for twice the time", "fouriertree runs resume 8a2f --time-limit 120"),
    ("the table has moved", "fouriertree runs resume 8a2f --data new/place/data.csv"),
)  # fmt: skip
REMOVE = examples(("two of them, without a question", "fouriertree runs rm 8a2f 91c0 --yes"))

Store = Annotated[
    Path, typer.Option("--run-dir", metavar="FOLDER", help="Where the runs are: the --run-dir of `fit`.")
]
Run = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A run by its ID, its first or last letters, or `last` for the newest."
    ),
]
Runs = Annotated[list[str], typer.Argument(metavar="ID...", help="Runs by their IDs, or parts of them.")]


class Group(TyperGroup):
    """Whose examples stay as they are written."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_epilog(self.epilog, formatter)


app = typer.Typer(
    cls=Group,
    invoke_without_command=True,
    help="List the runs of earlier fits, look at them, go on with them.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
)


@app.callback()
def runs(context: typer.Context, run_dir: Store = o.RUNS, as_json: Json = False) -> None:
    """List the runs of earlier fits, the newest last.

    A run is `running`, `finished`, `interrupted` by Ctrl-C, `killed`, or `failed` with an error; all but the first two
    are resumed by `fouriertree runs resume`.
    """
    if context.invoked_subcommand is None:
        from fouriertree.cli.runs.inspect import list_all

        with document(as_json) as content:
            list_all(run_dir, content)


@app.command("show", cls=Command, epilog=SHOW)
def show(run: Run, run_dir: Store = o.RUNS, as_json: Json = False) -> None:
    """Print what a run was asked, how it stands, and its formulas."""
    from fouriertree.cli.runs.inspect import show_one

    with document(as_json) as content:
        show_one(run_dir, run, content)


@app.command("compare", cls=Command, epilog=COMPARE)
def compare(run: Runs, run_dir: Store = o.RUNS, as_json: Json = False) -> None:
    """Print runs side by side: what was asked differently, and what each has found."""
    from fouriertree.cli.runs.inspect import compare_some

    with document(as_json) as content:
        compare_some(run_dir, run, content)


@app.command("resume", cls=Command, epilog=RESUME)
def resume(
    run: Run,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DATA", help=f"The table, if it is not where it was: {TABLE}."),
    ] = None,
    time_limit: o.TimeLimit = None,
    max_evaluations: o.MaxEvaluations = None,
    jobs: Annotated[int | None, o.JOBS] = None,
    output: o.Output = None,
    plot: o.Plot = None,
    run_dir: Store = o.RUNS,
    as_json: Json = False,
) -> None:
    """Go on with a run that was killed or interrupted, from its newest checkpoint.

    Where no time limit ended it, the formulas are those of a run that nobody has killed, bit for bit. Limits count
    from the beginning of the run; those given here replace its own. The table must be the same.
    """
    from fouriertree.cli.runs.resume import Changes, go_on

    with document(as_json) as content:
        go_on(run_dir, run, Changes(data, time_limit, max_evaluations, jobs, output, plot), content)


@app.command("rm", cls=Command, epilog=REMOVE)
def remove(
    run: Runs,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    run_dir: Store = o.RUNS,
    as_json: Json = False,
) -> None:
    """Remove runs with all that they have left; one that is running is refused."""
    from fouriertree.cli.runs.inspect import remove_some

    with document(as_json) as content:
        remove_some(run_dir, run, yes, content)
