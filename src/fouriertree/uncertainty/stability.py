"""Stability of the terms and forms of a Pareto front under bootstrap resampling of the rows."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, INV, MUL, NEG, SUB, VAR
from fouriertree.io.strict_json import plain
from fouriertree.model import Model
from fouriertree.search.executors import Shared, ordered
from fouriertree.uncertainty.intervals import as_rows

Front = Sequence[tuple[bool, Model]]
Fit = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int], Front]
Key = tuple[Any, ...]
#: from an equation to (structure, text) of its parts
Parts = Callable[[Model], list[tuple[Key, str]]]

DIGITS = 6
COLUMNS = ("chosen", "share_chosen", "share_front")


@dataclass(frozen=True, eq=False)
class Stability:
    """Frequencies of the terms and forms of a Pareto front in bootstrap refits.

    Attributes
    ----------
    terms, forms : DataFrame
        One row for every term, and for every equation, of the original front: its text, whether it belongs to the
        chosen equation, and the fractions `share_chosen` and `share_front` of refits with the same structure, for any
        constants, in the chosen equation and anywhere on the front.
    n, requested : int
        Refits made and requested; they differ after an interrupt.
    """

    terms: pd.DataFrame
    forms: pd.DataFrame
    n: int
    requested: int

    def text(self) -> str:
        """A summary for the chosen equation."""
        if not self.n:
            return "No refit was made, so the stability of the equation is not known."
        stopped = "" if self.n == self.requested else f" of {self.requested} (stopped)"
        [form] = self.forms[self.forms["chosen"]].itertuples()
        first = f"In {self.n} bootstrap refits{stopped}, the form of the chosen equation was chosen in "
        lines = [f"{first}{_percent(form.share_chosen)} and on the front in {_percent(form.share_front)}."]
        for row in self.terms[self.terms["chosen"]].itertuples():
            chosen, front = _percent(row.share_chosen), _percent(row.share_front)
            lines.append(f"{row.term}: in the chosen equation in {chosen}, on the front in {front}.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """JSON data; without refits, fractions are None."""
        terms, forms = (plain(table.to_dict("records")) for table in (self.terms, self.forms))
        return {"n": self.n, "requested": self.requested, "terms": terms, "forms": forms, "text": self.text()}


def stability(
    fit: Fit,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    n: int = 20,
    seed: int = 0,
    original: Front | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
) -> Stability:
    """Refit to n bootstrap samples of the rows and count the structures of the original front.

    Parameters
    ----------
    fit : callable
        `fit(X, y, weights, seed)` returns a front, (chosen, model) for every equation, and raises KeyboardInterrupt if
        it is interrupted; the refits made so far are counted then.
    X, y, weights : array_like of shape (n_rows, n_features), (n_rows,) and (n_rows,) or None
    n : int, default=20
        Number of refits.
    seed : int, default=0
    original : front, optional
        The front of all rows; fitted by default.
    progress : callable, optional
        Called with the number of refits made, and n.
    executor : concurrent.futures.Executor, optional
        Performs the refits, on which the result does not depend; this process by default.
    """
    table, target, weight = as_rows(X, y, weights)
    front = fit(table, target, weight, seed) if original is None else original
    if sum(chosen for chosen, _ in front) != 1:
        raise ValueError("exactly one equation of the front must be the chosen one")
    refits: list[Front] = []
    try:
        samples = _Samples(fit, table, target, weight, seed)
        for refit in ordered(_refit, [(samples, i) for i in range(n)], executor):
            refits.append(refit)
            if progress is not None:
                progress(len(refits), n)
    except KeyboardInterrupt:
        pass  # the refits so far count, and `requested` shows that there were to be more
    return frequencies(front, refits, n)


@dataclass(frozen=True, eq=False)
class _Samples(Shared):
    """The rows from which samples are drawn, and how they are fitted."""

    fit: Fit
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    seed: int


def _refit(task: tuple[_Samples, int]) -> Front:
    """The front of bootstrap sample i."""
    # A row that is drawn twice is passed once with twice the weight: of two rows, one might be in the training set and
    # the other in the validation set.
    rows, i = task
    rng, n = np.random.default_rng([rows.seed, i]), len(rows.y)
    times = np.bincount(rng.integers(0, n, n), minlength=n)
    drawn = times > 0
    return rows.fit(
        rows.X[drawn], rows.y[drawn], rows.weights[drawn] * times[drawn], int(rng.integers(2**31))
    )


def frequencies(front: Front, refits: Sequence[Front], requested: int) -> Stability:
    """Fractions of the refits that contain the terms and forms of a front."""
    # The chosen equation first: of a term in several equations, its constants are shown.
    ordered = sorted(front, key=lambda row: not row[0])
    terms, forms = _table("term", _terms, ordered, refits), _table("form", _form, front, refits)
    return Stability(terms, forms, len(refits), requested)


def _table(name: str, parts_of: Parts, front: Front, refits: Sequence[Front]) -> pd.DataFrame:
    """Parts of equal structure merged, with the fractions of refits that contain it."""
    merged: dict[Key, tuple[str, bool]] = {}
    for chosen, model in front:
        for key, text in parts_of(model):
            first_text, any_chosen = merged.get(key, (text, False))
            merged[key] = first_text, any_chosen or chosen
    parts = [[(chosen, key) for chosen, model in refit for key, _ in parts_of(model)] for refit in refits]
    in_chosen = [{key for chosen, key in refit if chosen} for refit in parts]
    on_front = [{key for _, key in refit} for refit in parts]

    def share(key: Key, refits: list[set[Key]]) -> float:
        return sum(key in refit for refit in refits) / len(refits) if refits else np.nan

    rows = merged.items()
    cells = [(text, chosen, share(key, in_chosen), share(key, on_front)) for key, (text, chosen) in rows]
    return pd.DataFrame(cells, columns=[name, *COLUMNS])


def _terms(model: Model) -> list[tuple[Key, str]]:
    """(structure, text with constants) of every term."""
    parts = zip(model.coefficients, model.expressions, strict=True)
    return [(structure(term), Model((c,), (term,), model.names).text(DIGITS)) for c, term in parts]


def _form(model: Model) -> list[tuple[Key, str]]:
    """The same of the whole equation: the structures of its terms in any order."""
    terms = sorted((structure(term) for term in model.expressions), key=repr)
    return [(tuple(terms), model.text(DIGITS))]


def structure(expression: Expression) -> Key:
    """The tree without the values of constants, constant factors, signs, and the order of sums and products.

    >>> from fouriertree.expr import parse
    >>> structure(parse("sin(2*x0) + x1")) == structure(parse("3*x1 - sin(x0)"))
    True
    >>> structure(parse("sin(x0 + 1)")) == structure(parse("sin(x0)"))
    False
    """
    stack: list[Key] = []
    for code, arg in zip(expression.op.tolist(), expression.arg.tolist(), strict=True):
        if code == CONST:
            stack.append(_CONSTANT)
        elif code == VAR:
            stack.append(("x", arg))
        else:
            row = expression.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            stack[-row.arity :] = [_operator(code, row.name, arguments)]
    return stack[0]


_CONSTANT: Key = ("constant",)


def _operator(code: int, name: str, arguments: list[Key]) -> Key:
    if all(argument == _CONSTANT for argument in arguments):
        return _CONSTANT
    if code == NEG:
        return arguments[0]
    if code in (ADD, SUB):
        return _flattened("+", arguments)
    if code == MUL:
        return _product(arguments)
    if code == DIV:
        return _product([arguments[0], *_inverse(arguments[1])])
    if code == INV:
        return _product(_inverse(arguments[0]))
    return (name, *arguments)


def _inverse(divisor: Key) -> list[Key]:
    """One over a product, factor by factor: a/(b·c) and a/b/c have one structure."""
    factors = divisor[1:] if divisor[0] == "*" else [divisor]
    return [factor if factor == _CONSTANT else ("1/", factor) for factor in factors]


def _product(arguments: list[Key]) -> Key:
    factors = [argument for argument in arguments if argument != _CONSTANT]
    return factors[0] if len(factors) == 1 else _flattened("*", factors)


def _flattened(sign: str, arguments: list[Key]) -> Key:
    """A sum or a product of all parts at once, in canonical order."""
    parts: list[Key] = []
    for argument in arguments:
        parts += argument[1:] if argument[0] == sign else [argument]
    return (sign, *sorted(parts, key=repr))


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
