"""The table of formulas on a terminal and in a pipe."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from fouriertree.cli.output import printing
from fouriertree.io.terminal import printable

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.cli.fitting.holdout import HoldoutScores
    from fouriertree.estimators.regressor import SymbolicRegressor

LONGEST = 300
SHORTENED = "Long formulas are shortened in this table; a model file (-o) keeps them whole."
#: headings of scores on rows that the fit never saw
UNSEEN = ("unseen R²", "unseen RMSE")
ONLY_THE_MEAN = "no formula describes the data more briefly than a constant"


def show(regressor: SymbolicRegressor, target: str, judgement: HoldoutScores | None = None) -> None:
    """The table of formulas: a Rich table for a terminal, plain text without line breaks for a pipe."""
    from fouriertree.selection.table import aligned

    with printing():
        # Not what Rich takes for a terminal: FORCE_COLOR must not cut formulas in a pipe.
        if sys.stdout.isatty():
            show_rich_table(regressor.equations_, regressor.best_index_, target, judgement)
        else:
            print(aligned(lines(regressor.equations_, regressor.best_index_, judgement)))
        print(f"\n{printable(target)} = {printable(regressor.get_best()['equation'])}")
        if only_the_mean(regressor):
            print(ONLY_THE_MEAN)
        if judgement is not None:
            print(verdict(judgement, regressor.best_index_))
        print(f"stopped: {regressor.stop_reason_}; {spent(regressor)}; seed {regressor.seed_}")


def lines(equations: pd.DataFrame, chosen: int, judgement: HoldoutScores | None) -> list[tuple[str, ...]]:
    """The table as text, its headings first; scores on rows that the fit never saw stand before the formulas."""
    from fouriertree.selection.table import HEADINGS, table_cells

    cells = [HEADINGS, *table_cells(equations, chosen)]
    if judgement is None:
        return cells
    scores = [UNSEEN, *((number(score.r2, ".6f"), number(score.rmse, ".3g")) for score in judgement.scores)]
    return [(*line[:-1], *more, line[-1]) for line, more in zip(cells, scores, strict=True)]


def verdict(judgement: HoldoutScores, chosen: int) -> str:
    score = judgement.scores[chosen]
    return (
        f"unseen: R² {number(score.r2, '.6f')}, RMSE {number(score.rmse, '.3g')} on {judgement.n_rows:,} rows that the "
        "fit never saw"
    )


def number(value: float, form: str) -> str:
    return f"{value + 0.0:{form}}" if math.isfinite(value) else "–"


def spent(regressor: SymbolicRegressor) -> str:
    """What the search cost, in the units of its limits."""
    return f"{regressor.traverses_:,} traverses; {regressor.evaluations_:,} evaluations"


def only_the_mean(regressor: SymbolicRegressor) -> bool:
    """Whether a constant was chosen although it is not exact and there was time to look for more."""
    constant = not any(expression.columns for expression in regressor.model_.expressions)
    looked = regressor.stop_reason_ != "interrupted" or len(regressor.equations_) > 1
    return constant and looked and bool(regressor.get_best()["r2"] < 1.0)


def show_rich_table(
    equations: pd.DataFrame, chosen: int, target: str, judgement: HoldoutScores | None = None
) -> None:
    from rich.console import Console

    short = equations.assign(equation=[shortened(text) for text in equations["equation"]])
    Console().print(rich_table(lines(short, chosen, judgement), chosen, target))
    if not short.equals(equations):
        print(SHORTENED)


def rich_table(cells: list[tuple[str, ...]], chosen: int, target: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"formulas for {printable(target)}"), box=SIMPLE_HEAD)
    headings, *rows = cells
    for heading in headings[:-1]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(headings[-1], overflow="fold")
    for i, row in enumerate(rows):
        # Text and not markup: a column may be called [bold].
        table.add_row(*map(Text, row), style="bold" if i == chosen else None)
    return table


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, cut in the middle where it is too long.

    >>> shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
