"""Variation: children are valid sums of the allowed operators, and the same for the same random numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import EmpiricalSpace, Problem
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST
from fouriertree.projection.batches import SumBatch
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.evaluation import Fronts
from fouriertree.search.hybrid.variation import offspring, random_sums, vary

X = tuple(Expression.variable(i) for i in range(3))
SETS = {
    "default": PrimitiveSet.default(),
    "arithmetic": PrimitiveSet(["add", "mul", "div"]),
    "without squares": PrimitiveSet(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt"]),
}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from(sorted(SETS)))
def test_children_are_valid_sums_of_the_allowed_operators_without_constant_terms(seed, operators):
    primitives = SETS[operators]
    grammar = Grammar(primitives, 3, constant_share=0.25, constants=(0.2, 2.0))
    trees = RampedHalfAndHalf(1, 3).draw(grammar, seed, 0, 60)
    some = [e for e in trees if (e.op != CONST).any()]
    parents = [tuple(some[:3]), tuple(some[3:4]), tuple(some[4:8])]
    batch = SumBatch.pack(parents)
    children = offspring(
        batch, np.array([1.0, 2.0, 3.0]), trees, primitives, np.random.default_rng(seed), 100
    )
    allowed = set(primitives.opcodes.tolist())
    assert 0 < len(children) <= 100
    for i in range(len(children)):
        for e in children.expressions(i):
            Expression(e.op, e.arg, e.const)  # raises if the program is not complete
            assert set(e.op[e.op > 1].tolist()) <= allowed
            assert (e.op != CONST).any()


def test_the_same_generator_makes_the_same_children():
    trees = RampedHalfAndHalf(1, 3).draw(Grammar(PrimitiveSet.default(), 3), 5, 0, 60)
    batch = SumBatch.pack([(X[0], X[1]), (X[2],)])
    arguments = batch, np.zeros(2), trees, PrimitiveSet.default()
    first, second = (offspring(*arguments, np.random.default_rng(7), 50) for _ in range(2))
    assert [*first.programs] == [*second.programs]


@pytest.fixture(scope="module")
def context():
    rng = np.random.default_rng(0)
    rows = rng.uniform(1.0, 3.0, (60, 3))
    y = rows[:, 0] * np.sin(rows[:, 1]) + rng.normal(0.0, 0.1, 60)
    return Hybrid().init(Problem(EmpiricalSpace(rows, y), Grammar(PrimitiveSet.default(), 3)), 0)[0].context


def test_variation_is_a_pure_function_of_its_number(context):
    parents, lengths = ((X[0], X[1]), (X[2],)), (1.0, 2.0)
    first, again, other = (vary(context, parents, lengths, number, Fronts()) for number in (0, 0, 1))
    assert first == again
    assert first.found
    assert first != other


def test_random_sums_add_one_tree_at_a_time(context):
    evaluation = random_sums(context, Fronts())
    assert evaluation == random_sums(context, Fronts())
    sizes = [len(found.terms) for found in evaluation.found]
    assert sizes == sorted(set(sizes))
