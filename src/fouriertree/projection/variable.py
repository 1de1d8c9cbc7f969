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

from fouriertree.engine.compiled import CompiledEngine, on_threads
from fouriertree.engine.gradients import value_and_slopes
from fouriertree.engine.interpreter import operator_address
from fouriertree.engine.padded import project
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.varpro import fit_models
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START

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
        root_weights = np.sqrt(rows.weights, dtype=np.float64)
        weighted = np.zeros_like(root_weights)
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
    expressions = list(chain.from_iterable(models))
    programs = Programs.pack(expressions)
    if programs.n_columns > X.n_columns:
        raise ValueError(f"a model uses x{programs.n_columns - 1}, but X has {X.n_columns} feature(s)")
    terms = np.array([len(model) for model in models], np.int64)
    last = np.cumsum(terms)
    first = last - terms  # model i has the terms from first[i] to last[i] − 1
    plain = _without_user_operators(programs, first, last)
    const, coefficients = programs.const.copy(), np.full(len(expressions), np.nan)
    n_plain = int(plain.sum())
    losses, steps, counter = np.empty(n_plain), np.zeros(n_plain, np.int64), np.zeros(1, np.int64)
    arguments = (
        operator_address("float64"), programs.op, programs.arg, const, _free(expressions, fixed), programs.start,
        programs.count, first[plain], terms[plain], X.columns, X.root_weights, X.y, iterations, tolerance, counter,
        coefficients, losses, steps,
    )  # fmt: skip
    threads = min(CompiledEngine(n_jobs=n_jobs).n_threads, max(len(losses), 1))
    on_threads(lambda: fit_models(*arguments), threads, "fit of constants")
    constants = np.split(const, programs.start[1:])
    polished = iter(zip(losses.tolist(), steps.tolist(), strict=True))
    return [
        Fitted(coefficients[lo:hi], _with_constants(model, constants[lo:hi]), *next(polished))
        if fitted
        else _unpolished(model, X)
        for model, lo, hi, fitted in zip(models, first, last, plain, strict=True)
    ]


def _without_user_operators(programs: Programs, first: NDArray[np.int64], last: NDArray[np.int64]) -> Mask:
    """Which models have no user-defined operator: (n_models,); such operators have no compiled derivatives."""
    bounds = np.append(programs.start, len(programs.op))
    before = np.append(0, np.cumsum(programs.op >= USER_OPCODE_START))[bounds]
    return np.asarray(before[last] == before[first])


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


def _unpolished(model: Sequence[Expression], data: FitData) -> Fitted:
    """The model with its constants unchanged and least-squares coefficients, by the reference engine."""
    n_padded, k = data.columns.shape[1], len(model)
    with np.errstate(all="ignore"):
        Phi = np.asarray(
            ReferenceEngine().evaluate(list(model), data.columns.T) * data.root_weights, np.float64
        )
    c, scratch = np.empty(k), (np.empty((k, n_padded)), np.empty((k, k)), np.empty(k))
    loss = float(project(Phi, data.y, *scratch, c, np.empty(n_padded)))
    finite = loss < np.inf
    return Fitted(c if finite else np.full(k, np.nan), tuple(model), loss if finite else np.inf, 0, False)


def compile_kernels() -> None:
    """Compile the fit, or load it from the cache, before time is measured."""
    wave, X = Expression.apply("sin", Expression.variable(0) * 0.9), np.array([[0.1], [0.2], [0.4]])
    fit_constants([[wave]], X, [0.1, 0.2, 0.3], iterations=1)
    value_and_slopes(wave, X, wave.op == CONST)
