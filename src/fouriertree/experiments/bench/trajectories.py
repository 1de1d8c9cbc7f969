"""States along the trajectories of two-state systems, and the right-hand sides there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array
from fouriertree.experiments.bench.sampling import number

TRAJECTORIES, STATES, STEP = 4, 100, 0.1


def simulate(slopes: Callable[[Array], Array], start: Sequence[Any], rng: np.random.Generator) -> Array:
    """States (x, y) at steps of 0.1 s along four trajectories: (400, 2).  `slopes` maps states to derivatives."""
    from scipy.integrate import solve_ivp

    times = STEP * np.arange(STATES)
    paths = [
        solve_ivp(
            lambda _, state: slopes(state[None, :])[0],
            (0.0, times[-1]),
            point,
            t_eval=times,
            rtol=1e-9,
            atol=1e-12,
        ).y.T
        for point in starting_points(start, rng)
    ]
    return np.vstack(paths)


def starting_points(start: Sequence[Any], rng: np.random.Generator) -> Array:
    """The four starting points as given, or drawn from a distribution per state."""
    if not isinstance(start[0], str):
        return np.asarray(start, dtype=np.float64)
    return np.column_stack([draw(law, rng) for law in start])


def draw(law: str, rng: np.random.Generator) -> Array:
    """Four values of "uniform low high" or "normal mean power"; a power in dBW is a variance of 10^(power/10)."""
    kind, first, second = law.split()
    a, b = number(first), number(second)
    return (
        rng.uniform(a, b, TRAJECTORIES) if kind == "uniform" else rng.normal(a, 10 ** (b / 20), TRAJECTORIES)
    )
