"""The HTML report of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from fouriertree.expr import Expression
from fouriertree.model import Model
from fouriertree.report import figures
from fouriertree.report.content import ReportContent
from fouriertree.report.mathml import DIGITS, formula, rounded
from fouriertree.report.svg import page_style
from fouriertree.report.templating import cell, render

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
    if content.data is not None:
        summary |= {"rows": cell(len(content.data[1])), "features": cell(len(content.names))}
    with page_style():
        drawn = {
            "fit": figures.fit(content),
            "front": [figures.front(content)],
            "response": figures.response(content),
            "tree": figures.tree(content),
        }
    return render(
        "report.html",
        title=content.title,
        content=content,
        equations=equations,
        summary=summary,
        headings=[HEADINGS[key] for key in table],
        rows=list(zip(equations, content.equations["equation"], table.itertuples(index=False), strict=True)),
        figures=drawn,
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
