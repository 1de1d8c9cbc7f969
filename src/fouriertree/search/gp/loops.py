"""The compiled generations of (1+λ)-GP and canonical GP.

Every offspring has its own random stream, numbered by its evaluation: results do not depend on how a run is divided
into calls.
"""

from typing import Any

import numpy as np

from fouriertree.compiling import kernel
from fouriertree.expr._draw import _S11, _UNIT, below, draw_ramped, draw_tree, mix, random_bits, stream_key
from fouriertree.expr._span import span_size

from .evaluation import loss_of_tree, stack_height
from .nodes import add_tokens, collect_garbage, descend, flatten, inline, latest, new_path, new_store, rebuild

#: maximum number of levels of a random tree, and the size of a buffer for a full one
MAX_DRAWN_LEVELS = 10
DRAWN_TOKENS = 2**MAX_DRAWN_LEVELS
#: larger offspring are rejected; the paper has no limit, and its largest trees have about ten thousand nodes
MAX_TREE_SIZE = 1_000_000
#: minimum spare capacity of a store, in nodes
SPARE_NODES = 30_000


@inline
def uniform(key: Any, counter: Any) -> Any:
    """Uniform in [0, 1)."""
    return np.float64(random_bits(key, counter) >> _S11) * _UNIT


@inline
def tree_buffers() -> Any:
    """Buffers for one random tree: its tokens, and the depths pending while it is generated."""
    tokens = (np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS))
    return tokens, np.empty(MAX_DRAWN_LEVELS + 2, np.int64)


@kernel
def add_ramped(
    store: Any, used: int, key: Any, lo: int, hi: int, grammar: Any, buffers: Any, arity: Any, points: Any
) -> Any:
    """Add a random tree of lo to hi levels; returns the number of nodes in use."""
    tokens, pending = buffers
    first = draw_ramped(key, lo, hi, grammar, *tokens, DRAWN_TOKENS, pending)
    return add_tokens(store, used, tokens, first, DRAWN_TOKENS, arity, points)


@kernel
def initial_population(
    points: Any, width: int, grammar: Any, arity: Any, seed: int, n: int, lo: int, hi: int
) -> Any:
    """n random trees of lo to hi levels: (store, used, roots)."""
    buffers = tree_buffers()
    store, used = new_store(n * (1 << hi) + SPARE_NODES, width), 0
    roots = np.empty(n, np.int64)
    for i in range(n):
        used = add_ramped(store, used, stream_key(seed, i), lo, hi, grammar, buffers, arity, points)
        roots[i] = latest(store, used)
    return store, used, roots


@kernel
def evaluate_losses(
    points: Any, store: Any, roots: Any, tree: Any, losses: Any, start: int, max_nodes: float, arity: Any
) -> int:
    """Compute losses of entries from `start` on, up to so many nodes; returns the first entry without a loss."""
    i, nodes = start, 0
    while i < losses.shape[0] and nodes < max_nodes:
        losses[i] = loss_of_tree(points, store, roots[tree[i]], arity)
        nodes += store.nodes[roots[tree[i]]].size
        i += 1
    return i


# Statistics of polynomial trees ------------------------------------------------------------------------
#: statistics: largest span of an improving individual, number of its increases, sums of individuals, sizes and depths,
#: span of the latest improving individual, largest span of any (reset by the caller every generation)
SPAN, ENLARGEMENTS, INDIVIDUALS, SIZES, DEPTHS, LATEST_SPAN, GENERATION_SPAN = range(7)
WATCHED = 7


@kernel
def update_statistics(watch: Any, store: Any, root: int, arity: Any, improving: bool) -> None:
    """Add an individual to the running statistics `watch`."""
    watch[INDIVIDUALS] += 1
    watch[SIZES] += store.nodes[root].size
    watch[DEPTHS] += store.nodes[root].depth
    # A polynomial of degree d has at most d + 1 terms, so most individuals cannot have the largest span.
    if improving or store.nodes[root].degree >= watch[GENERATION_SPAN]:
        op, _, const = flatten(store, root)
        span = span_size(op, const, 0, len(op), stack_height(op, arity))
        watch[GENERATION_SPAN] = max(watch[GENERATION_SPAN], span)
        if improving:
            watch[LATEST_SPAN] = span
            if span > watch[SPAN]:
                watch[SPAN] = span
                watch[ENLARGEMENTS] += 1


@kernel
def update_all_statistics(watch: Any, store: Any, roots: Any, losses: Any, best: float, arity: Any) -> None:
    """Add individuals in order; `best` is the best loss before them."""
    for i in range(roots.shape[0]):
        update_statistics(watch, store, roots[i], arity, losses[i] < best)
        best = min(best, losses[i])


# (1+λ)-GP ----------------------------------------------------------------------------------------------
@kernel
def one_plus_lambda(
    points: Any, grammar: Any, arity: Any, seed: int, offspring: int, generations: int, lo: int, hi: int,
    store: Any, used: int, parent: int, loss: float, evaluations: int, target: float, watch: Any,
    max_nodes: float, partial: Any,
) -> Any:  # fmt: skip
    """Some generations: (store, used, parent, loss, evaluations, partial, evaluations at improvements, their losses).

    After `max_nodes` nodes, a generation is interrupted: `partial` has the offspring done, the best of them, its loss
    and the nodes in use before them, and the next call continues it.  `watch` has statistics unless it is empty.
    """
    done, best, best_loss, before = partial
    nodes = 0
    buffers, path = tree_buffers(), new_path(2 * store.nodes[parent].depth + 64)
    improved_at, losses = np.empty(generations, np.int64), np.empty(generations)
    improvements = 0
    for _ in range(generations):
        if done == 0:
            best, best_loss, before = -1, np.inf, used
        while done < offspring and nodes < max_nodes:
            done += 1
            if used + DRAWN_TOKENS + store.nodes[parent].depth > store.nodes.shape[0]:
                roots = np.array([parent, parent if best < 0 else best])
                store, used = collect_garbage(store, used, roots, SPARE_NODES)
                before = used
            if path.node.shape[0] < store.nodes[parent].depth + 1:
                path = new_path(2 * store.nodes[parent].depth)
            key = stream_key(seed, evaluations)
            evaluations += 1
            n = descend(store, parent, below(random_bits(key, 0), store.nodes[parent].size), path)
            end = add_ramped(store, used, mix(key), lo, hi, grammar, buffers, arity, points)
            end = rebuild(store, end, path, n, latest(store, end), points)
            child = latest(store, end)
            nodes += store.nodes[child].size
            child_loss = np.inf
            if store.nodes[child].size <= MAX_TREE_SIZE:
                child_loss = loss_of_tree(points, store, child, arity)
            if watch.size:
                update_statistics(watch, store, child, arity, child_loss < min(loss, best_loss))
            # The nodes of an offspring that is not the best so far are overwritten by the next one.
            if child_loss < best_loss:
                best, best_loss, used = child, child_loss, end
        if done < offspring:
            break
        done = 0
        if best_loss < loss:
            parent, loss = best, best_loss
            improved_at[improvements], losses[improvements] = evaluations, loss
            improvements += 1
            if loss <= target:
                break
        else:
            used = before
    partial = (done, best, best_loss, before)
    return store, used, parent, loss, evaluations, partial, improved_at[:improvements], losses[:improvements]


# Canonical GP ------------------------------------------------------------------------------------------
@inline
def tournament(key: Any, counter: Any, losses: Any) -> Any:
    """The better of two entries drawn with replacement."""
    a = below(random_bits(key, counter), losses.shape[0])
    b = below(random_bits(key, counter + 1), losses.shape[0])
    return a if losses[a] <= losses[b] else b


@kernel
def leftmost_mutation(store: Any, root: int, key: Any, rate: float, path: Any) -> int:
    """Descend the leftmost path to the first node chosen with probability `rate`: its depth on `path`, or −1."""
    n, node = 0, root
    while True:
        path.node[n] = node
        path.rightwards[n] = False
        if uniform(key, n) < rate:
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
    """One generation: (store, used, roots, tree, losses), in which only the elites have losses.

    With `in_place`, as in the published runs, a parent without crossover is itself mutated and shared with the
    offspring, while it keeps its stored loss.  Otherwise the offspring is a new tree.
    """
    n, n_trees = losses.shape[0], roots.shape[0]
    all_roots = np.empty(n_trees + n, np.int64)
    all_roots[:n_trees] = roots
    new_tree, new_losses = np.empty(n, np.int64), np.full(n, np.inf)
    order = np.argsort(losses, kind="mergesort")
    for i in range(elites):
        new_tree[i], new_losses[i] = tree[order[i]], losses[order[i]]
    buffers, path = tree_buffers(), new_path(64)
    for i in range(elites, n):
        key = stream_key(seed, evaluations + i - elites)
        host, donor = tree[tournament(key, 0, losses)], tree[tournament(key, 2, losses)]
        parent, part = all_roots[host], all_roots[donor]
        root = parent
        deepest = store.nodes[root].depth + store.nodes[part].depth
        needed = 2 * deepest + DRAWN_TOKENS
        if used + needed > store.nodes.shape[0]:
            store, used = collect_garbage(store, used, all_roots[:n_trees], SPARE_NODES + needed)
        if path.node.shape[0] < deepest + 1:
            path = new_path(2 * deepest)
        size, part_size = store.nodes[root].size, store.nodes[part].size
        crossing = uniform(key, 4) < crossover_rate and size > 1 and part_size > 1
        if crossing:
            branch = path.node[descend(store, part, below(random_bits(key, 6), part_size - 1), path)]
            depth = descend(store, root, below(random_bits(key, 5), size - 1), path)
            used = rebuild(store, used, path, depth, branch, points)
            root = latest(store, used)
        if crossing or not in_place:
            host = n_trees
            n_trees += 1
        depth = leftmost_mutation(store, root, mix(key), mutation_rate, path)
        if depth >= 0:
            tokens, pending = buffers
            first = draw_tree(mix(~key), levels, 1, False, grammar, *tokens, DRAWN_TOKENS, pending)
            used = add_tokens(store, used, tokens, first, DRAWN_TOKENS, arity, points)
            used = rebuild(store, used, path, depth, latest(store, used), points)
            root = latest(store, used)
        all_roots[host] = root if store.nodes[root].size <= MAX_TREE_SIZE else parent
        new_tree[i] = host
    roots, new_tree = live_trees(all_roots, n_trees, new_tree)
    return store, used, roots, new_tree, new_losses


@kernel
def live_trees(roots: Any, n_trees: int, tree: Any) -> Any:
    """Roots of the trees in use, and the entries' indices into them; shared trees remain shared."""
    number = np.full(n_trees, -1, np.int64)
    live, new_roots, new_tree = 0, np.empty(tree.shape[0], np.int64), np.empty_like(tree)
    for i in range(tree.shape[0]):
        if number[tree[i]] < 0:
            number[tree[i]] = live
            new_roots[live] = roots[tree[i]]
            live += 1
        new_tree[i] = number[tree[i]]
    return new_roots[:live].copy(), new_tree
