import pickle

import numpy as np
import pytest

from fouriertree.expr import PrimitiveSet, opcodes
from fouriertree.expr.catalogue import CATALOGUE
from tests.operators import FUNCTIONS, OPCODES

X = np.array([-np.inf, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, np.inf, np.nan])


def test_opcodes_never_change_and_are_consecutive():
    found = {name: row.opcode for name, row in CATALOGUE.items()}
    consecutive = list(range(2, 2 + len(found)))
    assert list(found.values()) == consecutive, f"the next free opcode is {consecutive[-1]}"
    new = ", ".join(f"{name}={code}" for name, code in found.items() if name not in OPCODES)
    assert found == OPCODES, f"add {new or 'the opcode'} to OPCODES in tests/operators.py"
    named = {name.lower(): code for name, code in vars(opcodes).items() if name.isupper()}
    assert all(CATALOGUE[name].opcode == code for name, code in named.items() if name in CATALOGUE)


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_operators_are_numpys_on_edge_values_and_never_warn(row):
    arguments = [axis.ravel() for axis in np.meshgrid(*[X] * row.arity)]
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[row.name](*arguments)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(row.reference(*arguments), expected, rtol=1e-15)


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
