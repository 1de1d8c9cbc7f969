"""A smooth surrogate of the data, for its derivatives: Gaussian-process regression with a length per input.

The search never predicts with it.  Its gradient tells which inputs act only as a power, and which act only
together; what it suggests is verified by the search on the data themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: rows on which the lengths are chosen, and rows that the surrogate is made of
ROWS_FOR_LENGTHS, ROWS = 240, 1000
ITERATIONS = 40
#: logarithms of the lengths that the choice starts from: nearly linear, and wavy
STARTS = (1.0, -0.7)
#: with less noise than this, relative to the target's spread, the first choice stands
QUIET = 0.05
#: with less noise than this, every positive input stays a logarithm; otherwise the input itself is tried, with a few
#: iterations, and used if the evidence grows by so many nats
LOW_NOISE, ITERATIONS_OF_TRIALS, LEAST_GROWTH = 1e-3, 12, 2.0
#: rows and iterations with which lengths are improved in the end
ROWS_FOR_LAST_LENGTHS, LAST_ITERATIONS = 480, 10
#: bounds of the logarithms of lengths (relative to the spread of an input), of the height and of the noise
LENGTHS, HEIGHT, NOISE = (-2.5, 5.0), (-3.0, 5.0), (-9.0, 1.0)


@dataclass(frozen=True)
class Surrogate:
    """f(z) = mean + Σ α_j k(z, z_j) with k(z, z') = h²·exp(−½ Σ ((z_i − z'_i)/ℓ_i)²)."""

    centres: Floats  #: (n, d) standardised inputs
    alpha: Floats
    lengths: Floats
    height: float
    noise: float  #: standard deviation of what it takes for noise, relative to the target's
    logged: Mask  #: (d,) inputs of which the logarithm is taken
    centre: Floats
    spread: Floats
    mean: float
    scale: float

    def values_and_gradient(self, Z: Floats) -> tuple[Floats, Floats]:
        """f (n,) on rows of Z (n, d), and ∂f/∂z (d, n), or ∂f/∂log z for the inputs that are `logged`."""
        z = (transformed(Z, self.logged) - self.centre) / self.spread
        kernel = self.height**2 * gaussian(z, self.centres, self.lengths)
        values = kernel @ self.alpha
        gradient = np.empty(z.T.shape)
        for i in range(z.shape[1]):
            pull = kernel @ (self.alpha * self.centres[:, i]) - z[:, i] * values
            gradient[i] = pull / self.lengths[i] ** 2
        return self.mean + self.scale * values, self.scale * gradient / self.spread[:, None]


def gaussian(a: Floats, b: Floats, lengths: Floats) -> Floats:
    """exp(−½ Σ ((a_i − b_i)/ℓ_i)²): (len(a), len(b))."""
    a, b = a / lengths, b / lengths
    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1)[None] - 2.0 * (a @ b.T)
    kernel: Floats = np.exp(-0.5 * np.maximum(squares, 0.0))
    return kernel


def transformed(Z: Floats, logged: Mask) -> Floats:
    """The inputs (n, d), with logarithms of some columns."""
    return np.where(logged, np.log(np.where(logged, Z, 1.0)), Z)


def fit_surrogate(
    Z: Floats, t: Floats, rng: np.random.Generator, positive: Mask | None = None
) -> Surrogate | None:
    """The surrogate of t (n,) over Z (n, d) by maximum marginal likelihood; None where that fails.

    Of every positive input the logarithm, in which powers are linear, or the input, in which waves have one length.
    `positive` are the inputs that are positive wherever the surrogate will be evaluated; by default those in Z.
    """
    logged = np.asarray((Z > 0.0).all(axis=0)) if positive is None else positive
    mean, scale = float(t.mean()), float(t.std())
    spreads = np.ptp(Z, axis=0)
    if not (np.isfinite(scale) and scale > 0.0 and np.isfinite(spreads).all() and (spreads > 0.0).all()):
        return None
    u = (t - mean) / scale
    rows = rng.permutation(len(u))[:ROWS]
    few = rows[:ROWS_FOR_LENGTHS]
    value, parameters = _first_lengths(standardized(Z, logged)[0][few], u[few])
    for i in np.flatnonzero(logged) if np.exp(parameters[-1]) > LOW_NOISE else ():
        plain = logged.copy()
        plain[i] = False
        z = standardized(Z, plain)[0][few]
        # Waves are shorter than other functions.
        shorter = parameters.copy()
        shorter[i] = min(shorter[i], STARTS[1])
        other, changed = _lengths(shorter, z, u[few], ITERATIONS_OF_TRIALS)
        if other < value - LEAST_GROWTH:
            value, parameters, logged = other, changed, plain
    z, centre, spread = standardized(Z, logged)
    if np.exp(parameters[-1]) > LOW_NOISE and len(rows) > len(few):
        some = rows[:ROWS_FOR_LAST_LENGTHS]
        _, parameters = _lengths(parameters, z[some], u[some], LAST_ITERATIONS)
    lengths, height, noise = (
        np.exp(parameters[:-2]),
        float(np.exp(parameters[-2])),
        float(np.exp(parameters[-1])),
    )
    z, u = z[rows], u[rows]
    kernel = height**2 * gaussian(z, z, lengths)
    kernel[np.diag_indices_from(kernel)] += noise**2
    try:
        alpha = cho_solve(cho_factor(kernel, lower=True), u)
    except LinAlgError:
        return None
    return Surrogate(z, alpha, lengths, height, noise, logged, centre, spread, mean, scale)


def standardized(Z: Floats, logged: Mask) -> tuple[Floats, Floats, Floats]:
    """The inputs, some as logarithms, with mean 0 and spread 1; their means and spreads."""
    z = transformed(Z, logged)
    centre, spread = z.mean(axis=0), z.std(axis=0)
    return (z - centre) / spread, centre, spread


def _first_lengths(z: Floats, u: Floats) -> tuple[float, Floats]:
    """The negative evidence and its parameters, from lengths of nearly linear functions, or of wavy ones."""
    best: tuple[float, Floats] | None = None
    for length in STARTS:
        found = _lengths(np.concatenate([np.full(z.shape[1], length), [0.5, -5.0]]), z, u, ITERATIONS)
        if best is None or found[0] < best[0]:
            best = found
        if np.exp(best[1][-1]) < QUIET:
            break
    assert best is not None
    return best


def _lengths(start: Floats, z: Floats, u: Floats, iterations: int) -> tuple[float, Floats]:
    """The negative evidence and its parameters after some iterations."""
    bounds = [LENGTHS] * z.shape[1] + [HEIGHT, NOISE]
    run = minimize(
        negative_evidence, start, (z, u), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": iterations},
    )  # fmt: skip
    return float(run.fun), np.asarray(run.x)


def negative_evidence(parameters: Floats, z: Floats, u: Floats) -> tuple[float, Floats]:
    """−log p(u | z, lengths, height, noise) up to a constant, and its gradient in the logarithms of these."""
    lengths, height, noise = np.exp(parameters[:-2]), np.exp(parameters[-2]), np.exp(parameters[-1])
    smooth = height**2 * gaussian(z, z, lengths)
    kernel = smooth.copy()
    kernel[np.diag_indices_from(kernel)] += noise**2
    factor, bad = lapack.dpotrf(kernel, lower=1)
    if bad:
        return 1e10, np.zeros_like(parameters)
    alpha = cho_solve((factor, True), u)
    inverse, _ = lapack.dpotri(factor, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    value = 0.5 * float(u @ alpha) + float(np.log(np.diag(factor)).sum())
    pull = inverse - np.outer(alpha, alpha)
    gradient = np.empty_like(parameters)
    weighted = pull * smooth
    rows, quadratic = weighted.sum(1), weighted @ z
    for i, length in enumerate(lengths):
        # Σ_ab W_ab (z_a − z_b)² = 2 Σ_a z_a² Σ_b W_ab − 2 zᵀWz, W symmetric
        squares = 2.0 * float(np.square(z[:, i]) @ rows) - 2.0 * float(z[:, i] @ quadratic[:, i])
        gradient[i] = 0.5 * squares / length**2
    gradient[-2] = float(weighted.sum())
    gradient[-1] = float(np.trace(pull)) * noise**2
    return value, gradient
