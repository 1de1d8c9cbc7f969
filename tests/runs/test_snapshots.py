"""Snapshots are restored bit for bit, or refused."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import Expression, PrimitiveSet
from fouriertree.expr import parse
from fouriertree.runs.snapshots import MARKS, SnapshotError, from_bytes, to_bytes

numbers = st.integers() | st.floats() | st.booleans() | st.none()
leaves = numbers | st.text(max_size=10) | st.binary(max_size=10)
keys = st.text(max_size=10).filter(lambda key: key not in MARKS)
trees = st.recursive(
    leaves, lambda parts: st.lists(parts, max_size=4) | st.dictionaries(keys, parts, max_size=4), max_leaves=8
)


def bits(value):
    """With floats as bits, so that NaN equals itself and 0.0 is not -0.0."""
    if isinstance(value, float):
        return "nan" if np.isnan(value) else struct.pack("<d", value)
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    return [bits(part) for part in value] if isinstance(value, list) else value


@given(st.dictionaries(keys, trees, max_size=4))
def test_plain_data_round_trip(tree):
    assert bits(from_bytes(to_bytes(tree))) == bits(tree)


def test_arrays_and_expressions_are_restored_bit_for_bit():
    e = parse("sin(x0*0.1) + -0.0")
    content = {"a": np.array([0.1, np.nan, -0.0]), "e": [e, e, Expression.variable(3)], "i": np.arange(3)}
    found = from_bytes(to_bytes(content))
    assert found["a"].tobytes() == content["a"].tobytes()
    assert found["i"].tolist() == [0, 1, 2]
    assert found["e"] == content["e"]
    assert found["e"][0].const.tobytes() == e.const.tobytes()


def test_the_state_of_a_random_stream_is_restored():
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    rng.normal(size=7)
    other.bit_generator.state = from_bytes(to_bytes({"rng": rng.bit_generator.state}))["rng"]
    assert rng.normal(size=5).tolist() == other.normal(size=5).tolist()


def test_user_defined_operators_are_found_by_name_and_required():
    mine = PrimitiveSet(["add", "mul"])
    mine.add("half", lambda a: 0.5 * a)
    data = to_bytes({"e": Expression.apply(mine["half"], Expression.variable(0))})
    again = PrimitiveSet(["add"])
    again.add("other", lambda a: a)
    again.add("half", lambda a: 0.5 * a)
    assert str(from_bytes(data, again)["e"]) == "half(x0)"
    with pytest.raises(SnapshotError, match="uses the operator 'half'"):
        from_bytes(data)


GOOD = to_bytes({"a": np.arange(50.0), "e": parse("x0*2"), "text": "ä"})


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_single_changed_byte_is_detected(place, change):
    damaged = bytearray(GOOD)
    damaged[place] ^= change
    with pytest.raises(SnapshotError):
        from_bytes(bytes(damaged))


@given(st.integers(0, len(GOOD) - 1))
def test_a_truncated_snapshot_is_detected(length):
    with pytest.raises(SnapshotError):
        from_bytes(GOOD[:length])


@given(st.binary())
def test_other_files_are_refused(data):
    with pytest.raises(SnapshotError, match="is not a checkpoint"):
        from_bytes(data)


@pytest.mark.parametrize("version", [4, 99])
def test_another_version_is_refused_by_name(version):
    header, _, payload = GOOD.partition(b"\n")
    newer = json.dumps(json.loads(header) | {"version": version}).encode()
    with pytest.raises(
        SnapshotError, match=f"^is a checkpoint of version {version}; this program reads version 5$"
    ):
        from_bytes(newer + b"\n" + payload)


@pytest.mark.parametrize(
    "bad", [{1: 2}, {"$array": 1}, {"a": object()}, {"a": np.array(["text"])}, {"a": 1j}]
)
def test_unsupported_types_are_refused_by_snapshots(bad):
    with pytest.raises(TypeError):
        to_bytes(bad)
