"""Tables of results: one row per suite, noise, kind of noise, disguise and system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from fouriertree.experiments.bench.names import FIRST_PRINCIPLES, GAUSSIAN, NOISY, facts
from fouriertree.experiments.store import Record


@dataclass(frozen=True)
class Row:
    """Results of a system on a suite at a noise level.  Rates and medians of nothing are NaN."""

    suite: str
    noise: float
    noise_kind: str
    disguise: bool
    system: str
    cases: int
    failed: int
    solved: float
    structure: float
    exact: float
    r2: float
    size: float
    seconds: float
    solved_seconds: float


def solved(record: Record) -> bool:
    """Whether the symbolic criterion holds; or, without noise, the model is equivalent and not bloated.

    Bloated is more than twice the truth's nodes and ten.
    """
    if record.get("symbolic"):
        return True
    small = record.get("size", 10**9) <= 2 * record.get("truth_size", 0) + 10
    return bool(record["noise"] == 0.0 and record.get("equivalent") and small)


def has_law(record: Record) -> bool:
    """Whether the case has a ground truth: a known law, or a known form of the law."""
    if record["suite"] == FIRST_PRINCIPLES:
        return record["case"] in facts("tables")[FIRST_PRINCIPLES]["laws"]
    return record["suite"] not in NOISY


def rows(records: Iterable[Record]) -> list[Row]:
    groups: dict[tuple[str, float, str, bool, str], list[Record]] = {}
    for record in records:
        key = (
            record["suite"], record["noise"], kind_of_noise(record), record["disguise"], record["system"],
        )  # fmt: skip
        groups.setdefault(key, []).append(record)
    return [row(*key, group) for key, group in groups.items()]


def kind_of_noise(record: Record) -> str:
    """The distribution of the noise; records of earlier versions do not name it."""
    return str(record.get("noise_kind", GAUSSIAN))


def row(suite: str, noise: float, kind: str, disguise: bool, system: str, group: Sequence[Record]) -> Row:
    won = [record for record in group if solved(record)]
    return Row(
        suite, noise, kind, disguise, system, len(group), sum("failed" in record for record in group),
        share(won, [record for record in group if has_law(record)]),
        structure_share(group),
        share([record for record in group if record.get("exact")], group),
        middle_r2(group), middle(group, "size"), middle(group, "fit_seconds"), middle(won, "fit_seconds"),
    )  # fmt: skip


def structure_share(group: Sequence[Record]) -> float:
    """The rate of correct structures.

    Records without this measure do not count; a failed fit counts as wrong, unless no record of its group has it.
    """
    measured = [record for record in group if "structure" in record]
    failed = [record for record in group if "failed" in record and "structure" not in record]
    return share([record for record in measured if record["structure"]], measured and [*measured, *failed])


def share(some: Sequence[Record], whole: Sequence[Record]) -> float:
    return len(some) / len(whole) if whole else float("nan")


def middle(group: Sequence[Record], field: str) -> float:
    """The median of a field over the records that have it."""
    values = [float(record[field]) for record in group if record.get(field) is not None]
    return median(values) if values else float("nan")


def r2(record: Record) -> float:
    """Test R²; −∞ for a fit that failed or a prediction that is not finite."""
    value = record.get("r2")
    return float("-inf") if value is None else float(value)


def middle_r2(group: Sequence[Record]) -> float:
    return median(map(r2, group))


HEADINGS = (
    "suite", "noise", "disguise", "system", "cases", "failed", "solved", "structure", "exact", "R²", "size", "s",
    "s solved",
)  # fmt: skip
#: headings of text columns
TEXTS = ("suite", "disguise", "system")


def cells(row: Row) -> list[str]:
    lawless = row.suite in NOISY
    return [
        row.suite, noise_text(row.noise, row.noise_kind), "yes" if row.disguise else "no", row.system,
        str(row.cases), str(row.failed),
        *("–" if lawless else percent(part) for part in (row.solved, row.structure, row.exact)),
        f"{row.r2:.4f}", f"{row.size:.0f}", f"{row.seconds:.1f}",
        "–" if row.solved_seconds != row.solved_seconds else f"{row.solved_seconds:.1f}",
    ]  # fmt: skip


def noise_text(noise: float, kind: str) -> str:
    """The level of the noise, with its kind if that is not the usual one.

    >>> noise_text(0.01, "gaussian"), noise_text(0.01, "student")
    ('0.01', '0.01 student')
    """
    return f"{noise:g}" if kind == GAUSSIAN else f"{noise:g} {kind}"


def percent(part: float) -> str:
    return "–" if part != part else f"{100 * part:.1f} %"


def text_table(rows: Sequence[Row]) -> str:
    lines = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    forms = [f"{{:{'<' if h in TEXTS else '>'}{width}}}" for h, width in zip(HEADINGS, widths, strict=True)]
    return "\n".join("  ".join(forms).format(*line).rstrip() for line in lines)
