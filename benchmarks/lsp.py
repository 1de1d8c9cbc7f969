"""Orthonormal FTG on large-scale polynomials, with the published FTG beside it.

Run: make bench-lsp.  Target Σ x^i on (−1, 1), 20 seeds.  The search runs on Gauss–Legendre nodes, exact for every
product of two trees; the final loss is recomputed in rational arithmetic.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track

from fouriertree import FTG, Budget, run
from fouriertree.experiments.bars import Bar, report
from fouriertree.experiments.paper.exact import exact_loss, integer_polynomial
from fouriertree.problems import LargeScalePolynomial
from fouriertree.search import Accepted, Event

SEEDS = range(20)
#: degree, loss to reach, traverses allowed
GOALS = ((10, 1e-20, 20_000), (100, 1e-5, 100_000))


@dataclass(frozen=True)
class Outcome:
    traverses: int
    terms: int
    loss: float  #: smallest loss of the run in floating point
    exact_loss: float  #: of the same expression in rational arithmetic
    reached: bool  #: whether the exact loss meets the goal within the traverses
    seconds: float


def solve(search: FTG, lsp: LargeScalePolynomial, goal: float, traverses: int, seed: int) -> Outcome:
    best: list[Accepted] = []

    def keep_best(event: Event) -> None:
        if isinstance(event, Accepted) and (not best or event.progress.loss < best[-1].progress.loss):
            best.append(event)

    started = time.perf_counter()
    # Below the goal, because the coefficients are rounded to float64.
    run(search, lsp.problem(), Budget(traverses, target_loss=goal / 4), [keep_best], seed)
    seconds = time.perf_counter() - started
    progress = best[-1].progress
    elements = [integer_polynomial(element) for element in best[-1].expressions]
    exact = exact_loss(lsp.target, best[-1].coefficients.tolist(), elements, lsp.a, lsp.b)
    reached = exact <= goal and progress.traverses <= traverses
    return Outcome(progress.traverses, progress.terms, progress.loss, exact, reached, seconds)


def spread(outcomes: list[Outcome], what: str) -> str:
    values = [getattr(outcome, what) for outcome in outcomes]
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def show(title: str, outcomes: list[Outcome]) -> None:
    print(f"  {title}: reached by {sum(o.reached for o in outcomes)} of {len(outcomes)} seeds")
    for what in ("loss", "exact_loss", "traverses", "terms", "seconds"):
        print(f"    {what:10s} {spread(outcomes, what)}")


def main() -> int:
    bars = []
    for degree, goal, traverses in GOALS:
        lsp = LargeScalePolynomial(degree)
        print(
            f"Degree {degree}, loss ≤ {goal:g} within {traverses:,} traverses; median (smallest to largest) of 20 seeds"
        )
        for title, search in (("orthonormal FTG", FTG()), ("FTG as published", FTG.published_lsp())):
            label = f"{title}, degree {degree}"
            outcomes = [
                solve(search, lsp, goal, traverses, seed)
                for seed in track(SEEDS, label, console=Console(stderr=True), transient=True)
            ]
            show(title, outcomes)
            if title == "orthonormal FTG":
                bars.append(
                    Bar(f"degree-{degree}-seeds-reached", sum(o.reached for o in outcomes), len(SEEDS))
                )
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
