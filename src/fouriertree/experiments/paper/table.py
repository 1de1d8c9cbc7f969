"""Tables as text: the published ones with our results as CSV, Markdown and LaTeX, and those of the pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.agreement import drift
from fouriertree.experiments.paper.statistics import REACHED_AT, by_cell


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
    return "–" if math.isnan(x) else "∞" if math.isinf(x) else f"{x:.1e}"


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
    top = [
        r"\begin{longtable}{l l l r r r r r r r r}",
        r"\toprule",
        headings + r" \\",
        r"\midrule",
        r"\endhead",
    ]
    return "\n".join([*top, *body[:-1], r"\bottomrule", r"\end{longtable}", ""])


def latex(text: str) -> str:
    for plain, code in (
        ("(1+1)", "$(1+1)$"),
        ("(1+lambda)", r"$(1+\lambda)$"),
        ("∞", r"$\infty$"),
        ("–", "--"),
    ):
        text = text.replace(plain, code)
    return text


# The tables of the pages ---------------------------------------------------------------------------------------------
def agreement_table(cells: Any) -> Table:
    headings = (
        "Tolerance", "Problem", "Algorithm", "Published", "Ours", "Published quartiles", "Our quartiles", "p rate",
        "p evaluations", "Reason",
    )  # fmt: skip
    rows = [
        [
            f"{c.tolerance:g}", c.problem, c.algorithm, f"{c.published_successes}/{c.published_runs}",
            f"{c.successes}/{c.runs}", quartiles(c.published_q1, c.published_median, c.published_q3),
            quartiles(c.q1, c.median, c.q3), f"{c.p_rate:.2g}", f"{c.p_evaluations:.2g}", c.reason,
        ]
        for c in cells.itertuples()
    ]  # fmt: skip
    return Table(headings, rows, range(3))


def quartiles(*values: float) -> str:
    return " · ".join("∞" if v == math.inf else f"{v:.0f}" for v in values)


def drift_table(cells: Any) -> Table:
    headings = (
        "Algorithm", "Cells", "Agree", "Below 5 % uncorrected", "Our median / published", "Cells slower",
        "Cells faster", "Our rate − published (points)",
    )  # fmt: skip
    rows = [
        [
            r.algorithm, str(r.cells), str(r.agree), str(r.below_level), f"{r.median_ratio:.2f}", str(r.cells_slower),
            str(r.cells_faster), f"{r.rate_difference:+.1f}",
        ]
        for r in drift(cells).itertuples()
    ]  # fmt: skip
    return Table(headings, rows, range(1))


def error_table(errors: Any) -> Table:
    headings = (
        "Problem", "Algorithm", "Training MSE", "Test MSE", "Runs at 1e-8", "Test MSE of those", "Nodes", "Terms",
        "Condition: mean", "median", "Rejected: mean",
    )  # fmt: skip
    rows = [
        [
            r["problem"], r["algorithm"], scientific(r["training_mse"]), scientific(r["test_mse"]),
            str(r["runs_at_1e-8"]), scientific(r["test_mse_of_those"]), f"{r['size']:.0f}", f"{r['terms']:.0f}",
            scientific(r["mean_condition"]), scientific(r["median_condition"]),
            "–" if math.isnan(r["mean_refused"]) else f"{r['mean_refused']:.1f}",
        ]
        for r in errors.to_dict("records")
    ]  # fmt: skip
    return Table(headings, rows, range(2))


def lsp_table(comparison: Any) -> Table:
    headings = ("Degree", "Algorithm", "What", "Ours", "Runs alive", "Authors", "Runs alive", "p (Welch)")
    rows = [
        [
            str(r.degree), r.algorithm, r.what, f"{r.mean:.3g} ± {r.sd:.2g}", str(r.n),
            f"{r.published_mean:.3g} ± {r.published_sd:.2g}", str(r.published_n),
            "–" if math.isnan(r.p) else f"{r.p:.2g}",
        ]
        for r in comparison.itertuples()
    ]  # fmt: skip
    return Table(headings, rows, range(3))


def speed_table(speeds: Any) -> Table:
    headings = "Part", "Algorithm", "Runs", "Evaluations", "Core seconds", "Per second", "Authors' core-days"
    rows = [
        [
            r.part, r.algorithm, f"{r.runs:,}", f"{r.evaluations:,}", f"{r.core_seconds:,.1f}", f"{r.per_second:,.0f}",
            days(r.authors_days_from, r.authors_days_to),
        ]
        for r in speeds.itertuples()
    ]  # fmt: skip
    return Table(headings, rows, range(2))


def days(low: float, high: float) -> str:
    if math.isnan(low):
        return "–"
    return f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
