"""The pictures of a report.  Every panel is one of its own, so that a narrow page can put them below each other."""

from __future__ import annotations

from fouriertree.plotting import plot_front, plot_tree
from fouriertree.plotting.canvas import new_figure, readable
from fouriertree.plotting.fit import draw_agreement, draw_residuals
from fouriertree.plotting.response import column_name, draw_response, responses, vertical_range
from fouriertree.report.content import ReportContent
from fouriertree.report.svg import page_style, svg

#: inches of a panel; small, so that letters stay readable on a phone
PANEL = (4.4, 3.7)
SMALL_PANEL = (3.3, 2.7)
FRONT = (4.9, 3.9)


def fit_pictures(content: ReportContent) -> list[str]:
    """Measured against predicted, and the residuals."""
    if content.data is None:
        return []
    X, y = content.data
    predicted = content.model.predict(X)
    width = None if content.band is None else content.band.half_width
    made = []
    for key, draw, words in (
        ("fit", draw_agreement, "Measured values against those that the formula predicts, one point per row"),
        ("residuals", draw_residuals, "What is left over of each row against its prediction"),
    ):
        with page_style():
            figure = new_figure(*PANEL)
            draw(figure.subplots(), y, predicted, content.target, width)
            made.append(svg(figure, f"plot-{key}", words))
    return made


def front_picture(content: ReportContent) -> str:
    with page_style():
        figure = new_figure(*FRONT)
        plot_front(content.equations, content.chosen, figure.subplots())
        return svg(
            figure, "plot-front", "Loss of every formula against its complexity, with the chosen one marked"
        )


def response_pictures(content: ReportContent) -> list[str]:
    """A picture per column of the formula, all with one vertical scale."""
    if content.data is None:
        return []
    X, y = content.data
    answers = responses(content.model, X)
    made = []
    for answer in answers:
        name = column_name(content.model, answer.column)
        with page_style():
            figure = new_figure(*SMALL_PANEL)
            ax = figure.subplots()
            draw_response(ax, answer, name, X, y)
            ax.set_ylabel(readable(content.target, 22), parse_math=False)
            ax.set_ylim(*vertical_range(answers, y))
            made.append(svg(figure, f"plot-response-{answer.column}", f"Mean response to {name}"))
    return made


def tree_picture(content: ReportContent) -> str:
    with page_style():
        figure = plot_tree(content.model.expression, content.model.names).figure
        return svg(figure, "plot-tree", "The formula as a tree of operators above their arguments")  # type: ignore[arg-type]
