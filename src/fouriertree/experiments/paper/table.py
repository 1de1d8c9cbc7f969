"""Tables as text: the published ones with our results as CSV, Markdown and LaTeX, and those of the pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.agreement import drift
from fouriertree.experiments.paper.statistics import REACHED_AT, by_cell

#: signs for numbers that are not finite, and LaTeX for signs and names
SPECIAL = {"nan": "–", "inf": "∞"}
LATEX = {"(1+1)": "$(1+1)$", "(1+lambda)": r"$(1+\lambda)$", "∞": r"$\infty$", "–": "--"}


class Table(NamedTuple):
    """Headings, formatted rows, and the left-aligned columns; the others are right-aligned."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: range

    def markdown(self) -> str:
        rule = [":--" if i in self.left else "--:" for i in range(len(self.headings))]
        return "\n".join("| " + " | ".join(row) + " |" for row in (self.headings, rule, *self.rows)) + "\n"


# The published layout ------------------------------------------------------------------------------------------------
HEADINGS = (
    "Tolerance", "Problem", "Algorithm", "Mean FE", "SD", "SEM", "1Q", "Median", "3Q", "Success (%)", "Test MSE",
)  # fmt: skip


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
    medians = []
    for row in table.itertuples(index=False):
        group = groups[row.problem, row.algorithm]
        medians.append(float(group.test_mse[group[REACHED_AT[row.tolerance]].notna()].median()))
    return table.assign(test_mse=medians)


def published(table: Any) -> Table:
    """All rows of a table with test errors."""
    return Table(HEADINGS, [row_of_cells(*row) for row in table.itertuples(index=False)], range(3))


def row_of_cells(tolerance: float, problem: str, algorithm: str, *values: Any) -> list[str]:
    *numbers, rate, test = values
    finite = ("∞" if math.isinf(x) else f"{x:.1f}" for x in numbers)
    return [f"{tolerance:g}", problem, algorithm, *finite, str(rate), scientific(test)]


def scientific(x: float) -> str:
    """Two digits, or a dash for NaN.

    >>> scientific(0.000123), scientific(math.nan)
    ('1.2e-04', '–')
    """
    text = f"{x:.1e}"
    return SPECIAL.get(text, text)


def as_latex(table: Any) -> str:
    """The columns of the paper, and test errors; needs the packages booktabs and longtable."""
    body = []
    for tolerance, block in table.groupby("tolerance", sort=False):
        first = f"$10^{{{round(math.log10(tolerance))}}}$"
        for _, *cells in published(block).rows:
            body.append(" & ".join([first, *map(latex, cells)]) + r" \\")
            first = ""
        body.append(r"\midrule")
    headings = " & ".join(rf"\textbf{{{h}}}".replace("%", r"\%") for h in HEADINGS)
    return "\n".join([
        r"\begin{longtable}{l l l r r r r r r r r}", r"\toprule", headings + r" \\", r"\midrule", r"\endhead",
        *body[:-1], r"\bottomrule", r"\end{longtable}", "",
    ])  # fmt: skip


def latex(text: str) -> str:
    for plain, code in LATEX.items():
        text = text.replace(plain, code)
    return text


# The tables of the pages ---------------------------------------------------------------------------------------------
def formatted(frame: Any, left: int, *columns: tuple[str, str], special: bool = False) -> Table:
    """The rows of a frame, from headings and formats of columns; `special` has signs for NaN and infinity."""
    rows = [[form.format(**row) for _, form in columns] for row in frame.to_dict("records")]
    if special:
        rows = [[SPECIAL.get(text, text) for text in row] for row in rows]
    return Table([heading for heading, _ in columns], rows, range(left))


def agreement_table(cells: Any) -> Table:
    published = list(map(in_a_row, cells.published_q1, cells.published_median, cells.published_q3))
    ours = list(map(in_a_row, cells.q1, cells["median"], cells.q3))
    return formatted(
        cells.assign(published=published, ours=ours), 3,
        ("Tolerance", "{tolerance:g}"), ("Problem", "{problem}"), ("Algorithm", "{algorithm}"),
        ("Published", "{published_successes}/{published_runs}"), ("Ours", "{successes}/{runs}"),
        ("Published quartiles", "{published}"), ("Our quartiles", "{ours}"), ("p rate", "{p_rate:.2g}"),
        ("p evaluations", "{p_evaluations:.2g}"), ("Reason", "{reason}"),
    )  # fmt: skip


def in_a_row(*quartiles: float) -> str:
    return " · ".join("∞" if q == math.inf else f"{q:.0f}" for q in quartiles)


def drift_table(cells: Any) -> Table:
    return formatted(
        drift(cells), 1,
        ("Algorithm", "{algorithm}"), ("Cells", "{cells}"), ("Agree", "{agree}"),
        ("Below 5 % uncorrected", "{below_level}"), ("Our median / published", "{median_ratio:.2f}"),
        ("Cells slower", "{cells_slower}"), ("Cells faster", "{cells_faster}"),
        ("Our rate − published (points)", "{rate_difference:+.1f}"),
    )  # fmt: skip


def error_table(errors: Any) -> Table:
    return formatted(
        errors, 2,
        ("Problem", "{problem}"), ("Algorithm", "{algorithm}"), ("Training MSE", "{training_mse:.1e}"),
        ("Test MSE", "{test_mse:.1e}"), ("Runs at 1e-8", "{runs_at_1e-8}"),
        ("Test MSE of those", "{test_mse_of_those:.1e}"), ("Nodes", "{size:.0f}"), ("Terms", "{terms:.0f}"),
        ("Condition: mean", "{mean_condition:.1e}"), ("median", "{median_condition:.1e}"),
        ("Rejected: mean", "{mean_refused:.1f}"), special=True,
    )  # fmt: skip


def lsp_table(comparison: Any) -> Table:
    return formatted(
        comparison, 3,
        ("Degree", "{degree}"), ("Algorithm", "{algorithm}"), ("What", "{what}"), ("Ours", "{mean:.3g} ± {sd:.2g}"),
        ("Runs alive", "{n}"), ("Authors", "{published_mean:.3g} ± {published_sd:.2g}"),
        ("Runs alive", "{published_n}"), ("p (Welch)", "{p:.2g}"), special=True,
    )  # fmt: skip


def speed_table(speeds: Any) -> Table:
    days = [between(*pair) for pair in zip(speeds.authors_days_from, speeds.authors_days_to, strict=True)]
    return formatted(
        speeds.assign(days=days), 2,
        ("Part", "{part}"), ("Algorithm", "{algorithm}"), ("Runs", "{runs:,}"), ("Evaluations", "{evaluations:,}"),
        ("Core seconds", "{core_seconds:,.1f}"), ("Per second", "{per_second:,.0f}"), ("Authors' core-days", "{days}"),
    )  # fmt: skip


def between(low: float, high: float) -> str:
    if math.isnan(low):
        return "–"
    return f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
