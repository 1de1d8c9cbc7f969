"""Limits of a run."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None is no limit.

    Parameters
    ----------
    max_traverses : int, optional
        Traverses at most: passes over the data for an inner product or a loss, the unit of cost of the paper.
    time_limit : float, optional
        Seconds.
    target_loss : float, default=0.0
        The run ends when the loss is at most this.
    max_candidates : int, optional
        Candidates evaluated at most.
    stop_requested : callable, optional
        Called between steps; returns the reason to end the run, or None.
    """

    max_traverses: int | None = None
    time_limit: float | None = None
    target_loss: float = 0.0
    max_candidates: int | None = None
    stop_requested: Callable[[], str | None] | None = field(default=None, compare=False, repr=False)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit but the target loss."""
        return (self.max_traverses, self.time_limit, self.max_candidates) == (None, None, None)

    def reason_to_stop(self, traverses: int, seconds: float, loss: float, candidates: int = 0) -> str | None:
        """The reason to end a run with this progress, or None."""
        if loss <= self.target_loss:
            return "target loss reached"
        if self.max_traverses is not None and traverses >= self.max_traverses:
            return "traverses used up"
        if self.max_candidates is not None and candidates >= self.max_candidates:
            return "evaluations used up"
        if self.time_limit is not None and seconds >= self.time_limit:
            return "time used up"
        return None if self.stop_requested is None else self.stop_requested()
