"""Arms: one way to look for the law, with a view, a link and a pool of atoms, that can be given more time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.archive import Archive
from fouriertree.search.hybrid.assemble import terms_for_target
from fouriertree.search.hybrid.atoms import Atom, Floats, Recipe, make_atoms
from fouriertree.search.hybrid.explore import Breadth, Growth, Image, Sum, front
from fouriertree.search.hybrid.links import IDENTITY, LINKS, Link
from fouriertree.search.hybrid.modulation import modulators
from fouriertree.search.hybrid.symmetry import View

#: periods that waves may have over the range of their argument: of one variable, and of several
PERIODS_OF_ONE, PERIODS = 10, 5
#: variables at most for which sums may start from a line
MOST_LINES = 3
#: a pool with fewer atoms is small
SMALL_POOL = 100
RECIPROCAL = next(link for link in LINKS if link.name == "1/t")


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


POWERS = Pool("powers", Recipe(1000, functions=False, limit=1200), first_steps=4)
RATIO = Pool(
    "ratio",
    Recipe(200, functions=False, limit=400, whole=True),
    Breadth(products=0),
    ratio=True,
    first_steps=6,
)
MODULATED = Pool(
    "modulated", Recipe(150, functions=False, limit=1500), Breadth(products=0), modulated=True, first_steps=3
)
MODULATED_RATIO = Pool(
    "modulated ratio", Recipe(60, functions=False, limit=700), Breadth(products=0), True, True, 4
)
FUNCTIONS = Pool("functions", Recipe(300, functions=True, limit=1500))
PLAIN_FUNCTIONS = replace(FUNCTIONS, breadth=Breadth(products=800), first_steps=4, lines=True)
MANY = Pool("many", Recipe(800, functions=True, limit=3000))


class Arm:
    """Best-first growth in one image; what it finds is assembled for y and offered to the archive."""

    def __init__(
        self, archive: Archive, vocabulary: Vocabulary, view: View, link: Link, pool: Pool, max_terms: int,
        most_atoms: int,
    ) -> None:  # fmt: skip
        self.archive, self.vocabulary = archive, vocabulary
        self.view, self.link, self.pool = view, link, pool
        self.max_terms, self.most_atoms = max_terms, most_atoms
        self.growth: Growth | None = None
        self.best = np.inf  #: shortest description of y so far
        self.finished = False

    @property
    def image(self) -> Image | None:
        return None if self.growth is None else self.growth.image

    def _start(self) -> Growth | None:
        table, view = self.archive.table, self.view
        if (self.pool.ratio or self.pool.modulated) and not self.vocabulary.complete:
            return None
        rows = table.screen
        applied = self.link.apply(view.t[rows], view.weights[rows])
        if applied is None:
            return None
        z, weights, _ = applied
        V, roots, recipe = view.V[:, rows], np.sqrt(weights), self.pool.recipe
        periods = PERIODS_OF_ONE if len(V) == 1 else PERIODS
        recipe = replace(recipe, periods=periods, limit=min(recipe.limit, self.most_atoms))
        waves = self._modulators(V, z, roots, periods) if self.pool.modulated else ()
        atoms = make_atoms(V, self.vocabulary, roots, recipe, z if self.pool.ratio else None, waves)
        if not len(atoms):
            return None
        X = np.column_stack([table.X[rows], z])
        column = table.n_columns if self.pool.ratio else None
        image = Image(atoms, z, weights, view.variables, X, self.vocabulary, column, self.archive.n_jobs)
        # Screening of few pairs need not hand on many.
        few = self.pool.breadth if len(atoms) > SMALL_POOL else self.pool.breadth.of_small_pool()
        lines = (
            [(ONE, x) for x in view.variables]
            if self.pool.lines and len(view.variables) <= MOST_LINES
            else []
        )
        return Growth(image, few, self.max_terms, lines)

    def _modulators(self, V: Floats, z: Floats, roots: Floats, periods: int) -> Sequence[tuple[Atom, Floats]]:
        """Of the image; of its reciprocal if they are to stand in a denominator."""
        if self.pool.ratio:
            applied = RECIPROCAL.apply(z, roots**2)
            if applied is None:
                return ()
            z, roots = applied[0], np.sqrt(applied[1])
        return modulators(V, z, roots, self.vocabulary, periods, 1)

    def step(self) -> Iterator[None]:
        """Grow one start, piece by piece, and offer what came of it."""
        if self.growth is None:
            self.growth = self._start()
        if self.growth is None or self.growth.exhausted:
            self.finished = True
            return
        new = yield from self.growth.step()
        chosen = {s.shape: s for s in (*new[:3], *front(new, 3))}
        if new and len(new[0].expressions) > 2 and new[0].loss < 1e-9:
            chosen |= {s.shape: s for s in self.growth.image.pruned(new[0])}
        models = [self._assembled(s) for s in chosen.values()]
        self.best = min(self.best, self.archive.offer([m for m in models if m is not None]))

    def _assembled(self, s: Sum) -> tuple[Expression, ...] | None:
        return terms_for_target(
            self.vocabulary, self.view, self.link, s.coefficients, s.expressions, self.archive.table.n_columns
        )


MakeArm = Callable[[View, Link, Pool], Arm]


def first_arms(make: MakeArm, view: View) -> list[Arm]:
    """Products of powers in the images in which laws are most often plain: the quick look before anything else."""
    return [make(view, link, POWERS) for link in LINKS[:5]]


def all_arms(make: MakeArm, view: View) -> list[Arm]:
    """Every pool in every image, the cheap ones first; of one variable, functions are as cheap, and likelier."""
    ratio_links = [link for link in LINKS if link.name in ("t", "t^2")]
    plain = [make(view, IDENTITY, PLAIN_FUNCTIONS)]
    functions = [make(view, link, FUNCTIONS) for link in LINKS[1:-1]]
    powers = [make(view, link, POWERS) for link in LINKS]
    ratios = [make(view, link, RATIO) for link in ratio_links]
    if len(view.variables) == 1:
        return [*plain, *powers, *ratios, *functions]
    modulated = [make(view, link, MODULATED) for link in LINKS[:5]]
    return [*powers, *ratios, *modulated, make(view, IDENTITY, MODULATED_RATIO), *plain, *functions]
