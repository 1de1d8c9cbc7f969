"""Structural recovery: equal up to constants."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench import structure
from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import evaluate, parse, size, variables
from fouriertree.experiments.bench.names import case_names
from fouriertree.experiments.bench.structure import Skeleton, structure_right
from fouriertree.experiments.bench.suites import load


def case(formula, columns=2, rows=250):
    symbols = variables([0.5] * columns)
    truth = parse(formula, {str(s): s for s in symbols})
    X = np.random.default_rng(1).uniform(0.5, 4.0, (2 * rows, columns))
    y = evaluate(truth, symbols, X)
    return Data(X[:rows], y[:rows], X[rows:], y[rows:], tuple(symbols), truth)


def right(text, data):
    return structure_right(parse(text, {str(s): s for s in data.symbols}), data)


def perturbed(formula, symbols, share, rng):
    """The formula with every number except exponents off by a random share."""
    skeleton = Skeleton.of(formula, symbols)
    constants = skeleton.constants * (1.0 + share * rng.uniform(-1.0, 1.0, len(skeleton.constants)))
    return skeleton.formula.subs({structure.parameter(k): v for k, v in enumerate(constants.tolist())})


@given(st.sampled_from(case_names("everyday")), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_a_law_with_perturbed_constants_has_its_structure(name, disguise, seed):
    data = load("everyday", name, 0, 200, 0.0, disguise, None)
    assert structure_right(data.truth, data)
    assert structure_right(perturbed(data.truth, data.symbols, 0.01, np.random.default_rng(seed)), data)


@pytest.mark.parametrize(
    ("law", "formula"),
    [
        ("2*x0*exp(-x1) + x0**2", "1.9*x0/exp(1.02*x1) + 1.01*x0*x0"),
        ("2*x0*exp(-x1) + x0**2", "x0*exp(-x1) + x0**2"),
        ("2*x0*exp(-x1)", "x0*exp(-1.1*x1)"),
        ("sin(2*x0)*x1", "sin(1.05*x0)*cos(0.97*x0)*x1"),
        ("4.4/(0.86 + x0) + 1.3*x1", "1/(0.2*x0 + 0.19) + x1"),
        ("tanh(0.9*x0)*x1", "x1 - 2.1*x1/(exp(1.7*x0) + 1)"),
        ("1e-9*x0/x1", "1.3e-9*x0/x1"),
        ("log(x0) + 3*x1", "0.9*log(2.5*x0) + 3.3*x1 - 0.6"),
        ("pi*x0**2*x1", "3*x0**2*x1"),
    ],
)
def test_the_structure_does_not_depend_on_constants(law, formula):
    assert right(formula, case(law))


@pytest.mark.parametrize(
    ("law", "formula"),
    [
        ("2*x0*exp(-x1) + x0**2", "x0**2 - 0.083*x0 + 1.87*x0/(x1**2 + 1.28)"),
        ("2*x0*exp(-x1) + x0**2", "2*x0*exp(-x1) + x0**2.0001"),
        ("2*x0*exp(-x1) + x0**2", "2*x0*exp(-x1)"),
        ("x0 + x1", "x0 + 1.0"),
        ("x0/x1", "x1/x0"),
        ("sin(x0)", "x0 - x0**3/6 + x0**5/120"),
        ("x0*x1", "3.0"),
        ("x0*x1", "zoo*x0"),
        ("x0*x1", "log(-x0)*x1"),
        ("x0 - x1", "sqrt(x0 - x1)"),
    ],
)
def test_another_form_has_another_structure(law, formula):
    assert not right(formula, case(law))


def test_a_bloated_model_is_not_right_though_its_values_are():
    data = case("x0*x1")
    long = "x0*x1" + "".join(f" + 0.1*(sin({k}.5*x0)**2 + cos({k}.5*x0)**2)" for k in range(3)) + " - 0.3"
    found = parse(long, {str(s): s for s in data.symbols})
    assert size(found) > 2 * size(data.truth) + 10
    np.testing.assert_allclose(evaluate(found, data.symbols, data.X), data.y)
    assert not structure_right(found, data)


def test_the_largest_model_that_is_right_has_twice_the_laws_nodes_and_ten():
    data = case("x0*x1")
    x, y = data.symbols
    # Nested functions with their inverses add nodes and no parameters.
    formula = x * y
    while size(formula) + 2 <= structure.most_nodes(data.truth):
        formula = sympy.tan(sympy.atan(formula, evaluate=False), evaluate=False)
    assert structure.most_nodes(data.truth) == 2 * 3 + 10
    assert structure_right(formula, data)
    assert not structure_right(sympy.tan(sympy.atan(formula, evaluate=False), evaluate=False), data)


def test_every_constant_except_exponents_is_a_parameter():
    x, y = sympy.symbols("x y", positive=True)
    skeleton = Skeleton.of(2.5 * x**2 * sympy.sin(3 * y + 1) + sympy.sqrt(x) + 4 + 2**y, (x, y))
    assert sorted(skeleton.constants) == [1.0, 1.0, 1.0, 2.0, 2.5, 3.0, 4.0]
    assert skeleton.formula.atoms(sympy.Number) == {sympy.Integer(2), sympy.Rational(1, 2)}


@pytest.mark.parametrize("name", ["everyday_24", "everyday_42"])
def test_the_skeleton_with_its_own_constants_is_the_expression(name):
    data = load("everyday", name, 0, 50, 0.0, True, None)
    skeleton = Skeleton.of(data.truth, data.symbols)
    np.testing.assert_allclose(skeleton(skeleton.constants, data.X), data.y, rtol=1e-12)


def test_conditions_keep_their_constants():
    data = case("x0/x1")
    assert right("1.1*pdiv(x0, x1)", data)
    assert right("guarded(1.1*x0/x1, x1, 1)", data)


@pytest.mark.parametrize("rows", [5, 60])
def test_small_tables_are_extended_with_points_of_their_box(rows):
    data = case("2*x0*exp(-x1)", rows=rows)
    X, X_fresh = structure.clean_rows(data)
    assert X.shape == X_fresh.shape == (200, 2)
    low, high = data.box.T
    assert ((low <= X) & (high >= X)).all()
    assert not np.isin(X, X_fresh).any()


def test_noise_on_the_training_target_does_not_matter():
    data = load("everyday", "everyday_02", 0, 200, 0.2, True, None)
    assert structure_right(perturbed(data.truth, data.symbols, 0.02, np.random.default_rng(0)), data)


def test_without_time_the_structure_is_not_right():
    data = case("2*x0*exp(-x1)")
    assert not structure_right(data.truth, data, seconds=-1.0)


def test_near_a_zero_of_the_target_the_error_is_relative_to_its_rms():
    y = np.array([0.0, 1.0, -1.0])
    assert structure.largest_relative_error(y, y + 1e-9) < 1e-6
    assert structure.largest_relative_error(y, y + 1e-7) > 1e-6
    assert structure.largest_relative_error(y, np.array([0.0, np.nan, -1.0])) == np.inf
