"""The model file of a fitted regressor: versioned, readable JSON, from which all values are restored exactly."""

from __future__ import annotations

import hashlib
import json
import platform
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Never

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree._version import __version__
from fouriertree.errors import reason, shortened
from fouriertree.expr import ParseError, PrimitiveSet, parse
from fouriertree.io.files import write_atomically
from fouriertree.io.numbers import is_finite
from fouriertree.io.strict_json import plain
from fouriertree.model import Model

FORMAT, VERSION = "fouriertree-model", 2
#: the column of guesses, in the table and in the file, of fits that had some
GUESS = "guess"
LIBRARIES = ("numpy", "numba", "scipy", "pandas", "scikit-learn")


class ModelFileError(ValueError):
    """A file that is not a model file, or is damaged; the message is one sentence for the user."""


class ModelFileWarning(UserWarning):
    """A model file leaves out what cannot be written; the message is one sentence for the user."""


@dataclass(frozen=True)
class ModelRecord:
    """The content of a model file: the table of equations, and its provenance."""

    target: str
    names: tuple[str, ...] | None  #: of the features; x0, x1, … if None
    chosen: int
    models: tuple[Model, ...]
    equations: pd.DataFrame
    #: of every row: sorted absolute errors on rows that it was not fitted to
    scores: tuple[tuple[float, ...], ...]
    box: tuple[tuple[float, float], ...]  #: minimum and maximum of every feature
    parameters: Mapping[str, Any]  #: of the regressor, those that are plain data
    described: Mapping[str, str] = field(default_factory=dict)  #: the others, as text
    history: Mapping[str, Any] = field(default_factory=dict)  #: seed, stop reason, cost of the search
    data: Mapping[str, Any] = field(default_factory=dict)  #: shape and fingerprint of the training data
    versions: Mapping[str, str] = field(default_factory=dict)


def library_versions() -> dict[str, str]:
    """Versions of Python, this package and its numerical dependencies."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {"fouriertree": __version__, "python": platform.python_version(), **libraries}


def fingerprint(*arrays: NDArray[np.float64] | None) -> str:
    """SHA-256 of the values, in the order of the rows."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is not None:
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


# Writing ----------------------------------------------------------------------------------------------------
def save(path: Path, record: ModelRecord) -> None:
    write_atomically(path, encoded_record(writable_part(record)))


def writable_part(record: ModelRecord) -> ModelRecord:
    """The record without rows that cannot be read back, with a warning; ModelFileError if the chosen one cannot."""
    why = {i: problem for i in range(len(record.models)) if (problem := _why_unwritable(record, i))}
    if record.chosen in why:
        raise ModelFileError(f"the chosen equation cannot be written to a file: {why[record.chosen]}")
    if not why:
        return record
    lost, problem = next(iter(why.items()))
    others = f" and {len(why) - 1} more" if len(why) > 1 else ""
    message = f"the model file leaves out row {lost} of the table{others}, which cannot be written: {problem}"
    warnings.warn(message, ModelFileWarning, stacklevel=3)
    kept = [i for i in range(len(record.models)) if i not in why]
    return replace(
        record,
        chosen=kept.index(record.chosen),
        models=tuple(record.models[i] for i in kept),
        equations=record.equations.iloc[kept].reset_index(drop=True),
        scores=tuple(record.scores[i] for i in kept),
    )


def _why_unwritable(record: ModelRecord, i: int) -> str | None:
    """Why row i of the table cannot be read back, or None."""
    model = record.models[i]
    try:
        _model(_row(model), i, record.names, len(record.box), model.expression.primitives)
    except ModelFileError as error:
        return str(error)
    return None


def encoded_record(record: ModelRecord) -> bytes:
    """The content of the file."""
    text = json.dumps(to_json(record), indent=1, ensure_ascii=False, allow_nan=False)
    # Lone surrogates, such as in a parameter, are escaped as in JSON.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _row(model: Model) -> dict[str, Any]:
    return {"formula": model.text(), "terms": model.to_json()["terms"]}


def to_json(record: ModelRecord) -> dict[str, Any]:
    table = record.equations.drop(columns=["equation", GUESS], errors="ignore").to_dict("records")
    guesses = record.equations[[GUESS]].to_dict("records") if GUESS in record.equations else [{}] * len(table)
    rows = [
        _row(model) | {"table": plain(cells, exact=True), "scores": plain(scores, exact=True)} | guess
        for model, cells, scores, guess in zip(record.models, table, record.scores, guesses, strict=True)
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": record.target,
        "names": None if record.names is None else list(record.names),
        "chosen": record.chosen,
        "rows": rows,
        "box": plain(record.box, exact=True),
        "parameters": dict(record.parameters),
        "described": dict(record.described),
        "history": plain(record.history, exact=True),
        "data": plain(record.data, exact=True),
        "versions": dict(record.versions),
    }


# Reading ----------------------------------------------------------------------------------------------------
def load(path: Path, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The record in a file; `primitives` has its user-defined operators."""
    return record_from_json(path, read_json(path), primitives)


def read_json(path: Path) -> Any:
    """The parsed content of a file; ModelFileError if it cannot be read, or is not JSON."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {reason(error)}") from None
    with _naming(path):
        return decoded(content)


def record_from_json(path: Path, data: Any, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The record in the parsed content of a file; ModelFileError, which names the file, if there is none."""
    with _naming(path):
        return from_json(data, primitives)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Inside, the file becomes the subject of an error."""
    try:
        yield
    except _OtherFormatError as other:
        raise ModelFileError(f"{path} {other}") from None
    except _DamageError as damage:
        raise ModelFileError(f"{path} is damaged: {damage}") from None


def decoded(content: bytes) -> Any:
    """The content as parsed JSON; ModelFileError if it is not JSON."""
    try:
        return json.loads(content, object_pairs_hook=_object, parse_constant=_no_constant)
    except _DamageError:
        raise
    except (ValueError, RecursionError):
        raise _OtherFormatError("is not a model file: it is not JSON") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; duplicate keys, of which `json.loads` would use the last, are refused."""
    found = dict(pairs)
    _expect(len(found) == len(pairs), "it has the same key twice")
    return found


def _no_constant(name: str) -> Never:
    raise _DamageError(f"it has {name}, which is not JSON")


class _OtherFormatError(ModelFileError):
    """Another format, or another version of it."""


class _DamageError(ModelFileError):
    """Content that `save` never writes."""


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise _DamageError(otherwise)


def from_json(data: Any, primitives: PrimitiveSet | None = None) -> ModelRecord:
    """The record that `to_json` wrote; otherwise a ModelFileError, whose message is a predicate without a subject."""
    _check_format(data)
    rows: Any = data.get("rows")
    _expect(isinstance(rows, list) and len(rows) > 0, "it has no list of equations")
    _expect("names" in data, "it has no valid feature names")
    names = _names(data["names"])
    chosen = data.get("chosen")
    is_row = type(chosen) is int and 0 <= chosen < len(rows)
    _expect(is_row, f"its chosen row, {shortened(chosen)}, is none of its rows")
    _expect(_is_text(data.get("target")), "it has no valid name of the target")
    box = _box(data.get("box"), names)
    models = tuple(_model(row, i, names, len(box), primitives) for i, row in enumerate(rows))
    return ModelRecord(
        data["target"], names, chosen, models, _equations(rows, models),
        tuple(_scores(row, i) for i, row in enumerate(rows)), box,
        *(_mapping(data, key) for key in ("parameters", "described", "history", "data", "versions")),
    )  # fmt: skip


def _check_format(data: Any) -> None:
    if isinstance(data, dict) and "parts" in data:
        message = "has several tables of equations; load it in Python, with the class that saved it"
        raise _OtherFormatError(message)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        message = "is not a model file; `fouriertree fit -o` and `SymbolicRegressor.save` write one"
        raise _OtherFormatError(message)
    found = data.get("version")
    if type(found) is not int or found != VERSION:
        advice = "install a newer fouriertree" if type(found) is int and found > VERSION else "fit again"
        reads = f"fouriertree {__version__} reads {VERSION}"
        raise _OtherFormatError(f"has format version {shortened(found)}, and {reads}; {advice}")


def _names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    good = isinstance(names, list) and all(map(_is_text, names)) and len(set(names)) == len(names)
    _expect(good, "it has no valid feature names")
    return tuple(names)


def _box(box: Any, names: Sequence[str] | None) -> tuple[tuple[float, float], ...]:
    good = isinstance(box, list) and all(
        isinstance(ends, list) and len(ends) == 2 and all(map(is_finite, ends)) and ends[0] <= ends[1]
        for ends in box
    )
    _expect(good, "it has no valid ranges of the features")
    _expect(names is None or len(names) == len(box), "the numbers of feature names and of ranges differ")
    return tuple((float(low), float(high)) for low, high in box)


def _model(
    row: Any, i: int, names: tuple[str, ...] | None, n_features: int, primitives: PrimitiveSet | None
) -> Model:
    terms: Any = row.get("terms") if isinstance(row, dict) else None
    _expect(isinstance(terms, list) and len(terms) > 0, f"row {i} has no terms")
    for term in terms:
        _check_term(term, i)
    formula = row.get("formula")
    _expect(isinstance(formula, str), f"row {i} has no formula")
    try:
        model = replace(Model.from_json({"names": None, "terms": terms}, primitives), names=names)
        written = parse(formula, names, primitives)
    except ParseError as error:
        place = f"at character {error.position + 1} of the formula of row {i}"
        raise _DamageError(f"{error.reason} {place}") from None
    except (ValueError, RecursionError) as error:
        raise _DamageError(f"the formula of row {i} cannot be read: {error}") from None
    used = max((column for expression in model.expressions for column in expression.columns), default=-1)
    _expect(used < n_features, f"the formula of row {i} uses x{used}, which is not a feature")
    # The text is for people and the terms are for programs; they must agree.
    _expect(written == model.expression, f"the formula and the terms of row {i} disagree")
    return model


def _check_term(term: Any, i: int) -> None:
    good = isinstance(term, dict) and isinstance(term.get("expression"), str)
    _expect(good, f"a term of row {i} has no expression")
    value = term.get("coefficient")
    _expect(is_finite(value), f"a coefficient of row {i} must be a finite number; got {shortened(value)}")


def _equations(rows: Sequence[Any], models: Sequence[Model]) -> pd.DataFrame:
    from fouriertree.selection.table import COLUMNS, DIGITS

    cells = []
    for i, (row, model) in enumerate(zip(rows, models, strict=True)):
        found = row.get("table")
        good = isinstance(found, dict) and set(found) == set(COLUMNS) - {"equation"}
        _expect(good, f"row {i} does not have the columns of the table")
        numbers = {name: _number(found[name], i) for name in COLUMNS[:-1]}
        cells.append(numbers | {"equation": model.text(DIGITS)})
    frame = pd.DataFrame(cells, columns=list(COLUMNS))
    if any(GUESS in row for row in rows):
        frame[GUESS] = pd.Series([_guess(row, i) for i, row in enumerate(rows)], dtype=object)
    return frame


def _guess(row: Mapping[str, Any], i: int) -> str | None:
    """The guess that row i is equal to, or None."""
    found = row.get(GUESS)
    _expect(found is None or _is_text(found), f"the guess of row {i} is not text")
    return None if found is None else str(found)


def _number(value: Any, i: int) -> float | int:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    _expect(is_finite(value), f"row {i} has {shortened(value)} in place of a number")
    number: float | int = value
    return number


def _scores(row: Any, i: int) -> tuple[float, ...]:
    found, message = row.get("scores"), f"the scores of row {i} are not a sorted list"
    _expect(isinstance(found, list), message)
    scores = [_number(score, i) for score in found]
    _expect(all(score >= 0 for score in scores) and scores == sorted(scores), message)
    return tuple(map(float, scores))


def _mapping(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    _expect(isinstance(found, dict), f"it has no {key}")
    return dict(found or {})


def _is_text(value: Any) -> bool:
    """Whether it is a string that can be written: lone surrogates cannot."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
