"""The table of formulas: from the sums that a search found to rows, the chosen one, and text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from fouriertree.engine import Engine
from fouriertree.expr import Expression
from fouriertree.model import Model
from fouriertree.space import EmpiricalSpace

#: a residual this small, relative to y, is the rounding of the arithmetic; so is a term of this size
ROUNDING = 1e-12
#: what one unit of complexity costs, in nats, when a row is chosen
NATS_PER_UNIT = 2.0
DIGITS = 6
HEADINGS = ("", "row", "terms", "complexity", "loss", "R²", "equation")
CHOSEN = ">>>"


def without_rounding(
    space: EmpiricalSpace,
    coefficients: Sequence[float],
    expressions: Sequence[Expression],
    names: tuple[str, ...] | None,
    engine: Engine,
) -> Model:
    """The sum without the terms that are zero but for rounding; one term always stays."""
    sizes = np.abs(engine.evaluate(list(expressions), space.X)).max(axis=1) * np.abs(coefficients)
    kept = np.flatnonzero(sizes > ROUNDING * np.abs(space.y).max()).tolist() or [0]
    return Model(tuple(coefficients[i] for i in kept), tuple(expressions[i] for i in kept), names)


def describe(model: Model, space: EmpiricalSpace, engine: Engine) -> tuple[int, int, float, float, str]:
    """A row of `equations_`."""
    predicted = model.predict(space.X, engine)
    loss = mean_square(space, space.y - predicted)
    # A constant y leaves R² as the ratio of two roundings.
    exact = loss <= ROUNDING**2 * mean_square(space, space.y)
    r2 = 1.0 if exact else r2_score(space.y, predicted, sample_weight=space.weights)
    return model.n_terms, model.complexity, loss, float(r2), model.text(DIGITS)


def mean_square(space: EmpiricalSpace, errors: NDArray[np.float64]) -> float:
    return float(np.average(errors**2, weights=space.weights))


def choose(equations: pd.DataFrame, n_rows: int, square_of_y: float) -> int:
    """The row with the shortest description: of its errors, of its coefficients, and of its trees.

    ½·n·log(loss) + ½·log(n)·terms + 2·complexity, in nats; losses below the rounding of y are equal.
    """
    losses = np.maximum(equations["loss"].to_numpy(), ROUNDING**2 * square_of_y)
    with np.errstate(divide="ignore"):
        errors = 0.5 * n_rows * np.log(losses)
    coefficients = 0.5 * np.log(n_rows) * equations["n_terms"].to_numpy()
    return int(np.argmin(errors + coefficients + NATS_PER_UNIT * equations["complexity"].to_numpy()))


def table_cells(equations: pd.DataFrame, chosen: int) -> list[tuple[str, ...]]:
    """The table of formulas as text: (rows, columns), the chosen row marked."""
    return [
        (
            CHOSEN if i == chosen else "",
            str(i),
            str(row.n_terms),
            str(row.complexity),
            f"{row.loss:.3g}",
            f"{row.r2:.6f}",
            row.equation,
        )
        for i, row in enumerate(equations.itertuples())
    ]


def table_text(equations: pd.DataFrame, chosen: int) -> str:
    """The table of formulas in aligned columns; formulas come last and are never cut."""
    cells = [HEADINGS, *table_cells(equations, chosen)]
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
    lines = []
    for *left, equation in cells:
        aligned = [text.rjust(width) for text, width in zip(left, widths, strict=True)]
        lines.append("  ".join([*aligned, equation]))
    return "\n".join(lines)
