"""The store of records: append-only, strict JSON, and robust to half-written lines."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from fouriertree.experiments.bench.plan import FILE
from fouriertree.experiments.store import Store, append_line, read_lines

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@dataclass(frozen=True)
class Task:
    key: str
    file: str = "records.jsonl"


def test_a_record_is_there_when_the_store_is_opened_again(tmp_path):
    record = {"r2": 0.5, "series": {"loss": [1.0, -math.inf, math.inf]}, "failed": None, "formula": "x0 + ä"}
    Store(tmp_path / "new").append(Task("a"), record)
    again = Store(tmp_path / "new")
    assert Task("a") in again
    assert Task("b") not in again
    assert again[Task("a")] == record


def test_files_are_strict_json_and_values_that_are_not_finite_come_back(tmp_path):
    Store(tmp_path).append(Task("a"), {"loss": math.nan, "bounds": [-math.inf, math.inf]})
    line = (tmp_path / "records.jsonl").read_text("utf-8")
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    record = Store(tmp_path)[Task("a")]
    assert math.isnan(record["loss"])
    assert record["bounds"] == [-math.inf, math.inf]


@pytest.mark.parametrize(
    "torn", [b'{"key": "b", "r', b'{"key": "b", "r\n', b"\x00\x00", b"17\n", b"[]", b"\xff\n"]
)
def test_a_half_written_line_loses_one_record_and_not_the_next(tmp_path, torn):
    store, path = Store(tmp_path), tmp_path / "records.jsonl"
    store.append(Task("a"), {"r2": 0.5})
    with path.open("ab") as file:
        file.write(torn)
    store = Store(tmp_path)
    assert len(store) == 1
    store.append(Task("b"), {"r2": 0.6})
    store.append(Task("c"), {"r2": 0.7})
    again = Store(tmp_path)
    assert [again[Task(key)]["r2"] for key in "abc"] == [0.5, 0.6, 0.7]


def test_the_last_record_of_a_key_counts(tmp_path):
    for loss in (1.0, 2.0):
        append_line(tmp_path / "records.jsonl", {"key": "a", "loss": loss})
    assert Store(tmp_path)[Task("a")] == {"loss": 2.0}


def test_only_files_of_the_pattern_are_read(tmp_path):
    for name in ("a", "b"):
        Store(tmp_path).append(Task(name, f"{name}.jsonl"), {})
    assert Task("b") in Store(tmp_path)
    assert Task("b") not in Store(tmp_path, "a.jsonl")


def test_journals_of_earlier_versions_are_read(tmp_path):
    line = '{"key": "table/FTG/koza1/0/1", "record": {"test_mse": Infinity, "reached": [3, null]}}\n'
    (tmp_path / "table-ftg-koza1.jsonl").write_text(line, "utf-8")
    assert Store(tmp_path)[Task("table/FTG/koza1/0/1")] == {"test_mse": math.inf, "reached": [3, None]}


def test_the_published_results_are_read():
    store, entries = Store(RESULTS, FILE), list(read_lines(RESULTS / FILE))
    assert len(store) == len(entries) > 700
    for entry in entries:
        key = entry.pop("key")
        assert store[Task(key)] == entry
