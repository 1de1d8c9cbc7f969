"""The events of a run."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression


@dataclass(frozen=True)
class Progress:
    """The progress of a run after a step.

    Attributes
    ----------
    traverses, candidates, refused : int
        Passes over the data, trees evaluated, and relevant candidates that the projector rejected.
    terms, loss : int, float
        Of the best approximation so far.
    """

    traverses: int
    candidates: int
    refused: int
    terms: int
    loss: float


@dataclass(frozen=True)
class Accepted:
    """A new best approximation Σ coefficients[i]·expressions[i]; `expression` is its newest element."""

    progress: Progress
    expression: Expression
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]


@dataclass(frozen=True)
class Reported:
    """A candidate Σ coefficients[i]·expressions[i] for the table of equations.

    No candidate of at most its complexity has a smaller `loss`, or a smaller `loss_on_all_rows`: with the validation
    set, scaled to the same total weight.
    """

    progress: Progress
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]
    complexity: int
    loss: float
    loss_on_all_rows: float


@dataclass(frozen=True)
class Finished:
    """The last event of a run, with the reason for its end."""

    progress: Progress
    reason: str
    seconds: float


Event = Progress | Accepted | Reported | Finished


class Observer(Protocol):
    """Called with every event, in order; may raise `StopSearch`."""

    def __call__(self, event: Event) -> None: ...


class StopSearch(Exception):  # noqa: N818 - like StopIteration, it is no error
    """Raised by an observer to end the run with its best result so far."""
