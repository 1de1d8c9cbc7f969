"""Tables of results: one row per suite, noise and system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from fouriertree.experiments.bench.names import FIRST_PRINCIPLES, LAWLESS, facts
from fouriertree.experiments.bench.store import Record


@dataclass(frozen=True)
class Row:
    """How a system did on a suite at a level of noise.  Medians are NaN where there is nothing to take one of."""

    suite: str
    noise: float
    system: str
    cases: int
    failed: int
    solved: float
    exact: float
    r2: float
    size: float
    seconds: float
    solved_seconds: float


def solved(record: Record) -> bool:
    """The headline: the symbolic rule holds; or, without noise, the formula is equivalent and not bloated.

    Bloated is more than twice the truth's nodes and ten: a formula that hides the law in an exact expansion of it is no
    discovery.
    """
    if record.get("symbolic"):
        return True
    small = record.get("size", 10**9) <= 2 * record.get("truth_size", 0) + 10
    return bool(record["noise"] == 0.0 and record.get("equivalent") and small)


def has_law(record: Record) -> bool:
    """Whether there is something to solve: a known law, or a form that the law of a table must have."""
    if record["suite"] == FIRST_PRINCIPLES:
        return record["case"] in facts("tables")[FIRST_PRINCIPLES]["laws"]
    return record["suite"] not in LAWLESS


def rows(records: Iterable[Record]) -> list[Row]:
    groups: dict[tuple[str, float, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["suite"], record["noise"], record["system"]), []).append(record)
    return [row(*key, group) for key, group in groups.items()]


def row(suite: str, noise: float, system: str, group: Sequence[Record]) -> Row:
    won = [record for record in group if solved(record)]
    return Row(
        suite, noise, system, len(group), sum("failed" in record for record in group),
        share(won, [record for record in group if has_law(record)]),
        share([record for record in group if record.get("exact")], group),
        middle_r2(group), middle(group, "size"), middle(group, "fit_seconds"), middle(won, "fit_seconds"),
    )  # fmt: skip


def share(some: Sequence[Record], whole: Sequence[Record]) -> float:
    return len(some) / len(whole) if whole else float("nan")


def middle(group: Sequence[Record], field: str) -> float:
    """The median of what there is."""
    values = [float(record[field]) for record in group if record.get(field) is not None]
    return median(values) if values else float("nan")


def r2(record: Record) -> float:
    """−∞ for a fit that failed or that predicts no finite number somewhere."""
    value = record.get("r2")
    return float("-inf") if value is None else float(value)


def middle_r2(group: Sequence[Record]) -> float:
    return median(map(r2, group))


HEADINGS = ("suite", "noise", "system", "cases", "failed", "solved", "exact", "R²", "size", "s", "s solved")


def cells(row: Row) -> list[str]:
    lawless = row.suite in LAWLESS
    return [
        row.suite, f"{row.noise:g}", row.system, str(row.cases), str(row.failed),
        "–" if lawless else f"{100 * row.solved:.1f} %", "–" if lawless else f"{100 * row.exact:.1f} %",
        f"{row.r2:.4f}", f"{row.size:.0f}", f"{row.seconds:.1f}",
        "–" if row.solved_seconds != row.solved_seconds else f"{row.solved_seconds:.1f}",
    ]  # fmt: skip


def text_table(rows: Sequence[Row]) -> str:
    lines = [list(HEADINGS), *(cells(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
    return "\n".join("  ".join(map(aligned, HEADINGS, line, widths)).rstrip() for line in lines)


def aligned(heading: str, cell: str, width: int) -> str:
    return cell.ljust(width) if heading in ("suite", "system") else cell.rjust(width)
