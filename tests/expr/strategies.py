"""Random expressions for property tests: every built-in operator, ordinary and edge constants."""

import numpy as np
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -2.0, 0.5, 5e-324, -1e-300, 1e300, np.inf, -np.inf, np.nan]


def constants(edges: bool = True) -> st.SearchStrategy[float]:
    ordinary = st.floats(-10, 10)
    return st.one_of(st.sampled_from(EDGES), ordinary, st.floats()) if edges else ordinary


def expressions(
    primitives: PrimitiveSet | None = None,
    n_columns: int = 3,
    max_leaves: int = 12,
    edges: bool = True,
) -> st.SearchStrategy[Expression]:
    """An expression over x0 .. x(n_columns - 1); `edges` allows infinite, huge and NaN constants."""
    known = PrimitiveSet.catalogue() if primitives is None else primitives
    unary = st.sampled_from([row for row in known if row.arity == 1] or [None])
    binary = st.sampled_from([row for row in known if row.arity == 2] or [None])
    leaves = st.one_of(
        st.builds(Expression.variable, st.integers(0, n_columns - 1)),
        st.builds(Expression.constant, constants(edges)),
    )

    def grow(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        one = st.builds(Expression.apply, unary.filter(bool), children)
        two = st.builds(Expression.apply, binary.filter(bool), children, children)
        return st.one_of(two, one)

    return st.recursive(leaves, grow, max_leaves=max_leaves)


def tables(n_columns: int = 3) -> st.SearchStrategy[np.ndarray]:
    """Rows of ordinary and edge values: (n_rows, n_features)."""
    cell = st.one_of(st.floats(-5, 5), st.sampled_from(EDGES))
    row = st.lists(cell, min_size=n_columns, max_size=n_columns)
    return st.lists(row, min_size=1, max_size=4).map(np.array)
