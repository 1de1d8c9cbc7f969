"""The published tables with our results: CSV with exactly their columns, Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.statistics import REACHED, by_cell

HEADINGS = ("Tolerance", "Problem", "Algorithm", "Mean FE", "SD", "SEM", "1Q", "Median", "3Q", "Success (%)")
TEST_HEADING = "Test MSE"


def as_csv(table: Any) -> str:
    """CSV with three decimals, like the published file."""
    lines = [",".join(facts.COLUMNS)]
    for tolerance, problem, algorithm, *numbers, rate in table.itertuples(index=False):
        lines.append(
            ",".join([repr(tolerance), problem, algorithm, *(f"{x:.3f}" for x in numbers), str(rate)])
        )
    return "\n".join(lines) + "\n"


def with_test_errors(table: Any, runs: Any) -> Any:
    """The table with the median test error of the runs that met the tolerance as another column."""
    groups = by_cell(runs)
    columns = dict(zip(facts.TOLERANCES, REACHED, strict=True))
    medians = []
    for row in table.itertuples(index=False):
        group = groups[row.problem, row.algorithm]
        met = group[group[columns[row.tolerance]].notna()]
        medians.append(float(met.test_mse.median()) if len(met) else math.nan)
    return table.assign(test_mse=medians)


def cells(row: Sequence[Any]) -> list[str]:
    """The formatted values of a row: (mean, …, success, test error)."""
    *numbers, rate, test = row
    return [*("∞" if math.isinf(x) else f"{x:.1f}" for x in numbers), str(rate), scientific(test)]


def scientific(x: float) -> str:
    """Two digits, or a dash for NaN.

    >>> scientific(0.000123), scientific(math.nan)
    ('1.2e-04', '–')
    """
    return "–" if math.isnan(x) else "∞" if math.isinf(x) else f"{x:.1e}"


def as_markdown(table: Any) -> str:
    """All rows, with the column of test errors."""
    headings = (*HEADINGS, TEST_HEADING)
    rows = [
        [f"{tolerance:g}", problem, algorithm, *cells(rest)]
        for tolerance, problem, algorithm, *rest in table.itertuples(index=False)
    ]
    return markdown(headings, rows)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 3) -> str:
    """A table; the first `left` columns are left-aligned, the others right-aligned."""
    rule = [":--" if i < left else "--:" for i in range(len(headings))]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (headings, rule, *rows)) + "\n"


def as_latex(table: Any) -> str:
    """The columns of the paper, and test errors; needs the packages booktabs and longtable."""
    body = []
    for tolerance, block in table.groupby("tolerance", sort=False):
        for i, (_, problem, algorithm, *rest) in enumerate(block.itertuples(index=False)):
            first = f"$10^{{{round(math.log10(tolerance))}}}$" if i == 0 else ""
            numbers = " & ".join(text.replace("∞", r"$\infty$").replace("–", "--") for text in cells(rest))
            body.append(f"{first} & {problem} & {latex_name(algorithm)} & {numbers} \\\\")
        body.append(r"\midrule")
    headings = " & ".join(rf"\textbf{{{h}}}".replace("%", r"\%") for h in (*HEADINGS, TEST_HEADING))
    return "\n".join(
        [
            r"\begin{longtable}{l l l r r r r r r r r}",
            r"\toprule",
            headings + r" \\",
            r"\midrule",
            r"\endhead",
            *body[:-1],
            r"\bottomrule",
            r"\end{longtable}",
            "",
        ]
    )


def latex_name(algorithm: str) -> str:
    return algorithm.replace("(1+1)", "$(1+1)$").replace("(1+lambda)", r"$(1+\lambda)$")
