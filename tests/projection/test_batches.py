"""Sums in arrays: what a batch says of its sums is what their expressions say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.projection.batches import SumBatch, copied, joined_programs, ranges
from fouriertree.projection.variable import FitData, fit_batch, fit_constants

GRAMMAR = Grammar(PrimitiveSet.default(), 3, constant_share=0.3, constants=(0.2, 2.0))


def random_sums(seed, n=20):
    rng = np.random.default_rng(seed)
    trees = list(RampedHalfAndHalf(1, 4).draw(GRAMMAR, seed % 2**31, 0, 4 * n))
    return [tuple(trees[int(i)] for i in rng.integers(len(trees), size=rng.integers(1, 5))) for _ in range(n)]


seeds = st.integers(0, 2**31 - 1)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5)), min_size=1))
def test_ranges_are_those_of_python(pairs):
    start, count = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    assert ranges(start, count).tolist() == [i for a, n in pairs for i in range(a, a + n)]


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_a_batch_has_the_terms_complexities_and_constants_of_its_sums(seed):
    sums = random_sums(seed)
    batch = SumBatch.pack(sums)
    assert [batch.expressions(i) for i in range(len(batch))] == sums
    assert batch.complexities().tolist() == [sum(e.complexity for e in terms) for terms in sums]
    free = [sum(value != 1.0 for e in terms for value in e.constants) for terms in sums]
    assert batch.n_free.tolist() == free


@settings(max_examples=30, deadline=None)
@given(seeds, st.lists(st.integers(0, 19), min_size=1, max_size=30))
def test_taken_sums_may_repeat_and_share_no_tokens(seed, which):
    sums = random_sums(seed)
    taken = SumBatch.pack(sums).take(which)
    assert [taken.expressions(i) for i in range(len(taken))] == [sums[i] for i in which]
    assert len(taken.programs.op) == sum(len(e) for i in which for e in sums[i])


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_shapes_are_equal_if_and_only_if_sums_differ_in_constants_and_order_alone(seed):
    sums = random_sums(seed)
    rng = np.random.default_rng(seed)
    other_constants = [
        tuple(
            Expression(e.op, e.arg, np.where(e.op == 0, rng.uniform(2, 3, len(e)), 0.0))
            for e in reversed(terms)
        )
        for terms in sums
    ]
    shapes = SumBatch.pack(sums).shapes.tolist()
    assert SumBatch.pack(other_constants).shapes.tolist() == shapes
    forms = [tuple(sorted((e.op.tobytes(), e.arg.tobytes()) for e in terms)) for terms in sums]
    assert len(set(shapes)) == len(set(forms))


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_a_batch_is_fitted_as_its_sums_are_one_by_one(seed):
    sums = random_sums(seed, 6)
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(0.5, 2.0, (40, 3)), rng.normal(size=40)
    fitted = fit_batch(SumBatch.pack(sums), FitData.prepare(X, y), 5)
    for i, terms in enumerate(sums):
        fixed = [[e.const == 1.0 for e in terms]]
        [alone] = fit_constants([terms], X, y, iterations=5, fixed=fixed)
        assert alone.loss == fitted.losses[i]
        assert alone.expressions == fitted.batch.expressions(i)


def test_joined_programs_are_those_of_all_batches():
    first, second = (RampedHalfAndHalf(1, 4).draw(GRAMMAR, seed, 0, 10) for seed in (1, 2))
    compact = [copied(batch, np.arange(10)) for batch in (first, second)]
    assert list(joined_programs(compact)) == [*first, *second]


def test_complexities_are_right_beside_a_custom_operator():
    operators = PrimitiveSet(["+", "*", "sin"])
    operators.add("ramp", lambda a: max(a, 0.0), complexity=2)
    terms = [parse(text, primitives=operators) for text in ("ramp(x0)", "sin(x0)*x1", "ramp(sin(x0))")]
    found = SumBatch.pack([(e,) for e in terms]).complexities()
    assert found.tolist() == [e.complexity for e in terms]
