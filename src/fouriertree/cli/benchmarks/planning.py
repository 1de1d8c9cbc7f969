"""The suites, systems and cases of a benchmark; missing ones are refused, or skipped with a note."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fouriertree.cli.output import note
from fouriertree.errors import InputError, listed, suggestion
from fouriertree.experiments.bench.names import EVERYDAY, FOLDER, MEASURED, SUITES, folder_table

if TYPE_CHECKING:
    from fouriertree.experiments.bench.plan import Plan


def check_folders(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and not path.is_dir():
            raise InputError(f"there is no folder {path}")


def chosen_suites(names: list[str], data: Path | None, folder: Path | None, generate: int = 0) -> list[str]:
    """The suites, without those whose tables are missing."""
    for name in names:
        if name not in SUITES:
            raise InputError(
                f"there is no suite {name!r}{suggestion(name, SUITES)}; there are {listed(SUITES)}"
            )
    if generate and names and EVERYDAY not in names:
        raise InputError(f"--generate makes laws for the suite {EVERYDAY}; name it, or no suite at all")
    # With a custom folder or generated laws, other suites are run only when they are named.
    own = [EVERYDAY] if generate else []
    wanted = names or (own if folder or generate else list(SUITES))
    absent = [suite for suite in wanted if suite in MEASURED and data is None]
    for suite in absent:
        note(f"suite {suite} is skipped: its tables are read from a folder; name it with --data")
    return [suite for suite in wanted if suite not in absent] + [FOLDER] * (folder is not None)


def chosen_systems(names: list[str]) -> list[str]:
    """The systems; those that are missing are skipped if all were wanted, and refused if they were named."""
    from fouriertree.experiments.bench.systems import SYSTEMS

    for name in names:
        if name not in (*SYSTEMS, "all"):
            raise InputError(
                f"there is no system {name!r}{suggestion(name, SYSTEMS)}; there are {listed(SYSTEMS)}"
            )
    wanted = list(SYSTEMS) if "all" in names else names
    for name in wanted:
        system = SYSTEMS[name]
        if not system.installed and "all" in names:
            note(f"{name} is skipped, for it is not installed: {system.install}")
        elif not system.installed:
            raise InputError(f"{name} is not installed: {system.install}")
    return [name for name in wanted if SYSTEMS[name].installed]


def check_cases(plan: Plan) -> None:
    names = [name for _, name in plan.every_case()]
    for case in plan.cases:
        if case not in names:
            raise InputError(f"there is no case {case!r} in {listed(plan.suites)}{suggestion(case, names)}")
    if not plan.chosen_cases():
        raise InputError("there are no cases to run; name suites, or a folder with tables")


def check_tables(plan: Plan) -> None:
    """Raise InputError for a custom table that cannot be read, before hours of fits."""
    from fouriertree.experiments.bench.sampling import own_table

    for suite, case in plan.chosen_cases():
        if suite == FOLDER and plan.folder is not None:
            own_table(folder_table(plan.folder, case))
