"""Relevance tests: a candidate must not be orthogonal to the residual."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.space import Scores


class Relevance(Protocol):
    """A test on ⟨v, r⟩ for many candidates v at once."""

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        """Which candidates pass: (n,); `loss` is ‖r‖².  Candidates with NaN scores never pass."""


@dataclass(frozen=True)
class AbsoluteProduct:
    """|⟨v, r⟩| ≥ eps2, as published; with `signed` ⟨v, r⟩ ≥ eps2, as in the published LSP runs."""

    eps2: float = 1e-3
    signed: bool = False

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        size = scores.products if self.signed else np.abs(scores.products)
        return size >= self.eps2


@dataclass(frozen=True)
class Cosine:
    """|⟨v, r⟩| > eps2·‖v‖·‖r‖: invariant to the scales of v and r, with a tolerance for rounding."""

    eps2: float = 1e-10

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            limits = self.eps2 * np.sqrt(scores.norms) * np.sqrt(loss)
            passed: NDArray[np.bool_] = np.abs(scores.products) > limits
            return passed & np.isfinite(scores.norms)
