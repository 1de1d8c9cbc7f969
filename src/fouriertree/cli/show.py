"""The table of formulas on a terminal and in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fouriertree.cli.output import printing

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.estimator import SymbolicRegressor

LONGEST = 300
SHORTENED = "Long formulas are shortened in this table; a model file (-o) keeps them whole."
ONLY_THE_MEAN = "no formula describes the data more briefly than its mean"


def show(regressor: SymbolicRegressor, target: str) -> None:
    """The table of formulas: a Rich table for a terminal, plain text without line breaks for a pipe."""
    from fouriertree.front import table_text

    equations = regressor.equations_
    with printing():
        # Not what Rich takes for a terminal: FORCE_COLOR must not cut formulas in a pipe.
        if sys.stdout.isatty():
            show_rich_table(equations, regressor.best_index_, target)
        else:
            print(table_text(equations, regressor.best_index_))
        print(f"\n{target} = {regressor.get_best()['equation']}")
        if only_the_mean(regressor):
            print(ONLY_THE_MEAN)
        print(f"stopped: {regressor.stop_reason_}; {spent(regressor)}; seed {regressor.seed_}")


def spent(regressor: SymbolicRegressor) -> str:
    """What the search cost, in the units of its limits."""
    return f"{regressor.traverses_:,} traverses; {regressor.evaluations_:,} evaluations"


def only_the_mean(regressor: SymbolicRegressor) -> bool:
    """Whether a constant was chosen although it is not exact and there was time to look for more."""
    constant = not any(expression.columns for expression in regressor.model_.expressions)
    looked = regressor.stop_reason_ != "interrupted" or len(regressor.equations_) > 1
    return constant and looked and bool(regressor.get_best()["r2"] < 1.0)


def show_rich_table(equations: pd.DataFrame, chosen: int, target: str) -> None:
    from rich.console import Console

    short = equations.assign(equation=[shortened(text) for text in equations["equation"]])
    Console().print(rich_table(short, chosen, target))
    if not short.equals(equations):
        print(SHORTENED)


def rich_table(equations: pd.DataFrame, chosen: int, target: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fouriertree.front import HEADINGS, table_cells

    table = Table(title=Text(f"formulas for {target}"), box=SIMPLE_HEAD)
    for heading in HEADINGS[:-1]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(HEADINGS[-1], overflow="fold")
    for i, cells in enumerate(table_cells(equations, chosen)):
        # Text and not markup: a column may be called [bold].
        table.add_row(*map(Text, cells), style="bold" if i == chosen else None)
    return table


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, cut in the middle where it is too long.

    >>> shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
