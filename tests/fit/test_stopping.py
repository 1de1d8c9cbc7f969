"""Ctrl-C, `stop` and memory limits: the regressor is fitted, or unchanged."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import fouriertree
from fouriertree import FTG, SymbolicRegressor
from fouriertree.estimators import single_fit
from fouriertree.fit import stopping
from fouriertree.fit.pipeline import FitPipeline
from fouriertree.fit.stopping import SAME_SIGNAL_SECONDS, InterruptCounter, Stop, uninterrupted

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")
AT_ONCE = 5.0  #: seconds that a busy machine may take for what should take a fraction of one


@pytest.fixture(scope="module")
def noise():
    """A table without a law, on which a search takes long; everything is compiled."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.normal(size=500)
    SymbolicRegressor(max_evaluations=1000, random_state=0).fit(X, y)
    return X, y


@pytest.fixture(autouse=True)
def own_handler():
    """After every test, the handler of SIGINT is Python's default."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def send_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def later(seconds, action=send_ctrl_c):
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


@dataclass(frozen=True)
class Sleeping(FTG):
    """FTG with steps of so many seconds; Ctrl-C is sent after the start of each."""

    seconds: float = 30.0
    presses: tuple[float, ...] = (0.0,)

    def step(self, problem, state, budget):
        timers = [later(seconds) for seconds in self.presses]
        ends = time.monotonic() + self.seconds
        try:
            while time.monotonic() < ends:
                time.sleep(0.01)
        finally:
            for timer in timers:
                timer.cancel()
        return super().step(problem, state, budget)


def assert_fitted(model, X, tmp_path):
    """Assert that a regressor is completely fitted: it predicts, saves, loads and pickles."""
    assert np.isfinite(model.predict(X)).all()
    assert len(model.models_) == len(model.equations_) == len(model.scores_)
    model.save(tmp_path / "model.json")
    again = SymbolicRegressor.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.stop_reason_ == model.stop_reason_
    assert pickle.loads(pickle.dumps(model)).seconds_ == model.seconds_


# Ctrl-C -----------------------------------------------------------------------------------------------------
def test_ctrl_c_during_a_fit_keeps_the_best_so_far(noise, tmp_path):
    timer = later(0.5)
    model = SymbolicRegressor(random_state=0).fit(*noise)
    timer.join()
    assert model.stop_reason_ == "interrupted"
    assert_fitted(model, noise[0], tmp_path)


def test_a_second_ctrl_c_raises_at_once_and_the_regressor_is_unchanged(noise):
    X, y = noise
    model = SymbolicRegressor(max_evaluations=1000, random_state=0).fit(X, y)
    before, values = dict(vars(model)), model.predict(X)
    model.set_params(search=Sleeping(presses=(0.0, 2 * SAME_SIGNAL_SECONDS)))
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], y)
    assert time.monotonic() - started < AT_ONCE
    assert vars(model) == before | {"search": model.search}
    np.testing.assert_array_equal(model.predict(X), values)


def test_two_signals_of_one_ctrl_c_end_the_search_and_do_not_abort(noise):
    search = Sleeping(seconds=0.3, presses=(0.0, SAME_SIGNAL_SECONDS / 10))
    model = SymbolicRegressor(search, random_state=0).fit(*noise)
    assert model.stop_reason_ == "interrupted"


@pytest.mark.parametrize("where", ["compile_kernels_of", "checks.draw_seed"])
def test_ctrl_c_before_the_search_raises_and_leaves_an_unfitted_regressor(noise, monkeypatch, where):
    # The compiler works in another thread, and the signal arrives in this one.
    monkeypatch.setattr(f"{single_fit.__name__}.{where}", lambda *_: (send_ctrl_c(), time.sleep(0.1)))
    model = SymbolicRegressor()
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise)
    assert vars(model) == before


def test_in_a_loop_of_fits_one_ctrl_c_ends_one_fit_and_another_soon_after_ends_the_loop(noise):
    ended = []

    def loop():
        for _ in range(3):
            ended.append(SymbolicRegressor(Sleeping(seconds=0.3), random_state=0).fit(*noise).stop_reason_)

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert ended == ["interrupted"]


def test_interrupts_far_apart_end_one_fit_each(noise, monkeypatch):
    monkeypatch.setattr(stopping.PROCESS_LOG, "seconds", 0.1)
    fits = [SymbolicRegressor(Sleeping(seconds=0.3), random_state=0).fit(*noise) for _ in range(2)]
    assert [one.stop_reason_ for one in fits] == ["interrupted"] * 2


def test_uninterrupted_work_continues_while_ctrl_c_raises():
    begun, ended = threading.Event(), threading.Event()

    def work():
        begun.set()
        time.sleep(0.3)
        ended.set()

    later(0.1)
    with pytest.raises(KeyboardInterrupt):
        uninterrupted(work)
    assert begun.is_set()
    assert not ended.is_set()
    assert ended.wait(AT_ONCE)


def test_an_error_in_uninterrupted_work_is_raised():
    with pytest.raises(ZeroDivisionError):
        uninterrupted(lambda: 1 // 0)


def test_ctrl_c_while_the_table_is_made_does_not_change_the_stop_reason(noise, monkeypatch, tmp_path):
    made = FitPipeline.table
    monkeypatch.setattr(FitPipeline, "table", lambda self: (send_ctrl_c(), made(self))[1])
    model = SymbolicRegressor(max_evaluations=1000, random_state=0).fit(*noise)
    assert model.stop_reason_ == "evaluations used up"
    assert_fitted(model, noise[0], tmp_path)


def test_a_signal_handler_of_the_caller_is_not_replaced(noise):
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        model = SymbolicRegressor(Sleeping(seconds=0.2), max_terms=3, max_evaluations=1, random_state=0).fit(
            *noise
        )
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert seen == [signal.SIGINT]
    assert model.stop_reason_ == "evaluations used up"


@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c_at_a_random_time_leaves_a_fitted_regressor_or_an_unfitted_one(noise, tmp_path, seed):
    model = SymbolicRegressor(max_evaluations=3000, random_state=0)
    timer = later(np.random.default_rng(seed).uniform(0.0, 0.4))
    try:
        model.fit(*noise)
        timer.join()  # where the fit was faster
        time.sleep(0.01)
    except KeyboardInterrupt:
        assert not hasattr(model, "n_features_in_") or hasattr(model, "seconds_")
    if hasattr(model, "stop_reason_"):
        assert_fitted(model, noise[0], tmp_path)


# Another thread ---------------------------------------------------------------------------------------------
def in_a_thread(model, X, y):
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    while not hasattr(model, "_stop"):
        time.sleep(0.001)
    return thread


def test_stop_ends_a_fit_in_another_thread_which_keeps_the_best_so_far(noise, tmp_path):
    model = SymbolicRegressor(random_state=0)
    thread = in_a_thread(model, *noise)
    time.sleep(0.3)
    assert model.stop()
    assert model.stop()
    thread.join(AT_ONCE)
    assert model.stop_reason_ == "stopped"
    assert_fitted(model, noise[0], tmp_path)


def test_stop_without_a_fit_does_nothing(noise):
    model = SymbolicRegressor(max_evaluations=1000, random_state=0)
    assert not model.stop()
    assert model.fit(*noise).stop_reason_ == "evaluations used up"
    assert not model.stop()


def test_ctrl_c_while_the_main_thread_waits_for_a_fit_can_stop_it(noise):
    model = SymbolicRegressor(random_state=0)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(model.fit, *noise)
        later(0.3)
        with pytest.raises(KeyboardInterrupt):
            future.result()
        assert model.stop()
        assert future.result(AT_ONCE).stop_reason_ == "stopped"


def test_a_loss_that_needs_two_searches_is_stopped_in_the_first(noise):
    model = SymbolicRegressor(loss="absolute", random_state=0)
    thread = in_a_thread(model, *noise)
    model.stop()
    thread.join(AT_ONCE)
    assert model.stop_reason_ == "stopped"


# Parts ------------------------------------------------------------------------------------------------------
def test_the_first_stop_reason_is_kept():
    stop = Stop()
    stop.start_search(lambda: "memory used up")
    stop.request("stopped")
    stop.interrupt()
    assert stop() == "stopped"


def test_signals_in_quick_succession_count_as_one(monkeypatch):
    clock = iter([1.0, 1.0 + 0.5 * SAME_SIGNAL_SECONDS, 1.0 + 2.0 * SAME_SIGNAL_SECONDS])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    presses = InterruptCounter()
    assert [presses.another() for _ in range(3)] == [True, False, True]
    assert presses.count == 2


# Memory -----------------------------------------------------------------------------------------------------
def test_a_limit_below_the_memory_of_the_process_is_refused_with_both_values(noise):
    with pytest.raises(ValueError, match=r"memory_limit is 10 MB, but the process uses \d{2,} MB already"):
        SymbolicRegressor(memory_limit=10).fit(*noise)


def test_a_search_ends_when_memory_is_used_up(noise, monkeypatch, tmp_path):
    held = iter([100.0, *[150.0] * 5, 250.0])
    monkeypatch.setattr(stopping, "resident_megabytes", lambda: next(held))
    model = SymbolicRegressor(memory_limit=200, random_state=0).fit(*noise)
    assert model.stop_reason_ == "memory used up"
    assert next(held, None) is None
    assert_fitted(model, noise[0], tmp_path)


def test_the_memory_of_the_process_is_measured():
    before = stopping.resident_megabytes()
    block = np.ones(10_000_000)
    assert 60.0 < stopping.resident_megabytes() - before < 100.0
    assert block[-1] == 1.0


MEASURED = """
import resource, sys
import numpy as np
from fouriertree import FTG, SymbolicRegressor
from fouriertree.fit.stopping import resident_megabytes
search = FTG() if sys.argv[1] == "ftg" else None
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1_000_000, 3)), rng.normal(size=1_000_000)
SymbolicRegressor(search, max_evaluations=100, random_state=0).fit(X[:100], y[:100])
limit = resident_megabytes() + float(sys.argv[2])
model = SymbolicRegressor(search, memory_limit=limit, time_limit=60, random_state=0).fit(X, y)
print(model.stop_reason_, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6 - limit, sep=";")
"""


def in_a_process(code, *arguments, **environment):
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=900,
        env=os.environ | {"PYTHONPATH": source} | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize(("search", "megabytes"), [("ftg", "800"), ("hybrid", "500")])
def test_a_fit_that_would_need_more_memory_stays_near_its_limit(search, megabytes):
    done = in_a_process(MEASURED, search, megabytes)
    reason, above = done.stdout.splitlines()[-1].split(";")
    assert reason == "memory used up"
    assert float(above) < 50.0


# Random interrupts ------------------------------------------------------------------------------------------
# Compiles without a cache, and is interrupted during and after compilation; the last fit is not interrupted.
PRESSED = """
import os, signal, sys, threading
import numpy as np
from fouriertree import SymbolicRegressor
rng = np.random.default_rng(int(sys.argv[1]))
X = rng.uniform(1, 3, (200, 2))
y = 2 * np.sin(X[:, 0]) * X[:, 1]
noisy = y + 0.1 * rng.normal(size=200)
outcomes = {"aborted": 0, "interrupted": 0, "other": 0}
for number in range(int(sys.argv[2])):
    model = SymbolicRegressor(max_evaluations=100_000, random_state=0)
    timer = threading.Timer(rng.uniform(0.0, 3.0), os.kill, (os.getpid(), signal.SIGINT))
    try:
        try:
            timer.start()
            model.fit(X, noisy)
        finally:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        pass
    if hasattr(model, "stop_reason_"):
        assert np.isfinite(model.predict(X)).all() and len(model.scores_) == len(model.equations_)
        model.save(os.devnull)
        outcomes["interrupted" if model.stop_reason_ == "interrupted" else "other"] += 1
    else:
        assert not hasattr(model, "n_features_in_")
        outcomes["aborted"] += 1
print(outcomes, file=sys.stderr)
print(SymbolicRegressor(random_state=0).fit(X, y).get_best()["equation"])
"""


@pytest.mark.slow
def test_ctrl_c_at_thirty_random_times_also_while_compiling_leaves_consistent_states(tmp_path):
    done = in_a_process(PRESSED, "0", "30", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "2*x1*sin(x0)\n"
    assert "Traceback" not in done.stderr
