"""eggp: genetic programming on an e-graph, which never visits two forms of one expression."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array

OPERATORS = "add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh"
#: seconds before its limit at which it stops, at the end of a generation
SLACK = 5


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    """The expression of its Pareto front with the best BIC; it takes no seed."""
    # Options of the Haskell runtime: one core, and memory that makes garbage collection rare.
    os.environ["GHCRTS"] = "-N1 -A64m"
    from eggp import EGGP

    # Larger expressions slow its e-graph down; more constants than rows crash the process.
    model = EGGP(
        gen=10**6, max_time=round(seconds) + SLACK, nPop=100, maxSize=min(20, len(y) + 1), nonterminals=OPERATORS,
        nTournament=3, pc=0.9, pm=0.3, loss="MSE", optIter=20, optRepeat=1,
    )  # fmt: skip
    model.fit(X, y)
    table = model.results
    # A smaller error is rounding.
    loss = np.maximum(table["loss_train"].astype(float), (1e-10 * y.std()) ** 2)
    criterion = len(y) * np.log(loss) + np.log(len(y)) * table["size"].astype(float)
    return text(table.loc[criterion.idxmin()])


def text(row: Any) -> str:
    """The expression of a row of its table: NumPy's text with the constants inserted.

    >>> text({"Numpy": "(t[0] * np.sqrt(x[:, 12]))", "theta": "0.5"})
    '((0.5) * sqrt(x12))'
    """
    constants = str(row["theta"]).split(";")
    formula = str(row["Numpy"]).replace("np.", "")
    formula = re.sub(r"t\[(\d+)\]", lambda found: f"({constants[int(found[1])]})", formula)
    return re.sub(r"x\[:, (\d+)\]", r"x\1", formula)
