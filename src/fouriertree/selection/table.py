"""The table of formulas: from the sums that a search found to rows, the chosen one, and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.description_length import description_length
from fouriertree.criteria.poles import POLE_LOSS_RATIO, may_have_pole
from fouriertree.criteria.rows import Rows, exact_loss, mean_square
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.io.terminal import printable
from fouriertree.model import Model, sum_of_terms
from fouriertree.projection.refit import refit_constants
from fouriertree.selection.snapping import ROWS as SNAPPING_ROWS
from fouriertree.selection.snapping import snapped
from fouriertree.space import EmpiricalSpace

#: a residual this small, relative to y, is the rounding of the arithmetic; so is a term of this size
ROUNDING = 1e-12
#: nats that short numbers may cost altogether
SNAPPING_NATS = 5.0
#: rounds of reweighting for losses that are not squares, and the gain below which log-odds need no more of them
REWEIGHTING_STEPS, REWEIGHTING_TOLERANCE = 12, 1e-7
#: rows that are searched for poles
POLE_ROWS = 20_000
DIGITS = 6
HEADINGS = ("", "row", "terms", "complexity", "loss", "validation", "R²", "equation")
CHOSEN = ">>>"


def significant_terms(
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
class Equation:
    """A formula, refitted to all rows, and what its table says of it."""

    model: Model
    complexity: int
    loss: float  #: on the rows that the search saw, before the others were used
    validation_loss: float
    final_loss: float  #: after it was fitted to all rows
    r2: float
    may_have_pole: bool  #: it has a pole among the rows, or near them
    errors: NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(0)
    )  #: on rows that it was not fitted to
    worse_than_linear: bool = False  #: the line through all columns is expected to predict better
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


def finalize(
    terms: Candidate, rows: Rows, primitives: PrimitiveSet, complexity: Complexity, names: tuple[str, ...] | None,
    out_of_time: Callable[[], bool] = never, snap: bool = True,
) -> Equation | None:  # fmt: skip
    """A sum as one would write it, with the numbers that fit all rows best; None if it is not finite everywhere.

    In a out_of_time, numbers stay as the search left them; only where it is worth it to `snap` them are they short.
    """
    space = rows.space
    kept, best = significant_terms(space, np.array(terms[0]), list(terms[1]))
    if rows.loss.logistic:
        # A factor of one is not written down, and would not be fitted.
        best = np.where(np.abs(best) == 1.0, (1.0 + 1e-9) * best, best)
    whole = canonical(sum_of_terms(best.tolist(), [terms[1][i] for i in kept]), primitives, rows.positive)
    if rows.loss.logistic:
        # A search fits squares; before rows held back may judge a formula, its log-odds are fitted to the others.
        whole = refitted(whole, rows.part(rows.seen), out_of_time, snap)
    before = space.values([whole])[0]
    if not np.isfinite(before).all():
        return None
    final = (
        whole
        if out_of_time()
        else canonical(refitted(whole, rows, out_of_time, snap), primitives, rows.positive)
    )
    if final.size != whole.size and not out_of_time():
        # Short numbers made another form possible, whose numbers have not been tried.
        final = canonical(refitted(final, rows, out_of_time, snap), primitives, rows.positive)
    after = space.values([final])[0]
    # Where the numbers of the final form are worse, by rounding or by a fit that went astray, the first ones stay.
    shorter = float(np.exp(2.0 * SNAPPING_NATS / min(len(space.y), SNAPPING_ROWS)))
    tolerance = shorter if rows.loss.squared else 1.5
    exact = exact_loss(space)
    if not rows.cost(after) <= max(tolerance * rows.cost(before), exact):
        final, after = whole, before
    model = Model.from_expression(final, names)
    loss = rows.cost(after)
    r2 = 1.0 if loss <= exact else rows.explained(after)
    validation = rows.cost(before, ~rows.seen)
    away = may_have_pole(final, space.X[:: 1 + len(space.X) // POLE_ROWS])
    errors = np.zeros(0) if rows.loss.logistic else (space.y - before)[~rows.seen]
    return Equation(
        model, complexity(final), rows.cost(before, rows.seen), validation, loss, r2, away, errors
    )


def refitted(
    whole: Expression, rows: Rows, out_of_time: Callable[[], bool] = never, snap: bool = True
) -> Expression:
    """The formula with its numbers fitted to all rows, and short ones where they do as well."""
    space = rows.space
    if rows.loss.squared and not snap:
        return refit_constants(whole, space.X, space.y, space.weights)
    if rows.loss.squared:
        return snapped(whole, space.X, space.y, space.weights, out_of_time)
    best, least = whole, np.inf
    for _ in range(REWEIGHTING_STEPS):
        if out_of_time():
            break
        with np.errstate(all="ignore"):
            predicted = whole.evaluate(space.X)
            if rows.loss.logistic:
                # Newton's steps may go too far; where they do, the best place on the way stays.
                if not (cost := rows.cost(predicted)) < least * (1.0 - REWEIGHTING_TOLERANCE):
                    break
                best, least = whole, cost
            target, weights = rows.loss.working(space.y, predicted)
        whole = refit_constants(whole, space.X, target, space.weights * weights)
    return best if rows.loss.logistic else whole


def pareto_table(
    found: Sequence[Equation], rows: Rows, everything: Rows, lines: Sequence[Equation] = ()
) -> tuple[list[Equation], pd.DataFrame]:
    """The front of formulas that were made with `rows`, with their losses on `everything`.

    Of the lines, there is the best if its description is the shortest of all.  Where the shortest is below a line, the
    best line that is not is there, and is preferred.
    """
    kept = pareto(found, rows)
    if everything is not rows:
        kept, lines = pareto(evaluated_on(everything, kept), everything), evaluated_on(everything, lines)
    exact = exact_loss(everything.space)

    def description(row: Equation) -> float:
        return description_length(row.model, row.complexity, row.final_loss, everything, exact)

    if lines and kept:
        best = min(kept, key=description)
        as_good = [line for line in lines if not line.worse_than_linear] if best.worse_than_linear else []
        line = min(as_good or lines, key=description)
        doubtful = line.validation_loss > validation_tolerance(rows) * best.validation_loss
        if (as_good or description(line) < description(best)) and not doubtful:
            kept = with_row(kept, replace(line, preferred=bool(as_good)))
    cells = [row.cells(description(row)) for row in kept]
    return kept, pd.DataFrame(cells, columns=list(COLUMNS))


def with_row(kept: Sequence[Equation], row: Equation) -> list[Equation]:
    """With one more row, instead of the one of its complexity and of longer ones that are no better.

    A simpler one may have a smaller loss: of the few that can be made of columns a line needs less tolerance to fit.
    """
    before = [other for other in kept if other.complexity < row.complexity]
    after = [
        other for other in kept if other.complexity > row.complexity and other.final_loss < row.final_loss
    ]
    return [*before, row, *after]


def evaluated_on(rows: Rows, found: Sequence[Equation]) -> list[Equation]:
    """The same formulas with their losses on more rows, without those that are not finite on all of them."""
    predicted = rows.space.values([row.model.expression for row in found])
    return [
        replace(row, final_loss=rows.cost(values), r2=rows.explained(values))
        for row, values in zip(found, predicted, strict=True)
        if np.isfinite(values).all()
    ]


def pareto(found: Sequence[Equation], rows: Rows) -> list[Equation]:
    """One row per complexity, without those that a simpler one beats on the rows that were held back."""
    exact, tolerance = exact_loss(rows.space), validation_tolerance(rows)
    kept: list[Equation] = []
    for row in sorted(found, key=lambda row: (row.complexity, row.final_loss)):
        if not kept or _better(row, kept[-1], exact, tolerance):
            kept.append(row)
    return kept


def validation_tolerance(rows: Rows) -> float:
    """What the losses of two formulas on the rows that were held back may differ by, as a factor."""
    return float(1.0 + 2.0 / np.sqrt(max(1, int(np.count_nonzero(~rows.seen)))))


def _better(row: Equation, simpler: Equation, exact: float, tolerance: float) -> bool:
    """More accurate on all rows, and no worse on those held back than chance explains."""
    if (
        row.complexity == simpler.complexity
        or not row.final_loss < simpler.final_loss
        or simpler.final_loss <= exact
    ):
        return False
    if row.may_have_pole:
        # Beside a pole, one row that was fitted proves nothing; rows that were not can.
        return row.final_loss <= exact or row.validation_loss <= POLE_LOSS_RATIO * simpler.validation_loss
    return not row.validation_loss > tolerance * simpler.validation_loss


def choose(
    equations: pd.DataFrame, n_rows: int, selection: str = "mdl", preferred: Sequence[bool] = ()
) -> int:
    """The number of the chosen row.

    mdl: the one that is preferred, or else the shortest description.  accuracy: the smallest
    validation loss (or loss, where no rows were held back).  best: of the rows with less than 1.5 times the smallest
    loss, the one with the steepest fall of the logarithm of the loss per unit of complexity.  Equations with more
    terms, or more fitted numbers, than the rows of data allow are not looked at, since they interpolate; an exact one
    may have more terms, but not more numbers.
    """
    exact = equations["r2"].to_numpy() == 1.0
    eligible = exact | (equations["n_terms"].to_numpy() <= max_terms_for(n_rows))
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


def max_terms_for(n_rows: int) -> int:
    """Candidate that so many rows can tell from noise, generously: one for three rows, and two at least."""
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
            printable(row.equation),
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
