"""The authors' single runs and generations, from a folder; they are not part of the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.experiments.paper import facts

FTG_RUNS, LSP_GENERATIONS = "authors_ftg_runs.csv", "authors_lsp_generations.csv"
NEVER = 1_000_000_000
ALGORITHMS = {"canonical-ea": facts.CANONICAL, "one-plus-lambda": facts.ONE_PLUS_LAMBDA}
#: our names for their columns
SERIES = {"loss": "min_loss", "largest_span": "max_span", "size": "av_tsize", "depth": "av_tdepth"}


@dataclass(frozen=True)
class Authors:
    """The data of the authors; None for a missing file."""

    ftg_runs: dict[str, NDArray[np.float64]] | None = None  #: by problem: (runs, tolerances), NaN for never
    lsp: Any = None  #: a frame with the leaves {x, 1} only

    def lsp_generations(self, degree: int, algorithm: str) -> Any:
        """The rows of one polynomial and algorithm; None where there are none."""
        if self.lsp is None:
            return None
        table = self.lsp[(self.lsp.degree == degree) & (self.lsp.algorithm == algorithm)]
        return table if len(table) else None


def load(folder: Path) -> Authors:
    """Read the files that the folder has."""
    files = ((folder / FTG_RUNS, read_ftg), (folder / LSP_GENERATIONS, read_lsp))
    return Authors(*(read(path) if path.is_file() else None for path, read in files))


def read_ftg(path: Path) -> dict[str, NDArray[np.float64]]:
    table = pd.read_csv(path)
    columns = [f"evals_to_tol_{i}" for i in range(len(facts.TOLERANCES))]
    values = table[columns].astype(float)
    values = values.where(values < NEVER)
    return {str(name): values.loc[group.index].to_numpy() for name, group in table.groupby("benchmark")}


def read_lsp(path: Path) -> Any:
    table = pd.read_csv(path, dtype={"constant": str})
    table = table[(table.constant == "1") & table.alg.isin(list(ALGORITHMS))]
    return table.assign(algorithm=table.alg.map(ALGORITHMS)).sort_values("gen_number")
