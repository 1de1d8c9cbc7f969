"""What observers of a run are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression


@dataclass(frozen=True)
class Progress:
    """Where a run stands after a step."""

    traverses: int
    candidates: int  #: trees looked at
    refused: int  #: candidates that passed the first test and failed the projector's
    terms: int
    loss: float


@dataclass(frozen=True)
class Accepted:
    """A new best sum Σ coefficients[i]·expressions[i]; `expression` is the newest of its elements."""

    progress: Progress
    expression: Expression
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]


@dataclass(frozen=True)
class Reported:
    """A sum worth a row in the table of formulas: nothing as simple is more accurate, or is on all rows."""

    progress: Progress
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]
    complexity: int
    loss: float
    loss_on_all_rows: float  #: also on the rows that are held back, for as much weight


@dataclass(frozen=True)
class Finished:
    progress: Progress
    reason: str
    seconds: float


Event = Progress | Accepted | Reported | Finished


class Observer(Protocol):
    """Called with every event, in order; may raise StopSearch."""

    def __call__(self, event: Event) -> None: ...


class StopSearch(Exception):  # noqa: N818 - like StopIteration, it is no error
    """Raised by an observer to end the run with what has been found."""
