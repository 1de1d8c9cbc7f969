"""Sampling of rows: uniform boxes, log-uniform magnitudes, grids, trajectories, tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.errors import InputError
from fouriertree.experiments.bench.formulas import Array

Values = Callable[[Array], Array]  #: of rows (n_rows, n_features)
#: SRSD redraws rows whose target exceeds float32
LARGEST = float(np.finfo(np.float32).max)
#: trajectories of a system, states of each, and seconds between states
TRAJECTORIES, STATES, STEP = 4, 100, 0.1
#: fewest rows of a user table, so that there is a test set
FEWEST_ROWS = 8


@dataclass(frozen=True)
class Range:
    """The distribution of one feature: uniform, log-uniform or integer between bounds, optionally with a random sign.

    >>> Range.read("log 0.1 2*pi ±")
    Range(law='log', low=0.1, high=6.283185307179586, signed=True)
    """

    law: str
    low: float
    high: float
    signed: bool = False

    @classmethod
    def read(cls, text: str) -> Range:
        law, low, high, *signs = text.split()
        return cls(law, number(low), number(high), signs == ["±"])

    def draw(self, rows: int, rng: np.random.Generator) -> Array:
        if self.law == "log":
            values = np.exp(rng.uniform(np.log(self.low), np.log(self.high), rows))
        elif self.law == "integer":
            values = rng.integers(int(self.low), int(self.high) + 1, rows).astype(np.float64)
        else:
            values = rng.uniform(self.low, self.high, rows)
        return values * rng.choice([-1.0, 1.0], rows) if self.signed else values

    @property
    def smallest(self) -> float:
        return -self.high if self.signed else self.low


def number(text: str) -> float:
    """The value of `2*pi`, `pi/2` or a decimal."""
    import sympy

    return float(sympy.sympify(text))


def box(ranges: Sequence[Range], rows: int, target: Values, rng: np.random.Generator) -> Array:
    """Rows of independent features, (rows, n_features); a row whose target is not finite in float32 is redrawn."""
    kept = np.empty((0, len(ranges)))
    while len(kept) < rows:
        X = np.column_stack([law.draw(rows, rng) for law in ranges])
        kept = np.vstack([kept, X[np.abs(target(X)) <= LARGEST]])
    return kept[:rows]


def by_spec(spec: dict[str, Sequence[float]], columns: int, rng: np.random.Generator) -> Array:
    """U = [low, high, rows] or E = [low, high, step]; a third value that is not below the range is a count.

    >>> by_spec({"E": [0.0, 1.0, 0.5]}, 1, np.random.default_rng(0)).ravel()
    array([0. , 0.5, 1. ])
    >>> by_spec({"E": [-1.0, 1.0, 3.0]}, 2, np.random.default_rng(0)).shape
    (9, 2)
    """
    ((kind, (low, high, third)),) = spec.items()
    if kind == "U":
        return rng.uniform(low, high, (int(third), columns))
    count = int(third) if third >= high - low else round((high - low) / third) + 1
    axis = np.linspace(low, high, count)
    return np.stack(np.meshgrid(*[axis] * columns, indexing="ij"), axis=-1).reshape(-1, columns)


def simulate(slopes: Values, start: Sequence[Any], rng: np.random.Generator) -> Array:
    """States (x, y) at steps of 0.1 s along four trajectories: (400, 2).  `slopes` maps states to derivatives."""
    from scipy.integrate import solve_ivp

    times = STEP * np.arange(STATES)

    def path(point: Array) -> Any:
        solved = solve_ivp(
            lambda _, state: slopes(state[None, :])[0],
            (0.0, times[-1]),
            point,
            t_eval=times,
            rtol=1e-9,
            atol=1e-12,
        )
        return solved.y.T

    return np.vstack([path(point) for point in starting_points(start, rng)])


def starting_points(start: Sequence[Any], rng: np.random.Generator) -> Array:
    """The four starting points as given, or drawn from a distribution per state."""
    if not isinstance(start[0], str):
        return np.asarray(start, dtype=np.float64)
    return np.column_stack([four_values(law, rng) for law in start])


def four_values(law: str, rng: np.random.Generator) -> Array:
    """Of "uniform low high" or "normal mean power"; a power in dBW is a variance of 10^(power/10)."""
    kind, *constants = law.split()
    a, b = map(number, constants)
    uniform = kind == "uniform"
    return rng.uniform(a, b, TRAJECTORIES) if uniform else rng.normal(a, 10 ** (b / 20), TRAJECTORIES)


def own_table(path: Path) -> tuple[Array, Array]:
    """Features and target of a user table in any format; the target is the column `target`, or else the last one."""
    from fouriertree.io.tables.reading import read_table

    found = read_table(path)
    target = "target" if "target" in found.names else found.names[-1]
    names = [name for name in found.names if name != target and name not in found.nameless]
    if not names or len(found) < FEWEST_ROWS:
        raise InputError(
            f"{path} needs two columns or more, and {FEWEST_ROWS} rows; leave it out of the folder"
        )
    values = found.numbers([*names, target], "; a benchmark needs numbers, so leave the column out")
    return np.array(values[:, :-1], order="C"), np.array(values[:, -1])


def table(path: Path) -> tuple[Array, Array]:
    """Features and target of a CSV file; the target is the column `target`, or else the last one."""
    import pandas as pd

    frame = pd.read_csv(path)
    name = "target" if "target" in frame.columns else frame.columns[-1]
    # Operon requires writable and C-contiguous arrays; those of a frame may be neither.
    y = frame.pop(name).to_numpy(np.float64, copy=True)
    return np.array(frame.to_numpy(np.float64), order="C"), y
