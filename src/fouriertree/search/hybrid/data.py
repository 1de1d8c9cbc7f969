"""The data as the search uses them: standardised features in a canonical order, and the way back to the problem's."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.canonical import rescaled, split_number
from fouriertree.expr.opcodes import (
    ADD,
    CONST,
    CUBE,
    DIV,
    INV,
    MUL,
    NEG,
    POW,
    SQRT,
    SQUARE,
    SUB,
    USER_OPCODE_START,
    VAR,
)  # fmt: skip
from fouriertree.model import addends
from fouriertree.problems import Problem
from fouriertree.search.hybrid.feature_selection import canonical_order, useful_features

Floats = NDArray[np.float64]
#: features, target and weights of some rows
Rows = tuple[Floats, Floats, Floats]

#: rows that candidates are fitted to, and rows that they are screened on
FIT_ROWS, SCREENING_ROWS = 1500, 300


@dataclass(frozen=True, eq=False)
class SearchData:
    """Rows that candidates are fitted to, in units in which every feature and the target have mean square one.

    Neither names nor the order nor the units of the features are left, so that a search does not depend on them.
    """

    X: Floats  #: (n_rows, n_features)
    y: Floats
    weights: Floats
    features: NDArray[np.intp]  #: feature i here is features[i] of the problem
    scales: Floats  #: and scales[i] times as large there
    y_scale: float
    screening: NDArray[np.intp]  #: rows for screening
    validation: Rows | None  #: in the same units

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def variables(self) -> tuple[Expression, ...]:
        return tuple(Expression.variable(i) for i in range(self.n_features))

    @cached_property
    def positive(self) -> frozenset[int]:
        """Features that are positive on all rows."""
        return frozenset(np.flatnonzero((self.X > 0.0).all(axis=0)).tolist())

    def to_problem(self, term: Expression) -> Expression:
        """A term over these features as one over the problem's, without a constant factor."""
        return rescaled_term(term, self.features, 1.0 / self.scales)

    def from_problem(self, formula: Expression) -> tuple[Expression, ...]:
        """The addends of a formula over the problem's features as terms over these."""
        places = np.zeros(int(self.features.max(initial=0)) + 1, np.intp)
        places[self.features] = np.arange(self.n_features)
        moved = rescaled(renamed(formula, places), (1.0 / self.scales).tolist())
        return tuple(split_number(part)[1] for _, part in addends(moved))


#: opcode, feature, constant, and arity
Token = tuple[int, int, float, int]
_PRODUCT: Token = (MUL, 0, 0.0, 2)
#: operators f with f(c·a) = f(c)·f(a) for c > 0, and with f(c·a, d·b) = f(c, d)·f(a, b)
_MULTIPLICATIVE: dict[int, Callable[..., float]] = {
    NEG: lambda c: c, INV: lambda c: 1.0 / c, SQRT: np.sqrt, SQUARE: lambda c: c**2, CUBE: lambda c: c**3,
    MUL: lambda c, d: c * d, DIV: lambda c, d: c / d,
}  # fmt: skip


def rescaled_term(term: Expression, features: NDArray[np.intp], scales: Floats) -> Expression:
    """c·term with scales[i]·x_features[i] in place of feature i, for some c > 0.

    Factors are moved out of products and quotients, and into constants elsewhere.

    >>> from fouriertree.expr import parse
    >>> str(rescaled_term(parse("x0*x1/(x0 + 2) + 1"), np.array([0, 2]), np.array([4.0, 10.0])))
    'x0*x2/(x0 + 0.5) + 0.1'
    """
    stack: list[tuple[list[Token], float]] = []  # tokens of parts, with a positive factor that they lack
    for code, arg, const in zip(term.op.tolist(), term.arg.tolist(), term.const.tolist(), strict=True):
        if code == VAR:
            # NumPy's numbers become infinite where Python's raise an exception.
            stack.append(([(VAR, int(features[arg]), 0.0, 0)], scales[arg]))
        elif code == CONST:
            stack.append(([(CONST, 0, const, 0)], 1.0))
        else:
            arity = term.primitives.by_opcode(code).arity
            parts = stack[-arity:]
            del stack[-arity:]
            stack.append(_applied((code, 0, 0.0, arity), parts))
    op, arg, const, _ = zip(*stack[0][0], strict=True)
    return Expression.unchecked(
        np.array(op, term.op.dtype), np.array(arg, term.arg.dtype), np.array(const), term.primitives
    )


def _applied(operator: Token, parts: list[tuple[list[Token], float]]) -> tuple[list[Token], float]:
    """An operator applied to parts with factors, as tokens and a positive factor."""
    code = operator[0]
    if code in _MULTIPLICATIVE:
        whole = _MULTIPLICATIVE[code](*(factor for _, factor in parts))
        return [*chain.from_iterable(part for part, _ in parts), operator], whole
    if code == POW and parts[1][0][-1][0] == CONST:
        (base, factor), (exponent, _) = parts
        return [*base, *exponent, operator], factor ** exponent[0][2]
    common = 1.0
    if code in (ADD, SUB):
        # A factor that no constant can absorb becomes that of the whole.
        common = next((factor for part, factor in parts if not _absorbs(part)), 1.0)
    scaled = (_times(part, factor / common) for part, factor in parts)
    return [*chain.from_iterable(scaled), operator], common


def _times(part: list[Token], factor: float) -> list[Token]:
    """factor·part, with the factor in a constant of the product if there is one."""
    if factor == 1.0:
        return part
    if _absorbs(part):
        return [(CONST, 0, factor * part[0][2], 0), *part[1:]]
    return [(CONST, 0, factor, 0), *part, _PRODUCT]


def _absorbs(part: list[Token]) -> bool:
    """Whether a part is a constant, or a constant times something."""
    if part[0][0] != CONST or (len(part) > 1 and part[-1][0] != MUL):
        return False
    # The tokens between constant and product are one argument if an operator among them never takes the constant.
    heights = accumulate(1 - arity for _, _, _, arity in part[1:-1])
    return all(height > 0 for height in heights)


def renamed(expression: Expression, features: NDArray[np.intp]) -> Expression:
    """With features[i] in place of feature i."""
    arg = expression.arg.copy()
    leaves = expression.op == VAR
    arg[leaves] = features[arg[leaves]]
    return Expression.unchecked(expression.op, arg, expression.const, expression.primitives)


def search_data(problem: Problem, seed: int, needed: Collection[int] = ()) -> SearchData:
    """The data of a problem's weighted points; the features `needed` are among them."""
    rng = np.random.default_rng([seed, 1])
    X, y, weights = problem.space.samples()[-1]
    rows = np.sort(rng.permutation(len(y))[:FIT_ROWS]) if len(y) > FIT_ROWS else np.arange(len(y))
    features = np.union1d(useful_features(X, y, weights, rng), np.array(sorted(needed), np.intp)).astype(
        np.intp
    )
    part = X[np.ix_(rows, features)]
    scales = root_mean_squares(part)
    y_scale = float(np.sqrt(np.mean(np.square(y[rows])))) or 1.0
    primitives = problem.grammar.primitives
    if (primitives.opcodes >= USER_OPCODE_START).any() or "mul" not in primitives:
        # Constants inside custom operators are not fitted, and without products there are no units.
        scales[:] = 1.0
    order = canonical_order(part / scales)
    features, scales = features[order], scales[order]
    screening = np.sort(rng.permutation(len(rows))[:SCREENING_ROWS])
    validation = None
    if problem.holdout is not None:
        X_other, y_other, w_other = problem.holdout.samples()[-1]
        # Of many rows only some are fitted to; the validation set keeps its share of the weight.
        share = len(rows) / (len(y) * weights[rows].mean())
        validation = X_other[:, features] / scales, y_other / y_scale, share * w_other
    return SearchData(
        np.ascontiguousarray(X[np.ix_(rows, features)] / scales), y[rows] / y_scale,
        weights[rows] / weights[rows].mean(), features, scales, y_scale, screening, validation,
    )  # fmt: skip


def root_mean_squares(part: Floats) -> Floats:
    """Of every feature, without squares that overflow; 1 for a feature of zeros."""
    largest = np.abs(part).max(axis=0, initial=0.0)
    largest[largest == 0.0] = 1.0
    sizes: Floats = largest * np.sqrt(np.mean(np.square(part / largest), axis=0))
    return np.where(sizes == 0.0, 1.0, sizes)
