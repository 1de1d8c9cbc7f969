"""How much a search may spend, and what it is content with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None is no limit.

    A *traverse* is one pass over the data for an inner product or a loss, the paper's unit of cost.
    """

    max_traverses: int | None = None
    time_limit: float | None = None  #: seconds
    target_loss: float = 0.0  #: stop once the loss is at most this
    max_candidates: int | None = None  #: candidates looked at
    #: asked between steps: why somebody else wants the run to end, or None
    asked: Callable[[], str | None] | None = field(default=None, compare=False, repr=False)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit but the target loss."""
        return (self.max_traverses, self.time_limit, self.max_candidates) == (None, None, None)

    def reason_to_stop(self, traverses: int, seconds: float, loss: float, candidates: int = 0) -> str | None:
        """Why a run that has come this far ends here, or None."""
        if loss <= self.target_loss:
            return "target loss reached"
        if self.max_traverses is not None and traverses >= self.max_traverses:
            return "traverses used up"
        if self.max_candidates is not None and candidates >= self.max_candidates:
            return "evaluations used up"
        if self.time_limit is not None and seconds >= self.time_limit:
            return "time used up"
        return None if self.asked is None else self.asked()
