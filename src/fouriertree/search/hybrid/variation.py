"""Crossover and mutation of the archive in arrays: every child is a list of segments of the tokens of its parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet, Programs
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.postfix import starts, token_arities
from fouriertree.expr.programs import ranges
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection.batches import SumBatch, copied, joined_programs
from fouriertree.projection.forward import forward_selection
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Cost, Evaluation, Fronts, evaluate, screened

Floats = NDArray[np.float64]
#: first token and number of tokens
Segment = tuple[int, int]
#: cumulative probabilities of a removed, an added and a combined term; otherwise a subtree is replaced
REMOVED, ADDED, COMBINED = 0.15, 0.3, 0.4
#: probability that new material is a random tree, and not a subtree of another parent
RANDOM_TREE = 0.5
#: children of a task, steps of variable projection for all of them, and how many are evaluated
OFFSPRING, SHORT, EVALUATED = 400, 5, 16
#: random numbers that a child is made of: its parent, the term, the move, new material, and where it goes
N_DRAWS = 10
#: random trees that are drawn at the start, and used, terms of their sums, and steps of variable projection
FIRST_DRAWN, FIRST_TREES, FIRST_TERMS, FIRST_STEPS = 48, 8, 4, 1
#: depth of random trees
DEPTHS = 1, 3
#: streams of random numbers of a search, besides its seed
VARIATION, TREES = 3, 5


def random_sums(context: SearchContext, fronts: Fronts) -> Evaluation:
    """Sums of a few small random trees, the best next tree added each time: a first approximation."""
    data = context.data
    drawn = [tree for tree in _draw(context, [context.seed, TREES], FIRST_DRAWN) if tree.columns]
    # Trees with constants first: others are the same for many seeds.
    trees = sorted(drawn, key=lambda tree: not len(tree.constants))[:FIRST_TREES]
    values = np.array([tree.evaluate(data.X) for tree in trees]).reshape(len(trees), data.n_rows)
    usable = np.flatnonzero(np.isfinite(values).all(axis=1) & (np.ptp(values, axis=1) > 0.0))
    order = forward_selection(values[usable].T, data.y, data.weights, FIRST_TERMS)
    chosen = [trees[usable[j]] for j in order]
    sums = [(ONE, *chosen[: k + 1]) for k in range(len(chosen))]
    tried = Evaluation(cost=Cost(0, len(trees)))
    return tried + evaluate(context, sums, fronts, iterations=FIRST_STEPS)


def vary(
    context: SearchContext, parents: Sequence[Sequence[Expression]], lengths: Sequence[float], number: int,
    fronts: Fronts,
) -> Evaluation:  # fmt: skip
    """The best of the offspring number `number` of parents with these description lengths."""
    rng = np.random.default_rng([context.seed, VARIATION, number])
    trees = _draw(context, [context.seed, VARIATION, number, TREES], OFFSPRING)
    primitives = context.vocabulary.primitives
    children = offspring(SumBatch.pack(parents), np.array(lengths), trees, primitives, rng, OFFSPRING)
    models = context.options.allowed(children)
    best, cost = screened(context, models, SHORT, EVALUATED)
    # Children that are not allowed count, too, or a search in which none is allowed would not end.
    wasted = Cost(OFFSPRING - len(models))
    return Evaluation(cost=cost + wasted) + evaluate(context, best, fronts)


def _draw(context: SearchContext, seed: Sequence[int], count: int) -> Programs:
    """Small random trees."""
    grammar = Grammar(
        context.vocabulary.primitives, context.data.n_features, constant_share=0.25, constants=(0.2, 2.0)
    )
    stream = int(np.random.default_rng(seed).integers(2**31))
    return RampedHalfAndHalf(*DEPTHS).draw(grammar, stream, 0, count)


def offspring(
    parents: SumBatch, scores: Floats, trees: Programs, operators: PrimitiveSet, rng: np.random.Generator, count: int
) -> SumBatch:  # fmt: skip
    """Children of parents with these scores, of which the smallest are best, and of random trees.

    The parent of a child is the better one of two.  A term is removed, added, combined with another one by a binary
    operator, or one of its subtrees is replaced.
    """
    binary = [row for row in operators if row.arity == 2]
    tokens = [Expression.apply(row, 0.0, 0.0).part(2, 3) for row in binary]
    trees = copied(trees, np.arange(len(trees)))  # in the arrays of a generator there are gaps
    source = joined_programs([parents.programs, trees, Programs.pack(tokens)])
    n_parent_terms, n_trees = len(parents.programs), len(trees)
    n_tokens = len(source.op) - len(tokens)
    subtree_start = starts(token_arities(source.op[:n_tokens], source.primitives))
    start, size = source.start.tolist(), source.count.tolist()
    first, n_terms, ranks = parents.first.tolist(), parents.n_terms.tolist(), scores.tolist()

    def whole(program: int) -> Segment:
        return start[program], size[program]

    def material(u: Sequence[float]) -> Segment:
        """A random tree, or a subtree of a parent, from four random numbers."""
        if u[0] < RANDOM_TREE:
            return whole(n_parent_terms + int(u[1] * n_trees))
        parent = int(u[1] * len(first))
        return subtree(first[parent] + int(u[2] * n_terms[parent]), u[3])

    def subtree(program: int, u: float) -> Segment:
        end = start[program] + int(u * size[program])
        return subtree_start[end], end + 1 - subtree_start[end]

    def child(u: Sequence[float]) -> list[list[Segment]]:
        """A child from N_DRAWS random numbers."""
        parent = min(int(u[0] * len(first)), int(u[1] * len(first)), key=ranks.__getitem__)
        terms = [[whole(first[parent] + i)] for i in range(n_terms[parent])]
        i, move, new = int(u[2] * len(terms)), u[3], material(u[4:])
        if move < REMOVED and len(terms) > 1:
            del terms[i]
        elif move < ADDED:
            terms.append([new])
        elif move < COMBINED and binary:
            operator = whole(n_parent_terms + n_trees + int(u[8] * len(binary)))
            terms[i] = [*((*terms[i], new) if u[9] < 0.5 else (new, *terms[i])), operator]
        else:
            at, length = subtree(first[parent] + i, u[8])
            begin, n = whole(first[parent] + i)
            after = at + length
            terms[i] = [(begin, at - begin), new, (after, begin + n - after)]
        return terms

    # Random numbers of all children at once: a call of the generator takes longer than the rest of a child.
    draws = rng.random((count, N_DRAWS)).tolist()
    return without_constant_terms(joined_segments(source, [child(u) for u in draws]))


def joined_segments(source: Programs, children: Sequence[Sequence[Sequence[Segment]]]) -> SumBatch:
    """Sums from segments of tokens."""
    terms = [term for child in children for term in child]
    segments = np.array([segment for term in terms for segment in term], np.int64).reshape(-1, 2)
    tokens = ranges(*segments.T.copy())
    count = np.array([sum(length for _, length in term) for term in terms], np.int64)
    programs = replace(
        source, op=source.op[tokens], arg=source.arg[tokens], const=source.const[tokens],
        start=np.cumsum(count) - count, count=count, height=int(count.max(initial=1)),
    )  # fmt: skip
    return SumBatch(programs, np.array([len(child) for child in children], np.int64))


def without_constant_terms(sums: SumBatch) -> SumBatch:
    """Sums without the terms that have no feature, and without those of which nothing is left."""
    programs = sums.programs
    varies = np.logical_or.reduceat(programs.op != CONST, programs.start)
    n_terms = np.add.reduceat(varies.astype(np.int64), sums.first)
    return SumBatch(copied(programs, np.flatnonzero(varies)), n_terms[n_terms > 0])
