"""Constants inside the terms by variable projection: the coefficients are projected out for every choice of them.

y ≈ Σ_j c_j·e_j(x; θ): for given θ the coefficients are a linear projection, so the loss is a function of θ alone,
and is minimised by Levenberg–Marquardt steps with exact derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.compiling import announced
from fouriertree.engine.compiled import CompiledEngine, thread_pool
from fouriertree.engine.gradients import value_and_slopes
from fouriertree.engine.interpreter import operator_address
from fouriertree.engine.padded import project
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.varpro import fit_models
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

from .base import Vector, as_element, as_target

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Fitted:
    """A model y ≈ Σ c_j·e_j with its constants where the fit left them."""

    coefficients: Vector  #: (k,); 0 for terms that depend on earlier ones, NaN where the loss is inf
    expressions: tuple[Expression, ...]
    loss: float  #: Σ w·(y − Σ c_j·e_j)²; inf where a value is not finite
    iterations: int  #: steps that were tried
    polished: bool = True  #: False if a user operator kept the constants as they were


@dataclass(frozen=True, eq=False)
class FitData:
    """Rows and target as the kernels read them: padded to whole vectors, the padding with weight 0."""

    columns: Vector  #: (n_columns, padded rows), one column at least
    root_weights: Vector  #: √w (padded rows,)
    y: Vector  #: √w·y (padded rows,)
    n_columns: int

    @classmethod
    def prepare(cls, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> FitData:
        """X (n_rows, n_columns), y (n_rows,) and weights ≥ 0 (n_rows,), laid out once for many fits."""
        rows = CompiledEngine().prepare(X, weights)
        target = as_element(as_target(y), rows.n_rows)
        if not (rows.weights >= 0.0).all():
            raise ValueError("weights must be numbers of at least 0")
        root_weights = np.sqrt(rows.weights, dtype=np.float64)
        weighted = np.zeros_like(root_weights)
        weighted[: rows.n_rows] = root_weights[: rows.n_rows] * target
        return cls(np.asarray(rows.columns, np.float64), root_weights, weighted, rows.n_columns)


@dataclass(frozen=True, eq=False)
class PackedModels:
    """Models side by side: model i has the `terms[i]` terms from `first[i]` on, as `Programs` has tokens of terms.

    `const` is moved in place by `fit`: tokens of op CONST where `free` holds.  Kernels are compiled for contiguous
    arrays that can be written to, and of these types.
    """

    op: NDArray[np.int32]
    arg: NDArray[np.int32]
    const: NDArray[np.float64]
    free: Mask
    start: NDArray[np.int64]  #: (n_terms,) first token of every term
    count: NDArray[np.int64]  #: (n_terms,) its tokens
    first: NDArray[np.int64]  #: (n_models,) first term of every model
    terms: NDArray[np.int64]  #: (n_models,) its terms

    @classmethod
    def pack(
        cls, models: Sequence[Sequence[Expression]], fixed: Sequence[Sequence[Mask | None]] | None = None
    ) -> PackedModels:
        """The models, one after the other; `fixed[i][j]` marks tokens of term j of model i that must not move."""
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
        """A bound on the columns that the models use: x0 to x(n_columns − 1)."""
        return int(self.arg[self.op == VAR].max(initial=-1)) + 1

    def with_user_operators(self) -> Mask:
        """Which models hold an operator that a user added: (n_models,)."""
        tokens = np.append(0, np.cumsum(self.op >= USER_OPCODE_START))
        terms = np.append(0, np.cumsum(tokens[self.start + self.count] - tokens[self.start]))
        found: Mask = terms[self.first + self.terms] > terms[self.first]
        return found

    def terms_of(self, i: int) -> slice:
        """Where the coefficients of model i stand."""
        return slice(int(self.first[i]), int(self.first[i] + self.terms[i]))

    def expressions_of(self, i: int, model: Sequence[Expression]) -> tuple[Expression, ...]:
        """The expressions of model i, given as they were packed, with the constants that stand here now."""
        begins = self.start[self.terms_of(i)]
        return tuple(
            Expression.unchecked(e.op, e.arg, self.const[begin : begin + len(e)].copy(), e.primitives)
            for begin, e in zip(begins, model, strict=True)
        )

    def fit(
        self, data: FitData, iterations: int = 30, tolerance: float = 1e-13, n_jobs: int = 1
    ) -> tuple[Vector, Vector, NDArray[np.int64]]:
        """Coefficients (n_terms,), losses (n_models,) and steps tried (n_models,); `const` is moved in place."""
        if self.n_columns > data.n_columns:
            raise ValueError(
                f"a model uses column x{self.n_columns - 1}, but X has {data.n_columns} column(s)"
            )
        if self.with_user_operators().any():
            raise ValueError("operators that you added have no compiled slopes; use fit_constants")
        coefficients, losses = np.full(len(self.start), np.nan), np.empty(len(self.first))
        steps, counter = np.zeros(len(self.first), np.int64), np.zeros(1, np.int64)

        def work() -> None:
            fit_models(
                operator_address("float64"), self.op, self.arg, self.const, self.free, self.start, self.count,
                self.first, self.terms, data.columns, data.root_weights, data.y, iterations, tolerance, counter,
                coefficients, losses, steps,
            )  # fmt: skip

        threads = min(CompiledEngine(n_jobs=n_jobs).n_threads, max(len(self.first), 1))
        with announced("compiling the fit of constants for this processor"):
            helpers = [thread_pool().submit(work) for _ in range(threads - 1)]
            try:
                work()
            finally:
                # They write to memory that is freed as soon as an interrupt leaves this function.
                wait(helpers)
            for helper in helpers:
                helper.result()
        return coefficients, losses, steps


def fit_constants(
    models: Sequence[Sequence[Expression]],
    X: ArrayLike | FitData,
    y: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    iterations: int = 30,
    tolerance: float = 1e-13,
    fixed: Sequence[Sequence[Mask | None]] | None = None,
    n_jobs: int = 1,
) -> list[Fitted]:
    """Every model with its constants moved to a minimum of Σ w·(y − Σ c_j·e_j)² near the ones it has.

    X (n_rows, n_columns) with y (n_rows,), or a `FitData` made once for many calls.  `fixed[i][j]` marks the tokens
    of term j of model i whose constants stay.  A fit ends after so many `iterations`, or with a step that brings less
    than the part `tolerance` of the loss.  Answers do not depend on the number of threads, nor on the other models.

    >>> from fouriertree.expr import parse
    >>> x = np.linspace(0, 2, 50)
    >>> [fit] = fit_constants([[parse("sin(1.2*x0 + 0.1)")]], x[:, None], 3 * np.sin(1.5 * x + 0.2))
    >>> fit.expressions[0].text(digits=6), round(float(fit.coefficients[0]), 9), fit.loss < 1e-25
    ('sin(1.5*x0 + 0.2)', 3.0, True)
    """
    data = X if isinstance(X, FitData) else FitData.prepare(X, _required(y), weights)
    packed = PackedModels.pack(models, fixed)
    custom = packed.with_user_operators()
    plain = replace(packed, first=packed.first[~custom], terms=packed.terms[~custom])
    coefficients, losses, steps = plain.fit(data, iterations, tolerance, n_jobs)
    polished = iter(zip(losses.tolist(), steps.tolist(), strict=True))
    return [
        _unpolished(model, data)
        if custom[i]
        else Fitted(coefficients[packed.terms_of(i)], packed.expressions_of(i, model), *next(polished))
        for i, model in enumerate(models)
    ]


def _required(y: ArrayLike | None) -> ArrayLike:
    if y is None:
        raise ValueError("y is missing; give X and y, or FitData.prepare(X, y)")
    return y


def _checked_mask(mask: Mask, expression: Expression) -> Mask:
    checked = np.asarray(mask, np.bool_)
    if checked.shape != (len(expression),):
        raise ValueError(
            f"a mask needs one entry for each of {len(expression)} tokens; got shape {checked.shape}"
        )
    return checked


def _unpolished(model: Sequence[Expression], data: FitData) -> Fitted:
    """The model as it is with its best coefficients, by the reference engine."""
    n_padded, k = data.columns.shape[1], len(model)
    with np.errstate(all="ignore"):
        Phi = np.asarray(
            ReferenceEngine().evaluate(list(model), data.columns.T) * data.root_weights, np.float64
        )
    c, room = np.empty(k), (np.empty((k, n_padded)), np.empty((k, k)), np.empty(k))
    loss = float(project(Phi, data.y, *room, c, np.empty(n_padded)))
    if not loss < np.inf:
        return Fitted(np.full(k, np.nan), tuple(model), np.inf, 0, False)
    return Fitted(c, tuple(model), loss, 0, False)


def compile_kernels() -> None:
    """Have fits compiled, or read from the disk, before a clock runs."""
    wave, X = Expression.apply("sin", Expression.variable(0) * 0.9), np.array([[0.1], [0.2], [0.4]])
    fit_constants([[wave]], X, [0.1, 0.2, 0.3], iterations=1)
    value_and_slopes(wave, X, wave.op == CONST)
