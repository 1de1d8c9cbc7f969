"""Snapshots, the content of checkpoints: plain data, arrays and expressions as bytes with a checksum.

A snapshot has nested dictionaries with string keys, lists, None, numbers, strings, bytes, numeric arrays and
expressions, which are restored bit for bit; reading executes nothing.  The bytes are a line of JSON with a checksum and
arrays in NumPy's format, of which the first is the nesting as JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.opcodes import CONST, VAR

FORMAT, VERSION = "fouriertree-checkpoint", 5
#: keys that mark values without a type in JSON
ARRAY, BYTES, EXPRESSION = "$array", "$bytes", "$expression"
MARKS = frozenset({ARRAY, BYTES, EXPRESSION})
#: maximum length of the first line
LONGEST_HEADER = 1000
#: valid kinds of dtypes of arrays
KINDS = "biuf"


class SnapshotError(ValueError):
    """Bytes that are not a snapshot, or a damaged one; the message is a predicate, which needs a subject."""


# Writing ----------------------------------------------------------------------------------------------------
def to_bytes(content: Mapping[str, Any]) -> bytes:
    """The snapshot with its checksum."""
    writer = _Writer()
    tree = writer.plain(content)
    names = {str(code): name for code, name in sorted(writer.operators.items())}
    nesting = json.dumps({"content": tree, "operators": names}).encode()
    buffer = io.BytesIO()
    np.savez(buffer, np.frombuffer(nesting, np.uint8), *writer.tokens(), *writer.arrays)
    payload = buffer.getvalue()
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(payload).hexdigest()}
    return json.dumps(header).encode() + b"\n" + payload


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.expressions: dict[Expression, int] = {}
        self.operators: dict[int, str] = {}

    def plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value) or MARKS & value.keys():
                raise TypeError(f"keys of a snapshot are strings, and none of {', '.join(sorted(MARKS))}")
            return {key: self.plain(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(part) for part in value]
        if isinstance(value, Expression):
            return {EXPRESSION: self._expression_index(value)}
        if isinstance(value, bytes):
            return {BYTES: self._array_index(np.frombuffer(value, np.uint8))}
        if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
            return {ARRAY: self._array_index(value)}
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"a snapshot cannot hold a {type(value).__name__}")

    def _array_index(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _expression_index(self, expression: Expression) -> int:
        if expression not in self.expressions:
            for code in set(expression.op.tolist()) - {CONST, VAR} - self.operators.keys():
                self.operators[code] = expression.primitives.by_opcode(code).name
        return self.expressions.setdefault(expression, len(self.expressions))

    def tokens(self) -> list[NDArray[Any]]:
        """All expressions, one after the other: opcodes, features, constants, and their sizes."""
        trees = list(self.expressions)
        empty: list[NDArray[Any]] = [np.zeros(0)]
        return [
            np.concatenate([e.op for e in trees] or empty).astype(np.int32),
            np.concatenate([e.arg for e in trees] or empty).astype(np.int32),
            np.concatenate([e.const for e in trees] or empty).astype(np.float64),
            np.array([e.size for e in trees], np.int64),
        ]


# Reading ----------------------------------------------------------------------------------------------------
def from_bytes(data: bytes, primitives: PrimitiveSet | None = None) -> dict[str, Any]:
    """The snapshot; `primitives` has its user-defined operators."""
    payload = _checked_payload(data)
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as file:
            arrays = [file[f"arr_{i}"] for i in range(len(file.files))]
        nesting = json.loads(arrays[0].tobytes())
        expressions = _expressions(arrays[1:5], nesting["operators"], primitives)
        content = _value(nesting["content"], arrays[5:], expressions)
    except SnapshotError:
        raise
    except Exception as error:
        # Any error of NumPy, zipfile or json: since the checksum is right, another program wrote the content.
        raise SnapshotError(f"has inconsistent content ({type(error).__name__})") from None
    if not isinstance(content, dict):
        raise SnapshotError("has inconsistent content")
    return content


def _checked_payload(data: bytes) -> bytes:
    first, _, payload = data.partition(b"\n")
    try:
        header = json.loads(first) if len(first) <= LONGEST_HEADER else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SnapshotError("is not a checkpoint, or its header is damaged")
    if header.get("version") != VERSION:
        found = header.get("version")
        raise SnapshotError(f"is a checkpoint of version {found}; this program reads version {VERSION}")
    if header.get("sha256") != hashlib.sha256(payload).hexdigest():
        raise SnapshotError("is damaged: its checksum is wrong")
    return payload


def _expressions(
    tokens: Sequence[NDArray[Any]], names: Mapping[str, str], primitives: PrimitiveSet | None
) -> list[Expression]:
    known = PrimitiveSet.catalogue() if primitives is None else primitives
    op, arg, const, sizes = tokens
    codes = {CONST: CONST, VAR: VAR}
    for code, name in names.items():
        try:
            codes[int(code)] = known.find(name).opcode
        except ValueError:
            message = f"uses the operator {name!r}, which is not among the operators passed"
            raise SnapshotError(message) from None
    op = np.array([codes[code] for code in op.tolist()], np.int32)
    ends = np.cumsum(sizes).tolist()
    return [Expression(op[i:j], arg[i:j], const[i:j], known) for i, j in pairwise([0, *ends])]


def _value(plain: Any, arrays: Sequence[NDArray[Any]], expressions: Sequence[Expression]) -> Any:
    if isinstance(plain, list):
        return [_value(part, arrays, expressions) for part in plain]
    if not isinstance(plain, dict):
        return plain
    if ARRAY in plain:
        return arrays[plain[ARRAY]]
    if BYTES in plain:
        return arrays[plain[BYTES]].tobytes()
    if EXPRESSION in plain:
        return expressions[plain[EXPRESSION]]
    return {key: _value(part, arrays, expressions) for key, part in plain.items()}
