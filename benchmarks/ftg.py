"""FTG as published and orthonormal FTG on the paper's nine problems, against the authors' own runs.

Run: make bench-ftg.  Seeds 0–99 give both the 20 points and the trees.  The authors' 900 runs are read from
../shared/paper/authors_ftg_runs.csv where that folder exists; without it only our two variants are compared.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from bars import Bar, finish
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.stats import ks_2samp, mannwhitneyu

from fouriertree import FTG, Budget, GramSVD, run
from fouriertree.problems import CONVENTIONAL, Benchmark
from fouriertree.search import Accepted, Event

RUNS = 100
TOLERANCES = [10.0**-i for i in range(9)]
BUDGET = Budget(max_traverses=100_000, target_loss=1e-8)
NEVER = 10**9
AUTHORS = Path(__file__).resolve().parents[2] / "shared" / "paper" / "authors_ftg_runs.csv"

Cells = dict[str, NDArray[np.int64]]  #: per problem, traverses to each tolerance: (runs, tolerances)


def traverses_to_tolerances(search: FTG, benchmark: Benchmark, seed: int, like_authors: bool) -> list[int]:
    """Traverses after which the loss first met each tolerance; NEVER where it did not.

    The authors' files were written by a version that charged ⟨F, v⟩ for refused candidates too, and that dated
    the last basis of a run without budget left at its end: `like_authors` counts so as well.
    """
    records: list[tuple[int, float]] = []

    def record(event: Event) -> None:
        if isinstance(event, Accepted):
            p = event.progress
            records.append((p.traverses + (p.refused if like_authors else 0), p.loss))

    ended = run(search, benchmark.problem(seed), BUDGET, [record], seed)
    if like_authors and ended.reason == "traverses used up":
        records[-1] = (NEVER, records[-1][1])
    met = [next((t for t, loss in records if loss <= tolerance), NEVER) for tolerance in TOLERANCES]
    return [t if t <= BUDGET.max_traverses else NEVER for t in met]


def cells(search: FTG, label: str, like_authors: bool = False) -> Cells:
    return {
        name: np.array(
            [
                traverses_to_tolerances(search, benchmark, seed, like_authors)
                for seed in track(
                    range(RUNS), f"{label} on {name}", console=Console(stderr=True), transient=True
                )
            ]
        )
        for name, benchmark in CONVENTIONAL.items()
    }


def authors_cells() -> Cells:
    table = pd.read_csv(AUTHORS)
    columns = [f"evals_to_tol_{i}" for i in range(len(TOLERANCES))]
    return {name: group[columns].to_numpy() for name, group in table.groupby("benchmark")}


def medians(found: NDArray[np.int64]) -> NDArray[np.float64]:
    """Median over the successful runs, for each tolerance."""
    return np.array(
        [np.median(column[column < NEVER]) if (column < NEVER).any() else np.inf for column in found.T]
    )


def show(title: str, found: Cells) -> None:
    print(f"\n{title}: median traverses (successes of {RUNS}) to loss ≤ 1, 0.1, …, 1e-8")
    for name, values in found.items():
        successes = (values < NEVER).sum(axis=0)
        row = (f"{m:.0f} ({s})" for m, s in zip(medians(values), successes, strict=True))
        print(f"  {name:8s} " + "  ".join(f"{cell:>10s}" for cell in row))


def rejected(p_values: list[float], level: float = 0.01) -> int:
    """How many hypotheses Holm's procedure rejects at a level for all of them together."""
    for i, p in enumerate(sorted(p_values)):
        if p > level / (len(p_values) - i):
            return i
    return len(p_values)


def fewer(ours: Cells, theirs: Cells) -> int:
    """In how many of the cells from 1e-4 down our median is the smaller one."""
    return sum(int((medians(ours[name])[4:] < medians(theirs[name])[4:]).sum()) for name in ours)


def agreement(ours: Cells, theirs: Cells) -> list[Bar]:
    """Two tests per cell, of location and of shape; a run that never gets there is the largest of all values."""
    p_rank, p_shape = {}, {}
    for name in ours:
        for i, tolerance in enumerate(TOLERANCES):
            a, b = ours[name][:, i], theirs[name][:, i]
            same = len(set(a) | set(b)) == 1
            p_rank[name, tolerance] = 1.0 if same else float(mannwhitneyu(a, b).pvalue)
            p_shape[name, tolerance] = float(ks_2samp(a, b).pvalue)
    print("\nSmallest p-values of the 81 cells, before correction")
    for label, p in (("Mann-Whitney", p_rank), ("Kolmogorov-Smirnov", p_shape)):
        worst = sorted(p.items(), key=lambda item: item[1])[:4]
        print(f"  {label}: " + ", ".join(f"{n} {t:g}: {value:.3g}" for (n, t), value in worst))
    return [
        Bar("cells-rejected-by-mann-whitney", rejected(list(p_rank.values())), 0, at_most=True),
        Bar("cells-rejected-by-kolmogorov-smirnov", rejected(list(p_shape.values())), 0, at_most=True),
    ]


def main() -> None:
    published_search = FTG(projector=GramSVD(), max_terms=20)
    published = cells(published_search, "FTG as published")
    orthonormal = cells(FTG(max_terms=20), "orthonormal FTG")
    show("FTG as published", published)
    show("Orthonormal FTG", orthonormal)
    success = min((values < NEVER).mean() for values in orthonormal.values())
    bars = [
        Bar("orthonormal-smallest-success-rate", float(success), 1.0),
        Bar(
            "orthonormal-cells-with-fewer-traverses-than-ours-as-published", fewer(orthonormal, published), 45
        ),
    ]
    if AUTHORS.exists():
        as_recorded = cells(published_search, "FTG as the authors recorded it", like_authors=True)
        theirs = authors_cells()
        show("The authors' runs", theirs)
        bars += agreement(as_recorded, theirs)
        bars += [
            Bar("orthonormal-cells-with-fewer-traverses-than-the-authors", fewer(orthonormal, theirs), 45)
        ]
    else:
        print("\nThe authors' runs are not here: no comparison with them.")
    finish(bars)


if __name__ == "__main__":
    main()
