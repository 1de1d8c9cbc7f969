"""The table of formulas: from the sums that a search found to rows, the chosen one, and text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from fouriertree.engine import Engine
from fouriertree.expr import Expression
from fouriertree.expr.simplify import split_factor, tidy
from fouriertree.model import Model
from fouriertree.space import EmpiricalSpace

#: a residual this small, relative to y, is the rounding of the arithmetic; so is a term of this size
ROUNDING = 1e-12
#: a sum is exact if its errors are this small, relative to y: an exact law loses some digits where terms cancel
EXACT = 1e-11
#: what one unit of complexity costs, in nats, when a row is chosen
NATS_PER_UNIT = 2.0
DIGITS = 6
HEADINGS = ("", "row", "terms", "complexity", "loss", "R²", "equation")
CHOSEN = ">>>"


def presentable(
    space: EmpiricalSpace,
    coefficients: Sequence[float],
    expressions: Sequence[Expression],
    names: tuple[str, ...] | None,
    engine: Engine,
) -> Model:
    """The sum as one would write it: no terms that are rounding, no scattered numbers, no term twice."""
    kept, best = needed_terms(space, np.array(coefficients), list(expressions), engine)
    terms: dict[Expression, float] = {}
    for coefficient, i in zip(best.tolist(), kept, strict=True):
        factor, rest = split_factor(tidy(expressions[i]))
        terms[rest] = terms.get(rest, 0.0) + coefficient * factor
    return Model(tuple(terms.values()), tuple(terms), names)


def needed_terms(
    space: EmpiricalSpace, coefficients: NDArray[np.float64], expressions: list[Expression], engine: Engine
) -> tuple[list[int], NDArray[np.float64]]:
    """Which terms are more than rounding, and their coefficients; of an exact sum, as few terms as stay exact."""
    values = engine.evaluate(expressions, space.X).astype(np.float64)
    sizes = np.abs(values).max(axis=1) * np.abs(coefficients)
    kept = np.flatnonzero(sizes > ROUNDING * np.abs(space.y).max()).tolist() or [0]
    best = coefficients[kept]
    exact = EXACT**2 * mean_square(space, space.y)
    if mean_square(space, space.y - best @ values[kept]) > exact:
        return kept, best
    for i in sorted(kept, key=lambda i: -expressions[i].size):
        fewer = [j for j in kept if j != i]
        if fewer:
            refitted = least_squares(space, values[fewer])
            if mean_square(space, space.y - refitted @ values[fewer]) <= exact:
                kept, best = fewer, refitted
    return kept, best


def least_squares(space: EmpiricalSpace, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Best coefficients of the rows of `values` (k, n): (k,).  Columns of unit length, so that no unit matters."""
    roots = np.sqrt(space.weights)
    lengths = np.linalg.norm(values * roots, axis=1)
    lengths[lengths == 0.0] = 1.0
    design = (values * roots / lengths[:, None]).T
    found: NDArray[np.float64] = np.linalg.lstsq(design, roots * space.y, rcond=None)[0] / lengths
    return found


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

    ½·n·log(loss) + ½·log(n)·terms + 2·complexity, in nats; losses below the rounding of y are equal.  Rows with more
    terms than the rows of data allow are not looked at: they interpolate.
    """
    losses = np.maximum(equations["loss"].to_numpy(), EXACT**2 * square_of_y)
    with np.errstate(divide="ignore"):
        errors = 0.5 * n_rows * np.log(losses)
    coefficients = 0.5 * np.log(n_rows) * equations["n_terms"].to_numpy()
    costs = errors + coefficients + NATS_PER_UNIT * equations["complexity"].to_numpy()
    eligible = equations["n_terms"].to_numpy() <= terms_for(n_rows)
    return int(np.argmin(np.where(eligible, costs, np.inf))) if eligible.any() else 0


def terms_for(n_rows: int) -> int:
    """Terms that so many rows can tell from noise, generously: one for three rows, and two at least."""
    return max(2, n_rows // 3)


def table_cells(equations: pd.DataFrame, chosen: int) -> list[tuple[str, ...]]:
    """The table of formulas as text: (rows, columns), the chosen row marked."""
    return [
        (
            CHOSEN if i == chosen else "",
            str(i),
            str(row.n_terms),
            str(row.complexity),
            f"{row.loss:.3g}",
            f"{round(row.r2, 6) + 0.0:.6f}",  # adding zero turns -0 into 0
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
