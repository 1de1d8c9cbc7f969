"""Runs on disk: what every fit leaves behind, so that nothing found is lost and a killed one can go on."""

from fouriertree.runs.folder import Checkpoint, RunError, RunFolder, RunFolderWarning
from fouriertree.runs.store import find_run, list_runs, remove_run

__all__ = [
    "Checkpoint",
    "RunError",
    "RunFolder",
    "RunFolderWarning",
    "find_run",
    "list_runs",
    "remove_run",
]
