"""Fits of the constants inside of the terms by variable projection.

y ≈ Σ_j c_j·e_j(x; θ): for fixed θ the optimal c is a linear projection, so the loss is a function of θ alone.  It is
minimized by Levenberg–Marquardt steps with exact derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.engine.compiled import CompiledEngine, on_threads
from fouriertree.engine.gradients import value_and_slopes
from fouriertree.engine.interpreter import operator_address
from fouriertree.engine.padded import project
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.varpro import fit_models
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

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
    def prepare(cls, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> FitData:
        """X (n_rows, n_columns), y (n_rows,) and weights ≥ 0 (n_rows,), converted once for many fits."""
        rows = CompiledEngine().prepare(X, weights)
        target = as_element(as_target(y), rows.n_rows)
        if not (rows.weights >= 0.0).all():
            raise ValueError("weights must be at least 0")
        root_weights = np.sqrt(rows.weights, dtype=np.float64)
        weighted = np.zeros_like(root_weights)
        weighted[: rows.n_rows] = root_weights[: rows.n_rows] * target
        return cls(np.asarray(rows.columns, np.float64), root_weights, weighted, rows.n_columns)


@dataclass(frozen=True, eq=False)
class PackedModels:
    """Models one after another: model i has the `terms[i]` terms from `first[i]` on.

    `fit` changes `const` in place, at tokens CONST where `free` is true.  Arrays must be writable and contiguous.
    """

    op: NDArray[np.int32]
    arg: NDArray[np.int32]
    const: NDArray[np.float64]
    free: Mask
    start: NDArray[np.int64]  #: (n_terms,) first token of every term
    count: NDArray[np.int64]  #: (n_terms,) number of its tokens
    first: NDArray[np.int64]  #: (n_models,) first term of every model
    terms: NDArray[np.int64]  #: (n_models,) number of its terms

    @classmethod
    def pack(
        cls, models: Sequence[Sequence[Expression]], fixed: Sequence[Sequence[Mask | None]] | None = None
    ) -> PackedModels:
        """Pack models; `fixed[i][j]` masks the tokens of term j of model i whose constants are fixed."""
        expressions = [e for model in models for e in model]
        programs = Programs.pack(expressions)
        free = np.ones(len(programs.op), np.bool_)
        if fixed is not None:
            masks = [mask for model in fixed for mask in model]
            for begin, expression, mask in zip(programs.start, expressions, masks, strict=True):
                if mask is not None:
                    free[begin : begin + len(expression)] = ~_checked_mask(mask, expression)
        terms = np.array([len(model) for model in models], np.int64)
        return cls(
            programs.op, programs.arg, programs.const.copy(), free, programs.start, programs.count,
            np.cumsum(terms) - terms, terms,
        )  # fmt: skip

    @property
    def n_columns(self) -> int:
        """The models use features x0 to x(n_columns − 1) at most."""
        return int(self.arg[self.op == VAR].max(initial=-1)) + 1

    def with_user_operators(self) -> Mask:
        """Which models contain a user-defined operator: (n_models,)."""
        tokens = np.append(0, np.cumsum(self.op >= USER_OPCODE_START))
        terms = np.append(0, np.cumsum(tokens[self.start + self.count] - tokens[self.start]))
        return np.asarray(terms[self.first + self.terms] > terms[self.first])

    def terms_of(self, i: int) -> slice:
        """Indices of the terms of model i."""
        return slice(int(self.first[i]), int(self.first[i] + self.terms[i]))

    def expressions_of(self, i: int, model: Sequence[Expression]) -> tuple[Expression, ...]:
        """The expressions of model i, passed as they were packed, with the current constants."""
        begins = self.start[self.terms_of(i)]
        return tuple(
            Expression.unchecked(e.op, e.arg, self.const[begin : begin + len(e)].copy(), e.primitives)
            for begin, e in zip(begins, model, strict=True)
        )

    def fit(
        self, data: FitData, iterations: int = ITERATIONS, tolerance: float = TOLERANCE, n_jobs: int = 1
    ) -> tuple[Vector, Vector, NDArray[np.int64]]:
        """Coefficients (n_terms,), losses (n_models,) and steps tried (n_models,); `const` changes in place."""
        if self.n_columns > data.n_columns:
            raise ValueError(f"a model uses x{self.n_columns - 1}, but X has {data.n_columns} feature(s)")
        if self.with_user_operators().any():
            raise ValueError("user-defined operators have no compiled derivatives; use fit_constants")
        coefficients, losses = np.full(len(self.start), np.nan), np.empty(len(self.first))
        steps, counter = np.zeros(len(self.first), np.int64), np.zeros(1, np.int64)

        def work() -> None:
            fit_models(
                operator_address("float64"), self.op, self.arg, self.const, self.free, self.start, self.count,
                self.first, self.terms, data.columns, data.root_weights, data.y, iterations, tolerance, counter,
                coefficients, losses, steps,
            )  # fmt: skip

        threads = min(CompiledEngine(n_jobs=n_jobs).n_threads, max(len(self.first), 1))
        on_threads(work, threads, "fit of constants")
        return coefficients, losses, steps


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
    packed = PackedModels.pack(models, fixed)
    custom = packed.with_user_operators()
    plain = replace(packed, first=packed.first[~custom], terms=packed.terms[~custom])
    coefficients, losses, steps = plain.fit(X, iterations, tolerance, n_jobs)
    polished = iter(zip(losses.tolist(), steps.tolist(), strict=True))
    return [
        _unpolished(model, X)
        if custom[i]
        else Fitted(coefficients[packed.terms_of(i)], packed.expressions_of(i, model), *next(polished))
        for i, model in enumerate(models)
    ]


def _checked_mask(mask: Mask, expression: Expression) -> Mask:
    checked = np.asarray(mask, np.bool_)
    if checked.shape != (len(expression),):
        raise ValueError(f"a mask needs {len(expression)} entries, one per token; got {checked.shape}")
    return checked


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
