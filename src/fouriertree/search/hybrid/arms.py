"""Arms: one way to look for the law, with a view, a link and a pool of atoms, that can be given more time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.archive import Archive
from fouriertree.search.hybrid.assemble import terms_for_target
from fouriertree.search.hybrid.atoms import Recipe
from fouriertree.search.hybrid.explore import Sum, Sums
from fouriertree.search.hybrid.ground import Ground, Pool
from fouriertree.search.hybrid.growth import Breadth, Growth, State
from fouriertree.search.hybrid.links import IDENTITY, LINKS, Link
from fouriertree.search.hybrid.symmetry import View

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
        self.best = np.inf  #: shortest description of y so far
        self.finished = False
        self.steps = 0  #: that were taken
        self.screened = 0  #: candidates looked at
        self.traverses = 0
        self._growth: Growth | None = None
        #: where growth stood, if it is to be made anew from there
        self._saved: State | None = None

    def ground(self) -> Ground:
        """What growth needs to know."""
        rows, view = self.archive.table.screen, self.view
        shown = replace(view, V=view.V[:, rows], t=view.t[rows], weights=view.weights[rows], scale=None)
        return Ground(
            self.archive.table.X[rows], shown, self.link, self.pool, self.vocabulary, self.max_terms,
            self.most_atoms,
        )  # fmt: skip

    def step(self, grown: Sums) -> Iterator[None]:
        """Grow one start, piece by piece, and offer what came of it; growth is `grown()`, or somebody else's."""
        sums = yield from grown
        self.steps += 1
        if not self.finished:
            models = [self._assembled(s) for s in sums]
            self.best = min(self.best, self.archive.offer([m for m in models if m is not None]))

    def grown(self) -> Sums:
        """The growth of one start, here."""
        if self._growth is None:
            self._growth = self.ground().growth(self._saved, self.archive.n_jobs)
        growth = self._growth
        if growth is None or growth.exhausted:
            self.finished = True
            return []
        sums: list[Sum] | None = None
        step = growth.step()
        while sums is None:
            try:
                next(step)
            except StopIteration as end:
                sums = end.value
            self.count(growth.image.screened, growth.image.traverses)
            if sums is None:
                yield
        return sums

    def count(self, screened: int, traverses: int) -> None:
        self.screened, self.traverses = screened, traverses

    def saved(self) -> State | None:
        """Where growth stands; None before its beginning."""
        return self._saved if self._growth is None else self._growth.state()

    def move_to(self, saved: State | None, finished: bool) -> None:
        """Growth took place somewhere else, and stands there now."""
        self._growth, self._saved, self.finished = None, saved, finished
        if saved is not None:
            self.count(saved["screened"], saved["traverses"])

    def _assembled(self, s: Sum) -> tuple[Expression, ...] | None:
        return terms_for_target(
            self.vocabulary, self.view, self.link, s.coefficients, s.expressions, self.archive.table.n_columns
        )

    # To go on later -----------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        return {"best": self.best, "finished": self.finished, "steps": self.steps, "growth": self.saved()}

    def restore(self, saved: State) -> None:
        self.best, self.steps = saved["best"], saved["steps"]
        self.move_to(saved["growth"], saved["finished"])


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
