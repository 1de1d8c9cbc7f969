"""Options of `fit` that do not go together are refused, before any work is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fouriertree.cli.errors import InputError
from fouriertree.cli.fitting.options import LossName, ProjectorName, SearchName

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.expr import PrimitiveSet

PICTURES = (".png", ".pdf", ".svg")


def check_outputs(inputs: list[Path], output: Path | None, plot: Path | None) -> None:
    from fouriertree.cli.files import check_writable

    for path in (output, plot):
        if path is not None:
            check_writable(path, *inputs)
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError(f"cannot draw {plot}: the name of a picture ends in {', '.join(PICTURES)}")
    if output is not None and plot is not None and output.resolve() == plot.resolve():
        raise InputError(f"{plot} cannot be both the model and the picture; give one of them another name")


def check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise InputError("--jobs must be a number of threads, or -1 for one per processor; got 0")
    return jobs


def check_search(
    search: SearchName, projector: ProjectorName | None, max_terms: int | None, max_size: int | None, guess: list[str]
) -> None:  # fmt: skip
    """Options that the search has no use for are refused, not forgotten."""
    one_tree = search in (SearchName.one_plus_lambda, SearchName.gp)
    if one_tree and (projector is not None or max_terms is not None):
        raise InputError(
            f"--projector and --max-terms are about sums of trees; --search {search} finds one tree"
        )
    if search is not SearchName.ftg and projector is not None:
        raise InputError(f"--projector is about ftg; give --search ftg with it, not {search}")
    if search is not SearchName.hybrid and (max_size is not None or guess):
        raise InputError(
            f"--max-size and --guess are about the hybrid search; --search {search} has no use for them"
        )


def check_loss(loss: LossName, quantile: float | None) -> None:
    if quantile is not None and loss is not LossName.quantile:
        raise InputError(f"--quantile is about --loss quantile; give that with it, not {loss}")


def check_guesses(guesses: list[str], X: pd.DataFrame, operators: PrimitiveSet | None) -> None:
    if not guesses:
        return
    from fouriertree.expr import ParseError, PrimitiveSet
    from fouriertree.fit.guesses import parse_guesses

    for guess in guesses:
        try:
            parse_guesses([guess], list(X.columns), operators or PrimitiveSet.default())
        except ParseError as error:
            raise InputError(f"--guess {guess!r} is no formula: {error.reason}") from None
