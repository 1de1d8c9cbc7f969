"""Boxes: products of intervals, one per feature, that are bisected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.uncertainty.certificate.rounding import Floats

#: up to this many features, all corners are probed
MAX_CORNER_FEATURES = 6
#: random points of the whole box that are probed first, and boxes that are probed in later steps
RANDOM_POINTS, PROBED_BOXES = 200, 64


@dataclass(frozen=True, eq=False)
class Boxes:
    """Lower and upper ends of every box: (n_boxes, n_features) each.

    >>> Boxes.of([[0.0, 4.0]]).halves(np.array([0])).upper.ravel()
    array([2., 4.])
    """

    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, box: ArrayLike) -> Boxes:
        """One box, from the (lowest, highest) value of every feature: (n_features, 2)."""
        ends = np.asarray(box, dtype=np.float64)
        if ends.ndim != 2 or ends.shape[1] != 2:
            raise ValueError(
                f"a box has a lowest and a highest value per feature (n_features, 2); got shape {ends.shape}"
            )
        if not np.isfinite(ends).all():
            raise ValueError("the ends of a box must be finite")
        if (backwards := np.flatnonzero(ends[:, 0] > ends[:, 1])).size:
            i = int(backwards[0])
            raise ValueError(
                f"the box of feature {i} is from {ends[i, 0]} to {ends[i, 1]}; give the lowest value first"
            )
        return cls(ends[None, :, 0], ends[None, :, 1])

    @classmethod
    def points(cls, X: Floats) -> Boxes:
        """Boxes that are single points, from rows."""
        return cls(X, X)

    @classmethod
    def join(cls, many: Sequence[Boxes]) -> Boxes:
        return cls(np.concatenate([b.lower for b in many]), np.concatenate([b.upper for b in many]))

    def __len__(self) -> int:
        return len(self.lower)

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Boxes:
        return Boxes(self.lower[which], self.upper[which])

    @property
    def centres(self) -> Floats:
        return 0.5 * self.lower + 0.5 * self.upper

    def can_split(self) -> NDArray[np.bool_]:
        """Whether there is a float between the ends: (n_boxes, n_features)."""
        return np.nextafter(self.lower, np.inf) < self.upper

    def relative_widths(self, whole: Boxes) -> Floats:
        """Widths relative to those of one box: (n_boxes, n_features)."""
        # Halves, since the width of a box may overflow.
        widths = 0.5 * whole.upper - 0.5 * whole.lower
        relative: Floats = (0.5 * self.upper - 0.5 * self.lower) / np.where(widths > 0.0, widths, 1.0)
        return relative

    def splittable_widths(self, whole: Boxes) -> Floats:
        """Relative widths, 0 where there is no float between the ends."""
        return np.where(self.can_split(), self.relative_widths(whole), 0.0)

    def halves(self, columns: NDArray[np.intp]) -> Boxes:
        """Both halves of every box, bisected in one feature each; at zero if that is inside, often a pole."""
        rows = np.arange(len(self))
        low, high = self.lower[rows, columns], self.upper[rows, columns]
        cut = np.where((low < 0.0) & (high > 0.0), 0.0, 0.5 * low + 0.5 * high)
        cut = np.where((cut <= low) | (cut >= high), np.nextafter(low, np.inf), cut)
        upper, lower = self.upper.copy(), self.lower.copy()
        upper[rows, columns], lower[rows, columns] = cut, cut
        return Boxes(np.concatenate([self.lower, lower]), np.concatenate([upper, self.upper]))

    def some_probes(self, columns: Sequence[int], rng: np.random.Generator, whole: Boxes) -> Floats:
        """Points of at most PROBED_BOXES boxes, evenly spaced; of the whole box, random points, too."""
        if len(self) <= PROBED_BOXES:
            return self.probes(columns, rng, RANDOM_POINTS if self is whole else 0)
        return self.take(np.linspace(0, len(self) - 1, PROBED_BOXES).astype(int)).probes(columns, rng)

    def probes(self, columns: Sequence[int], rng: np.random.Generator, n_random: int = 0) -> Floats:
        """Points of the boxes: centres, ends, corners for few features, and random points."""
        found = [self.centres, self.lower, self.upper]
        if len(columns) <= MAX_CORNER_FEATURES:
            for mask in range(1, 2 ** len(columns) - 1):
                high = np.zeros(self.lower.shape[1], bool)
                high[[c for k, c in enumerate(columns) if mask >> k & 1]] = True
                found.append(np.where(high, self.upper, self.lower))
        for _ in range(n_random):
            t = rng.random(self.lower.shape)
            found.append(self.lower * (1.0 - t) + self.upper * t)
        # A rounded mean may lie outside by a unit in the last place.
        return np.concatenate([np.clip(points, self.lower, self.upper) for points in found])
