"""How often the terms and the forms of a front come back when the rows are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, INV, MUL, NEG, SUB, VAR
from fouriertree.model import Model

Front = Sequence[tuple[bool, Model]]
Fit = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int], Front]
Key = tuple[Any, ...]

DIGITS = 6
TERMS = ("term", "chosen", "share_chosen", "share_front")
FORMS = ("form", "chosen", "share_chosen", "share_front")


@dataclass(frozen=True, eq=False)
class Stability:
    """What came back in `n` refits to rows drawn with replacement.

    `terms` and `forms` have a row for every term, and every formula, of the original front: its text with the original
    numbers, whether it is in the chosen formula (or is it), and the share of the refits with the same structure,
    whatever its numbers, in the chosen formula and anywhere in the front.
    """

    terms: pd.DataFrame
    forms: pd.DataFrame
    n: int
    asked: int

    def text(self) -> str:
        """Some sentences on the chosen formula."""
        if not self.n:
            return "No refit was made, so nothing is known of how stable the formula is."
        stopped = "" if self.n == self.asked else f" of {self.asked} (stopped)"
        [form] = self.forms[self.forms["chosen"]].itertuples()
        lines = [
            f"In {self.n} refits{stopped} to rows drawn again, the form of the chosen formula was chosen in "
            f"{_percent(form.share_chosen)} and stood in the front in {_percent(form.share_front)}."
        ]
        for row in self.terms[self.terms["chosen"]].itertuples():
            lines.append(
                f"{row.term}: in the chosen formula in {_percent(row.share_chosen)}, in the front in "
                f"{_percent(row.share_front)}."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """Plain data; without refits, shares are None."""
        return {
            "n": self.n,
            "asked": self.asked,
            "terms": _records(self.terms),
            "forms": _records(self.forms),
            "text": self.text(),
        }


def stability(
    fit: Fit,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    n: int = 20,
    seed: int = 0,
    original: Front | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Refit to n bootstrap samples of the rows, and count what comes back of the original front.

    `fit(X, y, weights, seed)` returns a front as (is it chosen, model) for every row, and raises KeyboardInterrupt if
    it is interrupted; then the refits that are done count.  `original` is the front of all rows, which is fitted if it
    is not given.  `progress` is called with the refits done and n.

    A row that is drawn twice is passed once, with twice the weight: as two rows, one of them might be held back to
    verify what was fitted to the other.
    """
    table, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    given = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    front = fit(table, target, given, seed) if original is None else original
    if sum(chosen for chosen, _ in front) != 1:
        raise ValueError("one formula of the front must be the chosen one")
    refits: list[Front] = []
    try:
        for i in range(n):
            rng = np.random.default_rng([seed, i])
            times = np.bincount(rng.integers(0, len(target), len(target)), minlength=len(target))
            drawn = times > 0
            again = int(rng.integers(2**31))
            refits.append(fit(table[drawn], target[drawn], given[drawn] * times[drawn], again))
            if progress is not None:
                progress(i + 1, n)
    except KeyboardInterrupt:
        pass  # what was done so far counts, and `asked` says that there was to be more
    return counted(front, refits, n)


def counted(front: Front, refits: Sequence[Front], asked: int) -> Stability:
    """Shares of the refits in which the terms and forms of a front are found."""
    terms = [(key, text, chosen) for chosen, model in _chosen_first(front) for key, text in _terms(model)]
    forms = [(form_key(model), model.text(DIGITS), chosen) for chosen, model in front]
    found_terms = [_found(refit, lambda model: (key for key, _ in _terms(model))) for refit in refits]
    found_forms = [_found(refit, lambda model: [form_key(model)]) for refit in refits]
    return Stability(
        _shares(terms, found_terms, TERMS), _shares(forms, found_forms, FORMS), len(refits), asked
    )


def _chosen_first(front: Front) -> list[tuple[bool, Model]]:
    """The chosen formula first: of a term that stands in several, its numbers are shown."""
    return sorted(front, key=lambda row: not row[0])


def _found(front: Front, keys: Callable[[Model], Iterable[Key]]) -> tuple[set[Key], set[Key]]:
    """What stands in the chosen formula, and in any."""
    everywhere = {key for _, model in front for key in keys(model)}
    return {key for chosen, model in front if chosen for key in keys(model)}, everywhere


def _shares(
    rows: list[tuple[Key, str, bool]], found: list[tuple[set[Key], set[Key]]], columns: Sequence[str]
) -> pd.DataFrame:
    known: dict[Key, tuple[str, bool]] = {}
    for key, text, chosen in rows:
        before = known.get(key)
        known[key] = (text, chosen) if before is None else (before[0], before[1] or chosen)
    n = len(found)
    cells = [
        (text, chosen, *(sum(key in part[k] for part in found) / n if n else np.nan for k in (0, 1)))
        for key, (text, chosen) in known.items()
    ]
    return pd.DataFrame(cells, columns=list(columns))


# structures without numbers --------------------------------------------------------------------------------------
def _terms(model: Model) -> list[tuple[Key, str]]:
    """(structure, text with its numbers) of every term."""
    parts = zip(model.coefficients, model.expressions, strict=True)
    return [(structure(term), Model((c,), (term,), model.names).text(DIGITS)) for c, term in parts]


def form_key(model: Model) -> Key:
    """The structure of a whole formula: its terms in any order."""
    return tuple(sorted((structure(term) for term in model.expressions), key=repr))


def structure(expression: Expression) -> Key:
    """The tree with its numbers forgotten: factors that are numbers, signs, and the order of sums and products.

    >>> from fouriertree.expr import parse
    >>> structure(parse("sin(2*x0) + x1")) == structure(parse("3*x1 - sin(x0)"))
    True
    >>> structure(parse("sin(x0 + 1)")) == structure(parse("sin(x0)"))
    False
    """
    stack: list[Key] = []
    for code, arg in zip(expression.op.tolist(), expression.arg.tolist(), strict=True):
        if code == CONST:
            stack.append(_NUMBER)
        elif code == VAR:
            stack.append(("x", arg))
        else:
            row = expression.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            stack[-row.arity :] = [_operator(code, row.name, arguments)]
    return stack[0]


_NUMBER: Key = ("number",)


def _operator(code: int, name: str, arguments: list[Key]) -> Key:
    if all(argument == _NUMBER for argument in arguments):
        return _NUMBER
    if code == NEG:
        return arguments[0]
    if code in (ADD, SUB):
        return _gathered("+", arguments)
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
    return [factor if factor == _NUMBER else ("1/", factor) for factor in factors]


def _product(arguments: list[Key]) -> Key:
    factors = [argument for argument in arguments if argument != _NUMBER]
    return factors[0] if len(factors) == 1 else _gathered("*", factors)


def _gathered(sign: str, arguments: list[Key]) -> Key:
    """A sum or a product of all parts at once, in an order of its own."""
    parts: list[Key] = []
    for argument in arguments:
        parts += argument[1:] if argument[0] == sign else [argument]
    return (sign, *sorted(parts, key=repr))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in row.items()}
        for row in table.to_dict("records")
    ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
