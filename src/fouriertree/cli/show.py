"""The table of equations on a terminal and in a pipe."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from fouriertree.cli.output import printing
from fouriertree.errors import counted
from fouriertree.io.terminal import printable

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.cli.fitting.columns import HoldoutScores
    from fouriertree.estimators.regressor import SymbolicRegressor

LONGEST = 300
#: columns of a terminal below which equations come on lines of their own, and the indent of these
NARROWEST, INDENT = 40, 10
SHORTENED = "Long equations are shortened in this table; a model file (-o) keeps them whole."
#: headings of the scores on the hold-out set
HOLDOUT = ("hold-out R²", "hold-out RMSE")
ONLY_THE_MEAN = "no equation has a smaller description length than a constant"
NOT_SEARCHED = "the search had no time: no equation was evaluated"


def show(regressor: SymbolicRegressor, target: str, holdout: HoldoutScores | None = None) -> None:
    """The table of equations: wrapped for a terminal, without line breaks for a pipe."""
    from fouriertree.selection.table import aligned

    with printing():
        # Not what Rich takes for a terminal: FORCE_COLOR must not shorten equations in a pipe.
        if sys.stdout.isatty():
            show_on_terminal(regressor.equations_, regressor.best_index_, holdout)
        else:
            print(aligned(lines(regressor.equations_, regressor.best_index_, holdout)))
        print(f"\n{printable(target)} = {printable(regressor.get_best()['equation'])}")
        if only_the_mean(regressor):
            print(ONLY_THE_MEAN if regressor.evaluations_ else NOT_SEARCHED)
        if holdout is not None:
            print(holdout_summary(holdout, regressor.best_index_))
        spent = (
            f"{counted(regressor.traverses_, 'traverse')}; {counted(regressor.evaluations_, 'evaluation')}"
        )
        print(f"stopped: {regressor.stop_reason_}; {spent}; seed {regressor.seed_}")


def lines(equations: pd.DataFrame, chosen: int, holdout: HoldoutScores | None) -> list[tuple[str, ...]]:
    """The table as text, its headings first; scores on the hold-out set come before the equations."""
    from fouriertree.selection.table import HEADINGS, table_cells

    cells = [HEADINGS, *table_cells(equations, chosen)]
    if holdout is None:
        return cells
    scores = [HOLDOUT, *((number(score.r2, ".6f"), number(score.rmse, ".3g")) for score in holdout.scores)]
    return [(*line[:-1], *more, line[-1]) for line, more in zip(cells, scores, strict=True)]


def holdout_summary(holdout: HoldoutScores, chosen: int) -> str:
    score, rows = holdout.scores[chosen], counted(holdout.n_rows, "row")
    return f"hold-out set: R² {number(score.r2, '.6f')}, RMSE {number(score.rmse, '.3g')} on {rows}"


def number(value: float, form: str) -> str:
    return f"{value + 0.0:{form}}" if math.isfinite(value) else "–"


def only_the_mean(regressor: SymbolicRegressor) -> bool:
    """Whether a constant was chosen although it is not exact and the search was not interrupted."""
    constant = not any(expression.columns for expression in regressor.model_.expressions)
    looked = regressor.stop_reason_ != "interrupted" or len(regressor.equations_) > 1
    return constant and looked and bool(regressor.get_best()["r2"] < 1.0)


def show_on_terminal(equations: pd.DataFrame, chosen: int, holdout: HoldoutScores | None = None) -> None:
    """The table with equations in the last column, or below their rows where that column would be narrow."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from fouriertree.selection.table import aligned

    short = equations.assign(equation=[shortened(text) for text in equations["equation"]])
    headings, *rows = lines(short, chosen, holdout)
    # Headings of two words take two lines: with a hold-out set, the numbers alone fill 80 columns.
    head = [line for line in zip(*(text.rpartition(" ")[::2] for text in headings), strict=True) if any(line)]
    numbers = aligned([(*line[:-1], "") for line in [*head, *rows]]).split("\n")
    console = Console()
    wide = console.width - len(numbers[0]) >= min(NARROWEST, max(len(row[-1]) for row in rows))
    table = Table.grid()
    table.add_column(no_wrap=wide)
    for i, (left, line) in enumerate(zip(numbers, [*head, *rows], strict=True), -len(head)):
        # Text and not markup: a column may be called [bold].
        texts = [Text(part, "bold" if i == chosen else "", overflow="fold") for part in (left, line[-1])]
        if wide:
            table.add_row(*texts)
            continue
        table.add_row(texts[0])
        if i >= 0:
            table.add_row(Padding(texts[1], (0, 0, 0, INDENT)))
    console.print(table)
    if not short.equals(equations):
        print(SHORTENED)


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, cut in the middle where it is too long.

    >>> shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
