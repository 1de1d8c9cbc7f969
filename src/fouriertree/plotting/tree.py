"""Expression trees: operators above their arguments, as narrow as the labels allow."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.plotting import palette
from fouriertree.plotting.canvas import new_figure, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lengths are in font sizes.
#: between two nodes of a level, and from a level to the next
GAP, LEVEL = 0.7, 2.8
#: around the whole tree
MARGIN = 0.7
#: the width of a letter, and the padding of a label
LETTER, PADDING = 0.64, 1.0
#: in points
LARGEST_FONT, SMALLEST_FONT = 11.0, 4.0
#: letters of a feature's name
NAME = 18


@dataclass(frozen=True)
class Node:
    """A token of the expression: label, colour, position, and the indices of its children."""

    label: str
    colour: str
    x: float
    y: float
    below: tuple[int, ...]

    @property
    def width(self) -> float:
        return label_width(self.label)


def plot_tree(expression: Expression, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """The expression tree.

    Parameters
    ----------
    expression : Expression
    names : sequence of str, optional
        Names of the features; x0, x1, … by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure of the size that the tree needs.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> [text.get_text() for text in plot_tree(parse("2*sin(x0)")).texts]
    ['2', 'x0', 'sin', '×']
    """
    nodes = layout(expression, names)
    left = min(node.x - node.width / 2 for node in nodes) - MARGIN
    right = max(node.x + node.width / 2 for node in nodes) + MARGIN
    bottom, top = min(node.y for node in nodes) - 0.8 - MARGIN, 0.8 + MARGIN
    width, height = right - left, top - bottom
    if ax is None:
        figure = new_figure(width * LARGEST_FONT / 72, height * LARGEST_FONT / 72)
        figure.set_layout_engine("none")
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    font = _font_size(ax, width, height)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.set_axis_off()
    _draw(ax, nodes, font)
    return ax


def layout(expression: Expression, names: Sequence[str] | None = None) -> list[Node]:
    """One node per token, in postfix order; the root is at height 0, and levels are equidistant."""
    labels = [_label(expression, i, names) for i in range(expression.size)]
    below = [expression.children(i) for i in range(expression.size)]
    shifts = _shifts([label_width(text) for text, _ in labels], below)
    xs, ys = np.zeros(expression.size), np.zeros(expression.size)
    # The root comes last, so parents are placed before their children.
    for i in reversed(range(expression.size)):
        for child in below[i]:
            xs[child], ys[child] = xs[i] + shifts[child], ys[i] - LEVEL
    return [
        Node(text, colour, float(x), float(y), children)
        for (text, colour), x, y, children in zip(labels, xs, ys, below, strict=True)
    ]


def _shifts(widths: Sequence[float], below: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Horizontal offset of every node from its parent: subtrees are as close as their outlines allow."""
    shifts = np.zeros(len(widths))
    outlines: list[list[tuple[float, float]]] = []
    for i, width in enumerate(widths):
        merged: list[tuple[float, float]] = []
        for child in below[i]:
            pairs = zip(merged, outlines[child], strict=False)
            shifts[child] = max((right - left + GAP for (_, right), (left, _) in pairs), default=0.0)
            merged = _joined(merged, outlines[child], shifts[child])
        if below[i]:
            centre = (shifts[below[i][0]] + shifts[below[i][-1]]) / 2
            shifts[list(below[i])] -= centre
            merged = [(left - centre, right - centre) for left, right in merged]
        outlines.append([(-width / 2, width / 2), *merged])
    return shifts


def _joined(
    outline: list[tuple[float, float]], other: list[tuple[float, float]], shift: float
) -> list[tuple[float, float]]:
    """The outline of both: left ends of the first and right ends of the other, on the levels that both have."""
    moved = [(left + shift, right + shift) for left, right in other]
    both = [(a[0], b[1]) for a, b in zip(outline, moved, strict=False)]
    return both + outline[len(both) :] + moved[len(both) :]


def _label(expression: Expression, i: int, names: Sequence[str] | None) -> tuple[str, str]:
    """Text and colour of token i."""
    code = int(expression.op[i])
    if code == CONST:
        return f"{expression.const[i]:.4g}".replace("-", "−"), palette.CONSTANT
    if code == VAR:
        feature = int(expression.arg[i])
        return readable(f"x{feature}" if names is None else names[feature], NAME), palette.FEATURE
    operator = expression.primitives.by_opcode(code)
    return operator.label or operator.symbol or operator.name, palette.OPERATOR


def label_width(text: str) -> float:
    """Width of a node with this label, in font sizes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return max(1.8, LETTER * (len(text) + wide) + PADDING)


def _font_size(ax: Axes, width: float, height: float) -> float:
    """The largest font size with which the tree fits into the axes, within limits."""
    box = ax.get_window_extent()
    points = 72.0 / ax.figure.dpi
    fitting = min(box.width * points / width, box.height * points / height)
    return float(np.clip(fitting, SMALLEST_FONT, LARGEST_FONT))


def _draw(ax: Axes, nodes: Sequence[Node], font: float) -> None:
    for node in nodes:
        for child in node.below:
            # Down, across and down: a straight line to a distant child would cross the nodes in between.
            x, y, between = nodes[child].x, nodes[child].y, node.y - LEVEL / 2
            ax.plot(
                [node.x, node.x, x, x], [node.y, between, between, y], color=palette.FAINT, linewidth=0.1 * font,
                zorder=1,
            )  # fmt: skip
    for node in nodes:
        box = {"boxstyle": "round,pad=0.35", "facecolor": node.colour, "edgecolor": palette.FAINT}
        ax.text(
            node.x, node.y, node.label, ha="center", va="center", fontsize=font, color=palette.INK,
            bbox=box | {"linewidth": 0.08 * font}, zorder=2, parse_math=False,
        )  # fmt: skip
