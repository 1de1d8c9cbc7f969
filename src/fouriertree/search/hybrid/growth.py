"""Best-first growth of the sums of an image: what has been seen, and what is grown next."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE
from fouriertree.search.hybrid.explore import DIGEST, QUICK, Image, Sum, Sums

#: a sum that was seen before is new if it leaves less than this share of the error it had
BETTER = 0.999
#: squared error, relative to the image, below which a sum may be exact with fewer terms
NEARLY_EXACT = 1e-9

#: what an interrupted growth is restored from
State = Mapping[str, Any]


@dataclass(frozen=True)
class Breadth:
    """How many candidates of each kind screening hands on to be fitted."""

    singles: int = 12
    sums: int = 60
    products: int = 120

    def of_small_pool(self) -> Breadth:
        return Breadth(self.singles, self.sums, min(self.products, self.sums))


class Growth:
    """Best-first search over the sums of an image: the most promising start is grown next.

    `lines` are starts beside nothing and the constant.  A sum is a start, and so is it without any one of its terms:
    what is grown in its place is an exchange.  With `saved`, growth goes on where `state` was asked for.
    """

    def __init__(
        self, image: Image, breadth: Breadth, max_terms: int, lines: Sequence[tuple[Expression, ...]] = (),
        saved: State | None = None,
    ) -> None:  # fmt: skip
        self.image, self.breadth, self.max_terms = image, breadth, max_terms
        self.seen: dict[bytes, float] = {}  #: loss of every shape
        self._starts: list[tuple[float, int, Sum]] = []
        self._started: set[bytes] = set()
        self._count = 0
        if saved is None:
            self._begin(lines)
        else:
            self._restore(saved)

    def _begin(self, lines: Sequence[tuple[Expression, ...]]) -> None:
        self._push(Sum(), -np.inf)
        for constant in self.image.fitted([(ONE,)], 0):
            self.seen[constant.digest] = constant.loss
            self._push(constant, -np.inf)
        for line in self.image.fitted(lines, 0):
            self._push(line, -np.inf)

    def _push(self, start: Sum, priority: float) -> None:
        if start.digest not in self._started and len(start.expressions) < self.max_terms:
            self._started.add(start.digest)
            self._count += 1
            heapq.heappush(self._starts, (priority, self._count, start))

    @property
    def exhausted(self) -> bool:
        return not self._starts

    def step(self) -> Sums:
        """Grow one start; of the new sums, those worth to be tried for y."""
        _, _, start = heapq.heappop(self._starts)
        breadth = self.breadth
        grown = yield from self.image.grow(start, breadth.singles, breadth.sums, breadth.products)
        new = [s for s in grown if self._is_new(s)]
        n = self.image.n_rows
        for s in new[:4]:
            self._push(s, s.score(n))
        for s in new[:2]:
            k = len(s.expressions)
            rests = [s.expressions[:i] + s.expressions[i + 1 :] for i in range(k if k > 1 else 0)]
            for shorter in self.image.fitted(rests, QUICK):
                self._push(shorter, s.score(n) + 0.1 * n)
        return self._promising(new)

    def _is_new(self, s: Sum) -> bool:
        new = len(s.expressions) <= self.max_terms and s.loss < BETTER * self.seen.get(s.digest, np.inf)
        if new:
            self.seen[s.digest] = s.loss
        return new

    def _promising(self, new: Sequence[Sum]) -> list[Sum]:
        chosen = {s.digest: s for s in (*new[:3], *front(new, 3))}
        if new and len(new[0].expressions) > 2 and new[0].loss < NEARLY_EXACT:
            chosen |= {s.digest: s for s in self.image.pruned(new[0])}
        return list(chosen.values())

    # To go on later -----------------------------------------------------------------------------------------
    def state(self) -> State:
        """Plain data, arrays and expressions, from which growth goes on in an image made anew."""
        return {
            "seen": b"".join(self.seen),
            "losses": np.array(list(self.seen.values())),
            "started": b"".join(sorted(self._started)),
            "starts": [
                [priority, count, list(s.expressions), list(s.coefficients), s.loss]
                for priority, count, s in self._starts
            ],
            "count": self._count,
            "rng": self.image.rng.bit_generator.state,
            "screened": self.image.screened,
            "traverses": self.image.traverses,
        }

    def _restore(self, saved: State) -> None:
        self.seen = dict(zip(_digests(saved["seen"]), saved["losses"].tolist(), strict=True))
        self._started = set(_digests(saved["started"]))
        self._starts = [
            (priority, count, Sum(tuple(expressions), tuple(coefficients), loss))
            for priority, count, expressions, coefficients, loss in saved["starts"]
        ]
        self._count = saved["count"]
        self.image.rng.bit_generator.state = saved["rng"]
        self.image.screened, self.image.traverses = saved["screened"], saved["traverses"]


def _digests(joined: bytes) -> list[bytes]:
    return [joined[i : i + DIGEST] for i in range(0, len(joined), DIGEST)]


def front(sums: Sequence[Sum], limit: int) -> list[Sum]:
    """Those that no simpler one beats, best first by loss."""
    kept: list[Sum] = []
    for s in sorted(sums, key=lambda s: (s.complexity, s.loss)):
        if not kept or s.loss < BETTER * kept[-1].loss:
            kept.append(s)
    return kept[::-1][:limit]
