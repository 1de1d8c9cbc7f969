"""Linear sums of columns, the best next column added each time: what every other formula has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection.forward import forward_selection
from fouriertree.search.hybrid.table import Table

Floats = NDArray[np.float64]


def linear_sums(table: Table, most: int) -> list[tuple[Expression, ...]]:
    """1 + x_a, 1 + x_a + x_b, … with up to `most` terms."""
    order = forward_selection(table.X, table.y, table.weights, most - 1)
    return [(ONE, *(table.variables[j] for j in order[: k + 1])) for k in range(len(order))]
