"""The geometry of FTG's first steps, from real runs on two and three points: span, projection, residual.

Functions on N points are vectors with N coordinates, so that runs on two or three points can be drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree import FTG, Budget, EmpiricalSpace, Grammar, PrimitiveSet, Problem, RampedHalfAndHalf
from fouriertree.experiments.paper.figures import save
from fouriertree.plotting.canvas import new_figure
from fouriertree.problems import CONVENTIONAL
from fouriertree.search import Accepted, Event, run

Vector = NDArray[np.float64]

PROBLEM = "koza1"
#: points whose vectors are well separated in the figures
POINTS = {2: (-0.9, 0.95), 3: (-0.9, 0.5, 0.95)}
SEED = 0
#: trees of few levels, whose text fits into a figure
LEVELS = (1, 3)
TARGET, ELEMENT, PROJECTION, RESIDUAL = "#222222", "#1f5fa8", "#2a8f4f", "#c00000"
ARROW = {"arrowstyle": "-|>", "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16}


class Step(NamedTuple):
    """The newest element, and the projection onto the span of all so far."""

    formula: str
    element: Vector
    projection: Vector


def steps(points: int) -> tuple[Vector, list[Step]]:
    """The target and the steps of a run of FTG on that many points."""
    X = np.array(POINTS[points])[:, None]
    space = EmpiricalSpace(X, CONVENTIONAL[PROBLEM].expression.evaluate(X))
    found: list[Step] = []

    def keep(event: Event) -> None:
        if isinstance(event, Accepted):
            values = space.coordinates(list(event.expressions))
            formula = event.expression.text(names=("x",), digits=2)
            found.append(Step(formula, values[-1], event.coefficients @ values))

    search = FTG(generator=RampedHalfAndHalf(*LEVELS))
    run(search, Problem(space, Grammar(PrimitiveSet.paper())), Budget(), [keep], SEED)
    return space.target, found


def draw(folder: Path) -> list[Path]:
    """geometry-2d and geometry-3d, as PNG and SVG."""
    return [draw_plane(folder), draw_space(folder)]


# Two points ------------------------------------------------------------------------------------------
def draw_plane(folder: Path) -> Path:
    target, found = steps(2)
    figure = new_figure(12.0, 6.2)
    for k, axes in enumerate(figure.subplots(1, 2, sharex=True, sharey=True), 1):
        plane_axes(axes, target, found[:k])
    figure.suptitle(f"FTG on two points of {PROBLEM}: a function is a pair of values", fontsize=13)
    return save(figure, folder, "geometry-2d")


def plane_axes(axes: Any, target: Vector, found: list[Step]) -> None:
    projection = found[-1].projection
    if len(found) == 1:
        axes.axline((0, 0), tuple(found[0].element), color=ELEMENT, alpha=0.25, linewidth=7, zorder=1)
        axes.set_title("one element: the span is a line")
        arrow(axes, projection, PROJECTION, r"projection $\hat F_1$", (10, -6))
        axes.plot(*np.transpose([projection, target]), color=RESIDUAL, linestyle="--", linewidth=2)
        beside(axes, r"residual $F - \hat F_1$", 0.5 * (projection + target), (8, 4), RESIDUAL)
        arrow(axes, target, TARGET, "target $F$", (-30, 10))
    else:
        axes.set_facecolor("#e9f0f7")
        axes.set_title("two elements: the span is the plane, and the residual is zero")
        arrow(axes, target, PROJECTION, r"$F = \hat F_2$", (-20, 10))
    for i, step in enumerate(found, 1):
        arrow(axes, step.element, ELEMENT, f"$v_{i}$ = {step.formula}", (8, -16) if i == 1 else (-44, 6))
    axes.axhline(0, color="0.75", linewidth=0.8, zorder=0)
    axes.axvline(0, color="0.75", linewidth=0.8, zorder=0)
    xlabel, ylabel = (f"value at $x = {x:g}$" for x in POINTS[2])
    axes.set(xlim=(-1.9, 2.9), ylim=(-0.5, 4.1), aspect="equal", xlabel=xlabel, ylabel=ylabel)


def arrow(axes: Any, tip: Vector, colour: str, label: str, offset: tuple[float, float]) -> None:
    axes.annotate("", tuple(tip), (0, 0), arrowprops={**ARROW, "color": colour})
    beside(axes, label, tip, offset, colour)


def beside(axes: Any, label: str, point: Vector, offset: tuple[float, float], colour: str) -> None:
    axes.annotate(label, tuple(point), xytext=offset, textcoords="offset points", color=colour, fontsize=12)


# Three points ----------------------------------------------------------------------------------------
def draw_space(folder: Path) -> Path:
    target, found = steps(3)
    figure = new_figure(13.0, 6.8)
    figure.set_layout_engine("none")
    for k in (1, 2):
        axes: Any = figure.add_axes((0.0 + 0.49 * (k - 1), 0.02, 0.49, 0.86), projection="3d")
        space_axes(axes, target, found[:k])
        axes.view_init(*view(target, found[1].projection))
    figure.suptitle(f"FTG on three points of {PROBLEM}: a function is a triple of values", fontsize=13)
    return save(figure, folder, "geometry-3d")


def view(target: Vector, projection: Vector, above: float = 40.0) -> tuple[float, float]:
    """Elevation and azimuth that show the plane at a flat angle and the residual upright."""
    normal = (target - projection) / np.linalg.norm(target - projection)
    aside = np.cross(projection / np.linalg.norm(projection), normal)
    eye = np.cos(np.radians(above)) * aside + np.sin(np.radians(above)) * normal
    return float(np.degrees(np.arcsin(eye[2]))), float(np.degrees(np.arctan2(eye[1], eye[0])))


def space_axes(axes: Any, target: Vector, found: list[Step]) -> None:
    k = len(found)
    projection = found[-1].projection
    span(axes, [step.element for step in found], projection)
    for i, step in enumerate(found, 1):
        corner = ("top", "left") if i == 1 else ("bottom", "right")
        arrow3(axes, step.element, ELEMENT, f"$v_{i}$ = {step.formula}", *corner)
    arrow3(axes, target, TARGET, "target $F$", "bottom", "right")
    arrow3(axes, projection, PROJECTION, rf"projection $\hat F_{k}$", "top", "left")
    axes.plot(*np.transpose([projection, target]), color=RESIDUAL, linestyle="--", linewidth=2)
    residual = rf"  residual $F - \hat F_{k}$"
    axes.text(*(0.4 * projection + 0.6 * target), residual, color=RESIDUAL, fontsize=12, va="bottom")
    loss = float(np.sum(np.square(target - projection)))
    what = "one element: the span is a line" if k == 1 else "two elements: the span is a plane"
    axes.set_title(f"{what}; squared residual {loss:.3g}", y=1.0)
    for axis, x in zip((axes.xaxis, axes.yaxis, axes.zaxis), POINTS[3], strict=True):
        axis.set_label_text(f"value at $x = {x:g}$")
        axis.set_ticks([-1, 0, 1, 2, 3])
    axes.set(xlim=(-1.2, 3.6), ylim=(-1.2, 3.6), zlim=(-1.2, 3.6))
    axes.set_box_aspect((1, 1, 1))


def span(axes: Any, elements: list[Vector], projection: Vector) -> None:
    """The part of the line or plane spanned by the elements that the arrows cover."""
    along = projection / np.linalg.norm(projection)
    reach = 1.15 * float(np.linalg.norm(projection))
    if len(elements) == 1:
        axes.plot(*np.transpose([-0.7 * along, reach * along]), color=ELEMENT, alpha=0.25, linewidth=7)
        return
    across = elements[1] - (elements[1] @ along) * along
    a, b = np.meshgrid([-0.8, reach], [-2.0, 2.0])
    surface = a[..., None] * along + b[..., None] * across / np.linalg.norm(across)
    axes.plot_surface(*np.moveaxis(surface, -1, 0), color=ELEMENT, alpha=0.15, shade=False)


def arrow3(axes: Any, tip: Vector, colour: str, label: str, vertical: str, horizontal: str) -> None:
    axes.quiver(0, 0, 0, *tip, color=colour, linewidth=2.4, arrow_length_ratio=0.09)
    axes.text(*tip, f"  {label}  ", color=colour, fontsize=12, va=vertical, ha=horizontal)
