"""Spans that either hold the law or cost next to nothing: polynomials of one variable, and fractions of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.archive import SPARE_ROWS, Archive
from fouriertree.search.hybrid.assemble import terms_for_target
from fouriertree.search.hybrid.chain import Chain
from fouriertree.search.hybrid.explore import EXACT
from fouriertree.search.hybrid.fractions import fractions, passes
from fouriertree.search.hybrid.links import IDENTITY, LINKS, Link
from fouriertree.search.hybrid.symmetry import View

Floats = NDArray[np.float64]

#: polynomials up to this degree are written with powers, others as chains of products
LARGEST_POWER = 12
#: squared error of a polynomial in an image, relative to the image, below which y itself is tried
NEARLY = 1e-2


@dataclass(frozen=True)
class Polynomials:
    """Of the only column of a table, as far as terms allow; exact ones may have more terms than others."""

    archive: Archive
    vocabulary: Vocabulary
    max_terms: int
    exact_terms: int

    def work(self) -> Iterator[None]:
        table, v = self.archive.table, self.vocabulary
        if table.n_columns != 1 or "mul" not in v or not ("add" in v and "sub" in v):
            return
        for link in [link for link in LINKS if link.allowed(v)]:
            applied = link.apply(table.y, table.weights)
            if applied is not None:
                yield from self._in_image(link, applied[0], applied[1])

    def _in_image(self, link: Link, z: Floats, weights: Floats) -> Iterator[None]:
        archive = self.archive
        chain = Chain(archive.table.X[:, 0], z, weights, self.vocabulary)
        most = max(self.max_terms, self.exact_terms)
        while not chain.finished and len(chain.terms) < min(most, len(z) - SPARE_ROWS):
            chain.step()
            archive.traverses += chain.traverses
            chain.traverses = 0
            yield
        degree = len(chain.terms) - 1
        if link is not IDENTITY:
            # The fit to y itself finds the rest, so the image need not be exact.
            near = [d for d in range(1, min(degree, 4) + 1) if chain.losses[d] < NEARLY]
            self._offer_powers(link, z, weights, near)
        elif degree > LARGEST_POWER:
            archive.offer([tuple(chain.terms)], iterations=0)
        elif degree > 0 and chain.loss <= EXACT:
            self._offer_powers(link, z, weights, [degree])
        yield

    def _offer_powers(self, link: Link, z: Floats, weights: Floats, degrees: Sequence[int]) -> None:
        table, v = self.archive.table, self.vocabulary
        view = View(table.variables, table.X.T, table.y, table.weights)
        powers = [v.power(table.variables[0], float(p)) for p in range(1, max(degrees, default=0) + 1)]
        sums = self.archive.projected([(ONE, *powers[:d]) for d in degrees], z, weights)
        models = [terms_for_target(v, view, link, c, e, -1) for c, e in sums]
        self.archive.offer([m for m in models if m is not None], most_terms=self.exact_terms)


def fractions_of(view: View, archive: Archive, v: Vocabulary) -> Iterator[None]:
    """Fractions of polynomials in the only variable of a view."""
    if not v.complete:
        return
    rows = archive.table.screen
    found = fractions(view.V[0, rows], view.t[rows], view.weights[rows], SPARE_ROWS)
    for degree, good in enumerate(found, 1):
        archive.traverses += passes(degree)
        for fraction in good:
            written = fraction.expression(v, view.variables[0])
            model = terms_for_target(v, view, IDENTITY, (1.0,), (written,), -1)
            archive.offer([model] if model is not None else [], may_be_law=fraction.may_be_law)
        yield
