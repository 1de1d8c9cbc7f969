"""Partial dependence: the mean prediction as one feature varies over its range."""

import numpy as np
import pytest

from fouriertree import Model, parse
from fouriertree.plotting import plot_response
from fouriertree.plotting.canvas import new_figure
from fouriertree.plotting.response import MAX_FEATURES, response, responses, vertical_range

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, (150, 20))


def model_of(text, names=None):
    return Model.from_expression(parse(text), names)


def test_the_partial_dependence_of_a_sum_is_the_sum_over_its_terms():
    dependence = response(model_of("x0^2 + 3*x1"), X, 0)
    assert dependence.grid[[0, -1]] == pytest.approx([X[:, 0].min(), X[:, 0].max()])
    assert dependence.mean == pytest.approx(dependence.grid**2 + 3.0 * X[:, 1].mean())


def test_each_curve_is_the_prediction_of_one_row():
    dependence = response(model_of("x0*x1"), X[:7], 0)
    assert dependence.curves == pytest.approx(np.outer(X[:7, 1], dependence.grid))


def test_the_mean_is_over_the_rows_with_a_finite_prediction():
    table = np.array([[1.0, 1.0], [2.0, -1.0]])
    dependence = response(model_of("x0*log(x1)"), table, 0)
    assert dependence.mean == pytest.approx(np.zeros(len(dependence.grid)))
    assert np.isnan(response(model_of("log(0 - x0^2 - 1)"), table, 0).mean).all()


@pytest.mark.parametrize("n_features", range(1, 13))
def test_every_feature_of_the_equation_has_a_panel(n_features):
    names = tuple(f"$column_{i}$ 100% " + "long " * 20 for i in range(n_features))
    model = model_of(" + ".join(f"{i + 1}*x{i}" for i in range(n_features)), names)
    figure = plot_response(model, X[:, :n_features], model.predict(X[:, :n_features]))
    assert len(figure.axes) == n_features
    assert all(axes.get_xlabel().startswith(f"$column_{i}$ 100%") for i, axes in enumerate(figure.axes))
    assert not any(axes.xaxis.label.get_parse_math() for axes in figure.axes)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    figure.canvas.draw()


def test_of_many_features_those_with_the_largest_effect_are_drawn():
    model = model_of(" + ".join(f"{i + 1}*x{i}" for i in range(20)))
    assert [dependence.column for dependence in responses(model, X)] == list(range(20 - MAX_FEATURES, 20))


def test_features_are_chosen_by_name_or_index():
    model = model_of("x0 + x1", ("angle", "speed"))
    figure = plot_response(model, X[:, :2], columns=["speed", 0])
    assert [axes.get_xlabel() for axes in figure.axes] == ["speed", "angle"]
    with pytest.raises(ValueError, match="unknown feature 'mass'; features are angle, speed"):
        plot_response(model, X[:, :2], columns=["mass"])


def test_a_pole_in_one_row_does_not_hide_the_others():
    table = np.column_stack([np.linspace(0.0, 1.0, 100), np.full(100, 5.0)])
    table[0, 1] = 1.0
    dependences = responses(model_of("x0 + 1e-9/(x0 - x1)"), table, [0])
    low, high = vertical_range(dependences)
    assert -1.0 < low < high < 2.0


def test_a_constant_feature_is_drawn_as_a_point():
    model = model_of("x0 + x1")
    figure = plot_response(model, np.column_stack([np.ones(9), np.arange(9.0)]))
    assert figure.axes[0].get_lines()[-1].get_marker() == "o"
    figure.canvas.draw()


def test_a_constant_equation_is_reported():
    figure = plot_response(model_of("2.5"), X, figure=new_figure(3, 3))
    assert "constant" in figure.axes[0].texts[0].get_text()
    figure.canvas.draw()


def test_rows_with_missing_values_and_tables_without_rows_can_be_drawn():
    table = X[:5, :2].copy()
    table[0, 0] = np.nan
    model = model_of("x0*x1")
    for rows in (table, table[:1], table[:0]):
        plot_response(model, rows, np.zeros(len(rows))).canvas.draw()
