"""The figures of a report, one SVG per panel, so that a narrow page can stack them; drawn inside `page_style()`."""

from __future__ import annotations

from markupsafe import Markup

from fouriertree.plotting import plot_front, plot_tree
from fouriertree.plotting.canvas import new_figure, readable
from fouriertree.plotting.fit import draw_agreement, draw_residuals
from fouriertree.plotting.response import draw_response, feature_name, responses, vertical_range
from fouriertree.report.content import ReportContent
from fouriertree.report.svg import svg

#: inches of a panel; small, so that letters stay readable on a phone
PANEL, SMALL_PANEL, FRONT = (4.4, 3.7), (3.3, 2.7), (4.9, 3.9)


def fit(content: ReportContent) -> list[Markup]:
    """Measured against predicted values, and the residuals."""
    if content.data is None:
        return []
    X, y = content.data
    predicted = content.model.predict(X)
    half_width = None if content.band is None else content.band.half_width
    panels = []
    for key, draw, description in (
        ("fit", draw_agreement, "Measured against predicted values, one point per row"),
        ("residuals", draw_residuals, "Residuals against predicted values, one point per row"),
    ):
        figure = new_figure(*PANEL)
        draw(figure.subplots(), y, predicted, content.target, half_width)
        panels.append(svg(figure, key, description))
    return panels


def front(content: ReportContent) -> Markup:
    """Loss against complexity."""
    figure = new_figure(*FRONT)
    plot_front(content.equations, content.chosen, figure.subplots())
    return svg(figure, "front", "Loss of every equation against its complexity, the chosen equation marked")


def response(content: ReportContent) -> list[Markup]:
    """A panel per feature of the equation, all with the same vertical scale."""
    if content.data is None:
        return []
    X, y = content.data
    curves = responses(content.model, X)
    panels = []
    for curve in curves:
        name = feature_name(content.model, curve.column)
        figure = new_figure(*SMALL_PANEL)
        ax = figure.subplots()
        draw_response(ax, curve, name, X, y)
        ax.set_ylabel(readable(content.target, 22), parse_math=False)
        ax.set_ylim(*vertical_range(curves, y))
        panels.append(svg(figure, f"response-{curve.column}", f"Partial dependence on {name}"))
    return panels


def tree(content: ReportContent) -> Markup:
    """The expression tree."""
    figure = plot_tree(content.model.expression, content.model.names).figure
    return svg(figure, "tree", "The equation as a tree, operators above their arguments")  # type: ignore[arg-type]
