"""Run folders: checkpoints are restored or refused, and no run.json crashes a command."""

from __future__ import annotations

import hashlib
import io
import json
from functools import cache
from shutil import rmtree

import numpy as np

from fouriertree import Expression
from fouriertree.expr import parse
from fouriertree.runs import RunError, RunFolder
from fouriertree.runs.snapshots import FORMAT, VERSION, SnapshotError, from_bytes, to_bytes

from .cases import check_sentence, scratch
from .commands import invoke

CONTENT = {
    "rng": np.random.default_rng(0).bit_generator.state,
    "terms": [parse("sin(x0*0.5)"), Expression.variable(1), parse("exp(x1)/x0")],
    "losses": np.array([0.5, np.inf, np.nan]),
    "digests": b"sixteen bytes...",
    "progress": {"traverses": 10, "loss": 0.25, "finished": None},
}


@cache
def checkpoints() -> list[bytes]:
    return [to_bytes({"a": 1}), to_bytes(CONTENT)]


def check_checkpoint(data: bytes) -> None:
    """The bytes as they are, and with a valid checksum."""
    for candidate in (data, with_checksum(data)):
        try:
            content = from_bytes(candidate)
        except SnapshotError as error:
            check_sentence(str(error))
            continue
        once = to_bytes(content)
        assert unpacked(to_bytes(from_bytes(once))) == unpacked(once)


def with_checksum(data: bytes) -> bytes:
    payload = data.partition(b"\n")[2]
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(payload).hexdigest()}
    return json.dumps(header).encode() + b"\n" + payload


def unpacked(data: bytes) -> list[bytes]:
    """The arrays; the archive itself contains a timestamp."""
    with np.load(io.BytesIO(data.partition(b"\n")[2])) as file:
        return [file[name].tobytes() for name in file.files]


def descriptions() -> list[bytes]:
    about = {
        "format": "fouriertree-run", "version": 1, "id": "a", "created": "2026-01-01", "status": "running", "seed": 1,
        "target": "y", "columns": ["a"], "data": {"rows": 9, "columns": 1, "sha256": "0"}, "versions": {},
        "parameters": {"max_terms": 3}, "described": {}, "result": {"formula": "a", "seconds": 1.5},
        "command": {"data": "/nowhere/data.csv", "target": "y", "column": ["a"], "max_evaluations": 10},
    }  # fmt: skip
    return [json.dumps(about).encode(), json.dumps(about | {"status": "finished", "command": None}).encode()]


def check_description(data: bytes) -> None:
    store = scratch("unused", b"").with_name("runs")
    rmtree(store, ignore_errors=True)
    path = store / "20260101-000000-aaaa"
    path.mkdir(parents=True)
    (path / "run.json").write_bytes(data)
    (path / "front.csv").write_bytes(b"complexity,loss,equation\n1,0.5,a\n" + data[:200])
    try:
        RunFolder.open(path)
    except RunError as error:
        check_sentence(str(error))
    for command in (
        ("runs",),
        ("runs", "show", "last"),
        ("runs", "compare", "last", "last"),
        ("runs", "resume", "last"),
    ):
        invoke(*command, "--run-dir", store)
