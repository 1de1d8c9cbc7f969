"""The results as a page of Markdown with two pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from fouriertree.experiments.bench import plots
from fouriertree.experiments.bench.bars import Bar
from fouriertree.experiments.bench.names import NOISY
from fouriertree.experiments.bench.store import Record
from fouriertree.experiments.bench.summary import HEADINGS, TEXTS, Row, cells, rows, solved
from fouriertree.experiments.bench.systems import LINEAR

INTRODUCTION = """\
# Benchmarks

Systems for symbolic regression on laws that they should find and on tables that they should predict. Every fit has
a process, one thread and the same time; imports and compilers are not on its clock. Systems see columns x0, x1, … and
nothing else. Noise is SRBench's: Normal(0, level · rms(y)) on the training target, none on the test target.

*Solved* is SRBench's rule: after simplification and rounding of constants, formula − law is a constant, or formula/law
is one other than zero. Constants are rounded to three decimals, as there; and, so that constants of nature and odd
units survive, also to four significant digits and to three decimals in units of powers of ten. Without noise a formula
also counts if it is equivalent to the law, by 30-digit numbers on points outside the training rows, and has at most
twice the law's nodes and ten. *Structure* is right if only constants differ: every number of the formula except
exponents becomes a free parameter, also the factor 1 of a term of a sum, fitted to 200 clean rows from where it is and
from four starts jittered by 10 %; then the largest relative error on 200 fresh rows is below 1e-6, and the formula has
at most twice the law's nodes and ten. *Exact* is a relative error of at most 1e-6 on test rows, with noise 1e-3. *R²*
and *size* are medians on test rows and of the nodes of the simplified formula; *s* is the median time of a fit in
seconds, *s solved* that of the solved ones. Operon, RILS-ROLS and eggp use all their time, whether a formula is exact
or not.

*Disguise* multiplies every variable and the target by a random factor, log-uniform between 0.2 and 5, and permutes the
columns: no constant stays round, as none is in measured units. The suite everyday has laws as engineers write them:
sums of two or three terms, each a number times a product of simple functions of different variables."""


def write(path: Path, records: Sequence[Record], bars: Sequence[Bar], command: str) -> None:
    """Write the page, and its pictures to the folder `images` beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(sections(path, records, bars, command)) + "\n", encoding="utf-8")


def sections(path: Path, records: Sequence[Record], bars: Sequence[Bar], command: str) -> Iterator[str]:
    table = rows(records)
    yield INTRODUCTION
    yield f"```sh\n{command}\n```"
    for suite in dict.fromkeys(row.suite for row in table):
        yield f"## {suite}"
        yield markdown([row for row in table if row.suite == suite])
    yield from pictures(path, table)
    if bars:
        yield "## Goals\n\n```text\n" + "\n".join(map(str, bars)) + "\n```"
    yield from case_by_case(records)


def markdown(table: Sequence[Row]) -> str:
    lines = [HEADINGS[1:], ["---" if heading in TEXTS else "---:" for heading in HEADINGS[1:]]]
    return "\n".join("| " + " | ".join(line) + " |" for line in [*lines, *(cells(row)[1:] for row in table)])


def pictures(path: Path, table: Sequence[Row]) -> Iterator[str]:
    laws = [row for row in table if row.suite not in NOISY and row.system != LINEAR]
    tables = [row for row in table if row.suite in NOISY and math.isfinite(row.r2)]
    if laws:
        plots.solved_by_noise(laws, path.parent / "images" / "bench-solved.png")
        yield "## Laws found\n\n![Share of laws found by suite, noise and system](images/bench-solved.png)"
    if tables:
        plots.accuracy_by_size(tables, path.parent / "images" / "bench-accuracy.png")
        yield "## Accuracy and size\n\n![Median R² against median size](images/bench-accuracy.png)"


def case_by_case(records: Sequence[Record]) -> Iterator[str]:
    """One table per suite with laws: which system solved which case at which level of noise."""
    systems = list(dict.fromkeys(record["system"] for record in records))
    for suite in dict.fromkeys(r["suite"] for r in records if r["suite"] not in NOISY):
        marks: dict[tuple[str, float], dict[str, list[bool]]] = {}
        for record in records:
            if record["suite"] == suite:
                case = record["case"] + (" (disguised)" if record["disguise"] else "")
                of_case = marks.setdefault((case, record["noise"]), {})
                of_case.setdefault(record["system"], []).append(solved(record))
        lines = [["case", "noise", *systems], ["---"] * (len(systems) + 2)]
        for (case, noise), found in marks.items():
            lines.append([case, f"{noise:g}", *(mark(found.get(system)) for system in systems)])
        yield f"## {suite}, case by case\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mark(solutions: list[bool] | None) -> str:
    """✓ for solved, nothing for unsolved, a share where seeds disagree.

    >>> mark([True]), mark([False]), mark([True, False]), mark(None)
    ('✓', '', '1/2', '–')
    """
    if solutions is None:
        return "–"
    if all(solutions):
        return "✓"
    return f"{sum(solutions)}/{len(solutions)}" if any(solutions) else ""
