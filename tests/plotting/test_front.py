"""The Pareto front: losses against complexity, the chosen row marked, labels that do not overlap."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from fouriertree.plotting import plot_front
from fouriertree.plotting.canvas import new_figure


def front(losses, complexity=None, validation=None, equation=None):
    n = len(losses)
    return pd.DataFrame(
        {
            "n_terms": 1,
            "complexity": np.arange(1, n + 1) * 3 if complexity is None else complexity,
            "loss": losses,
            "training_loss": losses,
            "validation_loss": [np.nan] * n if validation is None else validation,
            "r2": 0.5,
            "equation": [f"{i}*x0 + x_{i}" for i in range(n)] if equation is None else equation,
        }
    )


def line(axes, label):
    return next(line for line in axes.get_lines() if line.get_label() == label)


def test_both_losses_are_drawn_against_complexity_and_the_chosen_row_is_marked():
    equations = front([8.0, 2.0, 0.01], [1, 4, 9], [9.0, 3.0, 0.02])
    axes = plot_front(equations, 1)
    assert line(axes, "training").get_xydata().tolist() == [[1, 8.0], [4, 2.0], [9, 0.01]]
    assert line(axes, "validation").get_ydata().tolist() == [9.0, 3.0, 0.02]
    assert line(axes, "chosen").get_xydata().tolist() == [[4, 2.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["training", "validation", "chosen"]


def test_a_guess_off_the_pareto_front_is_a_cross_beside_the_line():
    guesses = pd.Series([None, "a*x", None, "b*x"], dtype=object)
    axes = plot_front(front([8.0, 9.0, 2.0, 1.0], [1, 3, 4, 9]).assign(guess=guesses), 2)
    assert line(axes, "training").get_xydata().tolist() == [[1, 8.0], [4, 2.0], [9, 1.0]]
    [cross] = [line for line in axes.get_lines() if line.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[3, 9.0]]


def test_without_a_validation_set_only_the_training_loss_is_drawn():
    axes = plot_front(front([8.0, 2.0]), 0)
    assert [drawn.get_label() for drawn in axes.get_lines()] == ["training", "chosen"]


def test_losses_of_different_magnitude_have_a_logarithmic_scale_with_plain_tick_labels():
    wide, narrow = plot_front(front([1.0, 1e-3, 1e-9]), 2), plot_front(front([1.0, 0.9, 0.8]), 2)
    assert (wide.get_yscale(), narrow.get_yscale()) == ("log", "linear")
    wide.figure.canvas.draw()
    assert all("$" not in tick.get_text() for tick in wide.get_yticklabels())


def test_a_loss_of_zero_is_drawn_at_the_bottom():
    axes = plot_front(front([1.0, 1e-3, 0.0]), 2)
    heights = line(axes, "training").get_ydata()
    assert 0.0 < heights[2] < heights[1]
    assert axes.get_ylim()[0] < heights[2]


@pytest.mark.parametrize("loss", [0.0, 1.0, np.nan])
def test_a_front_of_one_row_can_be_drawn(loss):
    axes = plot_front(front([loss]), 0)
    axes.figure.canvas.draw()
    ticks = axes.get_xticks()
    assert (ticks == ticks.astype(int)).all()


def test_labels_overlap_neither_each_other_nor_the_legend():
    losses = np.geomspace(10.0, 9.0, 25)
    axes = plot_front(front(losses, validation=losses * 1.1), 12)
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert "12*x0 + x_12" in [text.get_text() for text in axes.texts]
    boxes.append(axes.get_legend().get_window_extent())
    # Half a pixel: the last layout may move the axes a little.
    assert not any(a.padded(-0.5).overlaps(b.padded(-0.5)) for a, b in combinations(boxes, 2))


def test_the_ticks_of_the_complexity_are_few_integers():
    axes = plot_front(front(np.geomspace(1, 1e-6, 60)), 3)
    ticks = axes.get_xticks()
    assert len(ticks) <= 12
    assert (ticks == ticks.astype(int)).all()


def test_equations_are_text_and_never_markup():
    equations = front([8.0, 1.0], equation=["`$a_b$`", "`100%$`^2"])
    axes = plot_front(equations, 0, new_figure(6, 4).subplots())
    assert {text.get_text() for text in axes.texts} == {"`$a_b$`", "`100%$`^2"}
    assert not any(text.get_parse_math() for text in axes.texts)
    axes.figure.canvas.draw()
