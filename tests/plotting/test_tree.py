"""Expression trees: a node per token, children below and in order, labels that do not overlap."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, parse
from fouriertree.plotting import plot_tree
from fouriertree.plotting.canvas import new_figure, readable
from fouriertree.plotting.tree import GAP, NAME, layout

LEAVES = st.one_of(
    st.builds(Expression.variable, st.integers(0, 2)),
    st.builds(Expression.constant, st.floats(-1e6, 1e6)),
)


def applied(children):
    one = st.builds(Expression.apply, st.sampled_from(["sin", "square", "neg"]), children)
    return st.one_of(
        one, st.builds(Expression.apply, st.sampled_from(["add", "mul", "pdiv"]), children, children)
    )


trees = st.recursive(LEAVES, applied, max_leaves=30)


@given(trees)
@settings(deadline=None)
def test_nodes_of_a_level_keep_their_distance_and_children_stand_below_in_order(expression):
    nodes = layout(expression)
    assert len(nodes) == expression.size
    for height in {node.y for node in nodes}:
        level = sorted((node for node in nodes if node.y == height), key=lambda node: node.x)
        for left, right in pairwise(level):
            assert left.x + left.width / 2 + GAP <= right.x - right.width / 2 + 1e-9
    for node in nodes:
        xs = [nodes[i].x for i in node.below]
        assert xs == sorted(xs)
        assert all(nodes[i].y < node.y for i in node.below)
        assert not xs or node.x == pytest.approx((xs[0] + xs[-1]) / 2, abs=1e-9)


def test_labels_are_operators_features_and_rounded_constants():
    axes = plot_tree(parse("-0.123456*x0 + sin(x1^2)/x0"), ["a", "größe"])
    labels = [text.get_text() for text in axes.texts]
    assert labels == ["−0.1235", "a", "×", "größe", "( )²", "sin", "a", "/", "+"]


def test_sixty_nodes_are_readable():
    text = "+".join(f"{i}.5*sin(x{i % 5})*exp(x{i % 3})" for i in range(1, 8))
    expression = parse(text)
    assert expression.size >= 55
    axes = plot_tree(expression)
    axes.figure.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert min(text.get_fontsize() for text in axes.texts) >= 9
    width, height = axes.figure.get_size_inches()
    assert all(box.x0 >= 0 and box.x1 <= width * axes.figure.dpi for box in boxes)
    assert all(box.y0 >= 0 and box.y1 <= height * axes.figure.dpi for box in boxes)


def test_on_axes_of_the_caller_the_font_shrinks_to_fit():
    expression = parse("+".join(f"x{i}*x{i + 1}" for i in range(12)))
    axes = new_figure(4, 3).subplots()
    assert plot_tree(expression, ax=axes) is axes
    large = plot_tree(expression).texts[0].get_fontsize()
    assert axes.texts[0].get_fontsize() < large


@pytest.mark.parametrize("name", ["$x$", "100%", "a_b", r"\alpha", "日本", "<b>", "n" * 400, "a\nb", "\x00"])
def test_names_are_text_and_never_markup(name):
    axes = plot_tree(Expression.variable(0), [name])
    (text,) = axes.texts
    assert text.get_text() == readable(name, NAME)
    assert not text.get_parse_math()


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e-300, 0.0])
def test_a_constant_is_a_tree(value):
    plot_tree(Expression.constant(value)).figure.canvas.draw()
