"""Random trees: reproducible, equal to a reference implementation's, and of the documented distribution."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fouriertree.expr import PrimitiveSet
from fouriertree.expr._draw import draw_breadth_first, draw_depth_first
from fouriertree.expr.generate import GenerateComposition, Grammar, RampedHalfAndHalf, fill_arena
from fouriertree.expr.opcodes import CONST, VAR

from .slow_generator import composition_twin, ramped_twin

GENERATORS = [
    RampedHalfAndHalf(1, 4),
    RampedHalfAndHalf(2, 6),
    RampedHalfAndHalf(3, 3),
    RampedHalfAndHalf(1, 1),
    GenerateComposition(0.5, 1, 4),
    GenerateComposition(0.3, 0, 5),
    GenerateComposition(0.9, 2, 2),
    GenerateComposition(1.0, 0, 1),
]
TINY = Grammar(PrimitiveSet(["add", "sin"]))
# Significance level of the tests of distributions; the seeds are fixed.
RARE = 1e-4
every_generator = pytest.mark.parametrize("generator", GENERATORS, ids=repr)
seeds = st.integers(0, 2**63 - 1)


def tokens(programs):
    """Every program as (opcode, feature, constant) triples."""
    return [tuple(zip(e.op.tolist(), e.arg.tolist(), e.const.tolist(), strict=True)) for e in programs]


# Reproducibility -------------------------------------------------------------------------
@every_generator
@given(seed=seeds, first=st.integers(0, 2**40), cuts=st.sets(st.integers(1, 39)), data=st.data())
def test_a_candidate_is_the_same_tree_in_any_batch_and_order(generator, seed, first, cuts, data):
    whole = tokens(generator.draw(Grammar(n_columns=3), seed, first, 40))
    parts = list(pairwise([0, *sorted(cuts), 40]))
    found = {}
    for a, b in data.draw(st.permutations(parts)):
        found[a] = tokens(generator.draw(Grammar(n_columns=3), seed, first + a, b - a))
    assert [tree for a in sorted(found) for tree in found[a]] == whole


@every_generator
def test_a_candidate_is_the_same_tree_on_any_thread(generator):
    whole = tokens(generator.draw(Grammar(), 7, 0, 400))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: tokens(generator.draw(Grammar(), 7, i, 25)), range(0, 400, 25)))
    assert [tree for part in parts for tree in part] == whole


@every_generator
def test_a_batch_larger_than_its_arena_is_drawn_again_not_cut(generator):
    grammar = Grammar()
    calls = []

    def fill(*arena):
        calls.append(len(arena[0]))
        packed = grammar.packed()
        if isinstance(generator, RampedHalfAndHalf):
            return draw_depth_first(5, 0, generator.lo, generator.hi, packed, *arena)
        return draw_breadth_first(5, 0, generator.p, generator.l, generator.u, packed, *arena)

    largest = 2 ** (generator.hi if isinstance(generator, RampedHalfAndHalf) else generator.u + 1) - 1
    found = fill_arena(fill, 300, 0.01, largest, 20, grammar)
    assert len(calls) > 1
    assert tokens(found) == tokens(generator.draw(grammar, 5, 0, 300))


def test_no_candidates_are_an_empty_batch():
    for generator in (RampedHalfAndHalf(), GenerateComposition()):
        assert len(generator.draw(Grammar(), 0, 0, 0)) == 0


@every_generator
def test_every_program_is_one_complete_tree_within_the_stack_height(generator):
    batch = generator.draw(Grammar(PrimitiveSet.catalogue(), n_columns=4), 1, 0, 300)
    for tree in batch:
        type(tree)(tree.op, tree.arg, tree.const, tree.primitives)  # the constructor checks
        height = highest = 0
        for code in tree.op.tolist():
            height += 1 - (0 if code in (CONST, VAR) else tree.primitives.by_opcode(code).arity)
            highest = max(highest, height)
        assert highest <= batch.height
        assert all(column < 4 for column in tree.columns)


# Reference implementation ---------------------------------------------------------------------------------------
@every_generator
@given(
    seed=seeds,
    first=st.integers(0, 2**62),
    columns=st.integers(1, 5),
    share=st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    operators=st.sampled_from([["add"], ["sin"], ["add", "sin"], ["mul", "pdiv", "plog", "exp", "max"]]),
)
def test_the_reference_generator_draws_the_same_trees(generator, seed, first, columns, share, operators):
    grammar = Grammar(PrimitiveSet(operators), columns, share, constants=(-2.0, 5.0))
    twin = ramped_twin if isinstance(generator, RampedHalfAndHalf) else composition_twin
    expected = [twin(generator, grammar, seed, first + i) for i in range(10)]
    assert tokens(generator.draw(grammar, seed, first, 10)) == expected


# Distributions ---------------------------------------------------------------------------------------------
def assert_law(counts, probabilities, least=5.0):
    """Chi-square test of {outcome: count} against {outcome: probability}; rare outcomes are counted together."""
    n = sum(counts.values())
    assert abs(sum(probabilities.values()) - 1.0) < 1e-9
    assert set(counts) <= {outcome for outcome, p in probabilities.items() if p > 0.0}
    common = [outcome for outcome, p in probabilities.items() if n * p >= least]
    observed, expected = [counts.get(o, 0) for o in common], [n * probabilities[o] for o in common]
    if n - sum(expected) > least:
        observed, expected = [*observed, n - sum(observed)], [*expected, n - sum(expected)]
    assert len(observed) > 1
    # Where all that is left over is too rare to be counted, the sums differ by that little.
    assert stats.chisquare(observed, np.array(expected) * (sum(observed) / sum(expected))).pvalue > RARE


def count(values):
    outcomes, counts = np.unique(np.asarray(values), return_counts=True)
    return dict(zip(outcomes.tolist(), counts.tolist(), strict=True))


def modes(generator):
    """Equally likely ways to grow: for each, the probability that a node at depth 0, 1, … is a function."""
    if isinstance(generator, RampedHalfAndHalf):
        for levels in range(generator.lo, generator.hi + 1):
            yield [1.0] * (levels - 1)
            yield [1.0 if depth < generator.lo else 0.5 for depth in range(levels - 1)]
    else:
        for limit in range(generator.l, generator.u + 1):
            for p in (generator.p, 1.0):
                yield [1.0 if depth < generator.l else p for depth in range(limit)]


def mixture(generator, law):
    """Average of the laws {outcome: probability} of all modes."""
    total = {}
    ways = [law(chances) for chances in modes(generator)]
    for way in ways:
        for outcome, p in way.items():
            total[outcome] = total.get(outcome, 0.0) + p / len(ways)
    return total


def trees_law(grammar):
    """chances -> {tree as opcodes in postfix order: probability}, for one column; by enumeration."""
    rows = list(grammar.primitives)
    leaves = {(CONST,): grammar.constant_share, (VAR,): 1.0 - grammar.constant_share}

    def law(chances):
        if not chances:
            return leaves
        below = law(chances[1:])
        found = {tree: (1.0 - chances[0]) * p for tree, p in leaves.items()}
        for row in rows:
            for arguments, p in products(below, row.arity):
                found[*arguments, row.opcode] = chances[0] / len(rows) * p
        return found

    def products(below, arity):
        if arity == 1:
            yield from below.items()
        else:
            yield from (((*a, *b), p * q) for a, p in below.items() for b, q in below.items())

    return law


def depth_law(grammar):
    """chances -> {levels: probability}; P(levels ≤ h) by recursion."""
    arities = grammar.primitives.arities

    def at_most(h, chances):
        if h == 0:
            return 0.0
        chance = chances[0] if chances else 0.0
        below = at_most(h - 1, chances[1:])
        return (1.0 - chance) + chance * float(np.mean(below**arities))

    def law(chances):
        whole = [at_most(h, chances) for h in range(len(chances) + 2)]
        return {h: whole[h] - whole[h - 1] for h in range(1, len(whole))}

    return law


def size_law(grammar):
    """chances -> {nodes: probability}; generating functions S(z) = z·(1 − c + c·mean(S_below(z)**arity))."""
    arities = grammar.primitives.arities

    def series(chances):
        z = np.polynomial.Polynomial([0.0, 1.0])
        if not chances:
            return z
        below = series(chances[1:])
        powers = sum((below ** int(a) for a in arities), np.polynomial.Polynomial([0.0])) / len(arities)
        return z * (1.0 - chances[0] + chances[0] * powers)

    return lambda chances: dict(enumerate(series(chances).coef.tolist()))


def levels(programs):
    """Number of levels of every program."""
    arity = np.zeros(int(programs.op.max()) + 1, np.int64)
    for row in programs.primitives:
        if row.opcode < len(arity):
            arity[row.opcode] = row.arity
    takes, found = arity[programs.op].tolist(), []
    for s, n in zip(programs.start.tolist(), programs.count.tolist(), strict=True):
        stack = []
        for a in takes[s : s + n]:
            if a == 2:
                top = stack.pop()
                stack[-1] = max(stack[-1], top) + 1
            elif a == 1:
                stack[-1] += 1
            else:
                stack.append(1)
        found.append(stack[0])
    return found


def roots(programs):
    return programs.op[programs.start + programs.count - 1]


LAWS = [
    RampedHalfAndHalf(1, 3), RampedHalfAndHalf(2, 3), RampedHalfAndHalf(1, 2), GenerateComposition(0.5, 0, 2),
    GenerateComposition(0.3, 1, 2), GenerateComposition(0.8, 2, 2), GenerateComposition(0.6, 0, 1),
]  # fmt: skip


@pytest.mark.parametrize("generator", LAWS, ids=repr)
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_every_tree_has_its_exact_probability(generator, share):
    grammar = Grammar(TINY.primitives, 1, share)
    batch = generator.draw(grammar, 11, 0, 50_000)
    found = {}
    for s, n in zip(batch.start.tolist(), batch.count.tolist(), strict=True):
        tree = tuple(batch.op[s : s + n].tolist())
        found[tree] = found.get(tree, 0) + 1
    assert_law(found, mixture(generator, trees_law(grammar)))


PAPER_LAWS = [
    RampedHalfAndHalf(1, 5),
    RampedHalfAndHalf(2, 4),
    GenerateComposition(0.5, 1, 4),
    GenerateComposition(0.7, 0, 3),
]


@pytest.mark.parametrize("generator", PAPER_LAWS, ids=repr)
def test_depths_and_sizes_have_their_exact_probabilities(generator):
    grammar = Grammar()
    batch = generator.draw(grammar, 12, 0, 100_000)
    assert_law(count(levels(batch)), mixture(generator, depth_law(grammar)))
    assert_law(count(batch.count), mixture(generator, size_law(grammar)))


@pytest.mark.parametrize(
    "generator", [RampedHalfAndHalf(), GenerateComposition(), RampedHalfAndHalf(2, 6)], ids=repr
)
def test_roots_leaves_and_mean_size_have_the_distribution_of_the_published_parameters(generator):
    grammar = Grammar(n_columns=3, constant_share=0.3, constants=(-1.0, 2.0))
    batch = generator.draw(grammar, 13, 0, 200_000)
    sizes = mixture(generator, size_law(grammar))
    # The root: a leaf, or one of the operators, with equal probability.
    leaf = sizes[1]
    codes = count(np.where(roots(batch) <= VAR, -1, roots(batch)))
    operators = {row.opcode: (1.0 - leaf) / len(grammar.primitives) for row in grammar.primitives}
    assert_law(codes, operators | ({-1: leaf} if leaf else {}))
    # Leaves, wherever they are.
    op, arg, const = batch.op, batch.arg, batch.const
    assert_law(count(op[op <= VAR]), {CONST: 0.3, VAR: 0.7})
    assert_law(count(arg[op == VAR]), dict.fromkeys(range(3), 1 / 3))
    constants = const[op == CONST]
    assert stats.kstest(constants[:200_000], stats.uniform(-1.0, 3.0).cdf).pvalue > RARE
    # Operators, wherever they are.
    assert_law(count(op[op > VAR]), {row.opcode: 1 / len(grammar.primitives) for row in grammar.primitives})
    # The mean size: exactly, and within five standard errors of the sample.
    mean = sum(size * p for size, p in sizes.items())
    assert generator.expected_size(grammar) == pytest.approx(mean, rel=1e-9)
    error = batch.count.std() / np.sqrt(len(batch))
    assert abs(batch.count.mean() - mean) < 5 * error


def test_a_tenth_of_the_published_candidates_are_leaves_and_none_of_the_papers():
    ramped = RampedHalfAndHalf(1, 10).draw(Grammar(), 14, 0, 200_000)
    leaves = int((ramped.count == 1).sum())
    assert stats.binomtest(leaves, 200_000, 0.1).pvalue > RARE
    assert GenerateComposition(l=1).draw(Grammar(), 14, 0, 200_000).count.min() > 1


@pytest.mark.parametrize("generator", GENERATORS, ids=repr)
def test_depths_are_within_the_limits(generator):
    found = levels(generator.draw(Grammar(), 15, 0, 20_000))
    if isinstance(generator, RampedHalfAndHalf):
        assert min(found) >= min(generator.lo, generator.hi)
        assert max(found) == generator.hi
    else:
        assert min(found) >= generator.l + 1
        assert max(found) == generator.u + 1


@pytest.mark.parametrize("generator", [RampedHalfAndHalf(1, 6), GenerateComposition(0.5, 1, 5)], ids=repr)
def test_streams_of_different_seeds_and_neighbouring_candidates_are_independent(generator):
    n = 50_000
    first = generator.draw(Grammar(), 100, 0, n)
    for seed in (0, 101, 102, 100 + 2**32, 2**62):
        other = generator.draw(Grammar(), seed, 0, n)
        assert tokens(first.subset(np.arange(50))) != tokens(other.subset(np.arange(50)))
        for lag in (0, 1, 2):
            a, b = np.log(first.count[: n - lag]), np.log(other.count[lag:])
            assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(n)
            assert stats.chi2_contingency(table(roots(first)[: n - lag], roots(other)[lag:])).pvalue > RARE
    for lag in (1, 2, 16):
        assert abs(np.corrcoef(np.log(first.count[lag:]), np.log(first.count[:-lag]))[0, 1]) < 5 / np.sqrt(n)
        assert stats.chi2_contingency(table(roots(first)[lag:], roots(first)[:-lag])).pvalue > RARE


def table(a, b):
    """How often each pair of values occurs."""
    _, i = np.unique(a, return_inverse=True)
    _, j = np.unique(b, return_inverse=True)
    counts = np.zeros((i.max() + 1, j.max() + 1), np.int64)
    np.add.at(counts, (i, j), 1)
    return counts


def test_constants_of_one_tree_are_independent_of_each_other():
    batch = RampedHalfAndHalf(2, 2).draw(Grammar(PrimitiveSet(["add"]), constant_share=1.0), 16, 0, 50_000)
    pairs = batch.const.reshape(-1, 3)[:, :2]
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 5 / np.sqrt(len(pairs))


def test_the_distribution_test_detects_a_wrong_distribution():
    fair = count(np.random.default_rng(0).integers(0, 4, 50_000))
    assert_law(fair, dict.fromkeys(range(4), 0.25))
    with pytest.raises(AssertionError):
        assert_law(fair, {0: 0.27, 1: 0.23, 2: 0.25, 3: 0.25})


# Errors ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (RampedHalfAndHalf(0, 3), "lo must be from 1 to 3; got 0"),
        (RampedHalfAndHalf(4, 3), "lo must be from 1 to 3; got 4"),
        (RampedHalfAndHalf(1, 21), "hi must be from 1 to 20; got 21"),
        (GenerateComposition(-0.1), "p must be a probability, from 0 to 1; got -0.1"),
        (GenerateComposition(1.1), "p must be a probability"),
        (GenerateComposition(float("nan")), "p must be a probability"),
        (GenerateComposition(0.5, -1, 3), "l must be from 0 to 3; got -1"),
        (GenerateComposition(0.5, 4, 3), "l must be from 0 to 3; got 4"),
        (GenerateComposition(0.5, 0, 0), "u must be from 1 to 19; got 0"),
        (GenerateComposition(0.5, 1, 20), "u must be from 1 to 19; got 20"),
    ],
    ids=repr,
)
def test_parameters_out_of_range_raise(generator, message):
    with pytest.raises(ValueError, match=message):
        generator.draw(Grammar(), 0, 0, 1)


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (Grammar(n_columns=0), "no features"),
        (Grammar(PrimitiveSet([])), "no operators"),
        (Grammar(constant_share=1.5), "constant_share"),
        (Grammar(constant_share=-0.1), "constant_share"),
        (Grammar(constants=(1.0, -1.0)), "constants"),
        (Grammar(constants=(0.0, float("inf"))), "constants"),
    ],
    ids=["columns", "operators", "share above", "share below", "reversed", "infinite"],
)
def test_grammars_without_trees_raise(grammar, message):
    for generator in (RampedHalfAndHalf(), GenerateComposition()):
        with pytest.raises(ValueError, match=message):
            generator.draw(grammar, 0, 0, 1)


def test_without_features_all_leaves_are_constants():
    batch = RampedHalfAndHalf(1, 4).draw(Grammar(n_columns=0, constant_share=1.0), 0, 0, 50)
    assert VAR not in batch.op.tolist()
