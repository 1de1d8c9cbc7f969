import math
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import fouriertree
from fouriertree.expr import Expression, PrimitiveSet, differentiate, parse
from fouriertree.expr.opcodes import USER_OPCODE_START

GRID = np.linspace(-3, 3, 13)


def half(a):
    return 0.5 * a


def relu(x):
    return x if x > 0 else 0.0


def test_an_array_function_is_compiled_and_keeps_numpys_values():
    operators = PrimitiveSet(["add"])
    row = operators.add("gauss", lambda a: np.exp(-a * a))
    assert row.compiled
    assert row.note == ""
    assert row.opcode >= USER_OPCODE_START
    assert operators.names == ("add", "gauss")
    np.testing.assert_array_equal(row.reference(GRID), np.exp(-GRID * GRID))
    assert row.scalar(0.5) == pytest.approx(math.exp(-0.25))


def test_division_by_zero_inside_a_compiled_function_is_ieee():
    row = PrimitiveSet([]).add("sinc", lambda a: np.sin(a) / a)
    assert row.compiled
    assert math.isnan(row.scalar(0.0))


@pytest.mark.parametrize(
    ("function", "expected"),
    [(relu, np.maximum(GRID, 0)), (math.exp, np.exp(GRID)), (lambda x: math.sin(x) ** 2, np.sin(GRID) ** 2)],
)
def test_a_function_of_a_scalar_is_compiled_into_an_elementwise_one(function, expected):
    row = PrimitiveSet([]).add("f", function)
    assert row.compiled
    np.testing.assert_allclose(row.reference(GRID), expected, rtol=1e-14)


def test_two_arguments_work_for_arrays_and_for_scalars():
    operators = PrimitiveSet([])
    operators.add("hypot", np.hypot, arity=2)
    operators.add("first", lambda a, b: a if a > b else b, arity=2)
    X = np.column_stack([GRID, GRID[::-1]])
    np.testing.assert_allclose(parse("hypot(x0, x1)", primitives=operators)(X), np.hypot(*X.T))
    np.testing.assert_array_equal(parse("first(x0, x1)", primitives=operators)(X), X.max(axis=1))


def test_operators_that_numba_cannot_compile_run_as_numpy_with_one_warning():
    operators = PrimitiveSet([])
    with pytest.warns(UserWarning, match=r"bessel runs as NumPy \(Numba could not compile it: ") as caught:
        row = operators.add("bessel", special.j0)
    assert caught[0].filename == __file__
    assert not row.compiled
    assert row.scalar is None
    assert row.note == str(caught[0].message)
    np.testing.assert_array_equal(row.reference(GRID), special.j0(GRID))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PrimitiveSet([]).add("bessel", special.j0) is row


def test_a_function_of_a_scalar_that_numba_cannot_compile_runs_elementwise():
    table = {True: 1.0, False: -1.0}

    def lookup(x, table=table):
        return table.get(x > 0, float(str(0))) if not math.isnan(x) else x

    with pytest.warns(UserWarning, match="runs as NumPy"):
        row = PrimitiveSet([]).add("side", lookup)
    np.testing.assert_array_equal(row.reference(np.array([2.0, -3.0, np.nan])), [1.0, -1.0, np.nan])


def test_compiled_code_that_differs_from_numpy_is_not_used():
    def odd(a):
        return a + 1.0 if isinstance(a, np.ndarray) else a

    with pytest.warns(UserWarning, match="runs as NumPy"):
        row = PrimitiveSet([]).add("odd", odd)
    np.testing.assert_array_equal(row.reference(GRID), GRID + 1)


def test_integers_and_booleans_become_floats():
    row = PrimitiveSet([]).add("positive", lambda a: a > 0)
    assert row.reference(GRID).dtype == np.float64


def raise_on_negative(a):
    if np.any(a < 0):
        raise RuntimeError("negative!")
    return a


def in_place(a):
    a += 1
    return a


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raise_on_negative, "operator 'bad' raised RuntimeError on negative values: negative!"),
        (lambda a: undefined_name, "raised NameError on zeros"),  # noqa: F821
        (lambda a: a[:1], r"returned shape \(1,\) on zeros of shape \(2,\)"),
        (lambda a: np.sum(a), "returned a scalar for an array; it must return one value per row"),
        (lambda a: 2.0, "returned a scalar for an array; it must return one value per row"),
        (lambda a: 1 / 0, "raised ZeroDivisionError on zeros: division by zero"),
        (lambda a: a + 1j, "returned complex128 values on zeros"),
        (lambda a: np.full(a.shape, "text"), "must return floats"),
        (lambda a: None, "returned object values"),
        (
            lambda a: a + np.random.default_rng().random(a.shape),
            "different values when called twice on zeros",
        ),
        (lambda a: np.cumsum(a), "not elementwise"),
        (in_place, "changes its argument in place"),
        (lambda a, b: a, "cannot be called with 1 argument"),
        (np.add, "operator 'bad' "),
        ("sin", "needs a function, got str"),
    ],
)
def test_an_invalid_function_raises_with_the_probe(function, message):
    operators = PrimitiveSet(["add"])
    with pytest.raises(ValueError, match=message):
        operators.add("bad", function)
    assert operators.names == ("add",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sin", "built-in"),
        ("pi", "constant"),
        ("nan", "constant"),
        ("x12", "feature"),
        ("my op", "identifier"),
        ("", "identifier"),
        ("half", "already"),
    ],
)
def test_names_with_another_meaning_raise(name, message):
    operators = PrimitiveSet([])
    operators.add("half", half)
    with pytest.raises(ValueError, match=message):
        operators.add(name, half)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arity": 3}, "1 or 2 arguments"),
        ({"derivative": ("a", "b")}, r"needs 1 derivative formula\(s\), got 2"),
        ({"derivative": "c + 1"}, "derivative of operator 'bad' is not a formula: unknown name 'c'"),
        ({"complexity": -1}, "negative"),
    ],
)
def test_invalid_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        PrimitiveSet([]).add("bad", half, **options)


def test_custom_operators_work_in_text_sympy_and_derivatives():
    operators = PrimitiveSet([])
    operators.add("half", half, derivative="0.5", complexity=7)
    e = parse("half(x0^2) + 1", primitives=operators)
    assert str(e) == "half(x0^2) + 1.0"
    assert e.complexity == 1 + 2 + 7 + 1 + 1
    assert str(differentiate(e, 0)) == "0.5*(2.0*x0)"
    assert str(e.sympy()) == "half(x0**2) + 1"
    assert Expression.from_json(e.to_json(), operators) == e
    assert PrimitiveSet.from_json(["half", "sin"], operators).names == ("half", "sin")


def test_a_missing_derivative_raises_only_when_it_is_needed():
    operators = PrimitiveSet([])
    operators.add("half", half)
    e = parse("half(x0)", primitives=operators)
    assert differentiate(e, 1) == Expression.constant(0.0)
    with pytest.raises(ValueError, match=r"'half' has no derivative; give one to PrimitiveSet.add"):
        differentiate(e, 0)


def test_expressions_over_different_sets_combine():
    one, two = PrimitiveSet([]), PrimitiveSet([])
    one.add("half", half)
    two.add("ramp", relu)
    both = parse("half(x0)", primitives=one) * parse("ramp(x0)", primitives=two)
    assert set(both.primitives.names) == {"half", "ramp"}
    np.testing.assert_allclose(both([[4.0]]), [8.0])


def test_the_same_definition_in_two_sets_is_one_operator():
    one, two = PrimitiveSet([]), PrimitiveSet([])
    assert one.add("half", half) is two.add("half", half)
    assert one == two
    assert parse("half(x0)", primitives=one) == parse("half(x0)", primitives=two)


def test_custom_operators_are_pickled_in_this_process():
    operators = PrimitiveSet(["add"])
    operators.add("half", half)
    e = parse("half(x0)", primitives=operators)
    copy, same = pickle.loads(pickle.dumps((e, operators)))
    assert copy == e
    assert same == operators


FRESH = """
import pickle, sys
from fouriertree.expr import PrimitiveSet
PrimitiveSet([]).add("other", abs)  # takes the first user opcode
e, operators = pickle.load(open(sys.argv[1], "rb"))
assert operators.names == ("add", "third"), operators
assert e.op[1] == operators["third"].opcode == 65, e.op
print(e, e.evaluate([[3.0]])[0])
"""


def test_custom_operators_are_pickled_into_a_new_process_with_other_opcodes(tmp_path, monkeypatch):
    (tmp_path / "my_operators.py").write_text("def third(a):\n    return a / 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import my_operators

    operators = PrimitiveSet(["add"])
    operators.add("pad", lambda a: a + 7)
    operators = PrimitiveSet(["add"])
    operators.add("third", my_operators.third)
    e = parse("third(x0)", primitives=operators)
    (tmp_path / "e.pickle").write_bytes(pickle.dumps((e, operators)))
    source = Path(fouriertree.__file__).parents[1]
    paths = os.pathsep.join([str(tmp_path), str(source)])
    command = [sys.executable, "-c", FRESH, str(tmp_path / "e.pickle")]
    result = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["third(x0)", "1.0"]
