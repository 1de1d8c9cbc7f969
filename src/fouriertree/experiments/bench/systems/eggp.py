"""eggp: genetic programming on an e-graph, which never visits two forms of one formula."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array

OPERATORS = "add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh"
#: it stops so many seconds before the limit that it is given, at the end of a generation
SLACK = 5


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    """The formula of its front with the best information criterion; it takes no seed."""
    # Read when its runtime starts: one processor, and room that keeps the collector of garbage quiet.
    os.environ["GHCRTS"] = "-N1 -A64m"
    from eggp import EGGP

    # Larger formulas make its e-graph so slow that few are seen; more constants than rows make it end the process.
    model = EGGP(
        gen=10**6, max_time=round(seconds) + SLACK, nPop=100, maxSize=min(20, len(y) + 1), nonterminals=OPERATORS,
        nTournament=3, pc=0.9, pm=0.3, loss="MSE", optIter=20, optRepeat=1,
    )  # fmt: skip
    model.fit(X, y)
    table = model.results
    # Below this an error is rounding, and no reason for a longer formula.
    loss = np.maximum(table["loss_train"].astype(float), (1e-10 * y.std()) ** 2)
    criterion = len(y) * np.log(loss) + np.log(len(y)) * table["size"].astype(float)
    return text(table.loc[criterion.idxmin()])


def text(row: Any) -> str:
    """A row of its table as a formula: NumPy's text with the constants put in.

    >>> text({"Numpy": "(t[0] * np.sqrt(x[:, 12]))", "theta": "0.5"})
    '((0.5) * sqrt(x12))'
    """
    constants = str(row["theta"]).split(";")
    formula = str(row["Numpy"]).replace("np.", "")
    formula = re.sub(r"t\[(\d+)\]", lambda found: f"({constants[int(found[1])]})", formula)
    return re.sub(r"x\[:, (\d+)\]", r"x\1", formula)
