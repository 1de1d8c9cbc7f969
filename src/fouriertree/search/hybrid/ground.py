"""What an image is made of: the rows for screening of one view, a link and a pool of atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.atoms import Atom, Floats, Recipe, make_atoms
from fouriertree.search.hybrid.explore import Image
from fouriertree.search.hybrid.growth import Breadth, Growth, State
from fouriertree.search.hybrid.links import Link, link_named
from fouriertree.search.hybrid.modulation import modulators
from fouriertree.search.hybrid.symmetry import View

#: periods that waves may have over the range of their argument: of one variable, and of several
PERIODS_OF_ONE, PERIODS = 10, 5
#: variables at most for which sums may start from a line
MOST_LINES = 3
#: a pool with fewer atoms is small
SMALL_POOL = 100
RECIPROCAL = link_named("1/t")


@dataclass(frozen=True)
class Pool:
    """Which atoms, and how screening uses them."""

    name: str
    recipe: Recipe
    breadth: Breadth = field(default_factory=Breadth)
    modulated: bool = False
    ratio: bool = False
    first_steps: int = 2  #: in the first round
    lines: bool = False  #: also start from a constant and one variable


@dataclass(frozen=True, eq=False)
class Ground:
    """Plain data, so that growth may take place in another process.  X and view hold the rows for screening only."""

    X: Floats
    view: View
    link: Link
    pool: Pool
    vocabulary: Vocabulary
    max_terms: int
    most_atoms: int

    def growth(self, saved: State | None = None, n_jobs: int = 1) -> Growth | None:
        """Begun, or where `saved` says; None where the link or the pool has nothing to work with."""
        pool, view = self.pool, self.view
        if (pool.ratio or pool.modulated) and not self.vocabulary.complete:
            return None
        applied = self.link.apply(view.t, view.weights)
        if applied is None:
            return None
        z, weights, _ = applied
        roots = np.sqrt(weights)
        periods = PERIODS_OF_ONE if len(view.V) == 1 else PERIODS
        recipe = replace(pool.recipe, periods=periods, limit=min(pool.recipe.limit, self.most_atoms))
        waves = self._modulators(z, roots, periods) if pool.modulated else ()
        atoms = make_atoms(view.V, self.vocabulary, roots, recipe, z if pool.ratio else None, waves)
        if not len(atoms):
            return None
        X = np.column_stack([self.X, z])
        column = self.X.shape[1] if pool.ratio else None
        image = Image(atoms, z, weights, view.variables, X, self.vocabulary, column, n_jobs)
        # Screening of few pairs need not hand on many.
        breadth = pool.breadth if len(atoms) > SMALL_POOL else pool.breadth.of_small_pool()
        return Growth(image, breadth, self.max_terms, self._lines(), saved)

    def _lines(self) -> list[tuple[Expression, ...]]:
        variables = self.view.variables
        return [(ONE, x) for x in variables] if self.pool.lines and len(variables) <= MOST_LINES else []

    def _modulators(self, z: Floats, roots: Floats, periods: int) -> Sequence[tuple[Atom, Floats]]:
        """Of the image; of its reciprocal if they are to stand in a denominator."""
        if self.pool.ratio:
            applied = RECIPROCAL.apply(z, roots**2)
            if applied is None:
                return ()
            z, roots = applied[0], np.sqrt(applied[1])
        return modulators(self.view.V, z, roots, self.vocabulary, periods, 1)
