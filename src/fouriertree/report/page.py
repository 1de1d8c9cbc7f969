"""The HTML report of a fit, with its figures: one SVG per panel, so that a narrow page can stack them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.model import Model
from fouriertree.plotting import plot_front, plot_tree
from fouriertree.plotting.canvas import new_figure, readable
from fouriertree.plotting.fit import draw_agreement, draw_residuals
from fouriertree.plotting.response import draw_response, feature_name, responses, vertical_range
from fouriertree.report.content import ReportContent
from fouriertree.report.mathml import DIGITS, formula, rounded
from fouriertree.report.svg import page_style, svg
from fouriertree.report.templating import cell, render

Floats = NDArray[np.float64]
#: inches of a panel; small, so that letters stay readable on a phone
PANEL, SMALL_PANEL, FRONT = (4.4, 3.7), (3.3, 2.7), (4.9, 3.9)
#: what SymPy raises for an expression that it cannot handle
SYMPY_ERRORS = (ValueError, TypeError, ArithmeticError, RecursionError, AttributeError, NotImplementedError)
#: columns of the table of equations, and their headings
HEADINGS = {
    "n_terms": "terms",
    "complexity": "complexity",
    "loss": "loss",
    "training_loss": "training",
    "validation_loss": "validation",
    "description_length": "description length",
    "r2": "R²",
}


@dataclass(frozen=True)
class PrintedEquation:
    """target = expression, as text, MathML and LaTeX; `mathml` is None where SymPy fails."""

    text: str
    mathml: Markup | None
    latex: str


def html(content: ReportContent) -> str:
    """The report as one self-contained page: style, script and figures are inside, and it requests nothing."""
    table = content.equations[[key for key in HEADINGS if key in content.equations]]
    equations = [printed(model, content.target) for model in content.models]
    best = table.iloc[[content.chosen]].to_dict("records")[0]
    summary = {HEADINGS[key]: cell(best[key]) for key in ("n_terms", "complexity", "r2") if key in best}
    with page_style():
        figures = {"fit": [], "front": [_front(content)], "response": [], "tree": _tree(content)}
        if (data := content.data) is not None:
            summary |= {"rows": cell(len(data[1])), "features": cell(len(content.names))}
            figures |= {"fit": _fit(content, *data), "response": _response(content, *data)}
    return render(
        "report.html",
        title=content.title,
        content=content,
        equations=equations,
        summary=summary,
        headings=[HEADINGS[key] for key in table],
        rows=list(zip(equations, content.equations["equation"], table.itertuples(index=False), strict=True)),
        guesses=content.equations["guess"].notna().tolist()
        if "guess" in content.equations
        else [False] * len(table),
        figures=figures,
    )


def printed(model: Model, target: str) -> PrintedEquation:
    """The equation in all its printed forms."""
    text = f"{target} = {model.text(DIGITS)}"
    try:
        mathml = Markup(formula(model, target))
    except SYMPY_ERRORS:
        mathml = None
    try:
        latex = f"{Expression.variable(0).latex([target])} = {rounded(model).latex(model.names)}"
    except SYMPY_ERRORS:
        latex = f"\\text{{{target}}} = \\texttt{{{model.text(DIGITS)}}}"
    return PrintedEquation(text, mathml, latex)


# Figures, drawn inside of `page_style` ---------------------------------------------------------------------------
def _fit(content: ReportContent, X: Floats, y: Floats) -> list[Markup]:
    """Measured against predicted values, and the residuals."""
    predicted = content.model.predict(X)
    band = content.band
    # Bands of relative errors and of logarithms are described, not drawn.
    half_width = band.half_width if band is not None and band.measure == "absolute" else None
    panels = []
    for key, draw, description in (
        ("fit", draw_agreement, "Measured against predicted values, one point per row"),
        ("residuals", draw_residuals, "Residuals against predicted values, one point per row"),
    ):
        figure = new_figure(*PANEL)
        draw(figure.subplots(), y, predicted, content.target, half_width)
        panels.append(svg(figure, key, description))
    return panels


def _front(content: ReportContent) -> Markup:
    """Loss against complexity."""
    figure = new_figure(*FRONT)
    plot_front(content.equations, content.chosen, figure.subplots())
    return svg(figure, "front", "Loss of every equation against its complexity, the chosen equation marked")


def _response(content: ReportContent, X: Floats, y: Floats) -> list[Markup]:
    """A panel per feature of the equation, all with the same vertical scale."""
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


def _tree(content: ReportContent) -> Markup:
    """The expression tree."""
    figure = plot_tree(content.model.expression, content.model.names).figure
    return svg(figure, "tree", "The equation as a tree, operators above their arguments")  # type: ignore[arg-type]
