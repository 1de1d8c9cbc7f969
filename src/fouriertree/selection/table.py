"""The table of equations: the Pareto front of finalized candidates, and the chosen row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.criteria.archive import pareto_front
from fouriertree.criteria.losses import Objective
from fouriertree.criteria.poles import POLE_LOSS_RATIO
from fouriertree.io.terminal import printable
from fouriertree.selection.finalize import Equation
from fouriertree.tolerances import ROUNDING

Floats = NDArray[np.float64]

DIGITS = 6
HEADINGS = ("", "row", "terms", "complexity", "loss", "validation", "R²", "equation")
CHOSEN = ">>>"
#: the column with the guesses of the user, and the mark of their rows in print
GUESS = "guess"
COLUMNS = (
    "n_terms", "complexity", "loss", "training_loss", "validation_loss", "description_length", "r2", "equation",
)  # fmt: skip


@dataclass(frozen=True)
class EquationTable:
    """The Pareto front of equations, from the simplest to the most accurate, and the number of the chosen one."""

    equations: list[Equation]
    frame: pd.DataFrame
    chosen: int
    notes: tuple[str, ...] = ()  #: why guesses are not in the table


def make_table(
    equations: Sequence[Equation],
    fitted: Objective,
    overall: Objective,
    linear: Sequence[Equation] = (),
    textbook: Sequence[Equation] = (),
    selection: str = "mdl",
) -> EquationTable:
    """The Pareto front of equations that were fitted with one objective, with their losses by the `overall` one.

    Of the textbook shapes, of the Pareto front in generic units, and of the linear models, the one with the shortest
    description is added if that is the shortest of all.  Where the shortest one is worse than the full linear model,
    the best linear model that is not is added, and preferred.
    """
    kept, linear = front_of(equations, fitted), determined(linear)
    others = [*front_of(equations, fitted, form_complexity), *front_of(textbook, fitted)]
    if overall is not fitted:
        kept = front_of(evaluated_on(overall, kept), overall)
        linear, others = evaluated_on(overall, linear), evaluated_on(overall, others)

    def length(equation: Equation) -> float:
        return equation.description_length(overall)

    if kept:
        linear = [e for e in linear if not e.few_rows_decide or e.left_out_loss < kept[0].left_out_loss]
    if others and kept and length(shortest := min(others, key=length)) < min(map(length, kept)):
        kept = with_equation(kept, shortest)
    if linear and kept:
        best = min(kept, key=length)
        as_good = [model for model in linear if not model.worse_than_linear] if best.worse_than_linear else []
        model = min(as_good or linear, key=length)
        doubtful = model.validation_loss > validation_tolerance(fitted) * best.validation_loss
        if (as_good or length(model) < length(best)) and not doubtful:
            kept = with_equation(kept, replace(model, preferred=bool(as_good)))
    frame = pd.DataFrame([cells(e, length(e)) for e in kept], columns=list(COLUMNS))
    return EquationTable(kept, frame, choose(kept, frame, overall.data.n_rows, selection))


def cells(equation: Equation, length: float) -> tuple[object, ...]:
    """A row of `equations_`, in the order of COLUMNS."""
    model = equation.model
    return (
        model.n_terms, equation.complexity, equation.loss, equation.training_loss, equation.validation_loss, length,
        equation.r2, model.text(DIGITS),
    )  # fmt: skip


def with_equation(kept: Sequence[Equation], added: Equation) -> list[Equation]:
    """With one more equation, instead of the one of its complexity and of more complex ones that are no better.

    Simpler ones with a smaller loss stay: few features to choose from means that a linear model overfits less.
    """
    simpler = [e for e in kept if e.complexity < added.complexity]
    better = [e for e in kept if e.complexity > added.complexity and e.loss < added.loss]
    return [*simpler, added, *better]


def determined(equations: Sequence[Equation]) -> list[Equation]:
    """Those whose terms the rows determine."""
    return [equation for equation in equations if not equation.not_identifiable]


def evaluated_on(objective: Objective, equations: Sequence[Equation]) -> list[Equation]:
    """The same equations with their losses by another objective, without those that are not finite there."""
    predicted = objective.values([equation.model.expression for equation in equations])
    return [
        replace(equation, loss=objective.mean_loss(values), r2=objective.explained(values))
        for equation, values in zip(equations, predicted, strict=True)
        if np.isfinite(values).all()
    ]


def displayed_complexity(equation: Equation) -> int:
    return equation.complexity


def form_complexity(equation: Equation) -> int:
    return equation.form_complexity


def front_of(
    equations: Sequence[Equation],
    objective: Objective,
    size: Callable[[Equation], int] = displayed_complexity,
) -> list[Equation]:
    """The Pareto front, without equations that a simpler one beats significantly on the validation set.

    The expected loss on new rows has to be smaller, too, so that the front of few rows is short.  Equations that few
    rows decide have to be better for rows that are left out: a function that is large on one row fits any outlier.
    """
    exact, tolerance = objective.exact, validation_tolerance(objective)

    def improves(equation: Equation, simpler: Equation) -> bool:
        # Two forms of one function differ in rounding, which depends on the order of the rows.
        if not equation.loss < (1.0 - ROUNDING) * simpler.loss or simpler.loss <= exact:
            return False
        if not equation.expected_loss < simpler.expected_loss:
            return False
        if equation.few_rows_decide and not equation.left_out_loss < simpler.left_out_loss:
            return False
        if equation.periodic and not simpler.periodic and not predicts_better(equation, simpler):
            return False
        if equation.may_have_pole:
            # Beside a pole, one row that was fitted proves nothing; rows of the validation set can.
            return (
                equation.loss <= exact
                or equation.validation_loss <= POLE_LOSS_RATIO * simpler.validation_loss
            )
        return not equation.validation_loss > tolerance * simpler.validation_loss

    return pareto_front(determined(equations), size, lambda e: e.loss, improves)


def predicts_better(equation: Equation, other: Equation) -> bool:
    """Whether the validation loss is smaller by more than the standard error of the difference; True without one."""
    differences = np.square(other.validation_errors) - np.square(equation.validation_errors)
    m = len(differences)
    return m < 2 or bool(differences.mean() > differences.std(ddof=1) / np.sqrt(m))


def validation_tolerance(objective: Objective) -> float:
    """The ratio of two validation losses that is not significant: 1 + 2/√m for m rows."""
    return float(1.0 + 2.0 / np.sqrt(max(1, objective.data.n_validation)))


# As text --------------------------------------------------------------------------------------------------------
def table_cells(equations: pd.DataFrame, chosen: int) -> list[tuple[str, ...]]:
    """The table as text: (rows, columns), the chosen row and those of guesses marked."""
    lines: list[tuple[str, ...]] = []
    for i, row in enumerate(equations.itertuples()):
        validation = "" if np.isnan(row.validation_loss) else f"{row.validation_loss:.3g}"
        r2 = f"{round(row.r2, 6) + 0.0:.6f}"  # adding zero turns -0 into 0
        numbers = str(i), str(row.n_terms), str(row.complexity), f"{row.loss:.3g}", validation, r2
        guess = GUESS if getattr(row, GUESS, None) else ""
        mark = " ".join(filter(None, [guess, CHOSEN if i == chosen else ""]))
        lines.append((mark, *numbers, printable(row.equation)))
    return lines


def table_text(equations: pd.DataFrame, chosen: int) -> str:
    """The table in aligned columns."""
    return aligned([HEADINGS, *table_cells(equations, chosen)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text in columns; equations come last and are never cut."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    lines = []
    for *left, equation in rows:
        right = [text.rjust(width) for text, width in zip(left, widths, strict=True)]
        lines.append("  ".join([*right, equation]))
    return "\n".join(lines)


# Model selection ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class CriterionInput:
    """What a criterion compares: the equations of a table; arrays have the shape (n_equations,)."""

    table: pd.DataFrame
    loss: Floats  #: the validation loss, or the loss on all rows without a validation set
    n_parameters: NDArray[np.int64]
    eligible: NDArray[np.bool_]
    n_rows: int  #: of the data


#: to scores (n_equations,), of which the smallest is best
Criterion = Callable[[CriterionInput], Floats]

#: the criterion "best" looks at losses up to this ratio to the smallest one
NEAR_BEST = 1.5


def steepest_fall(given: CriterionInput) -> Floats:
    """The steepest fall of log(loss) per unit of complexity, among losses near the smallest one."""
    logs = np.log(np.maximum(given.loss, np.finfo(float).tiny))
    falls = np.diff(logs, prepend=logs[0]) / np.maximum(np.diff(given.table["complexity"], prepend=0), 1)
    return np.where(given.loss <= NEAR_BEST * given.loss[given.eligible].min(), falls, np.inf)


CRITERIA: dict[str, Criterion] = {
    "mdl": lambda given: given.table["description_length"].to_numpy(),
    "best": steepest_fall,
    "accuracy": lambda given: given.loss,
}


def choose(equations: Sequence[Equation], table: pd.DataFrame, n_rows: int, selection: str = "mdl") -> int:
    """The number of the chosen row by the criterion `selection`; with "mdl", a preferred equation takes precedence.

    The loss of a row is its validation loss, or its loss without a validation set.  Equations with more terms, or more
    fitted constants, than the rows allow are not eligible, since they interpolate; an exact one may have more terms,
    but not more constants.
    """
    exact = table["r2"].to_numpy() == 1.0
    eligible = exact | (table["n_terms"].to_numpy() <= max_terms_for(n_rows))
    eligible &= np.isfinite(table["description_length"].to_numpy())
    if not eligible.any():
        return 0
    loss = table["validation_loss"].to_numpy()
    if not np.isfinite(loss).all():
        loss = table["loss"].to_numpy()
    n_parameters = np.array([equation.n_parameters for equation in equations])
    scores = CRITERIA[selection](CriterionInput(table, loss, n_parameters, eligible, n_rows))
    if selection == "mdl":
        scores = np.where([equation.preferred for equation in equations], -np.inf, scores)
    return int(np.argmin(np.where(eligible, scores, np.inf)))


def max_terms_for(n_rows: int) -> int:
    """Terms that so many rows can distinguish from noise, generously: one for three rows, and two at least."""
    return max(2, n_rows // 3)
