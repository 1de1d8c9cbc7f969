"""The table of equations on a terminal and in a pipe."""

from __future__ import annotations

import math
import sys
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from fouriertree.cli.output import printing
from fouriertree.errors import counted
from fouriertree.io.terminal import printable

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.cli.fitting.columns import HoldoutScores
    from fouriertree.estimators.regressor import SymbolicRegressor

#: of equations on lines of their own
INDENT = " " * 10
#: headings of the scores on the hold-out set
HOLDOUT = ("hold-out R²", "hold-out RMSE")
ONLY_THE_MEAN = "no equation has a smaller description length than a constant"
NOT_SEARCHED = "the search had no time: no equation was evaluated"


def show(regressor: SymbolicRegressor, target: str, holdout: HoldoutScores | None = None) -> None:
    """The table of equations: wrapped for a terminal, without line breaks for a pipe."""
    from fouriertree.fit.target import judged_note
    from fouriertree.selection.table import aligned

    with printing():
        # Not what Rich takes for a terminal: FORCE_COLOR must not break lines in a pipe.
        cells = lines(regressor.equations_, regressor.best_index_, holdout)
        if sys.stdout.isatty():
            show_on_terminal(cells, regressor.best_index_)
        else:
            print(aligned(cells))
        print(f"\n{printable(target)} = {printable(regressor.get_best()['equation'])}")
        if only_the_mean(regressor):
            print(ONLY_THE_MEAN if regressor.evaluations_ else NOT_SEARCHED)
        if (judged := judged_note(regressor._measure, target)) is not None:
            print(printable(judged))
        if holdout is not None:
            score, rows = holdout.scores[regressor.best_index_], counted(holdout.n_rows, "row")
            print(f"hold-out set: R² {number(score.r2, '.6f')}, RMSE {number(score.rmse, '.3g')} on {rows}")
        spent = counted(regressor.traverses_, "traverse"), counted(regressor.evaluations_, "evaluation")
        print(f"stopped: {regressor.stop_reason_}; {'; '.join(spent)}; seed {regressor.seed_}")


def lines(equations: pd.DataFrame, chosen: int, holdout: HoldoutScores | None) -> list[tuple[str, ...]]:
    """The table as text, its headings first; scores on the hold-out set come before the equations."""
    from fouriertree.selection.table import HEADINGS, table_cells

    cells = [HEADINGS, *table_cells(equations, chosen)]
    if holdout is None:
        return cells
    scores = [HOLDOUT, *((number(score.r2, ".6f"), number(score.rmse, ".3g")) for score in holdout.scores)]
    return [(*line[:-1], *more, line[-1]) for line, more in zip(cells, scores, strict=True)]


def number(value: float, form: str) -> str:
    return f"{value + 0.0:{form}}" if math.isfinite(value) else "–"


def only_the_mean(regressor: SymbolicRegressor) -> bool:
    """Whether a constant was chosen although it is not exact and the search was not interrupted."""
    constant = not regressor.model_.expression.columns
    looked = regressor.stop_reason_ != "interrupted" or len(regressor.equations_) > 1
    return constant and looked and bool(regressor.get_best()["r2"] < 1.0)


def show_on_terminal(cells: list[tuple[str, ...]], chosen: int) -> None:
    """The table; where a line of it is too long for the terminal, equations are on lines of their own."""
    from rich.console import Console
    from rich.text import Text

    from fouriertree.selection.table import aligned

    console, (headings, *rows) = Console(), cells
    printed = aligned(cells).split("\n")
    if max(map(len, printed)) > console.width:
        # Headings of two words take two lines: with a hold-out set, the numbers alone fill 80 columns.
        head = [line for line in zip(*(h.rpartition(" ")[::2] for h in headings), strict=True) if any(line)]
        printed = aligned([(*line[:-1], "") for line in [*head, *rows]]).split("\n")
        wrap = TextWrapper(console.width, INDENT, INDENT, break_on_hyphens=False).fill
        for i, row in enumerate(rows, len(head)):
            printed[i] += "\n" + wrap(row[-1])
    for i, text in enumerate(printed, len(rows) - len(printed)):
        # Text and not markup: a column may be called [bold].
        console.print(Text(text, "bold" if i == chosen else "", overflow="fold"))


def shortened(text: str, longest: int) -> str:
    """The text, cut in the middle where it is too long.

    >>> shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
