"""The compiled generations of (1+λ)-GP and canonical GP.

Every offspring has a random stream of its own, numbered by its evaluation: a run is the same however it is cut into
calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fouriertree.compiling import kernel
from fouriertree.expr._draw import _S11, _UNIT, below, draw_ramped, draw_tree, mix, random_bits, stream_key
from fouriertree.expr._span import span_size
from fouriertree.search.gp.evaluation import loss_of_tree, stack_height
from fouriertree.search.gp.nodes import (
    add_tokens,
    descend,
    flatten,
    inline,
    latest,
    new_path,
    new_store,
    rebuild,
    swept,
)

#: trees are drawn with so many levels at most, and into a buffer that holds a full one
MOST_DRAWN_LEVELS = 10
DRAWN_TOKENS = 2**MOST_DRAWN_LEVELS
#: offspring of more nodes are refused, where the paper knows no limit: its largest trees have some ten thousand
LARGEST_TREE = 1_000_000
#: nodes that a store has room for at least, beside twice those in use
SPARE_NODES = 30_000


@inline
def chance(key: Any, counter: Any) -> Any:
    """Uniform in [0, 1)."""
    return np.float64(random_bits(key, counter) >> _S11) * _UNIT


@inline
def drawing_room() -> Any:
    """Buffers for one drawn tree: its tokens, and the depths that are pending while it grows."""
    tokens = (np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS))
    return tokens, np.empty(MOST_DRAWN_LEVELS + 2, np.int64)


@kernel
def add_ramped(
    store: Any, used: int, key: Any, lo: int, hi: int, grammar: Any, room: Any, arity: Any, points: Any
) -> Any:
    """Add a tree of init(lo, hi); the number of nodes then."""
    tokens, pending = room
    first = draw_ramped(key, lo, hi, grammar, *tokens, DRAWN_TOKENS, pending)
    return add_tokens(store, used, tokens, first, DRAWN_TOKENS, arity, points)


@kernel
def first_population(
    points: Any, width: int, grammar: Any, arity: Any, seed: int, n: int, lo: int, hi: int
) -> Any:
    """n trees from init(lo, hi): (store, used, roots)."""
    room = drawing_room()
    store, used = new_store(n * (1 << hi) + SPARE_NODES, width), 0
    roots = np.empty(n, np.int64)
    for i in range(n):
        used = add_ramped(store, used, stream_key(seed, i), lo, hi, grammar, room, arity, points)
        roots[i] = latest(store, used)
    return store, used, roots


@kernel
def evaluated(
    points: Any, store: Any, roots: Any, tree: Any, losses: Any, start: int, most_nodes: float, arity: Any
) -> int:
    """Fill in the losses of entries from `start` on, until so many nodes are run; the first entry that is left."""
    i, nodes = start, 0
    while i < losses.shape[0] and nodes < most_nodes:
        losses[i] = loss_of_tree(points, store, roots[tree[i]], arity)
        nodes += store.nodes[roots[tree[i]]].size
        i += 1
    return i


# Statistics of polynomial trees ------------------------------------------------------------------------
#: what `watched` adds up: largest span of an improving individual, how many of them enlarged it, individuals, sizes,
#: depths, the span of the latest improving individual, and the largest span of any (to be reset with every generation)
SPAN, ENLARGEMENTS, INDIVIDUALS, SIZES, DEPTHS, LATEST_SPAN, GENERATION_SPAN = range(7)
WATCHED = 7


@kernel
def watched(watch: Any, store: Any, root: int, arity: Any, improving: bool) -> None:
    """Add an individual to the running statistics."""
    watch[INDIVIDUALS] += 1
    watch[SIZES] += store.nodes[root].size
    watch[DEPTHS] += store.nodes[root].depth
    # A polynomial of degree d has d + 1 terms at most: most individuals cannot have the largest span.
    if improving or store.nodes[root].degree >= watch[GENERATION_SPAN]:
        span = span_of_tree(store, root, arity)
        watch[GENERATION_SPAN] = max(watch[GENERATION_SPAN], span)
        if improving:
            watch[LATEST_SPAN] = span
            if span > watch[SPAN]:
                watch[SPAN] = span
                watch[ENLARGEMENTS] += 1


@kernel
def span_of_tree(store: Any, root: int, arity: Any) -> Any:
    size = store.nodes[root].size
    tokens = (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size))
    flatten(store, root, tokens)
    return span_size(tokens[0], tokens[2], 0, size, stack_height(tokens[0], arity))


@kernel
def watch_all(watch: Any, store: Any, roots: Any, losses: Any, best: float, arity: Any) -> None:
    """Add individuals in order; `best` is the best loss before them."""
    for i in range(roots.shape[0]):
        watched(watch, store, roots[i], arity, losses[i] < best)
        best = min(best, losses[i])


# (1+λ)-GP ----------------------------------------------------------------------------------------------
@kernel
def one_plus_lambda(
    points: Any, grammar: Any, arity: Any, seed: int, offspring: int, generations: int, lo: int, hi: int,
    store: Any, used: int, parent: int, loss: float, evaluations: int, target: float, watch: Any,
    most_nodes: float, cut: Any,
) -> Any:  # fmt: skip
    """Some generations: (store, used, parent, loss, evaluations, cut, evaluations at improvements, their losses).

    After so many nodes, a generation is cut: `cut` has the offspring that are done, the best of them, its loss, and the
    nodes in use before them; the next call goes on from there.
    `watch`, if it has any size, is told about every offspring.
    """
    done, best, best_loss, before = cut
    nodes = 0
    room, path = drawing_room(), new_path(2 * store.nodes[parent].depth + 64)
    when, losses = np.empty(generations, np.int64), np.empty(generations)
    improvements = 0
    for _ in range(generations):
        if done == 0:
            best, best_loss, before = -1, np.inf, used
        while done < offspring and nodes < most_nodes:
            done += 1
            if used + DRAWN_TOKENS + store.nodes[parent].depth > store.nodes.shape[0]:
                roots = np.array([parent, parent if best < 0 else best])
                store, used = swept(store, used, roots, SPARE_NODES)
                before = used
            if path.node.shape[0] < store.nodes[parent].depth + 1:
                path = new_path(2 * store.nodes[parent].depth)
            key = stream_key(seed, evaluations)
            evaluations += 1
            n = descend(store, parent, below(random_bits(key, 0), store.nodes[parent].size), path)
            end = add_ramped(store, used, mix(key), lo, hi, grammar, room, arity, points)
            end = rebuild(store, end, path, n, latest(store, end), points)
            child = latest(store, end)
            nodes += store.nodes[child].size
            found = (
                loss_of_tree(points, store, child, arity)
                if store.nodes[child].size <= LARGEST_TREE
                else np.inf
            )
            if watch.size:
                watched(watch, store, child, arity, found < min(loss, best_loss))
            # The nodes of an offspring that is not the best so far are overwritten by the next one.
            if found < best_loss:
                best, best_loss, used = child, found, end
        if done < offspring:
            break
        done = 0
        if best_loss < loss:
            parent, loss = best, best_loss
            when[improvements], losses[improvements] = evaluations, loss
            improvements += 1
            if loss <= target:
                break
        else:
            used = before
    cut = (done, best, best_loss, before)
    return store, used, parent, loss, evaluations, cut, when[:improvements], losses[:improvements]


# Canonical GP ------------------------------------------------------------------------------------------
@inline
def tournament(key: Any, counter: Any, losses: Any) -> Any:
    """The better of two entries drawn with replacement."""
    a = below(random_bits(key, counter), losses.shape[0])
    b = below(random_bits(key, counter + 1), losses.shape[0])
    return a if losses[a] <= losses[b] else b


@kernel
def leftmost_mutation(store: Any, root: int, key: Any, rate: float, path: Any) -> int:
    """Walk down the leftmost spine to the first node that a coin of `rate` chooses: its depth on `path`, or −1."""
    n, node = 0, root
    while True:
        path.node[n] = node
        path.rightwards[n] = False
        if chance(key, n) < rate:
            return n
        node = store.nodes[node].left
        if node < 0:
            return -1
        n += 1


@kernel
def canonical_generation(
    points: Any, grammar: Any, arity: Any, seed: int, crossover_rate: float, mutation_rate: float, levels: int,
    elites: int, in_place: bool, store: Any, used: int, roots: Any, tree: Any, losses: Any, evaluations: int,
) -> Any:  # fmt: skip
    """One generation: (store, used, roots, tree, losses), in which only the elites have their losses yet.

    Entry i of the population is tree number tree[i], whose root is roots[tree[i]], with the stored loss losses[i].
    With `in_place`, a parent that skips crossover is itself mutated and shared by the offspring, while its stored loss
    stays: as the published runs did.  Otherwise the offspring is a tree of its own.
    """
    n, n_trees = losses.shape[0], roots.shape[0]
    all_roots = np.empty(n_trees + n, np.int64)
    all_roots[:n_trees] = roots
    new_tree, new_losses = np.empty(n, np.int64), np.full(n, np.inf)
    order = np.argsort(losses, kind="mergesort")
    for i in range(elites):
        new_tree[i], new_losses[i] = tree[order[i]], losses[order[i]]
    room, path = drawing_room(), new_path(64)
    for i in range(elites, n):
        key = stream_key(seed, evaluations + i - elites)
        host, donor = tree[tournament(key, 0, losses)], tree[tournament(key, 2, losses)]
        parent, part = all_roots[host], all_roots[donor]
        root = parent
        deepest = store.nodes[root].depth + store.nodes[part].depth
        if used + 2 * deepest + DRAWN_TOKENS > store.nodes.shape[0]:
            store, used = swept(store, used, all_roots[:n_trees], SPARE_NODES + 2 * deepest + DRAWN_TOKENS)
        if path.node.shape[0] < deepest + 1:
            path = new_path(2 * deepest)
        crossing = (
            chance(key, 4) < crossover_rate and store.nodes[root].size > 1 and store.nodes[part].size > 1
        )
        if crossing:
            branch = path.node[
                descend(store, part, below(random_bits(key, 6), store.nodes[part].size - 1), path)
            ]
            depth = descend(store, root, below(random_bits(key, 5), store.nodes[root].size - 1), path)
            used = rebuild(store, used, path, depth, branch, points)
            root = latest(store, used)
        if crossing or not in_place:
            host = n_trees
            n_trees += 1
        depth = leftmost_mutation(store, root, mix(key), mutation_rate, path)
        if depth >= 0:
            tokens, pending = room
            first = draw_tree(mix(~key), levels, 1, False, grammar, *tokens, DRAWN_TOKENS, pending)
            used = add_tokens(store, used, tokens, first, DRAWN_TOKENS, arity, points)
            used = rebuild(store, used, path, depth, latest(store, used), points)
            root = latest(store, used)
        all_roots[host] = root if store.nodes[root].size <= LARGEST_TREE else parent
        new_tree[i] = host
    roots, new_tree = live_trees(all_roots, n_trees, new_tree)
    return store, used, roots, new_tree, new_losses


@kernel
def live_trees(roots: Any, n_trees: int, tree: Any) -> Any:
    """Roots of the trees that entries use, and the entries' new numbers; trees that entries share stay shared."""
    number = np.full(n_trees, -1, np.int64)
    live, new_roots, new_tree = 0, np.empty(tree.shape[0], np.int64), np.empty_like(tree)
    for i in range(tree.shape[0]):
        if number[tree[i]] < 0:
            number[tree[i]] = live
            new_roots[live] = roots[tree[i]]
            live += 1
        new_tree[i] = number[tree[i]]
    return new_roots[:live].copy(), new_tree
