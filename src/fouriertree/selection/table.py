"""The table of formulas: from the sums that a search found to rows, the chosen one, and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.criteria.archive import Terms
from fouriertree.criteria.description_length import description_length
from fouriertree.criteria.poles import WORTH_A_POLE, runs_away
from fouriertree.criteria.rows import Rows, exact_loss, mean_square
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.io.terminal import visible
from fouriertree.model import Model, sum_of_terms
from fouriertree.projection.refit import fitted_numbers
from fouriertree.selection.snapping import ROWS as SNAPPING_ROWS
from fouriertree.selection.snapping import snapped
from fouriertree.space import EmpiricalSpace

#: a residual this small, relative to y, is the rounding of the arithmetic; so is a term of this size
ROUNDING = 1e-12
#: nats that short numbers may cost altogether
SHORTER_NUMBERS = 5.0
#: rounds of reweighting for losses that are not squares, and the gain below which log-odds need no more of them
REWEIGHTED, SETTLED = 12, 1e-7
#: rows that are searched for poles
POLE_ROWS = 20_000
DIGITS = 6
HEADINGS = ("", "row", "terms", "complexity", "loss", "validation", "R²", "equation")
CHOSEN = ">>>"


def needed_terms(
    space: EmpiricalSpace, coefficients: NDArray[np.float64], expressions: list[Expression]
) -> tuple[list[int], NDArray[np.float64]]:
    """Which terms are more than rounding, and their coefficients; of an exact sum, as few terms as stay exact."""
    values = space.values(expressions)
    sizes = np.abs(values).max(axis=1) * np.abs(coefficients)
    kept = np.flatnonzero(sizes > ROUNDING * np.abs(space.y).max()).tolist() or [0]
    best = coefficients[kept]
    exact = exact_loss(space)
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
    """Best coefficients of the rows of `values` (k, n): (k,).  Columns of unit size, so that no unit matters."""
    roots = np.sqrt(space.weights)
    lengths = np.abs(values * roots).max(axis=1)
    lengths[lengths == 0.0] = 1.0
    design = (values * roots / lengths[:, None]).T
    found: NDArray[np.float64] = np.linalg.lstsq(design, roots * space.y, rcond=None)[0] / lengths
    return found


@dataclass(frozen=True)
class Row:
    """A formula, refitted to all rows, and what its table says of it."""

    model: Model
    complexity: int
    loss: float  #: on the rows that the search saw, before the others were used
    validation_loss: float
    final_loss: float  #: after it was fitted to all rows
    r2: float
    runs_away: bool  #: it has a pole among the rows, or near them
    errors: NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(0)
    )  #: on rows that it was not fitted to
    below_a_line: bool = False  #: the line through all columns is expected to predict better
    preferred: bool = False  #: it is chosen although another description is shorter, which is below a line

    def cells(self, description: float) -> tuple[object, ...]:
        model = self.model
        return (
            model.n_terms, self.complexity, self.final_loss, self.loss, self.validation_loss, description, self.r2,
            model.text(DIGITS),
        )  # fmt: skip


COLUMNS = (
    "n_terms", "complexity", "loss", "training_loss", "validation_loss", "description_length", "r2", "equation",
)  # fmt: skip


def never() -> bool:
    return False


def finished(
    terms: Terms, rows: Rows, primitives: PrimitiveSet, complexity: Complexity, names: tuple[str, ...] | None,
    hurry: Callable[[], bool] = never, shorten: bool = True,
) -> Row | None:  # fmt: skip
    """A sum as one would write it, with the numbers that fit all rows best; None if it is not finite everywhere.

    In a hurry, numbers stay as the search left them; only where it is worth it to `shorten` them are they short.
    """
    space = rows.space
    kept, best = needed_terms(space, np.array(terms[0]), list(terms[1]))
    if rows.loss.logistic:
        # A factor of one is not written down, and would not be fitted.
        best = np.where(np.abs(best) == 1.0, (1.0 + 1e-9) * best, best)
    whole = canonical(sum_of_terms(best.tolist(), [terms[1][i] for i in kept]), primitives, rows.positive)
    if rows.loss.logistic:
        # A search fits squares; before rows held back may judge a formula, its log-odds are fitted to the others.
        whole = refitted(whole, rows.part(rows.seen), hurry, shorten)
    before = space.values([whole])[0]
    if not np.isfinite(before).all():
        return None
    final = whole if hurry() else canonical(refitted(whole, rows, hurry, shorten), primitives, rows.positive)
    if final.size != whole.size and not hurry():
        # Short numbers made another form possible, whose numbers have not been tried.
        final = canonical(refitted(final, rows, hurry, shorten), primitives, rows.positive)
    after = space.values([final])[0]
    # Where the numbers of the final form are worse, by rounding or by a fit that went astray, the first ones stay.
    shorter = float(np.exp(2.0 * SHORTER_NUMBERS / min(len(space.y), SNAPPING_ROWS)))
    tolerance = shorter if rows.loss.squared else 1.5
    exact = exact_loss(space)
    if not rows.cost(after) <= max(tolerance * rows.cost(before), exact):
        final, after = whole, before
    model = Model.from_expression(final, names)
    loss = rows.cost(after)
    r2 = 1.0 if loss <= exact else rows.explained(after)
    validation = rows.cost(before, ~rows.seen)
    away = runs_away(final, space.X[:: 1 + len(space.X) // POLE_ROWS])
    errors = np.zeros(0) if rows.loss.logistic else (space.y - before)[~rows.seen]
    return Row(model, complexity(final), rows.cost(before, rows.seen), validation, loss, r2, away, errors)


def refitted(
    whole: Expression, rows: Rows, hurry: Callable[[], bool] = never, shorten: bool = True
) -> Expression:
    """The formula with its numbers fitted to all rows, and short ones where they do as well."""
    space = rows.space
    if rows.loss.squared and not shorten:
        return fitted_numbers(whole, space.X, space.y, space.weights)
    if rows.loss.squared:
        return snapped(whole, space.X, space.y, space.weights, hurry)
    best, least = whole, np.inf
    for _ in range(REWEIGHTED):
        if hurry():
            break
        with np.errstate(all="ignore"):
            predicted = whole.evaluate(space.X)
            if rows.loss.logistic:
                # Newton's steps may go too far; where they do, the best place on the way stays.
                if not (cost := rows.cost(predicted)) < least * (1.0 - SETTLED):
                    break
                best, least = whole, cost
            target, weights = rows.loss.working(space.y, predicted)
        whole = fitted_numbers(whole, space.X, target, space.weights * weights)
    return best if rows.loss.logistic else whole


def tabulated(
    found: Sequence[Row], rows: Rows, everything: Rows, lines: Sequence[Row] = ()
) -> tuple[list[Row], pd.DataFrame]:
    """The front of formulas that were made with `rows`, with their losses on `everything`.

    Of the lines, there is the best if its description is the shortest of all.  Where the shortest is below a line, the
    best line that is not is there, and is preferred.
    """
    kept = pareto(found, rows)
    if everything is not rows:
        kept, lines = pareto(judged_by(everything, kept), everything), judged_by(everything, lines)
    exact = exact_loss(everything.space)

    def description(row: Row) -> float:
        return description_length(row.model, row.complexity, row.final_loss, everything, exact)

    if lines and kept:
        best = min(kept, key=description)
        as_good = [line for line in lines if not line.below_a_line] if best.below_a_line else []
        line = min(as_good or lines, key=description)
        doubtful = line.validation_loss > chance(rows) * best.validation_loss
        if (as_good or description(line) < description(best)) and not doubtful:
            kept = with_row(kept, replace(line, preferred=bool(as_good)))
    cells = [row.cells(description(row)) for row in kept]
    return kept, pd.DataFrame(cells, columns=list(COLUMNS))


def with_row(kept: Sequence[Row], row: Row) -> list[Row]:
    """With one more row, instead of the one of its complexity and of longer ones that are no better.

    A simpler one may have a smaller loss: of the few that can be made of columns a line needs less luck to fit.
    """
    before = [other for other in kept if other.complexity < row.complexity]
    after = [
        other for other in kept if other.complexity > row.complexity and other.final_loss < row.final_loss
    ]
    return [*before, row, *after]


def judged_by(rows: Rows, found: Sequence[Row]) -> list[Row]:
    """The same formulas with their losses on more rows, without those that are not finite on all of them."""
    predicted = rows.space.values([row.model.expression for row in found])
    return [
        replace(row, final_loss=rows.cost(values), r2=rows.explained(values))
        for row, values in zip(found, predicted, strict=True)
        if np.isfinite(values).all()
    ]


def pareto(found: Sequence[Row], rows: Rows) -> list[Row]:
    """One row per complexity, without those that a simpler one beats on the rows that were held back."""
    exact, luck = exact_loss(rows.space), chance(rows)
    kept: list[Row] = []
    for row in sorted(found, key=lambda row: (row.complexity, row.final_loss)):
        if not kept or _better(row, kept[-1], exact, luck):
            kept.append(row)
    return kept


def chance(rows: Rows) -> float:
    """What the losses of two formulas on the rows that were held back may differ by, as a factor."""
    return float(1.0 + 2.0 / np.sqrt(max(1, int(np.count_nonzero(~rows.seen)))))


def _better(row: Row, simpler: Row, exact: float, luck: float) -> bool:
    """More accurate on all rows, and no worse on those held back than chance explains."""
    if (
        row.complexity == simpler.complexity
        or not row.final_loss < simpler.final_loss
        or simpler.final_loss <= exact
    ):
        return False
    if row.runs_away:
        # Beside a pole, one row that was fitted proves nothing; rows that were not can.
        return row.final_loss <= exact or row.validation_loss <= WORTH_A_POLE * simpler.validation_loss
    return not row.validation_loss > luck * simpler.validation_loss


def choose(
    equations: pd.DataFrame, n_rows: int, selection: str = "mdl", preferred: Sequence[bool] = ()
) -> int:
    """The number of the chosen row.

    mdl: the one that is preferred, or else the shortest description.  accuracy: the smallest
    validation loss (or loss, where no rows were held back).  best: of the rows with less than 1.5 times the smallest
    loss, the one with the steepest fall of the logarithm of the loss per unit of complexity.  Formulas with more terms,
    or more fitted numbers, than the rows of data allow are not looked at, since they interpolate; an exact one may have
    more terms, but not more numbers.
    """
    exact = equations["r2"].to_numpy() == 1.0
    eligible = exact | (equations["n_terms"].to_numpy() <= terms_for(n_rows))
    eligible &= np.isfinite(equations["description_length"].to_numpy())
    if not eligible.any():
        return 0
    loss = equations["validation_loss"].to_numpy()
    if not np.isfinite(loss).all():
        loss = equations["loss"].to_numpy()
    if selection == "mdl":
        costs = equations["description_length"].to_numpy()
        if any(preferred):
            costs = np.where(preferred, -np.inf, costs)
    elif selection == "accuracy":
        costs = loss
    else:
        logs = np.log(np.maximum(loss, np.finfo(float).tiny))
        falls = np.diff(logs, prepend=logs[0]) / np.maximum(np.diff(equations["complexity"], prepend=0), 1)
        near = loss <= 1.5 * loss[eligible].min()
        costs = np.where(near, falls, np.inf)
    return int(np.argmin(np.where(eligible, costs, np.inf)))


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
            "" if np.isnan(row.validation_loss) else f"{row.validation_loss:.3g}",
            f"{round(row.r2, 6) + 0.0:.6f}",  # adding zero turns -0 into 0
            visible(row.equation),
        )
        for i, row in enumerate(equations.itertuples())
    ]


def table_text(equations: pd.DataFrame, chosen: int) -> str:
    """The table of formulas in aligned columns."""
    return aligned([HEADINGS, *table_cells(equations, chosen)])


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Lines of text in columns; formulas come last and are never cut."""
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
    lines = []
    for *left, equation in cells:
        right = [text.rjust(width) for text, width in zip(left, widths, strict=True)]
        lines.append("  ".join([*right, equation]))
    return "\n".join(lines)
