"""Files that commands read and write; what fails is an InputError."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fouriertree.errors import InputError, reason, unwritable
from fouriertree.io import files
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    from fouriertree.estimators.regressor import SymbolicRegressor
    from fouriertree.model import Model
    from fouriertree.runs.model_file import ModelRecord


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, a file or folder that cannot be written is an error of the input."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def as_input_errors(*kinds: type[Exception], after: str = "") -> Iterator[None]:
    """Inside, errors of these kinds are errors of the input; their messages come after some words."""
    try:
        yield
    except kinds as error:
        raise InputError(f"{after}{error}") from None


def check_writable(path: Path, *inputs: Path) -> None:
    """Raise InputError if a file could not be written there, before any work is done."""
    folder = path.resolve().parent
    if path == DASH:
        raise InputError("the standard output is for the result; write to a file with a name, not to -")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise InputError(f"{path} is the input; give the output another name")
    if path.is_file() or not path.exists():
        try_folder(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied")


def try_folder(path: Path) -> None:
    """Create the temporary file of `write_atomically`: permissions do not tell of /proc or a read-only disk."""
    part = files.temporary_path(path.resolve())
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        # The folder itself exists.
        why = "its folder takes no files" if error.errno == errno.ENOENT else reason(error)
        raise InputError(f"cannot write {path}: {why}") from None


def write_atomically(path: Path, content: bytes) -> None:
    """`fouriertree.io.files.write_atomically` with an InputError."""
    with writing(path):
        files.write_atomically(path, content)


@dataclass(frozen=True)
class SavedModel:
    """One equation of a model file."""

    target: str
    model: Model
    row: int
    box: tuple[tuple[float, float], ...]  #: minimum and maximum of every feature in the training data

    @property
    def columns(self) -> dict[int, str]:
        """The features of the equation: index and name."""
        names = self.model.names or ()
        return {column: names[column] for column in self.model.expression.columns}


def save_model(path: Path, regressor: SymbolicRegressor, target: str) -> None:
    """Write the equations of a fitted regressor; constants are exact."""
    from fouriertree.runs.model_file import ModelFileError

    with writing(path), as_input_errors(ModelFileError, after=f"cannot write {path}: "):
        regressor.save(path, target)


def load_regressor(path: Path) -> tuple[SymbolicRegressor, str]:
    """The regressor of a model file, and the name of its target."""
    from fouriertree.estimators.regressor import SymbolicRegressor
    from fouriertree.runs.model_file import ModelFileError

    saved = read_saved(path)
    with as_input_errors(ModelFileError, after=f"{path} is damaged: "):
        return SymbolicRegressor.from_record(saved), saved.target


def load_model(path: Path, row: int | None = None) -> SavedModel:
    """The chosen equation of a model file, or that of another row."""
    saved = read_saved(path)
    if row is not None and row >= len(saved.models):
        raise InputError(f"{path} has no row {row}; its rows are 0 to {len(saved.models) - 1}")
    number = saved.chosen if row is None else row
    names = saved.names or tuple(f"x{i}" for i in range(len(saved.box)))
    return SavedModel(saved.target, replace(saved.models[number], names=names), number, saved.box)


def read_saved(path: Path) -> ModelRecord:
    from fouriertree.runs.model_file import ModelFileError, load

    with as_input_errors(ModelFileError):
        return load(path)
