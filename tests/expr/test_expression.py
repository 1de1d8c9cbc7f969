import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.opcodes import ADD, CONST, SIN, VAR

from .strategies import expressions, tables

x, y = Expression.variable(0), Expression.variable(1)


def recursive_value(e: Expression, X: np.ndarray) -> np.ndarray:
    """Evaluation by recursion over children, to compare with the stack machine."""
    if e.op[-1] == CONST:
        return np.full(len(X), e.const[-1])
    if e.op[-1] == VAR:
        return X[:, e.arg[-1]]
    row = e.primitives.by_opcode(int(e.op[-1]))
    arguments = [recursive_value(e.subtree(i), X) for i in e.children(e.size - 1)]
    return row.reference(*arguments)


@given(expressions(), tables())
def test_the_stack_machine_agrees_with_recursive_evaluation(e, X):
    np.testing.assert_array_equal(e.evaluate(X), recursive_value(e, X))
    assert e(X).shape == (len(X),)
    assert e(X).dtype == np.float64


@given(expressions(max_leaves=6))
def test_every_subtree_is_the_slice_that_ends_at_its_token(e):
    for i in range(e.size):
        start = e.subtree_start(i)
        part = Expression(*(a[start : i + 1] for a in (e.op, e.arg, e.const)), e.primitives)
        assert part == e.subtree(i)
        ends = e.children(i)
        assert len(ends) == (0 if e.op[i] <= VAR else e.primitives.by_opcode(int(e.op[i])).arity)
        assert sum(e.subtree(end).size for end in ends) == part.size - 1
        assert part.depth == 1 + max((e.subtree(end).depth for end in ends), default=0)


@given(expressions(max_leaves=5), expressions(max_leaves=5))
def test_replacing_a_subtree_changes_that_slice_only(e, other):
    for i in range(e.size):
        new = e.replace(i, other)
        start = e.subtree_start(i)
        assert new.subtree(start + other.size - 1) == other
        assert new.size == e.size - (i + 1 - start) + other.size
        assert new.replace(start + other.size - 1, e.subtree(i)) == e


@given(expressions())
def test_equality_and_hash_are_by_content(e):
    same = Expression(e.op, e.arg, e.const, e.primitives)
    assert same == e
    assert hash(same) == hash(e)
    assert len({e, same, -e}) == 2


@given(expressions())
def test_pickle_copy_and_json_give_an_equal_expression(e):
    assert pickle.loads(pickle.dumps(e)) == e
    assert copy.deepcopy(e) == e
    assert Expression.from_json(json.loads(json.dumps(e.to_json()))) == e


def test_nan_equals_itself_and_the_two_zeros_differ():
    assert Expression.constant(np.nan) == Expression.constant(-np.nan)
    assert hash(Expression.constant(np.nan)) == hash(Expression.constant(-np.nan))
    assert Expression.constant(0.0) != Expression.constant(-0.0)
    assert Expression.constant(0.0) != 0.0


def test_expressions_are_immutable():
    tokens = np.array([VAR])
    e = Expression(tokens, [0], [0.0])
    tokens[0] = CONST
    assert e == x
    with pytest.raises(AttributeError, match="immutable"):
        e.op = np.array([1])
    with pytest.raises(AttributeError, match="immutable"):
        del e.op
    with pytest.raises(AttributeError):
        e.extra = 1
    for array in (e.op, e.arg, e.const, (e + 1).op, (e + 1).subtree(0).const, parse("x0 + 1").const):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_structure_of_a_small_expression():
    e = parse("sin(x2^2)*0.5 - x0")
    assert (e.size, len(e), e.depth) == (7, 7, 5)
    assert e.columns == (0, 2)
    assert e.constants == (0.5,)
    assert e.complexity == 3 + 2 + 1 + 1 + 3
    assert e.children(6) == (4, 5)
    assert e.children(4) == (2, 3)
    assert e.children(0) == ()
    assert e.subtree(-1) == e
    assert (e.op.dtype, e.arg.dtype, e.const.dtype) == (np.int32, np.int32, np.float64)
    with pytest.raises(IndexError):
        e.subtree(7)


@pytest.mark.parametrize(
    ("op", "arg", "const", "message"),
    [
        ([], [], [], "leaves 0"),
        ([SIN], [0], [0], "takes 1 argument"),
        ([VAR, ADD], [0, 0], [0, 0], "takes 2 argument"),
        ([VAR, VAR], [0, 1], [0, 0], "leaves 2"),
        ([VAR], [-1], [0], "negative"),
        ([VAR], [0], [2.0], "0 elsewhere"),
        ([CONST], [3], [2.0], "0 elsewhere"),
        ([VAR], [0, 1], [0], "same length"),
        ([99], [0], [0], "opcode 99"),
    ],
)
def test_invalid_programs_raise(op, arg, const, message):
    with pytest.raises(ValueError, match=message):
        Expression(op, arg, const)


def test_python_operators_build_the_trees_that_parse_reads():
    assert (x + y) * 2 - x / y == parse("(x0 + x1)*2 - x0/x1")
    assert 1 + x == parse("1 + x0")
    assert 1 - x == parse("1 - x0")
    assert np.float64(2) * x == parse("2*x0")
    assert 2 / x == parse("2/x0")
    assert x**2 + x**3 + x**4 + 2**x == parse("x0^2 + x0^3 + x0^4 + 2^x0")
    assert -x == parse("-x0")
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        [1] * (x + 1)


def test_apply_checks_the_number_of_arguments_and_the_name():
    assert Expression.apply("min", x, 1) == parse("min(x0, 1)")
    with pytest.raises(ValueError, match="sin takes 1 argument"):
        Expression.apply("sin", x, y)
    with pytest.raises(ValueError, match="did you mean 'sin'"):
        Expression.apply("sine", x)


def test_constants_fill_the_rows_and_results_are_not_views():
    X = np.ones((3, 1))
    np.testing.assert_array_equal(Expression.constant(2.0)(X), [2, 2, 2])
    x(X)[:] = 5
    assert (X == 1).all()
    assert x(np.empty((0, 1))).shape == (0,)


@pytest.mark.parametrize(
    ("X", "message"),
    [([1.0, 2.0], r"reshape\(-1, 1\)"), (3.0, "two dimensions"), ([[1.0]], "feature x1, but X has 1")],
)
def test_data_of_the_wrong_shape_raises_a_clear_error(X, message):
    with pytest.raises(ValueError, match=message):
        (x + y)(X)


def deep(n: int) -> Expression:
    return Expression([VAR, *[SIN] * n], [0] * (n + 1), [0.0] * (n + 1))


def long_sum(n: int) -> Expression:
    return Expression([VAR, *[VAR, ADD] * n], [0] * (2 * n + 1), [0.0] * (2 * n + 1))


def right_deep(n: int) -> Expression:
    return Expression([*[VAR] * (n + 1), *[ADD] * n], [0] * (2 * n + 1), [0.0] * (2 * n + 1))


@pytest.mark.parametrize("make", [deep, long_sum, right_deep])
def test_trees_of_ten_thousand_nodes_work(make):
    e = make(10_000)
    assert e.depth == 10_001
    assert parse(str(e)) == e
    assert e([[0.5]]).shape == (1,)
    assert pickle.loads(pickle.dumps(e)) == e
    assert e.subtree(e.size - 1) == e
    assert e.children(e.size - 1)


def test_the_operators_of_an_expression_are_kept():
    operators = PrimitiveSet.paper()
    e = parse("x0 + 1", primitives=operators)
    assert e.primitives is operators
    assert e.subtree(0).primitives is operators
    assert pickle.loads(pickle.dumps(e)).primitives == operators
