"""Files that commands write: whole or not at all.  And the file format of models."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree._version import __version__
from fouriertree.cli.errors import InputError, reason, unreadable, unwritable

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
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise InputError(f"{path} is the input; give the output another name")
    if path.is_file() or not path.exists():
        try_folder(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied")


def try_folder(path: Path) -> None:
    """Make the file that `write_whole` will make: permissions alone say little about /proc or a read-only disk."""
    part = part_of(path.resolve())
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        # The folder itself is there.
        why = "its folder takes no files" if error.errno == errno.ENOENT else reason(error)
        raise InputError(f"cannot write {path}: {why}") from None


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
    remove_stale_parts(path)
    part = part_of(path)
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """Where this process writes the file before it takes its place."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def remove_stale_parts(path: Path) -> None:
    """Remove what processes left behind that were killed while they wrote this file."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d{{1,9}})\.part")
    for found in path.parent.iterdir():
        match = pattern.fullmatch(found.name)
        if match and is_dead(int(match[1])):
            found.unlink(missing_ok=True)


def is_dead(process: int) -> bool:
    # On Windows, os.kill ends the process that it is asked about.
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


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


def load_model(path: Path, row: int | None = None) -> SavedModel:
    """The chosen formula of a model file, or that of another row of its table."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not a model file: it is not JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path} is not a model file; `fouriertree fit -o` writes one")
    if data.get("version") != VERSION:
        found = data.get("version")
        raise InputError(
            f"{path} has format version {found!r}, and fouriertree {__version__} reads {VERSION}"
        )
    try:
        n_rows = check_rows(data)
        if row is not None and row >= n_rows:
            raise InputError(f"{path} has no row {row}; its rows are 0 to {n_rows - 1}")
        return restore(data, data["chosen"] if row is None else row)
    except DamageError as damage:
        raise InputError(f"{path} is damaged: {damage}") from None


class DamageError(Exception):
    """What `fit` would never have written."""


def expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise DamageError(otherwise)


def check_rows(data: Mapping[str, Any]) -> int:
    """The number of formulas in the file."""
    models: Any = data.get("models")
    chosen, names = data.get("chosen"), data.get("names")
    expect(isinstance(models, list) and len(models) > 0, "it has no list of formulas")
    expect(
        type(chosen) is int and 0 <= chosen < len(models), f"its chosen row, {chosen!r}, is none of its rows"
    )
    expect(isinstance(data.get("target"), str), "it does not name its target")
    expect(
        isinstance(names, list) and all(isinstance(name, str) and name for name in names),
        "it does not name its columns",
    )
    return len(models)


def restore(data: Mapping[str, Any], row: int) -> SavedModel:
    stored = data["models"][row]
    expect(isinstance(stored, dict) and stored.get("names") == data["names"], f"row {row} has other columns")
    terms = stored.get("terms")
    expect(isinstance(terms, list) and len(terms) > 0, f"row {row} has no terms")
    for term in terms:
        check_term(term, row)
    model = parsed(stored, row)
    used = max((column for expression in model.expressions for column in expression.columns), default=-1)
    expect(
        used < len(data["names"]),
        f"the formula of row {row} mentions x{used}, a column that it does not name",
    )
    return SavedModel(data["target"], model)


def check_term(term: Any, row: int) -> None:
    expect(
        isinstance(term, dict) and isinstance(term.get("expression"), str),
        f"a term of row {row} is no formula",
    )
    coefficient = term.get("coefficient")
    expect(is_finite(coefficient), f"a coefficient of row {row} is no finite number but {coefficient!r}")


def is_finite(number: Any) -> bool:
    try:
        return type(number) in (int, float) and math.isfinite(number)
    except OverflowError:  # a whole number beyond float64
        return False


def parsed(stored: Mapping[str, Any], row: int) -> Model:
    from fouriertree.expr import ParseError
    from fouriertree.model import Model

    try:
        return Model.from_json(stored)
    except ParseError as error:
        place = f"at character {error.position + 1} of the formula of row {row}"
        raise DamageError(f"{error.reason} {place}") from None
    except (ValueError, RecursionError) as error:
        raise DamageError(f"the formula of row {row} cannot be read: {error}") from None
