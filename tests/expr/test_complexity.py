"""Complexity: the sum over all tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.complexity import Complexity

from .strategies import expressions


def tokens(expression):
    """Names of the operators, and None for leaves."""
    return [None if c <= 1 else expression.primitives.by_opcode(c).name for c in expression.op.tolist()]


@settings(max_examples=50, deadline=None)
@given(tree=expressions(), own=st.dictionaries(st.sampled_from(sorted(CATALOGUE)), st.integers(1, 20)))
def test_the_complexity_is_the_sum_over_tokens(tree, own):
    slow = sum(1 if name is None else own.get(name, CATALOGUE[name].complexity) for name in tokens(tree))
    assert Complexity(own)(tree) == slow


@settings(max_examples=50, deadline=None)
@given(tree=expressions())
def test_without_custom_values_it_is_the_complexity_of_the_expression(tree):
    assert Complexity()(tree) == Complexity({})(tree) == tree.complexity


@settings(max_examples=50, deadline=None)
@given(a=expressions(), b=expressions())
def test_the_complexity_of_a_tree_is_that_of_its_subtrees_and_its_root(a, b):
    measure = Complexity({"mul": 4})
    assert measure(Expression.apply(CATALOGUE["mul"], a, b)) == 4 + measure(a) + measure(b)


def test_operators_are_named_by_name_or_symbol():
    assert Complexity({"*": 7})(parse("x0*x1")) == Complexity({"mul": 7})(parse("x0*x1")) == 9


def test_custom_operators_have_their_declared_complexity_by_default():
    operators = PrimitiveSet(["add"])
    operators.add("half", lambda a: 0.5 * a, complexity=3)
    tree = parse("half(x0) + 1", primitives=operators)
    assert Complexity(primitives=operators)(tree) == Complexity()(tree) == 3 + 3
    assert Complexity({"half": 10, "add": 2}, operators)(tree) == 10 + 2 + 2


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None])
def test_a_complexity_is_a_whole_number_of_at_least_one(value):
    with pytest.raises(ValueError, match="the complexity of 'sin' must be a whole number of at least 1"):
        Complexity({"sin": value})


def test_an_unknown_operator_raises():
    with pytest.raises(ValueError, match="unknown operator 'sine'; did you mean 'sin'"):
        Complexity({"sine": 2})
