"""The sections of a report, one function each; an empty text where there is nothing to say."""

from __future__ import annotations

import numpy as np

from fouriertree.expr import Expression
from fouriertree.model import Model
from fouriertree.report import pictures
from fouriertree.report.content import ReportContent
from fouriertree.report.elements import (
    details,
    facts,
    figure,
    number,
    paragraph,
    scrolling,
    section,
    source,
    table,
    text,
    tiles,
)
from fouriertree.report.mathml import DIGITS, formula, rounded

#: what SymPy raises when a formula is beyond it
GIVES_UP = (ValueError, TypeError, ArithmeticError, RecursionError, AttributeError, NotImplementedError)

#: columns of the table of formulas, and how a reader calls them
HEADINGS = {
    "n_terms": "terms",
    "complexity": "complexity",
    "loss": "loss",
    "training_loss": "training",
    "validation_loss": "validation",
    "description_length": "description",
    "r2": "R²",
}


def typeset(model: Model, target: str) -> str:
    """The formula as MathML in a box of its own; as plain text where it is too long to be typeset."""
    try:
        inside = formula(model, target)
    except GIVES_UP:
        inside = f"<code>{text(target)} = {text(model.text(DIGITS))}</code>"
    return f'<div class="formula" role="group" tabindex="0" aria-label="formula of {text(target)}">{inside}</div>'


def latex(model: Model, target: str) -> str:
    try:
        return f"{Expression.variable(0).latex([target])} = {rounded(model).latex(model.names)}"
    except GIVES_UP:
        return f"\\text{{{target}}} = \\texttt{{{model.text(DIGITS)}}}"


def chosen_formula(content: ReportContent) -> str:
    model, row = content.model, content.equations.iloc[content.chosen]
    shown = [
        (name, row[key])
        for key, name in HEADINGS.items()
        if key in ("r2", "complexity", "n_terms")
        if key in row
    ]
    if content.data is not None:
        shown += [("rows", len(content.data[1])), ("columns", len(content.names))]
    return section(
        "formula",
        "Formula",
        typeset(model, content.target),
        tiles(shown),
        details(
            "as text", source(f"{content.target} = {model.text(DIGITS)}", "formula as text", wrapped=True)
        ),
        details("as LaTeX", source(latex(model, content.target), "formula as LaTeX", wrapped=True)),
    )


def front(content: ReportContent) -> str:
    words = "Every row is more accurate than all simpler ones. Open a formula to see it typeset."
    return section(
        "front",
        "All formulas",
        paragraph(words),
        _front_table(content),
        figure(
            [pictures.front_picture(content)], "Loss on the rows that were fitted and on those held back."
        ),
    )


def _front_table(content: ReportContent) -> str:
    keys = [key for key in HEADINGS if key in content.equations]
    heads = "".join(f'<th scope="col" class="n">{text(HEADINGS[key])}</th>' for key in keys)
    rows = "".join(_front_row(content, i, keys) for i in range(len(content.equations)))
    head = f'<th scope="col" class="n">row</th><th scope="col">formula</th>{heads}'
    return scrolling(
        "All formulas",
        f'<table class="front"><caption>Formulas from simple to accurate</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>",
    )


def _front_row(content: ReportContent, i: int, keys: list[str]) -> str:
    row, model = content.equations.iloc[i], content.models[i]
    cells = "".join(f'<td class="n">{text(number(row[key]))}</td>' for key in keys)
    chosen = i == content.chosen
    mark = ' <strong class="badge">chosen</strong>' if chosen else ""
    unfolded = typeset(model, content.target) + source(
        latex(model, content.target), f"row {i} as LaTeX", wrapped=True
    )
    shown = details(f"<code>{text(row['equation'])}</code>{mark}", unfolded)
    opening = '<tr class="chosen" aria-current="true">' if chosen else "<tr>"
    return f'{opening}<th scope="row" class="n">{i}</th><td class="equation">{shown}</td>{cells}</tr>\n'


def fit(content: ReportContent) -> str:
    made = pictures.fit_pictures(content)
    if not made:
        return ""
    caption = "Rows on the line are predicted exactly. What is left over should have no shape."
    if content.band is not None:
        share = f"{100.0 * content.band.level:g} %"
        caption += f" The band is ±{number(content.band.half_width)}, which holds about {share} of new rows."
    return section("fit", "Fit", figure(made, caption))


def response(content: ReportContent) -> str:
    made = pictures.response_pictures(content)
    if not made:
        return ""
    caption = (
        "Thick: mean prediction while one column runs through its range and the others keep the values of the data. "
        "Thin: single rows. Points: the data."
    )
    return section("response", "Response to each column", figure(made, caption))


def tree(content: ReportContent) -> str:
    inside = f'<div class="tree">{pictures.tree_picture(content)}</div>'
    return section("tree", "Tree", scrolling("The formula as a tree", inside))


def intervals(content: ReportContent) -> str:
    parts = []
    if content.intervals is not None and len(content.intervals):
        parts.append(table(content.intervals, "Coefficients and their intervals"))
    if content.band is not None and np.isfinite(content.band.half_width):
        share = f"{100.0 * content.band.level:g} %"
        parts.append(
            paragraph(
                f"About {share} of new rows lie within ±{number(content.band.half_width)} of their prediction."
            )
        )
    return section("intervals", "Uncertainty", *parts) if parts else ""


def certificate(content: ReportContent) -> str:
    given = content.certificate
    if given is None:
        return ""
    return section(
        "certificate",
        "Certificate",
        f'<p class="verdict">{text(given.verdict)}</p>',
        "".join(paragraph(line) for line in given.text.splitlines() if line.strip()),
        "" if given.slopes is None or not len(given.slopes) else table(given.slopes, "Slopes by column"),
    )


def stability(content: ReportContent) -> str:
    tables = [table(frame, title) for title, frame in (content.stability or {}).items() if len(frame)]
    return section("stability", "Stability", *tables) if tables else ""


def provenance(content: ReportContent) -> str:
    return section("provenance", "How it was made", facts(content.provenance)) if content.provenance else ""


def exports(content: ReportContent) -> str:
    parts = [details(text(name), source(code, f"{name} source")) for name, code in content.exports.items()]
    return section("exports", "Source code", *parts) if parts else ""


#: in the order of the page: what it is called in the list of contents, and what writes it
SECTIONS = (
    ("formula", "Formula", chosen_formula),
    ("fit", "Fit", fit),
    ("front", "All formulas", front),
    ("response", "Response", response),
    ("tree", "Tree", tree),
    ("intervals", "Uncertainty", intervals),
    ("certificate", "Certificate", certificate),
    ("stability", "Stability", stability),
    ("provenance", "How it was made", provenance),
    ("exports", "Source code", exports),
)
