"""Compiled variation of postfix programs: draw a tree, find a subtree, put one in the place of another.

`tokens` are the three arrays (op, arg, const) of one program or of an arena of programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fouriertree.compiling import kernel
from fouriertree.expr._draw import below, mix, random_bits, write_token

inline = njit(inline="always", error_model="numpy")

ONE = np.uint64(1)
#: levels of a mutation's subtree at most, so that a drawn tree fits into a small buffer
MOST_DRAWN_LEVELS = 10


@kernel
def draw_tree(key: Any, levels: int, lo: int, full: bool, grammar: Any, tokens: Any, end: int) -> int:
    """Write a tree of at most `levels` levels that ends before token `end`; its first token.

    A full tree has functions on every level but the last; otherwise a node is a function above level `lo`, and below
    with probability ½.
    """
    op, arg, const = tokens
    pending = np.empty(MOST_DRAWN_LEVELS + 2, np.int64)
    pending[0] = 0
    top, node, at = 0, 0, end
    while top >= 0:
        depth = pending[top]
        node += 1
        at -= 1
        bits = random_bits(key, 2 * node - 1)
        willing = full or depth < lo or (bits & ONE) == ONE
        children = write_token(at, depth < levels - 1 and willing, key, node, bits, grammar, op, arg, const)
        pending[top] = depth + 1
        pending[top + 1] = depth + 1
        top += children - 1
    return at


@kernel
def draw_ramped(key: Any, lo: int, hi: int, grammar: Any, tokens: Any, end: int) -> Any:
    """init(lo, hi): levels uniform in lo…hi, full or growing with equal chance."""
    head = random_bits(key, 0)
    levels = lo + below(head, hi - lo + 1)
    return draw_tree(mix(key), levels, lo, (head & ONE) == ONE, grammar, tokens, end)


@inline
def subtree_start(op: Any, arity: Any, i: Any) -> Any:
    """First token of the subtree that ends at token i."""
    missing = arity[op[i]]
    while missing > 0:
        i -= 1
        missing += arity[op[i]] - 1
    return i


@inline
def copy_tokens(source: Any, first: Any, last: Any, target: Any, at: Any) -> Any:
    """Copy tokens first…last−1 to `at`; the token after them."""
    for t in range(first, last):
        target[0][at] = source[0][t]
        target[1][at] = source[1][t]
        target[2][at] = source[2][t]
        at += 1
    return at


@kernel
def splice(
    host: Any, first: int, last: int, cut_first: int, cut_last: int, donor: Any, part_first: int, part_last: int,
    target: Any, at: int,
) -> Any:  # fmt: skip
    """Write host[first:last] with host[cut_first:cut_last] replaced by donor[part_first:part_last] to `at`."""
    at = copy_tokens(host, first, cut_first, target, at)
    at = copy_tokens(donor, part_first, part_last, target, at)
    return copy_tokens(host, cut_last, last, target, at)


@kernel
def stack_height(op: Any, first: int, last: int, arity: Any) -> int:
    """Values on the stack at most while tokens first…last−1 run."""
    height, highest = 0, 0
    for t in range(first, last):
        height += 1 - arity[op[t]]
        highest = max(highest, height)
    return highest


@kernel
def tree_depth(op: Any, first: int, last: int, arity: Any, levels: Any) -> int:
    """Number of levels of a tree; `levels` is room for its stack."""
    top = -1
    for t in range(first, last):
        k = arity[op[t]]
        deepest = 0
        for _ in range(k):
            deepest = max(deepest, levels[top])
            top -= 1
        top += 1
        levels[top] = deepest + 1
    return int(levels[0])


@kernel
def grown(tokens: Any, used: int, room: int) -> Any:
    """The same tokens in arrays with room for at least `room`; twice the size if they have to move."""
    if room <= tokens[0].shape[0]:
        return tokens
    size = max(room, 2 * tokens[0].shape[0])
    larger = (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size))
    copy_tokens(tokens, 0, used, larger, 0)
    return larger
