"""A smooth surrogate of the data, for its derivatives: Gaussian-process regression with a length per input.

The search never predicts with it.  Its gradient tells which inputs act only as a power, and which act only
together; what it suggests is verified by the search on the data themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack
from scipy.optimize import minimize

Floats = NDArray[np.float64]

#: rows on which the lengths are chosen, and rows that the surrogate is made of
ROWS_FOR_LENGTHS, ROWS = 240, 1000
ITERATIONS = 40
#: logarithms of the lengths that the choice starts from: nearly linear, and wavy
STARTS = (1.0, -0.7)
#: with less noise than this, relative to the target's spread, the first choice stands
QUIET = 0.05
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
    centre: Floats
    spread: Floats
    mean: float
    scale: float

    def values_and_gradient(self, Z: Floats) -> tuple[Floats, Floats]:
        """f (n,) and ∂f/∂z (d, n) on rows of Z, in the units of Z and of the target."""
        z = (Z - self.centre) / self.spread
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


def fit_surrogate(Z: Floats, t: Floats, rng: np.random.Generator) -> Surrogate | None:
    """The surrogate of t (n,) over Z (n, d) by maximum marginal likelihood; None where that fails."""
    centre, spread = Z.mean(0), Z.std(0)
    mean, scale = float(t.mean()), float(t.std())
    if not (np.isfinite(scale) and scale > 0.0 and (spread > 0.0).all()):
        return None
    z, u = (Z - centre) / spread, (t - mean) / scale
    rows = rng.permutation(len(u))[:ROWS]
    few = rows[:ROWS_FOR_LENGTHS]
    bounds = [LENGTHS] * z.shape[1] + [HEIGHT, NOISE]
    starts = [np.concatenate([np.full(z.shape[1], length), [0.5, -5.0]]) for length in STARTS]
    found: Any = None
    for start in starts:
        run = minimize(
            negative_evidence, start, (z[few], u[few]), jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": ITERATIONS},
        )  # fmt: skip
        if found is None or run.fun < found.fun:
            found = run
        if np.exp(found.x[-1]) < QUIET:
            break
    lengths, height, noise = np.exp(found.x[:-2]), float(np.exp(found.x[-2])), float(np.exp(found.x[-1]))
    z, u = z[rows], u[rows]
    kernel = height**2 * gaussian(z, z, lengths)
    kernel[np.diag_indices_from(kernel)] += noise**2
    try:
        alpha = cho_solve(cho_factor(kernel, lower=True), u)
    except LinAlgError:
        return None
    return Surrogate(z, alpha, lengths, height, noise, centre, spread, mean, scale)


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
