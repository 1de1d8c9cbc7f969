"""The reference engine: NumPy, one operator at a time.  It defines the values of every other engine."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, VAR

from .base import Batch, Floats, InnerProducts, Rows, as_programs, check_data, check_targets, prepared


@dataclass(frozen=True)
class ReferenceRows(Rows):
    X: Floats
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class ReferenceEngine:
    """Evaluates expressions by NumPy functions; slow.

    Parameters
    ----------
    dtype : float64 or float32

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> ReferenceEngine().evaluate([parse("x0^2"), parse("x0 + 1")], [[1.0], [2.0]])
    array([[1., 4.],
           [2., 3.]])
    """

    dtype: DTypeLike = np.float64

    def prepare(self, X: ArrayLike, weights: ArrayLike | None = None) -> ReferenceRows:
        """X and weights in the layout of this engine, for many calls on the same data."""
        matrix, weight = check_data(X, weights)
        with np.errstate(over="ignore"):
            X = matrix.astype(self.dtype)
        n_rows, n_columns = matrix.shape
        return ReferenceRows(n_rows, n_columns, X.dtype, X, weight)

    def evaluate(self, expressions: Batch, X: ArrayLike | Rows) -> Floats:
        """Values of every expression on every row: (n_expressions, n_rows)."""
        rows = prepared(self, ReferenceRows, X)
        programs = as_programs(expressions, rows.n_columns)
        out = np.empty((len(programs), rows.n_rows), self.dtype)
        for i, expression in enumerate(programs):
            out[i] = run_program(expression, rows.X)
        return out

    def inner_products(
        self, expressions: Batch, X: ArrayLike | Rows, R: ArrayLike, weights: ArrayLike | None = None
    ) -> InnerProducts:
        """Weighted ⟨v, v⟩ and ⟨v, r_j⟩ of every expression v and every column r_j of R (n_rows, n_targets)."""
        rows = prepared(self, ReferenceRows, X, weights)
        targets = check_targets(R, rows.n_rows)
        values = self.evaluate(expressions, rows).astype(np.float64)
        finite: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
        values[~finite] = np.nan
        with np.errstate(all="ignore"):
            weighted = values * rows.weights
            return InnerProducts(np.einsum("ij,ij->i", weighted, values), weighted @ targets, finite)


def run_program(expression: Expression, X: Floats) -> Floats:
    """Values of one program on the rows of X, in the precision of X: (n_rows,)."""
    stack: list[Floats] = []
    with np.errstate(all="ignore"):
        for op, arg, const in zip(expression.op, expression.arg, expression.const, strict=True):
            if op == CONST:
                stack.append(np.full(len(X), const, X.dtype))
            elif op == VAR:
                stack.append(X[:, arg])
            else:
                primitive = expression.primitives.by_opcode(int(op))
                operands = [stack.pop() for _ in range(primitive.arity)][::-1]
                stack.append(np.asarray(primitive.reference(*operands), X.dtype))
    return stack.pop()
