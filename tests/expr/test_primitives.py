import pickle

import numpy as np
import pytest
import scipy.special

from fouriertree.expr import PrimitiveSet, opcodes
from fouriertree.expr.catalogue import CATALOGUE

X = np.array([-np.inf, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, np.inf, np.nan])
FIXED = (
    "add=2 sub=3 mul=4 div=5 pdiv=6 sin=7 cos=8 tan=9 exp=10 log=11 plog=12 sqrt=13 square=14 cube=15 inv=16 "
    "neg=17 abs=18 tanh=19 asin=20 acos=21 atan=22 pow=23 min=24 max=25 erf=26 sinh=27 cosh=28 sign=29 step=30 relu=31"
)


def test_opcodes_are_the_numbers_the_engine_was_built_for():
    assert {name: row.opcode for name, row in CATALOGUE.items()} == {
        name: int(number) for name, number in (pair.split("=") for pair in FIXED.split())
    }
    named = {name.lower(): code for name, code in vars(opcodes).items() if name.isupper()}
    assert all(CATALOGUE[name].opcode == code for name, code in named.items() if name in CATALOGUE)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("pow", np.power),
        ("min", np.minimum),
        ("max", np.maximum),
    ],
)
def test_binary_operators_are_numpys_on_every_pair_of_edge_values(name, function):
    a, b = (axis.ravel() for axis in np.meshgrid(X, X))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(CATALOGUE[name].reference(a, b), function(a, b))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sin", np.sin),
        ("cos", np.cos),
        ("tan", np.tan),
        ("exp", np.exp),
        ("log", np.log),
        ("sqrt", np.sqrt),
        ("square", lambda a: a**2),
        ("cube", lambda a: a * a * a),
        ("inv", lambda a: 1 / a),
        ("neg", np.negative),
        ("abs", np.abs),
        ("tanh", np.tanh),
        ("asin", np.arcsin),
        ("acos", np.arccos),
        ("atan", np.arctan),
        ("erf", scipy.special.erf),
        ("sinh", np.sinh),
        ("cosh", np.cosh),
        ("sign", np.sign),
        ("step", lambda a: np.heaviside(a, 0.0)),
        ("relu", lambda a: np.maximum(a, 0.0)),
    ],
)
def test_unary_operators_are_numpys_on_edge_values_and_never_warn(name, function):
    with np.errstate(all="ignore"):
        expected = function(X)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(CATALOGUE[name].reference(X), expected)


def test_protected_division_by_zero_is_one_and_otherwise_plain():
    a = np.array([0.0, 5.0, -3.0, np.nan, 6.0, 1.0])
    b = np.array([0.0, -0.0, 0.0, 0.0, 4.0, np.nan])
    np.testing.assert_array_equal(CATALOGUE["pdiv"].reference(a, b), [1, 1, 1, 1, 1.5, np.nan])


def test_protected_logarithm_of_zero_is_zero_and_otherwise_that_of_the_absolute_value():
    expected = [np.inf, np.log(2), np.log(0.5), 0, 0, np.log(0.5), np.log(2), np.inf, np.nan]
    np.testing.assert_allclose(CATALOGUE["plog"].reference(X), expected)


def test_every_operator_has_a_derivative_per_argument_and_a_sympy_form():
    for row in CATALOGUE.values():
        assert row.derivative is not None
        assert len(row.derivative) == row.arity
        assert row.forms["sympy"]
        assert row.complexity >= 1


def test_the_papers_set_has_its_seven_functions_in_order():
    assert PrimitiveSet.paper().names == ("add", "sub", "mul", "pdiv", "sin", "cos", "plog")
    assert PrimitiveSet.paper().opcodes.tolist() == [2, 3, 4, 6, 7, 8, 12]
    assert PrimitiveSet.paper().arities.tolist() == [2, 2, 2, 2, 1, 1, 1]
    assert PrimitiveSet.paper().opcodes.dtype == PrimitiveSet.paper().arities.dtype == np.int32


def test_symbols_stand_for_operators():
    operators = PrimitiveSet(["+", "-", "*", "/", "^"])
    assert operators.names == ("add", "sub", "mul", "div", "pow")
    assert "+" in operators
    assert "sin" not in operators
    assert operators["*"] is CATALOGUE["mul"]


def test_a_set_resolves_every_builtin_opcode_but_lists_only_its_own():
    operators = PrimitiveSet.polynomial()
    assert operators.by_opcode(opcodes.SIN).name == "sin"
    assert CATALOGUE["sin"] not in operators
    assert len(operators) == 3
    with pytest.raises(KeyError, match="'sin' is not in this PrimitiveSet"):
        operators["sin"]
    with pytest.raises(ValueError, match="opcode 63"):
        operators.by_opcode(63)


def test_sets_are_equal_and_hash_by_content_and_order():
    assert PrimitiveSet(["add", "sin"]) == PrimitiveSet(["+", "sin"])
    assert hash(PrimitiveSet(["add", "sin"])) == hash(PrimitiveSet(["+", "sin"]))
    assert PrimitiveSet(["add", "sin"]) != PrimitiveSet(["sin", "add"])


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("sine", "did you mean 'sin'"),
        ("arctan", "did you mean 'atan'"),
        ("ln", "did you mean 'log'"),
        ("heaviside", "did you mean 'step'"),
    ],
)
def test_unknown_operator_gets_the_nearest_name_and_the_way_to_add_one(name, suggestion):
    with pytest.raises(
        ValueError, match=rf"unknown operator '{name}'; {suggestion}\? Add your own with Prim"
    ):
        PrimitiveSet([name])


def test_unknown_operator_with_no_near_name_still_says_how_to_add_one():
    with pytest.raises(ValueError, match=r"unknown operator 'zzz'\. Add your own with PrimitiveSet.add"):
        PrimitiveSet(["zzz"])


@pytest.mark.parametrize(("operators", "message"), [("sin", "give a list"), (["sin", "sin"], "twice")])
def test_a_bare_name_and_a_repeated_name_are_refused(operators, message):
    with pytest.raises(ValueError, match=message):
        PrimitiveSet(operators)


def test_sets_survive_json_and_pickle():
    operators = PrimitiveSet.paper()
    assert PrimitiveSet.from_json(operators.to_json()) == operators
    assert pickle.loads(pickle.dumps(operators)) == operators
    assert pickle.loads(pickle.dumps(CATALOGUE["sin"])) is CATALOGUE["sin"]
    assert pickle.loads(pickle.dumps(PrimitiveSet.catalogue())) is PrimitiveSet.catalogue()


def test_the_shared_catalogue_cannot_be_extended():
    with pytest.raises(ValueError, match="shared catalogue"):
        PrimitiveSet.catalogue().add("half", lambda a: 0.5 * a)
