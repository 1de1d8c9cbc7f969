"""The file of a fitted regressor: versioned JSON that a person can read; numbers come back exactly."""

from __future__ import annotations

import hashlib
import json
import platform
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Never

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree._version import __version__
from fouriertree.errors import shortened
from fouriertree.expr import ParseError, PrimitiveSet, parse
from fouriertree.io.files import write_atomically
from fouriertree.io.numbers import is_finite
from fouriertree.io.strict_json import plain
from fouriertree.model import Model

FORMAT, VERSION = "fouriertree-model", 2
LIBRARIES = ("numpy", "numba", "scipy", "pandas", "scikit-learn")


class ModelFileError(ValueError):
    """A file that holds no formulas, or that is damaged; the message is one sentence for the user."""


class ModelFileWarning(UserWarning):
    """A model file leaves something out that cannot be written; the message is one sentence for the user."""


@dataclass(frozen=True)
class ModelRecord:
    """What a file holds: the table of formulas, and how it came about."""

    target: str
    names: tuple[str, ...] | None  #: of the columns; x0, x1, … if None
    chosen: int
    models: tuple[Model, ...]
    equations: pd.DataFrame
    scores: tuple[
        tuple[float, ...], ...
    ]  #: of every row: sorted sizes of errors on rows that it was not fitted to
    box: tuple[tuple[float, float], ...]  #: smallest and largest value of every column
    parameters: Mapping[str, Any]  #: of the regressor, those that are plain data
    described: Mapping[str, str] = field(default_factory=dict)  #: the others, as text
    history: Mapping[str, Any] = field(default_factory=dict)  #: seed, reason to stop, what the search cost
    data: Mapping[str, Any] = field(default_factory=dict)  #: rows and fingerprint of the table
    versions: Mapping[str, str] = field(default_factory=dict)


def library_versions() -> dict[str, str]:
    """Of this package and of those whose arithmetic it uses."""
    return {"fouriertree": __version__, "python": platform.python_version()} | {
        name: version(name) for name in LIBRARIES
    }


def fingerprint(*arrays: NDArray[np.float64] | None) -> str:
    """SHA-256 of the numbers, in the order of the rows."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is not None:
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


# Writing ----------------------------------------------------------------------------------------------------
def save(path: Path, saved: ModelRecord) -> None:
    write_atomically(path, encoded_record(writable_part(saved)))


def writable_part(saved: ModelRecord) -> ModelRecord:
    """Without the rows that would not be read back; a warning says which.  ModelFileError if it is the chosen one."""
    reasons = [_why_unwritable(saved, i) for i in range(len(saved.models))]
    if (reason := reasons[saved.chosen]) is not None:
        raise ModelFileError(f"the chosen equation cannot be written to a file: {reason}")
    kept = [i for i, reason in enumerate(reasons) if reason is None]
    if len(kept) == len(reasons):
        return saved
    lost = next(i for i, reason in enumerate(reasons) if reason is not None)
    others = f" and {len(reasons) - len(kept) - 1} more" if len(kept) < len(reasons) - 1 else ""
    message = (
        f"the model file leaves out row {lost} of the table{others}, which cannot be written: {reasons[lost]}"
    )
    warnings.warn(message, ModelFileWarning, stacklevel=3)
    return replace(
        saved,
        chosen=kept.index(saved.chosen),
        models=tuple(saved.models[i] for i in kept),
        equations=saved.equations.iloc[kept].reset_index(drop=True),
        scores=tuple(saved.scores[i] for i in kept),
    )


def _why_unwritable(saved: ModelRecord, i: int) -> str | None:
    """Why row i of the table would not be read back, or None."""
    model = saved.models[i]
    row = {"formula": model.text(), "terms": model.to_json()["terms"]}
    try:
        _model(row, i, saved.names, len(saved.box), model.expression.primitives)
    except ModelFileError as error:
        return str(error)
    return None


def encoded_record(saved: ModelRecord) -> bytes:
    """What the file holds."""
    text = json.dumps(to_json(saved), indent=1, ensure_ascii=False, allow_nan=False)
    # Halves of characters, in a parameter say, have an escape in JSON, which is Python's own.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def to_json(saved: ModelRecord) -> dict[str, Any]:
    table = saved.equations.drop(columns="equation").to_dict("records")
    rows = [
        {
            "formula": model.text(),
            "terms": model.to_json()["terms"],
            "table": plain(cells, exact=True),
            "scores": plain(scores, exact=True),
        }
        for model, cells, scores in zip(saved.models, table, saved.scores, strict=True)
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": saved.target,
        "names": None if saved.names is None else list(saved.names),
        "chosen": saved.chosen,
        "rows": rows,
        "box": plain(saved.box, exact=True),
        "parameters": dict(saved.parameters),
        "described": dict(saved.described),
        "history": plain(saved.history, exact=True),
        "data": plain(saved.data, exact=True),
        "versions": dict(saved.versions),
    }


# Reading ----------------------------------------------------------------------------------------------------
def load(path: Path, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The formulas of a file; `primitives` knows operators of your own that they use."""
    return record_from_json(path, read_json(path), primitives)


def read_json(path: Path) -> Any:
    """What a file holds; ModelFileError if it cannot be read, or is no JSON."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    try:
        return decoded(content)
    except _NotOursError as other:
        raise ModelFileError(f"{path} {other}") from None
    except _DamageError as damage:
        raise ModelFileError(f"{path} is damaged: {damage}") from None


def record_from_json(path: Path, data: Any, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The formulas that the content of a file describes; ModelFileError, which names the file, if it does not."""
    try:
        return from_json(data, primitives)
    except _NotOursError as other:
        raise ModelFileError(f"{path} {other}") from None
    except _DamageError as damage:
        raise ModelFileError(f"{path} is damaged: {damage}") from None


def from_bytes(content: bytes, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The formulas of a file's content."""
    return from_json(decoded(content), primitives)


def decoded(content: bytes) -> Any:
    """What a file's content says, as JSON has it; ModelFileError if it is none."""
    try:
        return json.loads(content, object_pairs_hook=_object, parse_constant=_no_constant)
    except _DamageError:
        raise
    except (ValueError, RecursionError):
        raise _NotOursError("is not a model file: it is not JSON") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; where a name stands twice, the last one would win without a word."""
    found = dict(pairs)
    _expect(len(found) == len(pairs), "it says the same thing twice")
    return found


def _no_constant(name: str) -> Never:
    raise _DamageError(f"it holds {name}, which is not JSON")


class _NotOursError(ModelFileError):
    """Another kind of file, or of another version."""


class _DamageError(ModelFileError):
    """What `save` would never have written."""


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise _DamageError(otherwise)


def from_json(data: Any, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The formulas that `to_json` described; ModelFileError says what is wrong with others, without a subject."""
    _check_format(data)
    rows: Any = data.get("rows")
    _expect(isinstance(rows, list) and len(rows) > 0, "it has no list of formulas")
    _expect("names" in data, "it does not name its columns")
    names = _names(data["names"])
    chosen = data.get("chosen")
    _expect(
        type(chosen) is int and 0 <= chosen < len(rows),
        f"its chosen row, {shortened(chosen)}, is none of its rows",
    )
    _expect(_is_text(data.get("target")), "it does not name its target")
    box = _box(data.get("box"), names)
    models = tuple(_model(row, i, names, len(box), primitives) for i, row in enumerate(rows))
    return ModelRecord(
        data["target"], names, chosen, models, _equations(rows, models),
        tuple(_scores(row, i) for i, row in enumerate(rows)), box,
        *(_mapping(data, key) for key in ("parameters", "described", "history", "data", "versions")),
    )  # fmt: skip


def _check_format(data: Any) -> None:
    if isinstance(data, dict) and "parts" in data:
        raise _NotOursError(
            "holds several tables of formulas; read it in Python, with the class that saved it"
        )
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _NotOursError(
            "is not a model file; `fouriertree fit -o` and `SymbolicRegressor.save` write one"
        )
    found, reads = data.get("version"), f"fouriertree {__version__} reads {VERSION}"
    if type(found) is int and found > VERSION:
        raise _NotOursError(
            f"has format version {shortened(found)}, and {reads}; install a newer fouriertree"
        )
    if type(found) is not int or found != VERSION:
        raise _NotOursError(f"has format version {shortened(found)}, and {reads}; fit again")


def _names(names: Any) -> tuple[str, ...] | None:
    good = names is None or (
        isinstance(names, list) and all(map(_is_text, names)) and len(set(names)) == len(names)
    )
    _expect(good, "it does not name its columns")
    return None if names is None else tuple(names)


def _box(box: Any, names: Sequence[str] | None) -> tuple[tuple[float, float], ...]:
    good = isinstance(box, list) and all(
        isinstance(ends, list) and len(ends) == 2 and all(map(is_finite, ends)) and ends[0] <= ends[1]
        for ends in box
    )
    _expect(good, "it does not say where its columns lie")
    _expect(names is None or len(names) == len(box), "it has more names than columns, or fewer")
    return tuple((float(low), float(high)) for low, high in box)


def _model(
    row: Any, i: int, names: tuple[str, ...] | None, n_columns: int, primitives: PrimitiveSet | None
) -> Model:
    terms: Any = row.get("terms") if isinstance(row, dict) else None
    _expect(isinstance(terms, list) and len(terms) > 0, f"row {i} has no terms")
    for term in terms:
        _check_term(term, i)
    formula = row.get("formula")
    _expect(isinstance(formula, str), f"row {i} has no formula")
    try:
        model = Model.from_json({"names": None, "terms": terms}, primitives)
        model = replace(model, names=names)
        written = parse(formula, names, primitives)
    except ParseError as error:
        place = f"at character {error.position + 1} of the formula of row {i}"
        raise _DamageError(f"{error.reason} {place}") from None
    except (ValueError, RecursionError) as error:
        raise _DamageError(f"the formula of row {i} cannot be read: {error}") from None
    used = max((column for expression in model.expressions for column in expression.columns), default=-1)
    _expect(used < n_columns, f"the formula of row {i} mentions x{used}, a column that it does not name")
    # Both are for reading, one for people and one for programs: they must not tell different things.
    _expect(written == model.expression, f"the formula and the terms of row {i} disagree")
    return model


def _check_term(term: Any, i: int) -> None:
    _expect(
        isinstance(term, dict) and isinstance(term.get("expression"), str), f"a term of row {i} is no formula"
    )
    coefficient = term.get("coefficient")
    _expect(
        is_finite(coefficient), f"a coefficient of row {i} is no finite number but {shortened(coefficient)}"
    )


def _equations(rows: Sequence[Any], models: Sequence[Model]) -> pd.DataFrame:
    from fouriertree.selection.table import COLUMNS, DIGITS

    cells = []
    for i, (row, model) in enumerate(zip(rows, models, strict=True)):
        found = row.get("table")
        _expect(
            isinstance(found, dict) and set(found) == set(COLUMNS) - {"equation"},
            f"row {i} lacks some of its losses",
        )
        cells.append(
            {name: _number(found[name], i) for name in COLUMNS[:-1]} | {"equation": model.text(DIGITS)}
        )
    return pd.DataFrame(cells, columns=list(COLUMNS))


def _number(value: Any, i: int) -> float | int:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    _expect(is_finite(value), f"row {i} has {shortened(value)} where a number should be")
    number: float | int = value
    return number


def _scores(row: Any, i: int) -> tuple[float, ...]:
    found: Any = row.get("scores")
    _expect(isinstance(found, list), f"the errors of row {i} are no sorted list")
    scores = [_number(score, i) for score in found]
    _expect(
        all(score >= 0 for score in scores) and scores == sorted(scores),
        f"the errors of row {i} are no sorted list",
    )
    return tuple(map(float, scores))


def _mapping(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    _expect(isinstance(found, dict), f"it has no {key}")
    return dict(found or {})


def _is_text(value: Any) -> bool:
    """Whether it can be written again: halves of characters cannot."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
