"""Files that commands write: whole or not at all.  And the file format of models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree._version import __version__
from fouriertree.cli.errors import InputError, unreadable, unwritable

if TYPE_CHECKING:
    from fouriertree.estimator import SymbolicRegressor
    from fouriertree.model import Model

FORMAT, VERSION = "fouriertree-model", 1


def check_writable(path: Path, *inputs: Path) -> None:
    """InputError if a file could not be written there, before any work is done for it."""
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise InputError(f"{path} is the input; give the output another name")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at any moment there is the old one or the new one, and never a part."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a device or a pipe cannot be replaced
        else:
            replace_file(path.resolve(), content)
    except OSError as error:
        raise unwritable(path, error) from None


def replace_file(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@dataclass(frozen=True)
class SavedModel:
    """What `predict` needs of a model file."""

    target: str
    model: Model

    @property
    def columns(self) -> dict[int, str]:
        """The columns that the formula mentions: number and name."""
        names = self.model.names or ()
        used = {column for expression in self.model.expressions for column in expression.columns}
        return {column: names[column] for column in sorted(used)}


def save_model(path: Path, regressor: SymbolicRegressor, target: str) -> None:
    """Write the formulas of a fitted regressor; numbers are exact."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "target": target,
        "names": [str(name) for name in regressor.feature_names_in_],
        "chosen": regressor.best_index_,
        "models": [model.to_json() for model in regressor.models_],
        "losses": regressor.equations_["loss"].tolist(),
        "seed": regressor.seed_,
        "stop_reason": regressor.stop_reason_,
    }
    write_whole(path, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


def load_model(path: Path) -> SavedModel:
    """The chosen formula of a model file."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError:
        raise InputError(f"{path} is not a model file: it is not JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path} is not a model file; `fouriertree fit -o` writes one")
    if data.get("version") != VERSION:
        found = data.get("version")
        raise InputError(
            f"{path} has format version {found!r}, and fouriertree {__version__} reads {VERSION}"
        )
    try:
        return restore(data)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__} {error}") from None


def restore(data: Mapping[str, Any]) -> SavedModel:
    from fouriertree.model import Model

    model = Model.from_json(data["models"][data["chosen"]])
    saved = SavedModel(str(data["target"]), model)
    if not model.expressions or list(model.names or ()) != data["names"] or not all(saved.columns.values()):
        raise ValueError("the formula does not fit its columns")
    return saved
