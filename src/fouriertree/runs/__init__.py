"""Run folders: fits are checkpointed on disk, and killed runs resume from their checkpoints."""

from fouriertree.runs.folder import RunError, RunFolder, RunFolderWarning, find_run, list_runs, remove_run

__all__ = ["RunError", "RunFolder", "RunFolderWarning", "find_run", "list_runs", "remove_run"]
