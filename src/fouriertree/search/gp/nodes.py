"""Persistent trees with shared nodes: a variation allocates nodes on the path from the change to the root only.

With few rows, nodes store their values, so that the evaluation of a new tree takes as many operators as it has levels.
Nodes never move: the first `used` entries of `slots` are allocated, and decreasing `used` frees the latest ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fouriertree.compiling import kernel
from fouriertree.engine.intrinsics import VECTOR_BYTES, call_operator, copy_rows, splat
from fouriertree.expr._span import combined_degree
from fouriertree.expr.opcodes import VAR

inline = njit(inline="always", error_model="numpy")

#: in place of a missing argument
NONE = -1
#: smaller than a cache line; size and levels of the subtree, degree of a polynomial in which nothing cancels
INTEGERS = ("op", "arg", "left", "right", "size", "depth", "degree")
NODE = np.dtype([("const", np.float64), *((name, np.int32) for name in INTEGERS)])


class Store(NamedTuple):
    nodes: Any
    slots: Any  #: indices of all nodes: those in use, then the free ones
    values: Any  #: `width` bytes per node, from the address `base` on
    base: int
    width: int


@kernel
def new_store(capacity: int, width: int) -> Any:
    """Memory for nodes with values of `width` bytes each; 0 stores no values."""
    values = np.empty(capacity * width + VECTOR_BYTES, np.uint8)
    base = -(-values.ctypes.data // VECTOR_BYTES) * VECTOR_BYTES
    return Store(np.empty(capacity, NODE), np.arange(capacity).astype(np.int32), values, base, width)


@inline
def latest(store: Any, used: Any) -> Any:
    """The node that was allocated last."""
    return np.int64(store.slots[used - 1])


@inline
def values_at(store: Any, node: Any) -> Any:
    """Address of a node's values, on a vector boundary."""
    return store.base + np.int64(node) * store.width


@inline
def add_leaf(store: Any, used: Any, op: Any, arg: Any, const: Any, points: Any) -> Any:
    """Allocate a node for a feature or constant; returns the number of nodes in use."""
    at = store.slots[used]
    node = store.nodes[at]
    node.op, node.arg, node.const = op, arg, const
    node.left, node.right, node.size, node.depth = NONE, NONE, 1, 1
    node.degree = 1 if op == VAR else 0
    if store.width:
        out = values_at(store, at)
        if op == VAR:
            copy_rows(1.0, out, points.columns + arg * points.stride, 1, store.width // 8)
        else:
            for vector in range(out, out + store.width, VECTOR_BYTES):
                splat(1.0, vector, const)
    return used + 1


@inline
def add_function(store: Any, used: Any, op: Any, left: Any, right: Any, points: Any) -> Any:
    """Allocate a node for an operator on one or two nodes; returns the number of nodes in use."""
    at = store.slots[used]
    node, first = store.nodes[at], store.nodes[left]
    size, depth, degree = first.size, first.depth, first.degree
    other = left
    if right != NONE:
        other = right
        second = store.nodes[right]
        size += second.size
        depth = max(depth, second.depth)
        degree = combined_degree(op, degree, second.degree)
    node.op, node.arg, node.const, node.left, node.right = op, 0, 0.0, left, right
    node.size, node.depth, node.degree = size + 1, depth + 1, degree
    if store.width:
        out, a, b = values_at(store, at), values_at(store, left), values_at(store, other)
        call_operator(points.operators, 1.0, op, (out, a, b, store.width // VECTOR_BYTES, points.users))
    return used + 1


@kernel
def add_tokens(store: Any, used: int, tokens: Any, first: int, last: int, arity: Any, points: Any) -> int:
    """Allocate nodes for tokens first…last−1, the root last; returns the number of nodes in use."""
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
        stack[top] = latest(store, used)
    return used


class Path(NamedTuple):
    """A path from a root: its nodes, and whether it continues with the right child of each."""

    node: Any
    rightwards: Any


@kernel
def new_path(depth: int) -> Any:
    return Path(np.empty(depth, np.int64), np.empty(depth, np.bool_))


@kernel
def descend(store: Any, root: int, position: int, path: Any) -> int:
    """Find the node at a position in postfix order: path.node[n], at depth n.  Returns n."""
    n, at = 0, np.int64(root)
    while position != store.nodes[at].size - 1:
        left, right = store.nodes[at].left, store.nodes[at].right
        before = store.nodes[left].size
        path.node[n] = at
        path.rightwards[n] = position >= before
        if path.rightwards[n]:
            position -= before
            at = np.int64(right)
        else:
            at = np.int64(left)
        n += 1
    path.node[n] = at
    return n


@kernel
def rebuild(store: Any, used: int, path: Any, n: int, branch: int, points: Any) -> int:
    """Copy the first n nodes of a path, ending in `branch`; returns the number of nodes in use."""
    for i in range(n - 1, -1, -1):
        node = store.nodes[path.node[i]]
        left, right = np.int64(node.left), np.int64(node.right)
        if path.rightwards[i]:
            right = np.int64(branch)
        else:
            left = np.int64(branch)
        used = add_function(store, used, node.op, left, right, points)
        branch = latest(store, used)
    return used


@kernel
def flatten(store: Any, root: int) -> Any:
    """The tokens of a tree in postfix order: opcodes, arguments and constants."""
    size = store.nodes[root].size
    op, arg, const = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    pending = np.empty(store.nodes[root].depth + 1, np.int64)
    pending[0] = root
    top, at = 0, size
    while top >= 0:
        node = store.nodes[pending[top]]
        top -= 1
        at -= 1
        op[at], arg[at], const[at] = node.op, node.arg, node.const
        for child in (node.left, node.right):
            if child != NONE:
                top += 1
                pending[top] = child
    return op, arg, const


@kernel
def collect_garbage(store: Any, used: int, roots: Any, spare: int) -> Any:
    """(store, used) with all nodes freed that are not reachable from `roots`, and at least `spare` free nodes."""
    capacity = store.nodes.shape[0]
    live = np.zeros(capacity, np.bool_)
    total = mark(store, roots, live)
    front, back = 0, total
    # Free slots keep their order, so that neighbours in memory are allocated in sequence.
    for i in range(capacity):
        if live[i]:
            store.slots[front] = i
            front += 1
        else:
            store.slots[back] = i
            back += 1
    # The cost is proportional to the nodes in use, so at least as many must be free afterwards.
    if capacity < 2 * total + spare:
        store = enlarged(store, 3 * total + spare)
    return store, total


@kernel
def mark(store: Any, roots: Any, live: Any) -> int:
    """Mark the nodes reachable from `roots`; returns their number."""
    # A node is pending once for every node in use that has it as an argument.
    pending = np.empty(2 * store.nodes.shape[0] + roots.shape[0], np.int32)
    total, top = 0, 0
    for root in roots:
        pending[top] = root
        top += 1
    while top > 0:
        top -= 1
        at = pending[top]
        if not live[at]:
            live[at] = True
            total += 1
            for child in (store.nodes[at].left, store.nodes[at].right):
                if child != NONE and not live[child]:
                    pending[top] = child
                    top += 1
    return total


@kernel
def enlarged(store: Any, capacity: int) -> Any:
    """The same nodes at the same indices, with more capacity."""
    larger = new_store(capacity, store.width)
    n = store.nodes.shape[0]
    larger.nodes[:n] = store.nodes
    larger.slots[:n] = store.slots
    copy_rows(1.0, larger.base, store.base, 1, n * store.width // 8)
    return larger
