"""FTG as published and orthonormal FTG on the paper's nine problems, against the authors' own runs.

Run: make bench-ftg.  Seeds 0–99 give both the 20 points and the trees.  The authors' 900 runs are read from
../shared/paper/authors_ftg_runs.csv where that folder exists; without it only our two variants are compared.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.stats import ks_2samp, mannwhitneyu

from fouriertree.experiments.bars import Bar, report
from fouriertree.experiments.paper import authors, facts
from fouriertree.experiments.paper.agreement import holm
from fouriertree.experiments.paper.runs import run_benchmark
from fouriertree.experiments.paper.tasks import TABLE, Task

RUNS = 100
LEVEL = 0.01
#: tolerances from 1e-4 down: the goals compare medians there
SMALL = slice(4, None)
AUTHORS = Path(__file__).resolve().parents[2] / "shared" / "paper"

#: per problem, traverses to each tolerance: (runs, tolerances), inf for never
Cells = dict[str, NDArray[np.float64]]


def records(algorithm: str) -> dict[str, list[dict[str, Any]]]:
    """The records of all runs of an algorithm, by problem."""
    console = Console(stderr=True)
    return {
        name: [
            run_benchmark(Task(TABLE, algorithm, name, seed))
            for seed in track(range(RUNS), f"{algorithm} on {name}", console=console, transient=True)
        ]
        for name in facts.PROBLEMS
    }


def cells(found: dict[str, list[dict[str, Any]]], field: str = "reached") -> Cells:
    """The field of all records that holds the traverses to each tolerance."""
    return {
        name: np.array([[np.inf if n is None else n for n in run[field]] for run in runs])
        for name, runs in found.items()
    }


def medians(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median over the successful runs, for each tolerance."""
    successes = [column[np.isfinite(column)] for column in found.T]
    return np.array([np.median(s) if len(s) else np.inf for s in successes])


def show(title: str, found: Cells) -> None:
    print(f"\n{title}: median traverses (successes of {RUNS}) to loss ≤ 1, 0.1, …, 1e-8")
    for name, values in found.items():
        successes = np.isfinite(values).sum(axis=0)
        row = (f"{m:.0f} ({s})" for m, s in zip(medians(values), successes, strict=True))
        print(f"  {name:8s} " + "  ".join(f"{cell:>10s}" for cell in row))


def fewer(ours: Cells, theirs: Cells) -> int:
    """In how many of the cells from 1e-4 down our median is the smaller one."""
    return sum(int((medians(ours[name])[SMALL] < medians(theirs[name])[SMALL]).sum()) for name in ours)


def agreement(ours: Cells, theirs: Cells) -> list[Bar]:
    """Two tests per cell, of location and of shape; a run without success ranks last."""
    p_rank, p_shape = {}, {}
    for name in ours:
        for i, tolerance in enumerate(facts.TOLERANCES):
            # Finite stand-ins: the tests subtract values, and ∞ − ∞ is undefined.
            a, b = (np.nan_to_num(side[name][:, i], posinf=1e9) for side in (ours, theirs))
            same = len(set(a) | set(b)) == 1
            p_rank[name, tolerance] = 1.0 if same else float(mannwhitneyu(a, b).pvalue)
            p_shape[name, tolerance] = float(ks_2samp(a, b).pvalue)
    print("\nSmallest p-values of the 81 cells, before correction")
    bars = []
    for label, p in (("Mann-Whitney", p_rank), ("Kolmogorov-Smirnov", p_shape)):
        worst = sorted(p.items(), key=lambda item: item[1])[:4]
        print(f"  {label}: " + ", ".join(f"{n} {t:g}: {value:.3g}" for (n, t), value in worst))
        rejected = int(holm(list(p.values()), LEVEL).sum())
        bars.append(Bar(f"cells-rejected-by-{label.lower()}", rejected, 0, "<="))
    return bars


def main() -> int:
    published_runs = records(facts.PUBLISHED_FTG)
    published, orthonormal = cells(published_runs), cells(records(facts.ORTHONORMAL_FTG))
    show("FTG as published", published)
    show("Orthonormal FTG", orthonormal)
    success = min(np.isfinite(values).mean() for values in orthonormal.values())
    bars = [
        Bar("orthonormal-smallest-success-rate", float(success), 1.0),
        Bar(
            "orthonormal-cells-with-fewer-traverses-than-ours-as-published", fewer(orthonormal, published), 45
        ),
    ]
    runs = authors.load(AUTHORS).ftg_runs
    if runs is not None:
        theirs = {name: np.nan_to_num(values, nan=np.inf) for name, values in runs.items()}
        show("The authors' runs", theirs)
        # Counted as the program that wrote their file did: ⟨F, v⟩ charged for refused candidates too.
        bars += agreement(cells(published_runs, "reached_early"), theirs)
        bars += [
            Bar("orthonormal-cells-with-fewer-traverses-than-the-authors", fewer(orthonormal, theirs), 45)
        ]
    else:
        print("\nThe authors' runs are not available: no comparison with them.")
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
