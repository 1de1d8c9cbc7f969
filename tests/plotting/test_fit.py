"""Measured against predicted values, residuals, and the image file of a fit."""

import numpy as np
import pandas as pd
import pytest

from fouriertree.plotting import draw_fit, plot_fit
from fouriertree.plotting.canvas import MAX_POINTS, MAX_VECTOR_POINTS, new_figure, readable, writable_part

HOSTILE = [
    "$x$",
    "100%",
    "a_b^c",
    r"\frac{1}{2}",
    "größe µ",
    "日本語",
    "a\nb",
    "nul\x00",
    "<b>",
    "n" * 500,
]


def points(axes):
    return np.asarray(axes.collections[-1].get_offsets())


def test_every_row_is_a_point_and_a_residual():
    y, predicted = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    agreement, residuals = plot_fit(y, predicted, "y")
    assert points(agreement) == pytest.approx(np.column_stack([predicted, y]))
    assert points(residuals) == pytest.approx(np.column_stack([predicted, y - predicted]))
    assert (agreement.get_xlabel(), agreement.get_ylabel()) == ("predicted y", "measured y")


def test_the_panels_are_drawn_on_the_axes_of_the_caller():
    axes = new_figure(8, 4).subplots(1, 2)
    assert list(plot_fit([1.0], [1.0], "y", axes)) == list(axes)


def test_the_band_has_the_width_of_the_prediction_interval():
    agreement, residuals = plot_fit([0.0, 4.0], [1.0, 3.0], "y", half_width=0.5)
    corners = agreement.collections[0].get_paths()[0].vertices
    assert np.ptp(corners[:, 1] - corners[:, 0]) == pytest.approx(1.0)
    assert residuals.patches[0].get_bbox().intervaly == pytest.approx([-0.5, 0.5])


def test_many_rows_are_sampled_rasterized_and_counted_in_the_title():
    y = np.linspace(-1, 1, 50_000)
    for axes in plot_fit(y, 0.9 * y, "y"):
        assert len(points(axes)) == MAX_POINTS
        assert axes.collections[-1].get_rasterized()
        assert "20,000 of 50,000 rows drawn" in axes.get_title()
    few = plot_fit(y[:MAX_VECTOR_POINTS], y[:MAX_VECTOR_POINTS], "y")[0]
    assert not few.collections[-1].get_rasterized()


def test_rows_without_a_finite_prediction_are_left_out_and_counted():
    agreement, _ = plot_fit([1.0, 2.0, 3.0], [1.0, np.nan, np.inf], "y")
    assert len(points(agreement)) == 1
    assert "2 without a finite value" in agreement.get_title()


@pytest.mark.parametrize("predicted", [np.full(4, 2.0), np.full(4, np.nan), np.zeros(4)])
def test_constant_and_missing_predictions_can_be_drawn(predicted):
    axes = plot_fit(np.arange(4.0), predicted, "y", half_width=0.0)
    axes[0].figure.canvas.draw()


def test_the_residuals_of_an_exact_equation_are_rounding_only():
    y = np.arange(1.0, 5.0)
    assert plot_fit(y, y, "y")[1].get_title() == "residuals: rounding only"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_and_never_markup(name):
    equations = pd.DataFrame(
        {"n_terms": 1, "complexity": [1, 4], "loss": [2.0, 1.0], "r2": 0.0, "equation": [name, f"2*`{name}`"]}
    )
    agreement, residuals = plot_fit([1.0, 2.0], [1.1, 2.0], name)
    assert agreement.get_xlabel() == f"predicted {readable(name)}"
    assert not agreement.xaxis.label.get_parse_math()
    assert not residuals.xaxis.label.get_parse_math()
    image = draw_fit(np.array([1.0, 2.0]), np.array([1.1, 2.0]), equations, 1, name)
    assert image[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_readable_name_is_one_short_line_that_can_be_written(name):
    line = readable(name, 20)
    assert len(line) <= 20
    assert "\n" not in line
    line.encode()
    assert writable_part(line) == line
