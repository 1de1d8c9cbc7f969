"""The compiled generations of (1+λ)-GP and canonical GP.

Every offspring has a random stream of its own, numbered by its evaluation: a run is the same however it is cut into
calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fouriertree.compiling import kernel
from fouriertree.expr._draw import _S11, _UNIT, below, mix, random_bits, stream_key
from fouriertree.expr._span import span_size
from fouriertree.search.gp.evaluation import loss_of, scratch_for
from fouriertree.search.gp.variation import (
    copy_tokens,
    draw_ramped,
    draw_tree,
    grown,
    inline,
    splice,
    stack_height,
    subtree_start,
    tree_depth,
)

#: room for a drawn tree: mutations draw three levels at most, populations six
DRAWN_TOKENS = 1024


@inline
def chance(key: Any, counter: Any) -> Any:
    """Uniform in [0, 1)."""
    return np.float64(random_bits(key, counter) >> _S11) * _UNIT


@inline
def empty_tokens(n: Any) -> Any:
    return np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)


@inline
def largest_rung(points: Any) -> Any:
    return points[1][-1, 0]


#: what `watched` adds up: largest span of an improving individual, how many of them enlarged it, individuals, sizes,
#: depths, and the span of the latest improving individual
SPAN, ENLARGEMENTS, INDIVIDUALS, SIZES, DEPTHS, LATEST_SPAN = range(6)


@kernel
def watched(watch: Any, tokens: Any, first: int, last: int, arity: Any, height: int, improving: bool) -> None:
    """Add an individual to the running statistics of polynomial trees."""
    watch[INDIVIDUALS] += 1
    watch[SIZES] += last - first
    watch[DEPTHS] += tree_depth(tokens[0], first, last, arity, np.empty(height + 1, np.int64))
    if improving:
        span = span_size(tokens[0], tokens[2], first, last, height)
        watch[LATEST_SPAN] = span
        if span > watch[SPAN]:
            watch[SPAN] = span
            watch[ENLARGEMENTS] += 1


@kernel
def watch_entries(
    watch: Any,
    tokens: Any,
    starts: Any,
    counts: Any,
    tree: Any,
    losses: Any,
    first: int,
    arity: Any,
    best: float,
) -> None:
    """Add the entries from `first` on, in order; `best` is the best loss before them."""
    for i in range(first, tree.shape[0]):
        s, e = starts[tree[i]], starts[tree[i]] + counts[tree[i]]
        height = stack_height(tokens[0], s, e, arity)
        watched(watch, tokens, s, e, arity, height, losses[i] < best)
        best = min(best, losses[i])


@kernel
def one_plus_lambda(
    points: Any, grammar: Any, arity: Any, seed: int, offspring: int, generations: int, lo: int, hi: int,
    parent: Any, count: int, loss: float, evaluations: int, target: float, watch: Any,
) -> Any:  # fmt: skip
    """Some generations of (1+λ)-GP: (tokens, count, loss, evaluations, evaluations at improvements, their losses).

    `watch`, if it has any size, is told about every offspring: see `watched`.
    """
    n_rows = largest_rung(points)
    drawn, child, best = empty_tokens(DRAWN_TOKENS), empty_tokens(count + 64), empty_tokens(count + 64)
    height = 32
    scratch = scratch_for(height, n_rows)
    when, losses = np.empty(generations, np.int64), np.empty(generations)
    improvements = 0
    for _ in range(generations):
        best_loss, best_count = np.inf, 0
        for _ in range(offspring):
            key = stream_key(seed, evaluations)
            evaluations += 1
            cut = below(random_bits(key, 0), count)
            start = subtree_start(parent[0], arity, cut)
            first = draw_ramped(mix(key), lo, hi, grammar, drawn, DRAWN_TOKENS)
            child = grown(child, 0, count + DRAWN_TOKENS - first)
            size = splice(parent, 0, count, start, cut + 1, drawn, first, DRAWN_TOKENS, child, 0)
            needed = stack_height(child[0], 0, size, arity)
            if needed > height:
                height = 2 * needed
                scratch = scratch_for(height, n_rows)
            found = loss_of(points, child, 0, size, scratch, height)
            if watch.size:
                watched(watch, child, 0, size, arity, height, found < min(loss, best_loss))
            if found < best_loss:
                best_loss, best_count = found, size
                child, best = best, child
        if best_loss < loss:
            loss, count = best_loss, best_count
            parent, best = best, parent
            when[improvements], losses[improvements] = evaluations, loss
            improvements += 1
            if loss <= target:
                break
    return parent, count, loss, evaluations, when[:improvements], losses[:improvements]


@inline
def tournament(key: Any, counter: Any, losses: Any) -> Any:
    """The better of two entries drawn with replacement."""
    a = below(random_bits(key, counter), losses.shape[0])
    b = below(random_bits(key, counter + 1), losses.shape[0])
    return a if losses[a] <= losses[b] else b


@kernel
def mutation_point(op: Any, first: int, last: int, arity: Any, key: Any, rate: float) -> int:
    """Walk down the leftmost spine; the first node that a coin of `rate` chooses, or −1."""
    node, counter = last - 1, 0
    while True:
        if chance(key, counter) < rate:
            return node
        counter += 1
        k = arity[op[node]]
        if k == 0:
            return -1
        node = node - 1 if k == 1 else subtree_start(op, arity, node - 1) - 1


@kernel
def canonical_generation(
    points: Any, grammar: Any, arity: Any, seed: int, crossover_rate: float, mutation_rate: float, levels: int,
    elites: int, in_place: bool, tokens: Any, used: int, start: Any, count: Any, tree: Any, losses: Any,
    evaluations: int,
) -> Any:  # fmt: skip
    """One generation of canonical GP: (tokens, used, start, count, tree, losses, evaluations).

    Entry i of the population is tree number tree[i] with the stored loss losses[i].  With `in_place`, a parent that
    skips crossover is itself mutated and shared by the offspring, while its stored loss stays: as the published runs
    did.  Otherwise it is copied.
    """
    n = losses.shape[0]
    n_trees = start.shape[0]
    starts, counts = np.empty(n_trees + n, np.int64), np.empty(n_trees + n, np.int64)
    starts[:n_trees], counts[:n_trees] = start, count
    new_tree, new_losses = np.empty(n, np.int64), np.empty(n)
    order = np.argsort(losses, kind="mergesort")
    for i in range(elites):
        new_tree[i], new_losses[i] = tree[order[i]], losses[order[i]]
    drawn = empty_tokens(DRAWN_TOKENS)
    for i in range(elites, n):
        key = stream_key(seed, evaluations + i - elites)
        host = tree[tournament(key, 0, losses)]
        donor = tree[tournament(key, 2, losses)]
        crossing = chance(key, 4) < crossover_rate and counts[host] > 1 and counts[donor] > 1
        h, h_end = starts[host], starts[host] + counts[host]
        if crossing:
            cut = h + below(random_bits(key, 5), counts[host] - 1)
            part = starts[donor] + below(random_bits(key, 6), counts[donor] - 1)
            part_start = subtree_start(tokens[0], arity, part)
            cut_start = subtree_start(tokens[0], arity, cut)
            tokens = grown(tokens, used, used + counts[host] + counts[donor])
            end = splice(tokens, h, h_end, cut_start, cut + 1, tokens, part_start, part + 1, tokens, used)
            host = n_trees
        elif not in_place:
            tokens = grown(tokens, used, used + counts[host])
            end = copy_tokens(tokens, h, h_end, tokens, used)
            host = n_trees
        if host == n_trees:
            starts[host], counts[host] = used, end - used
            used = end
            n_trees += 1
        new_tree[i] = host
        h, h_end = starts[host], starts[host] + counts[host]
        point = mutation_point(tokens[0], h, h_end, arity, mix(key), mutation_rate)
        if point >= 0:
            first = draw_tree(mix(~key), levels, 1, False, grammar, drawn, DRAWN_TOKENS)
            point_start = subtree_start(tokens[0], arity, point)
            tokens = grown(tokens, used, used + counts[host] + DRAWN_TOKENS - first)
            end = splice(tokens, h, h_end, point_start, point + 1, drawn, first, DRAWN_TOKENS, tokens, used)
            starts[host], counts[host] = used, end - used
            used = end
    tokens, used, starts, counts, new_tree = compacted(tokens, starts, counts, new_tree, n_trees)
    evaluate_entries(points, tokens, starts, counts, new_tree, new_losses, elites, arity)
    return tokens, used, starts, counts, new_tree, new_losses, evaluations + n - elites


@kernel
def compacted(tokens: Any, starts: Any, counts: Any, tree: Any, n_trees: int) -> Any:
    """The trees that the entries use, side by side in new arrays; trees that entries share stay shared."""
    moved = np.full(n_trees, -1, np.int64)
    total, live = 0, 0
    for t in tree:
        if moved[t] < 0:
            moved[t] = live
            live += 1
            total += counts[t]
    packed = empty_tokens(2 * total)
    new_starts, new_counts, new_tree = np.empty(live, np.int64), np.empty(live, np.int64), np.empty_like(tree)
    used = 0
    for t in range(n_trees):
        if moved[t] >= 0:
            new_starts[moved[t]], new_counts[moved[t]] = used, counts[t]
            used = copy_tokens(tokens, starts[t], starts[t] + counts[t], packed, used)
    for i in range(tree.shape[0]):
        new_tree[i] = moved[tree[i]]
    return packed, used, new_starts, new_counts, new_tree


@kernel
def evaluate_entries(
    points: Any, tokens: Any, starts: Any, counts: Any, tree: Any, losses: Any, first: int, arity: Any
) -> None:
    """Losses of the entries from `first` on."""
    height = 32
    scratch = scratch_for(height, largest_rung(points))
    for i in range(first, tree.shape[0]):
        s, e = starts[tree[i]], starts[tree[i]] + counts[tree[i]]
        needed = stack_height(tokens[0], s, e, arity)
        if needed > height:
            height = 2 * needed
            scratch = scratch_for(height, largest_rung(points))
        losses[i] = loss_of(points, tokens, s, e, scratch, height)


@kernel
def first_population(points: Any, grammar: Any, arity: Any, seed: int, n: int, lo: int, hi: int) -> Any:
    """n trees from init(lo, hi) and their losses, in the form that `canonical_generation` takes."""
    drawn = empty_tokens(DRAWN_TOKENS)
    tokens, used = empty_tokens(DRAWN_TOKENS), 0
    starts, counts = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        first = draw_ramped(stream_key(seed, i), lo, hi, grammar, drawn, DRAWN_TOKENS)
        tokens = grown(tokens, used, used + DRAWN_TOKENS - first)
        starts[i], counts[i] = used, DRAWN_TOKENS - first
        used = copy_tokens(drawn, first, DRAWN_TOKENS, tokens, used)
    tree, losses = np.arange(n), np.empty(n)
    evaluate_entries(points, tokens, starts, counts, tree, losses, 0, arity)
    return tokens, used, starts, counts, tree, losses, n
