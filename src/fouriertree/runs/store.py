"""A store is a folder of run folders."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from fouriertree.errors import reason
from fouriertree.runs.folder import RUN, RunError, RunFolder


def list_runs(store: Path) -> list[RunFolder]:
    """The runs of a store, oldest first, without those that cannot be read."""
    found = []
    for path in sorted(store.iterdir()) if store.is_dir() else ():
        if (path / RUN).is_file():
            with suppress(RunError):
                found.append(RunFolder.open(path))
    return sorted(found, key=lambda folder: (str(folder.metadata.get("created")), folder.id))


def find_run(store: Path, wanted: str) -> RunFolder:
    """The run with this ID, or the only one whose ID starts or ends with it; "last" is the newest."""
    runs = list_runs(store)
    if not runs:
        raise RunError(f"there are no runs in {store}")
    if wanted == "last":
        return runs[-1]
    matching = [run for run in runs if run.id == wanted] or [
        run for run in runs if wanted and (run.id.startswith(wanted) or run.id.endswith(wanted))
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise RunError(f"{wanted!r} may be {', '.join(run.id for run in matching)}; give more of the ID")
    raise RunError(f"there is no run {wanted!r} in {store}; the newest is {runs[-1].id}")


def remove_run(folder: RunFolder) -> None:
    """Delete the folder of a run that is not running."""
    folder.lock()
    folder.close()
    try:
        shutil.rmtree(folder.path)
    except OSError as error:
        raise RunError(f"cannot remove {folder.path}: {reason(error)}") from None
