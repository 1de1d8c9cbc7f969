"""Nesting rules: limits on the number of operators on a path inside of another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.search.nesting import Nesting

DEFAULT = PrimitiveSet.default()


def rules(**limits):
    return Nesting.of(limits, DEFAULT)


@st.composite
def trees(draw):
    """Trees of the default operators over two columns."""
    leaves = st.sampled_from([parse("x0"), parse("x1"), parse("2.5")])
    unary = st.sampled_from([row for row in DEFAULT if row.arity == 1])
    binary = st.sampled_from([row for row in DEFAULT if row.arity == 2])

    def grow(children):
        return st.one_of(
            st.builds(Expression.apply, unary, children),
            st.builds(Expression.apply, binary, children, children),
        )

    return draw(st.recursive(leaves, grow, max_leaves=8))


def paths(expression, last=None):
    """The operators' names on every way from the root to a leaf."""
    last = expression.size - 1 if last is None else last
    code = int(expression.op[last])
    if code <= 1:
        return [()]
    name = expression.primitives.by_opcode(code).name
    return [(name, *rest) for child in expression.children(last) for rest in paths(expression, int(child))]


def slowly_allowed(expression, limits):
    """For every path, for every `outer` on it, what stands further down."""
    return all(
        path[i + 1 :].count(inner) <= most
        for path in paths(expression)
        for i, name in enumerate(path)
        for inner, most in limits.get(name, {}).items()
    )


NAMES = ["sin", "exp", "mul", "add", "square", "div"]


@settings(max_examples=100, deadline=None)
@given(
    tree=trees(),
    limits=st.dictionaries(
        st.sampled_from(NAMES),
        st.dictionaries(st.sampled_from(NAMES), st.integers(0, 2), min_size=1),
        max_size=3,
    ),
)
def test_a_tree_is_allowed_if_every_path_is(tree, limits):
    assert Nesting.of(limits, DEFAULT).allows(tree) == slowly_allowed(tree, limits)


EXAMPLES = [
    ({"sin": {"sin": 0}}, "sin(x0)*sin(x1)", True),
    ({"sin": {"sin": 0}}, "sin(x0 + 2*sin(x0))", False),
    ({"sin": {"sin": 1}}, "sin(sin(x0)*sin(x1))", True),
    ({"sin": {"sin": 1}}, "sin(sin(sin(x0)))", False),
    ({"sin": {"exp": 0}}, "exp(sin(x0))", True),
    ({"sin": {"exp": 0}}, "exp(sin(exp(x0)))", False),
    ({"sin": {"exp": 0}, "exp": {"sin": 0}}, "exp(sin(x0))", False),
    ({"sqrt": {"sin": 0}}, "sqrt(x0) + sin(x0)", True),
    ({"sqrt": {"sin": 0}}, "x0/sqrt(x1 - cos(tanh(sin(x0))))", False),
    ({"+": {"/": 0}}, "x0/(x0 + x1)", True),
    ({"+": {"/": 0}}, "x0 + x0/x1", False),
]


@pytest.mark.parametrize(("limits", "text", "allowed"), EXAMPLES)
def test_examples(limits, text, allowed):
    assert Nesting.of(limits, DEFAULT).allows(parse(text)) is allowed


def test_a_sum_is_allowed_if_every_term_is_and_its_terms_are_not_inside_each_other():
    nesting = rules(sin={"sin": 0})
    assert nesting.allow([parse("sin(x0)"), parse("sin(x1)")])
    assert not nesting.allow([parse("x0"), parse("sin(sin(x1))")])


def test_without_rules_everything_is_allowed():
    assert Nesting().allow([parse("sin(sin(sin(exp(exp(x0)))))")])
    assert Nesting.of({}, DEFAULT) == Nesting()


def test_rules_apply_to_user_defined_operators():
    operators = PrimitiveSet(["sin"])
    operators.add("half", lambda a: 0.5 * a)
    nesting = Nesting.of({"half": {"sin": 0}}, operators)
    assert not nesting.allows(parse("half(sin(x0))", primitives=operators))
    assert nesting.allows(parse("sin(half(x0))", primitives=operators))


BAD = [
    ({"sine": {"sin": 0}}, "unknown operator 'sine'; did you mean 'sin'"),
    ({"sin": {"exq": 0}}, "unknown operator 'exq'; did you mean 'exp'"),
    ({"sin": 0}, r"nesting\['sin'\] must map operators to counts"),
    ({"sin": {"exp": -1}}, r"nesting\['sin'\]\['exp'\] must be an integer ≥ 0; got -1"),
    ({"sin": {"exp": 0.5}}, r"nesting\['sin'\]\['exp'\] must be an integer ≥ 0; got 0.5"),
]


@pytest.mark.parametrize(("limits", "sentence"), BAD)
def test_invalid_rules_are_rejected(limits, sentence):
    with pytest.raises(ValueError, match=sentence):
        Nesting.of(limits, DEFAULT)
