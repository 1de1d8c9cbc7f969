"""The rows of guesses in the table of equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fouriertree.criteria.code_lengths import description_length
from fouriertree.criteria.losses import Objective
from fouriertree.expr import Expression
from fouriertree.expr.canonical import canonical
from fouriertree.selection.finalize import Equation
from fouriertree.selection.guesses.fits import NOT_FINITE
from fouriertree.selection.table import COLUMNS, GUESS, EquationTable, cells, evaluated_on

#: mean square of the differences of two predictions, relative to that of their errors, below which they are equal
SAME_FUNCTION = 1e-7


@dataclass(frozen=True, eq=False)
class GuessRow:
    """What becomes of a guess: an equation for the table, or the reason why there is none."""

    text: str
    equation: Equation | None
    reason: str = ""

    def note(self, reason: str = "") -> str:
        return f"guess {self.text!r} is not in the table: {reason or self.reason}"


def competing(rows: Sequence[GuessRow], equations: Sequence[Equation]) -> list[Equation]:
    """The guesses that may join the Pareto front: those of which no finalized candidate has the same form.

    The constants of such a candidate were snapped, and its description is shorter.
    """
    forms = [(_form(e.model.expression), len(e.model.expression.constants)) for e in equations]

    def has_twin(equation: Equation) -> bool:
        expression = equation.model.expression
        form, most = _form(expression), len(expression.constants)
        return any(form == other and n <= most for other, n in forms)

    return [row.equation for row in rows if row.equation is not None and not has_twin(row.equation)]


def _form(expression: Expression) -> tuple[bytes, bytes]:
    """The canonical form apart from its constants."""
    form = canonical(expression)
    return form.op.tobytes(), form.arg.tobytes()


def with_guesses(
    table: EquationTable, rows: Sequence[GuessRow], fitted: Objective, overall: Objective
) -> EquationTable:
    """The table with a column of guesses: rows that are equal to one are marked, and the other guesses are added.

    Rows that are added are not on the Pareto front, and the chosen row stays the same.
    """
    if overall is not fitted:
        rows = [_evaluated_on(overall, row) for row in rows]
    equations, places = _placed(table.equations, rows, fitted)
    n_front, owners = len(table.equations), {i: k for k, i in reversed(places.items())}
    order = sorted(range(len(equations)), key=lambda i: (equations[i].complexity, i >= n_front))
    notes = [
        row.note(f"it is equal to row {order.index(places[k])}" if k in places else "")
        for k, row in enumerate(rows)
        if k not in owners.values()
    ]
    frame = _joined(table.frame, equations[n_front:], overall).iloc[order].reset_index(drop=True)
    frame[GUESS] = pd.Series([rows[owners[i]].text if i in owners else None for i in order], dtype=object)
    return EquationTable([equations[i] for i in order], frame, order.index(table.chosen), tuple(notes))


def _placed(
    front: Sequence[Equation], rows: Sequence[GuessRow], fitted: Objective
) -> tuple[list[Equation], dict[int, int]]:
    """The equations and those of guesses that are equal to no other, and the place of every guess by its number."""
    equations, places = list(front), {}
    for k, row in enumerate(rows):
        if row.equation is not None:
            equal = (i for i, other in enumerate(equations) if _are_equal(other, row.equation, fitted))
            places[k] = next(equal, len(equations))
            equations += [row.equation] if places[k] == len(equations) else []
    return equations, places


def _evaluated_on(objective: Objective, row: GuessRow) -> GuessRow:
    """The row with its losses by another objective."""
    if row.equation is None:
        return row
    evaluated = evaluated_on(objective, [row.equation])
    return replace(row, equation=evaluated[0]) if evaluated else GuessRow(row.text, None, NOT_FINITE)


def _joined(frame: pd.DataFrame, added: Sequence[Equation], overall: Objective) -> pd.DataFrame:
    """The rows of a table, and those of more equations."""
    if not added:
        return frame
    lengths = (description_length(e.model, e.complexity, e.loss, overall) for e in added)
    more = [cells(e, length) for e, length in zip(added, lengths, strict=True)]
    return pd.concat([frame, pd.DataFrame(more, columns=list(COLUMNS))], ignore_index=True)


def _are_equal(row: Equation, guess: Equation, objective: Objective) -> bool:
    """Whether the predictions differ by much less than the errors."""
    values, others = objective.values([row.model.expression, guess.model.expression])
    with np.errstate(all="ignore"):
        difference = objective.mean_square(values - others)
        errors = objective.mean_square(objective.data.y - others)
    return bool(difference <= max(SAME_FUNCTION * errors, objective.exact))
