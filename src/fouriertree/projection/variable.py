"""Fits of the constants inside of the terms by variable projection.

y ≈ Σ_j c_j·e_j(x; θ): for fixed θ the optimal c is a linear projection, so the loss is a function of θ alone.  It is
minimized by Levenberg–Marquardt steps with exact derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.engine.compiled import CompiledEngine, aligned, on_threads
from fouriertree.engine.gradients import value_and_slopes
from fouriertree.engine.interpreter import operator_address
from fouriertree.engine.padded import project
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.residuals import residuals
from fouriertree.engine.varpro import fit_models
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.projection.batches import SumBatch

from .base import Vector, as_element, as_target

Mask = NDArray[np.bool_]
#: a fit ends after so many steps, or with a step that decreases the loss by less, relatively
ITERATIONS, TOLERANCE = 30, 1e-13


@dataclass(frozen=True)
class Fitted:
    """A model y ≈ Σ c_j·e_j with its fitted constants."""

    coefficients: Vector  #: (k,); 0 for terms that depend linearly on earlier ones, NaN if the loss is inf
    expressions: tuple[Expression, ...]
    loss: float  #: Σ w·(y − Σ c_j·e_j)²; inf where a value is not finite
    iterations: int  #: number of steps tried
    polished: bool = True  #: False if a user-defined operator prevented a fit of the constants


@dataclass(frozen=True, eq=False)
class FitData:
    """Rows and target in the layout of the kernels: padded to whole vectors, with weight 0 for the padding."""

    columns: Vector  #: (n_columns, padded rows), at least one column
    root_weights: Vector  #: √w (padded rows,)
    y: Vector  #: √w·y (padded rows,)
    n_columns: int

    @classmethod
    def prepare(cls, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """X (n_rows, n_columns), y (n_rows,) and weights ≥ 0 (n_rows,), converted once for many fits."""
        rows = CompiledEngine().prepare(X, weights)
        target = as_element(as_target(y), rows.n_rows)
        if not (rows.weights >= 0.0).all():
            raise ValueError("weights must be at least 0")
        root_weights, weighted = (
            aligned(rows.weights.shape, np.float64),
            aligned(rows.weights.shape, np.float64),
        )
        np.sqrt(rows.weights, out=root_weights)
        weighted[: rows.n_rows] = root_weights[: rows.n_rows] * target
        return cls(np.asarray(rows.columns, np.float64), root_weights, weighted, rows.n_columns)


def fit_constants(
    models: Sequence[Sequence[Expression]],
    X: ArrayLike | FitData,
    y: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    fixed: Sequence[Sequence[Mask | None]] | None = None,
    n_jobs: int = 1,
) -> list[Fitted]:
    """Fit the constants of every model: a local minimum of Σ w·(y − Σ c_j·e_j)² near their current values.

    X (n_rows, n_columns) with y (n_rows,), or a `FitData` made once for many calls.  `fixed[i][j]` masks the tokens
    of term j of model i whose constants are fixed.  A fit ends after `iterations` steps, or when a step decreases the
    loss by less than the fraction `tolerance`.  Results depend neither on the number of threads nor on other models.

    >>> from fouriertree.expr import parse
    >>> x = np.linspace(0, 2, 50)
    >>> [fit] = fit_constants([[parse("sin(1.2*x0 + 0.1)")]], x[:, None], 3 * np.sin(1.5 * x + 0.2))
    >>> fit.expressions[0].text(digits=6), round(float(fit.coefficients[0]), 9), fit.loss < 1e-25
    ('sin(1.5*x0 + 0.2)', 3.0, True)
    """
    if not isinstance(X, FitData):
        if y is None:
            raise ValueError("y is missing; pass X and y, or FitData.prepare(X, y)")
        X = FitData.prepare(X, y, weights)
    batch = SumBatch.pack(models)
    free = _free(list(chain.from_iterable(models)), fixed)
    fits = fit_batch(batch, X, iterations, tolerance, n_jobs, free)
    constants = np.split(fits.batch.programs.const, batch.programs.start[1:])
    parts = (fits.losses.tolist(), fits.steps.tolist(), fits.polished.tolist())
    return [
        Fitted(fits.coefficients[lo:hi], _with_constants(model, constants[lo:hi]), *rest)
        for model, lo, hi, *rest in zip(models, batch.first, batch.last, *parts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class FittedBatch:
    """Sums with their fitted constants, as `Fitted` has them for one."""

    batch: SumBatch
    coefficients: Vector  #: (n_terms,) of all sums
    losses: Vector  #: (n_sums,)
    steps: NDArray[np.int64]  #: (n_sums,)
    polished: Mask  #: (n_sums,)


def fit_batch(
    batch: SumBatch, data: FitData, iterations: int = ITERATIONS, tolerance: float = TOLERANCE, n_jobs: int = 1,
    free: Mask | None = None,
) -> FittedBatch:  # fmt: skip
    """As `fit_constants`, for sums in arrays; constants of exactly one are fixed, or all tokens but the free ones."""
    programs, n = batch.programs, len(batch)
    n_columns = int(programs.arg[programs.op == VAR].max(initial=-1)) + 1
    if n_columns > data.n_columns:
        raise ValueError(f"a model uses x{n_columns - 1}, but X has {data.n_columns} feature(s)")
    free = batch.free if free is None else free
    plain = batch.without_user_operators
    const, coefficients = programs.const.copy(), np.full(len(programs), np.nan)
    losses, steps, counter = np.empty(n), np.zeros(n, np.int64), np.zeros(1, np.int64)
    n_plain = int(plain.sum())
    some_losses, some_steps = np.empty(n_plain), np.zeros(n_plain, np.int64)
    arguments = (
        operator_address("float64"), programs.op, programs.arg, const, free, programs.start, programs.count,
        batch.first[plain], batch.n_terms[plain], data.columns, data.root_weights, data.y, iterations, tolerance,
        counter, coefficients, some_losses, some_steps,
    )  # fmt: skip
    threads = min(CompiledEngine(n_jobs=n_jobs).n_threads, max(len(some_losses), 1))
    on_threads(lambda: fit_models(*arguments), threads, "fit of constants")
    losses[plain], steps[plain] = some_losses, some_steps
    for i in np.flatnonzero(~plain):
        terms = slice(batch.first[i], batch.last[i])
        coefficients[terms], losses[i] = _unpolished(batch.expressions(int(i)), data)
    return FittedBatch(batch.with_constants(const), coefficients, losses, steps, plain)


def _free(expressions: Sequence[Expression], fixed: Sequence[Sequence[Mask | None]] | None) -> Mask:
    """Tokens that are not masked by `fixed`, of all terms of all models: (n_tokens,)."""
    if fixed is None:
        return np.ones(sum(map(len, expressions)), np.bool_)
    parts = [np.ones(0, np.bool_)]
    for e, mask in zip(expressions, chain.from_iterable(fixed), strict=True):
        part = np.zeros(len(e), np.bool_) if mask is None else np.asarray(mask, np.bool_)
        if part.shape != (len(e),):
            raise ValueError(f"a mask needs {len(e)} entries, one per token; got {part.shape}")
        parts.append(~part)
    return np.concatenate(parts)


def _with_constants(model: Sequence[Expression], constants: Sequence[Vector]) -> tuple[Expression, ...]:
    return tuple(
        Expression.unchecked(e.op, e.arg, const.copy(), e.primitives)
        for e, const in zip(model, constants, strict=True)
    )


def _unpolished(model: Sequence[Expression], data: FitData) -> tuple[Vector, float]:
    """Least-squares coefficients, and the loss, of a model with its constants unchanged, by the reference engine."""
    n_padded, k = data.columns.shape[1], len(model)
    with np.errstate(all="ignore"):
        Phi = np.asarray(
            ReferenceEngine().evaluate(list(model), data.columns.T) * data.root_weights, np.float64
        )
    c, scratch = np.empty(k), (np.empty((k, n_padded)), np.empty((k, k)), np.empty(k))
    loss = float(project(Phi, 0, data.y, *scratch, c, np.empty(n_padded), np.empty(k), np.empty(k)))
    return (c, loss) if loss < np.inf else (np.full(k, np.nan), np.inf)


def residuals_of(functions: Vector, weights: Vector, targets: Vector) -> Vector:
    """Residuals of linear least squares, one problem for every row of weights: (n_problems, n_targets, n_rows).

    functions (k, n_rows), weights (n_problems, n_rows) of the functions, targets (n_problems, n_targets, n_rows); NaN
    where a problem is not finite.

    >>> rows = np.arange(4.0)
    >>> residuals_of(rows[None], np.ones((1, 4)), np.array([[3.0 * rows, [1.0, 0.0, 0.0, 0.0]]])).round(9)[0].tolist()
    [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    out = np.empty(targets.shape)
    residuals(*map(np.ascontiguousarray, (functions, weights, targets)), out)
    return out


def compile_kernels() -> None:
    """Compile the fits, or load them from the cache, before time is measured."""
    wave, X = Expression.apply("sin", Expression.variable(0) * 0.9), np.array([[0.1], [0.2], [0.4]])
    fit_constants([[wave]], X, [0.1, 0.2, 0.3], iterations=1)
    value_and_slopes(wave, X, wave.op == CONST)
    residuals_of(X.T, X.T, X.T[None])
