"""When a candidate is worth a projection: it must not be orthogonal to the residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.space import Scores


class Relevance(Protocol):
    """A test on ⟨v, r⟩ for many candidates v at once."""

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        """Which candidates pass; `loss` is ‖r‖².  Candidates with NaN scores never do."""
        ...


@dataclass(frozen=True)
class AbsoluteProduct:
    """|⟨v, r⟩| ≥ eps2, as published; `signed` asks for ⟨v, r⟩ ≥ eps2, as the published LSP runs did."""

    eps2: float = 1e-3
    signed: bool = False

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        size = scores.products if self.signed else np.abs(scores.products)
        return size >= self.eps2


@dataclass(frozen=True)
class Cosine:
    """|⟨v, r⟩| > eps2·‖v‖·‖r‖: the same for any scale of v and r, down to the rounding of the product."""

    eps2: float = 1e-10

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            passed: NDArray[np.bool_] = np.abs(scores.products) > self.eps2 * np.sqrt(scores.norms) * np.sqrt(
                loss
            )
            return passed & np.isfinite(scores.norms)
