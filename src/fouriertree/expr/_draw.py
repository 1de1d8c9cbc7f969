"""Compiled drawing of random trees from a counter-based stream.

Every random number is a hash of (seed, candidate, counter), and node k of a tree uses the counters 2k − 1 and 2k:
a candidate is the same tree in any batch, in any order, on any thread.
"""

from typing import Any

import numpy as np
from numba import njit

from fouriertree.compiling import kernel
from fouriertree.expr.opcodes import CONST, VAR

# SplitMix64 (Steele, Lea and Flood 2014): a Weyl sequence through a mixing function, so counter-based.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE, _S11, _S27, _S30, _S31, _S32 = (np.uint64(s) for s in (1, 11, 27, 30, 31, 32))
_LOW_31 = np.uint64(2**31 - 1)
_UNIT = 2.0**-53

_inline = njit(inline="always", error_model="numpy")


@_inline
def mix(z: Any) -> Any:
    """A bijection of 64 bits in which every bit of the result depends on every bit of z."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@_inline
def stream_key(seed: Any, candidate: Any) -> Any:
    return mix(mix(np.uint64(seed) + _GOLDEN) ^ mix(np.uint64(candidate) * _GOLDEN + _ONE))


@_inline
def random_bits(key: Any, counter: Any) -> Any:
    """The counter-th 64 random bits of a stream."""
    return mix(key + (np.uint64(counter) + _ONE) * _GOLDEN)


@_inline
def below(bits: Any, n: Any) -> Any:
    """Uniform integer in 0…n−1 from the upper 32 bits."""
    return np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)


@_inline
def write_token(
    at: Any, function: Any, key: Any, node: Any, bits: Any, grammar: Any, op: Any, arg: Any, const: Any
) -> Any:
    """Write a random function or leaf; return its number of arguments.

    The upper 32 bits select the function, bits 1 to 31 the kind of leaf; the caller uses bit 0.  The second random
    number of the node gives the feature or the constant.
    """
    opcodes, arities, n_columns, constant_share, low, high = grammar
    more = random_bits(key, 2 * node)
    pick = below(bits, opcodes.shape[0])
    constant = np.float64((bits >> _ONE) & _LOW_31) < constant_share
    leaf = not function
    op[at] = opcodes[pick] if function else (CONST if constant else VAR)
    arg[at] = below(more, n_columns) if (leaf and not constant) else 0
    const[at] = low + (high - low) * (np.float64(more >> _S11) * _UNIT) if (leaf and constant) else 0.0
    return arities[pick] if function else 0


@kernel
def draw_tree(
    key: Any, levels: int, lo: int, full: bool, grammar: Any, op: Any, arg: Any, const: Any, end: int, pending: Any
) -> int:  # fmt: skip
    """Write a tree of at most `levels` levels whose last token is at end − 1; return the index of its first token.

    A full tree has functions on every level but the last; otherwise a node is a function above level `lo`, and from
    there on with probability ½.  Tokens are written backwards: a root before its arguments, the last argument first,
    is postfix order from the end.  `pending` is a buffer for levels + 1 depths.
    """
    pending[0] = 0
    top, node = 0, 0
    while top >= 0:
        depth = pending[top]
        node += 1
        end -= 1
        bits = random_bits(key, 2 * node - 1)
        willing = full or depth < lo or (bits & _ONE) == _ONE
        children = write_token(end, depth < levels - 1 and willing, key, node, bits, grammar, op, arg, const)
        # Both slots are written for any arity: a branch is slower than a store.
        pending[top] = depth + 1
        pending[top + 1] = depth + 1
        top += children - 1
    return end


@kernel
def draw_ramped(
    key: Any, lo: int, hi: int, grammar: Any, op: Any, arg: Any, const: Any, end: int, pending: Any
) -> Any:
    """Ramped half-and-half: levels uniform in lo…hi, full or grow with probability ½ each."""
    head = random_bits(key, 0)
    levels = lo + below(head, hi - lo + 1)
    return draw_tree(key, levels, lo, (head & _ONE) == _ONE, grammar, op, arg, const, end, pending)


@kernel
def draw_depth_first(
    seed: int, first: int, lo: int, hi: int, grammar: Any, op: Any, arg: Any, const: Any, start: Any, count: Any
) -> int:  # fmt: skip
    """Ramped half-and-half into an arena, from its end; return the number of trees that fit."""
    pending = np.empty(hi + 2, np.int64)
    free = op.shape[0]
    for i in range(start.shape[0]):
        if free < (1 << hi) - 1:
            return i
        start[i] = draw_ramped(stream_key(seed, first + i), lo, hi, grammar, op, arg, const, free, pending)
        count[i] = free - start[i]
        free = start[i]
    return int(start.shape[0])


@kernel
def draw_breadth_first(
    seed: int, first: int, p: float, lo: int, hi: int, grammar: Any, op: Any, arg: Any, const: Any, start: Any,
    count: Any,
) -> int:  # fmt: skip
    """Algorithm 2 of the paper: nodes in breadth-first order, then written in postfix order from the arena's end."""
    room = (1 << (hi + 1)) - 1
    node_op, node_arg, node_const = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
    depth, child = np.empty(room + 2, np.int64), np.empty(room, np.int64)
    n_children = np.empty(room, np.int64)
    pending = np.empty(hi + 3, np.int64)
    free = op.shape[0]
    for i in range(start.shape[0]):
        if free < room:
            return i
        key = stream_key(seed, first + i)
        head = random_bits(key, 0)
        limit = lo + below(head, hi - lo + 1)
        chance = p if (head & _ONE) == _ONE else 1.0
        known = 1
        depth[0] = 0
        node = 0
        while node < known:
            d = depth[node]
            bits = random_bits(key, 2 * node + 1)
            # A general p needs more than one bit, and bits other than those that select the function.
            coin = np.float64(random_bits(~key, node) >> _S11) * _UNIT < chance
            function = d < lo or (d < limit and coin)
            n_children[node] = write_token(
                node, function, key, node + 1, bits, grammar, node_op, node_arg, node_const
            )
            child[node] = known
            depth[known] = d + 1
            depth[known + 1] = d + 1
            known += n_children[node]
            node += 1
        free -= known
        start[i] = free
        count[i] = known
        at = free + known
        top = 0
        pending[0] = 0
        while top >= 0:
            node = pending[top]
            at -= 1
            op[at], arg[at], const[at] = node_op[node], node_arg[node], node_const[node]
            for j in range(n_children[node]):
                pending[top + j] = child[node] + j
            top += n_children[node] - 1
    return int(start.shape[0])
