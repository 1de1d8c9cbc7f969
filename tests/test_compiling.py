"""Compiled kernels: cached on disk, invalidated when a source changes, and announced while they compile."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fouriertree
from fouriertree import compiling
from fouriertree.engine import CompiledEngine
from fouriertree.expr import PrimitiveSet, parse

SOURCE = Path(fouriertree.__file__).resolve().parent
# Evaluates sin(0.5), and says how often machine code came from the cache.
PROGRAM = """
import json, sys
import fouriertree
from numba.core.dispatcher import Dispatcher
from fouriertree.engine import CompiledEngine
from fouriertree.expr import parse

value = CompiledEngine().evaluate([parse("sin(x0)")], [[0.5]])[0, 0]
modules = [module for name, module in list(sys.modules.items()) if name.startswith("fouriertree")]
kernels = {id(k): k for m in modules for k in vars(m).values() if isinstance(k, Dispatcher)}.values()
hits, misses = (sum(sum(getattr(k.stats, n).values()) for k in kernels) for n in ("cache_hits", "cache_misses"))
cached = sum(type(k._cache).__name__ != "NullCache" for k in kernels)
answer = {"value": value, "hits": hits, "misses": misses, "cached": cached, "home": fouriertree.__file__}
print(json.dumps(answer))
"""


def run(source, cache, **environment):
    """Run the program in a process of its own, on the package in `source`; what it printed."""
    settings = {
        "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **environment
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=os.environ | settings, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert Path(answer["home"]).is_relative_to(source)
    return answer


def cached_files(cache):
    """Modification times of all machine code and indexes below `cache`."""
    return {str(p): p.stat().st_mtime_ns for p in Path(cache).rglob("*.nb?")}


@pytest.fixture
def copied_package(tmp_path):
    target = tmp_path / "source"
    shutil.copytree(SOURCE, target / "fouriertree", ignore=shutil.ignore_patterns("__pycache__"))
    return target


def test_a_second_process_uses_the_machine_code_of_the_first(tmp_path):
    cache = tmp_path / "cache"
    first = run(SOURCE.parent, cache)
    assert first["value"] == pytest.approx(np.sin(0.5), rel=1e-15)
    assert first["hits"] == 0
    assert first["misses"] > 0
    assert first["cached"] > 0
    files = cached_files(cache)
    assert any(name.endswith(".nbc") for name in files)
    second = run(SOURCE.parent, cache)
    assert second["value"] == first["value"]
    assert (second["hits"], second["misses"]) == (first["misses"], 0)
    assert cached_files(cache) == files


def test_a_change_in_a_file_that_holds_no_kernel_itself_makes_new_machine_code(copied_package, tmp_path):
    cache = tmp_path / "cache"
    before = run(copied_package, cache)
    coefficients = copied_package / "fouriertree" / "engine" / "coefficients.py"
    text = coefficients.read_text()
    assert text.count("-0.16666666666666666,") == 1
    coefficients.write_text(text.replace("-0.16666666666666666,", "-0.26666666666666666,"))
    after = run(copied_package, cache)
    assert before["value"] == pytest.approx(np.sin(0.5), rel=1e-15)
    assert after["value"] == pytest.approx(np.sin(0.5) - 0.1 * 0.5**3, rel=1e-6)
    assert after["hits"] == 0


def test_a_touched_source_makes_new_machine_code(monkeypatch, copied_package):
    monkeypatch.setattr(compiling, "PACKAGE", copied_package / "fouriertree")
    stamp = compiling.source_stamp.__wrapped__
    before = stamp()
    assert stamp() == before
    kernel_source = copied_package / "fouriertree" / "engine" / "elementary.py"
    later = before[0] + 1_000_000_000
    os.utime(kernel_source, ns=(later, later))
    assert stamp() != before


def test_kernels_work_without_a_writable_folder(copied_package, tmp_path):
    # Plain files where folders would have to be: they cannot be written to, not even root.
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("")
    for folder in [copied_package / "fouriertree", *(copied_package / "fouriertree").rglob("*/")]:
        (folder / "__pycache__").write_text("")
    answer = run(
        copied_package, nowhere, HOME=str(nowhere), XDG_CACHE_HOME=str(nowhere), LOCALAPPDATA=str(nowhere)
    )
    assert answer["value"] == pytest.approx(np.sin(0.5), rel=1e-15)
    assert answer["cached"] == 0


def test_a_decorator_that_fails_for_another_reason_is_not_tried_again():
    calls = []

    def decorate(**options):
        calls.append(options)
        raise RuntimeError("no such option")

    with pytest.raises(RuntimeError, match="no such option"):
        compiling.with_cache(decorate, nogil=True)(lambda: None)
    assert calls == [{"nogil": True, "cache": True}]


class FakeTimer:
    """Stands for threading.Timer, and fires only on request."""

    made: list["FakeTimer"]

    def __init__(self, delay, function):
        self.delay, self.function, self.log = delay, function, []
        FakeTimer.made.append(self)

    def start(self):
        self.log.append("start")

    def cancel(self):
        self.log.append("cancel")


@pytest.fixture
def timers(monkeypatch):
    FakeTimer.made = []
    monkeypatch.setattr(compiling.threading, "Timer", FakeTimer)
    monkeypatch.setattr(compiling, "_announced", set())
    return FakeTimer.made


def test_a_long_compilation_is_announced_only_once(timers, capsys):
    with compiling.announced("compiling the lot"):
        assert timers[0].delay == compiling.ANNOUNCE_AFTER_SECONDS
        assert timers[0].log == ["start"]
        timers[0].function()
    assert timers[0].log == ["start", "cancel"]
    captured = capsys.readouterr()
    assert "fouriertree: compiling the lot" in captured.err
    assert captured.out == ""
    with compiling.announced("compiling the lot"):
        assert len(timers) == 1
    with compiling.announced("compiling something else"):
        assert len(timers) == 2
    assert capsys.readouterr().err == ""


def test_work_that_failed_is_announced_again(timers):
    for _ in range(2):
        with pytest.raises(KeyError), compiling.announced("compiling the lot"):
            raise KeyError
    assert [timer.log for timer in timers] == [["start", "cancel"]] * 2


def test_a_long_compilation_names_the_operator_and_a_later_call_is_silent(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "ANNOUNCE_AFTER_SECONDS", 0.0)
    operators = PrimitiveSet(["add"])
    operators.add("sigmoid", lambda a: 1.0 / (1.0 + np.exp(-a)))
    batch = [parse("sigmoid(x0)", primitives=operators)]
    assert CompiledEngine().evaluate(batch, [[0.0]]).tolist() == [[0.5]]
    assert "compiling the custom operator 'sigmoid'" in capsys.readouterr().err
    CompiledEngine().evaluate(batch, [[1.0]])
    assert capsys.readouterr().err == ""


def test_no_message_when_compilation_is_short(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "ANNOUNCE_AFTER_SECONDS", 600.0)
    operators = PrimitiveSet(["add"])
    operators.add("gauss", lambda a: np.exp(-a * a))
    CompiledEngine().evaluate([parse("gauss(x0)", primitives=operators)], [[0.0]])
    assert capsys.readouterr().err == ""
