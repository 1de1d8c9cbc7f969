"""Fits that are resumed: from a run folder, and from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from golden_cases import tables as t
from golden_cases.fits import small
from golden_cases.fitted import write_regressor
from golden_cases.names import call, ft, get
from golden_cases.record import Record, case

# A run writes its first checkpoint after half a second.  Whether it came to that is not told: resumed from a
# checkpoint or from the start, a run that evaluations limit ends with the same equations.
FEW, MORE = 3_000_000, 5_000_000


def interrupted_and_resumed(
    record: Record, table: t.Table, limits: tuple[dict[str, Any], ...], **parameters: Any
) -> None:
    """Fit under one limit, resume under a larger one."""
    X, y = table
    first, second = limits
    model = call(ft.SymbolicRegressor, run_dir=record.folder, random_state=2, **first, **parameters).fit(X, y)
    write_regressor(record, model, X[:20], "interrupted")
    run = Path(get(model, "run_path_"))
    record.value("files", sorted(p.name for p in run.iterdir() if not p.name.startswith("checkpoint")))
    given = {name: value for name, value in parameters.items() if name == "search"}
    resumed = call(ft.SymbolicRegressor.resume, run, X, y, **second, **given)
    write_regressor(record, resumed, X[:20], "resumed")


@case("resume-hybrid")
def resume_hybrid(record: Record) -> None:
    limits = {"max_evaluations": FEW}, {"max_evaluations": MORE}
    interrupted_and_resumed(record, t.hard(), limits)


@case("resume-huber")
def resume_huber(record: Record) -> None:
    # Such a fit searches twice and shares its limit: under a larger one, counts depend on where the checkpoint was.
    limits = {"max_evaluations": 300_000}, {"max_evaluations": 300_000}
    interrupted_and_resumed(record, t.outliers(), limits, loss="huber")


@case("resume-ftg")
def resume_ftg(record: Record) -> None:
    search = ft.FTG(generator=small(), best_of=20_000, max_terms=12)
    limits = {"max_traverses": 1_000_000}, {"max_traverses": 4_000_000}
    interrupted_and_resumed(record, t.noisy(2_000), limits, search=search)


@case("resume-gp")
def resume_gp(record: Record) -> None:
    limits = {"max_traverses": 2_000}, {"max_traverses": 6_000}
    interrupted_and_resumed(record, t.noisy(), limits, search=ft.OnePlusLambda(10))


@case("resume-warm-start")
def warm_start(record: Record) -> None:
    X, y = t.hard()
    model = call(ft.SymbolicRegressor, max_evaluations=50_000, random_state=1, warm_start=True)
    for times in (1, 2, 3):
        write_regressor(record, model.fit(X, y), X[:20], f"after {times}")


@case("resume-warm-start-ftg")
def warm_start_ftg(record: Record) -> None:
    X, y = t.noisy()
    search = ft.FTG(generator=small())
    model = call(ft.SymbolicRegressor, search=search, max_traverses=200, random_state=2, warm_start=True)
    for times in (1, 2):
        write_regressor(record, model.fit(X, y), X[:20], f"after {times}")
