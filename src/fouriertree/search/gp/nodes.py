"""Trees that share their nodes: a variation makes new nodes on the way from the change to the root, and no others.

A store is a set of arrays, one entry per node; arguments stand before the nodes that use them.  Where rows are few,
a node keeps its values, and a new tree costs as many operators as it is deep, however large it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fouriertree.compiling import kernel
from fouriertree.engine.memory import VECTOR_BYTES, call_operator, splat
from fouriertree.engine.sums import copy_rows
from fouriertree.expr.opcodes import VAR

inline = njit(inline="always", error_model="numpy")

#: in the place of an argument that an operator does not have
NONE = -1


class Store(NamedTuple):
    op: Any
    arg: Any
    const: Any
    left: Any
    right: Any
    size: Any  #: nodes of the tree below, the node itself included
    depth: Any  #: levels of that tree
    values: Any  #: `width` bytes per node
    width: int


@kernel
def new_store(capacity: int, width: int) -> Any:
    """Room for nodes whose values take `width` bytes each; 0 keeps no values."""
    return Store(
        np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity), np.empty(capacity, np.int64),
        np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64),
        np.empty(capacity * width + VECTOR_BYTES, np.uint8), width,
    )  # fmt: skip


@inline
def values_at(store: Any, node: Any) -> Any:
    """Address of a node's values, on a vector boundary."""
    return -(-store.values.ctypes.data // VECTOR_BYTES) * VECTOR_BYTES + node * store.width


@kernel
def add_leaf(store: Any, used: int, op: int, arg: int, const: float, points: Any) -> int:
    """Write a column or constant as node `used`; the number of nodes then."""
    store.op[used], store.arg[used], store.const[used] = op, arg, const
    store.left[used], store.right[used] = NONE, NONE
    store.size[used], store.depth[used] = 1, 1
    if store.width:
        if op == VAR:
            copy_rows(1.0, values_at(store, used), points.columns + arg * points.stride, 1, store.width // 8)
        else:
            for at in range(values_at(store, used), values_at(store, used) + store.width, VECTOR_BYTES):
                splat(1.0, at, const)
    return used + 1


@kernel
def add_function(store: Any, used: int, op: Any, left: int, right: int, points: Any) -> int:
    """Write an operator on one or two nodes as node `used`; the number of nodes then."""
    store.op[used], store.arg[used], store.const[used] = op, 0, 0.0
    store.left[used], store.right[used] = left, right
    store.size[used], store.depth[used] = 1 + store.size[left], 1 + store.depth[left]
    second = left
    if right != NONE:
        second = right
        store.size[used] += store.size[right]
        store.depth[used] = max(store.depth[used], 1 + store.depth[right])
    if store.width:
        out, a, b = values_at(store, used), values_at(store, left), values_at(store, second)
        call_operator(points.operators, 1.0, op, (out, a, b, store.width // VECTOR_BYTES, points.users))
    return used + 1


@kernel
def add_tokens(store: Any, used: int, tokens: Any, first: int, last: int, arity: Any, points: Any) -> int:
    """Write the tree of tokens first…last−1; the number of nodes then, of which the last is its root."""
    stack = np.empty(last - first, np.int64)
    top = -1
    for t in range(first, last):
        op = tokens[0][t]
        k = arity[op]
        if k == 0:
            top += 1
            used = add_leaf(store, used, op, tokens[1][t], tokens[2][t], points)
        else:
            top -= k - 1
            right = stack[top + 1] if k == 2 else NONE
            used = add_function(store, used, op, stack[top], right, points)
        stack[top] = used - 1
    return used


class Path(NamedTuple):
    """The way from a root down: nodes, and whether it goes on to the right of each."""

    node: Any
    rightwards: Any


@kernel
def new_path(depth: int) -> Any:
    return Path(np.empty(depth, np.int64), np.empty(depth, np.bool_))


@kernel
def descend(store: Any, root: int, position: int, path: Any) -> int:
    """Find the node at a position of the tree's postfix order: path.node[n], below n others.  Returns n."""
    n, node = 0, root
    while position != store.size[node] - 1:
        left = store.left[node]
        path.node[n] = node
        path.rightwards[n] = position >= store.size[left]
        if path.rightwards[n]:
            position -= store.size[left]
            node = store.right[node]
        else:
            node = left
        n += 1
    path.node[n] = node
    return n


@kernel
def rebuild(store: Any, used: int, path: Any, n: int, branch: int, points: Any) -> int:
    """Write the n nodes of a path anew, ending in `branch`; the number of nodes then.  With n = 0, `branch` is all."""
    for i in range(n - 1, -1, -1):
        node = path.node[i]
        left, right = store.left[node], store.right[node]
        if path.rightwards[i]:
            right = branch
        else:
            left = branch
        used = add_function(store, used, store.op[node], left, right, points)
        branch = used - 1
    return used


@kernel
def flatten(store: Any, root: int, tokens: Any) -> int:
    """Write the tokens of a tree in postfix order; their number."""
    pending = np.empty(store.depth[root] + 1, np.int64)
    pending[0] = root
    top, at = 0, store.size[root]
    while top >= 0:
        node = pending[top]
        top -= 1
        at -= 1
        tokens[0][at], tokens[1][at], tokens[2][at] = store.op[node], store.arg[node], store.const[node]
        for child in (store.left[node], store.right[node]):
            if child != NONE:
                top += 1
                pending[top] = child
    return int(store.size[root])


@kernel
def collected(store: Any, used: int, roots: Any, room: int) -> Any:
    """(store, used) with only the nodes that `roots` need, and room for as many again and more; renumbers the roots."""
    live = np.zeros(used, np.bool_)
    for root in roots:
        live[root] = True
    total = 0
    # Arguments stand before the nodes that use them, so one pass backwards marks all.
    for i in range(used - 1, -1, -1):
        if live[i]:
            total += 1
            for child in (store.left[i], store.right[i]):
                if child != NONE:
                    live[child] = True
    fresh = new_store(2 * total + room, store.width)
    moved = np.empty(used, np.int64)
    kept = 0
    for i in range(used):
        if live[i]:
            move_node(store, i, fresh, kept, moved)
            moved[i] = kept
            kept += 1
    for i in range(roots.shape[0]):
        roots[i] = moved[roots[i]]
    return fresh, kept


@kernel
def move_node(store: Any, i: int, fresh: Any, at: int, moved: Any) -> None:
    """Copy node i to place `at` of another store; its arguments have moved already."""
    fresh.op[at], fresh.arg[at], fresh.const[at] = store.op[i], store.arg[i], store.const[i]
    fresh.left[at] = moved[store.left[i]] if store.left[i] != NONE else NONE
    fresh.right[at] = moved[store.right[i]] if store.right[i] != NONE else NONE
    fresh.size[at], fresh.depth[at] = store.size[i], store.depth[i]
    if store.width:
        copy_rows(1.0, values_at(fresh, at), values_at(store, i), 1, store.width // 8)
