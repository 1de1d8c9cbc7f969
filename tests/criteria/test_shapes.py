"""Textbook shapes: recognized with any constants, and fitted from many starts in any units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import Model, PrimitiveSet, SymbolicRegressor, parse
from fouriertree.criteria.shapes import NAMES, SHAPES, fitted_shapes, is_textbook, with_parameters
from fouriertree.data.training import TrainingData
from fouriertree.expr import Expression
from fouriertree.expr.canonical import canonical
from fouriertree.selection.textbook import FEW_ROWS, textbook_models

ROWS = 40
#: parameters of shapes over x from 0.5 to 4
PARAMETERS = {
    "power": (0.75,), "power and constant": (1.6,), "exponential": (-0.8,), "exponential and constant": (-0.8,),
    "exponential approach": (-0.6,), "two exponentials": (-0.4, -2.0), "saturation": (1.3,), "hyperbola": (0.4,),
    "hyperbola and constant": (0.4,), "root": (0.7,), "logistic": (20.0, -1.6), "Hill": (0.05, 3.0),
    "Arrhenius": (-1.5,), "Antoine": (-4.0, 1.1), "Gaussian": (-1.7, 2.2), "Lorentzian": (2.5, 2.2),
    "power times exponential": (1.4, -0.9), "linear times exponential": (-0.9,),
    "exponential by hyperbola": (-0.5, 0.3), "Gompertz": (-4.0, -1.1), "stretched exponential": (-0.4, 1.5),
    "hyperbolic tangent": (0.6,), "wave": (2.9, 0.6), "wave and constant": (2.9, 0.6),
    "damped wave": (-0.4, 4.1, 0.6),
}  # fmt: skip
ABOUT = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


def expression_of(shape, coefficients=(2.3, -0.7, 0.4)):
    terms = [parse(term, names=NAMES) for term in shape.terms]
    filled = [with_parameters(t, Expression.variable(0), PARAMETERS.get(shape.name, ())) for t in terms]
    whole = Expression.constant(0.0)
    for c, term in zip(coefficients, filled, strict=False):
        whole = whole + Expression.constant(c) * term
    return canonical(whole, None, (0,))


def best_loss(shape, x, y):
    found = [f for f in fitted_shapes(x, y, np.ones(len(y)), PrimitiveSet.default()) if f.shape == shape]
    return found[0].loss / float(y @ y) if found else np.inf


@ABOUT
def test_a_shape_is_recognized_with_any_constants(shape):
    assert is_textbook(Model.from_expression(expression_of(shape)))


@pytest.mark.parametrize(
    "text", ["sin(sin(x0))", "x0*x1", "exp(x0) + sin(x0)", "x0^2 + x0 + 1 + sin(3*x0)", "log(x0)*exp(x0)"]
)
def test_other_functions_are_no_shapes(text):
    assert not is_textbook(Model.from_expression(parse(text)))


@ABOUT
def test_a_shape_is_fitted_to_its_own_values(shape):
    x = np.linspace(0.5, 4.0, ROWS)
    y = expression_of(shape).evaluate(x[:, None])
    assert best_loss(shape, x / 2.0, y / np.abs(y).max()) < 1e-12


def data_of(x, y):
    return TrainingData(np.ascontiguousarray(x[:, None]), y, np.ones(len(y)), len(y))


@settings(max_examples=10)
@given(st.floats(-6.0, 6.0), st.floats(-6.0, 6.0))
def test_shapes_do_not_depend_on_units(log_x, log_y):
    """The same values in the unit of y, whatever the units are."""
    draws = np.random.default_rng(1)
    x = np.linspace(0.5, 4.0, 25)
    y = 3.0 * x / (x + 1.2) + 0.05 * draws.normal(size=25)
    u, v = 10.0**log_x, 10.0**log_y

    def losses(x, y, unit):
        found = textbook_models(data_of(x, y), PrimitiveSet.default())
        values = [
            sum(c * e.evaluate(x[:, None]) for c, e in zip(*candidate, strict=True)) for candidate in found
        ]
        return np.array([np.mean(np.square(y - value)) for value in values]) / unit**2

    plain, scaled = losses(x, y, 1.0), losses(u * x, v * y, v)
    np.testing.assert_allclose(plain, scaled, rtol=1e-3, atol=1e-12)


def test_several_features_with_many_rows_have_no_shapes():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (FEW_ROWS + 1, 2))
    data = TrainingData(X, X[:, 0].copy(), np.ones(len(X)), len(X))
    assert textbook_models(data, PrimitiveSet.default()) == []


def test_only_allowed_operators_are_used():
    x = np.linspace(0.5, 4.0, 20)
    found = fitted_shapes(x, 1.0 + x, np.ones(20), PrimitiveSet(["add", "mul"]))
    assert {"proportional", "linear"} <= {f.shape.name for f in found}
    names = {e.primitives.by_opcode(int(c)).name for f in found for e in f.terms for c in e.op if c > 1}
    assert names <= {"add", "mul"}


@pytest.mark.parametrize(
    ("law", "rows"),
    [
        (lambda x: 210.0 * x / (x + 0.06), 23),
        (lambda x: 72.0 / (1.0 + 14.0 * np.exp(-7.0 * x)), 12),
        (lambda x: 19.0 * (1.0 - np.exp(-3.0 * x)), 15),
    ],
    ids=["saturation", "logistic", "approach"],
)
def test_of_few_rows_a_curve_with_its_law_is_chosen_and_not_a_straight_line(law, rows):
    draws = np.random.default_rng(2)
    x = np.sort(draws.uniform(0.02, 1.1, rows))
    clean = law(x)
    y = clean + 0.03 * np.ptp(clean) * draws.normal(size=rows)
    fitted = SymbolicRegressor(random_state=0, max_evaluations=2_000_000).fit(x[:, None], y)
    assert fitted.model_.expression.size < 16
    assert np.mean(np.square(fitted.predict(x[:, None]) - clean)) < 0.02 * np.var(clean)
    assert len(fitted.models_) <= 10
