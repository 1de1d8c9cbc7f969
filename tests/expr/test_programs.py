"""Batches of programs contain their expressions unchanged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, Programs, parse
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

from .strategies import expressions

batches = st.lists(expressions(max_leaves=6), max_size=5)
few = settings(max_examples=40)


def stack_height(expression):
    """The largest height of the stack while a program runs."""
    height = highest = 0
    for code in expression.op.tolist():
        height += 1 - (0 if code in (CONST, VAR) else expression.primitives.by_opcode(code).arity)
        highest = max(highest, height)
    return highest


@few
@given(batches)
def test_a_batch_gives_back_what_was_packed(trees):
    batch = Programs.pack(trees)
    assert len(batch) == len(trees)
    assert list(batch) == trees
    assert [batch[i] for i in range(len(trees))] == trees
    assert batch.n_nodes == sum(tree.size for tree in trees)


@few
@given(batches)
def test_bounds_are_the_largest_that_any_program_needs(trees):
    batch = Programs.pack(trees)
    assert batch.height == max((stack_height(tree) for tree in trees), default=1)
    assert batch.n_columns == max((max(tree.columns, default=-1) + 1 for tree in trees), default=0)


@few
@given(batches.filter(bool), st.data())
def test_a_subset_holds_the_chosen_programs_in_the_chosen_order(trees, data):
    batch = Programs.pack(trees)
    which = data.draw(st.lists(st.integers(0, len(trees) - 1), max_size=10))
    assert list(batch.subset(np.array(which, np.int64))) == [trees[i] for i in which]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(trees), max_size=len(trees))))
    assert list(batch.subset(mask)) == [tree for tree, m in zip(trees, mask, strict=True) if m]


def test_an_expression_taken_from_a_batch_is_its_own():
    batch = Programs.pack([parse("x0 + 1"), parse("sin(x0)")])
    taken = batch[0]
    assert not np.shares_memory(taken.op, batch.op)
    assert not np.shares_memory(taken.const, batch.const)
    assert not taken.op.flags.writeable


def test_operators_of_several_sets_are_all_known_to_the_batch():
    first, second = PrimitiveSet(["add"]), PrimitiveSet(["add"])
    one, two = first.add("left", lambda a: a + 1.0), second.add("right", lambda a: a - 1.0)
    trees = [parse("left(x0)", primitives=first), parse("right(x0)", primitives=second), parse("x0")]
    batch = Programs.pack(trees)
    assert list(batch) == trees
    assert set(batch.user_opcodes().tolist()) == {one.opcode, two.opcode}
    assert all(code >= USER_OPCODE_START for code in batch.user_opcodes())
    assert len(Programs.pack([parse("sin(x0)")]).user_opcodes()) == 0


def test_an_empty_batch_is_a_batch():
    batch = Programs.pack([])
    assert (len(batch), list(batch), batch.n_nodes, batch.height) == (0, [], 0, 1)


@pytest.mark.parametrize("depth", [1, 2, 50])
def test_right_chains_need_as_much_room_as_they_have_levels(depth):
    tree = Expression.variable(0)
    for _ in range(depth):
        tree = 1.0 - tree
    assert Programs.pack([tree]).height == depth + 1
