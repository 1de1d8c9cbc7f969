"""Tasks in other processes: the same results, also after kills and interrupts."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
import pytest

import fouriertree
from fouriertree.engine.compiled import one_blas_thread
from fouriertree.search import shared
from fouriertree.search.executors import (
    MAX_BREAKS,
    MAX_BREAKS_ALONE,
    ProcessPool,
    Shared,
    TaskQueue,
    completed,
    ordered,
    process_pool,
)
from fouriertree.testing.executors import CHECKS, blas_threads, inverse

SOURCE = str(Path(fouriertree.__file__).parents[1])
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(scope="module")
def pool():
    with ProcessPool(2) as pool:
        pool.start()
        yield pool


@pytest.fixture(
    scope="module", params=["this process", "threads", "processes", "one process", "three processes"]
)
def executor(request, pool):
    if request.param == "this process":
        yield None
    elif request.param == "processes":
        yield pool
    else:
        made = {
            "threads": ThreadPoolExecutor(3),
            "one process": ProcessPool(1),
            "three processes": ProcessPool(3),
        }
        with made[request.param] as executor:
            yield executor


def wait_until_ready(pool):
    pool.start()
    while not pool.ready:
        time.sleep(0.02)


def workers_of(pid):
    """Processes of loky's workers, which have started."""
    children = psutil.Process(pid).children(recursive=True)
    return [child for child in children if "popen_loky" in " ".join(child.cmdline())]


# Functions of tests are pickled by value, because workers cannot import this file.
def slow(seconds):
    time.sleep(seconds)
    return seconds


def kill_first_time(item):
    """Kill the worker the first times, as often as `item` says, and count in a file."""
    path, kills = item
    if path is not None:
        with open(path, "a") as file:
            file.write("x")
        if os.path.getsize(path) <= kills:
            os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_contract(check, executor):
    check(executor)


def test_a_standard_process_pool_passes_the_contract():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        for check in CHECKS:
            check(executor)


@posix
@pytest.mark.parametrize("results", [ordered, completed])
def test_tasks_of_a_killed_worker_run_again(pool, tmp_path, results):
    items = [(None, 0)] * 3 + [(str(tmp_path / "kills"), 1)] + [(None, 0)] * 5
    assert len(list(results(kill_first_time, items, pool))) == len(items)
    assert (tmp_path / "kills").read_text() == "xx"


@posix
def test_a_queue_survives_a_killed_worker(pool, tmp_path):
    wait_until_ready(pool)
    queue, items = TaskQueue(pool), tuple((str(tmp_path / f"kills{i}"), 1) for i in range(3))
    found = [queue.first(kill_first_time, items[position:]) for position in range(3)]
    assert os.getpid() not in found


@posix
def test_a_task_that_always_kills_its_worker_is_an_error(pool, tmp_path):
    with pytest.raises(BrokenExecutor, match="killed again and again in the same task"):
        list(ordered(kill_first_time, [(str(tmp_path / "kills"), 99)], pool))
    assert (tmp_path / "kills").read_text() == "x" * (MAX_BREAKS + MAX_BREAKS_ALONE)
    assert list(ordered(inverse, [2], pool)) == [0.5]


@posix
def test_a_task_that_is_lost_often_runs_in_a_worker_of_its_own(pool, tmp_path):
    items = [(None, 0), (str(tmp_path / "kills"), MAX_BREAKS), (None, 0)]
    first, alone, last = ordered(kill_first_time, items, pool)
    assert alone not in (first, last, os.getpid())
    assert (tmp_path / "kills").read_text() == "x" * (MAX_BREAKS + 1)


@posix
def test_a_broken_executor_is_replaced_by_this_process(tmp_path):
    executor = ProcessPoolExecutor(1, get_context("spawn"))
    broken = executor.submit(os.kill, 0, 0)  # starts the worker
    broken.result()
    for process in executor._processes.values():
        process.kill()
    with pytest.warns(RuntimeWarning, match="so the remaining tasks run in this process"):
        assert list(ordered(inverse, [1, 2, 4], executor)) == [1.0, 0.5, 0.25]
    executor.shutdown()


def test_until_the_workers_have_started_the_caller_computes():
    with ProcessPool(1) as pool:
        queue, items = TaskQueue(pool), (None, None, None)
        assert not pool.ready
        assert queue.first(worker_number, items) == os.getpid()
        wait_until_ready(pool)
        assert queue.first(worker_number, items[1:]) != os.getpid()


def worker_number(item):
    return os.getpid()


def test_tasks_that_have_not_started_are_cancelled(pool):
    wait_until_ready(pool)
    results = ordered(slow, [0.0, *[0.2] * 100], pool)
    next(results)
    results.close()
    start = time.perf_counter()
    assert list(ordered(slow, [0.0], pool)) == [0.0]
    assert time.perf_counter() - start < 2.0


def test_an_interrupt_ends_running_tasks(pool):
    wait_until_ready(pool)
    queue, items = TaskQueue(pool), (0.0, 60.0, 60.0)
    assert queue.first(slow, items) == 0.0
    start = time.perf_counter()
    queue.interrupt()
    assert not pool.ready
    assert list(ordered(slow, [0.0], pool)) == [0.0]
    assert time.perf_counter() - start < 20.0


@posix
def test_ctrl_c_is_raised_while_a_result_is_awaited(pool):
    wait_until_ready(pool)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        list(ordered(slow, [60.0], pool))
    assert time.perf_counter() - start < 10.0


def test_an_item_that_cannot_be_pickled_is_an_error_at_its_place(pool):
    results = ordered(type, [1, threading.Lock(), 2], pool)
    assert next(results) is int
    with pytest.raises(ValueError, match=r"a task cannot be sent to another process \(TypeError: .*pickle"):
        next(results)
    assert list(ordered(inverse, [2], pool)) == [0.5]


def test_a_pool_is_shared_until_it_is_shut_down():
    pool = process_pool(7)
    assert process_pool(7) is pool
    assert process_pool(6) is not pool
    pool.shutdown()
    assert process_pool(7) is not pool
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(abs, 1)


def test_shutdown_waits_for_submitted_tasks():
    with ProcessPool(1) as pool:
        futures = [pool.submit(slow, 0.01) for _ in range(5)]
    assert all(future.done() for future in futures)
    with ProcessPool(1) as pool:
        wait_until_ready(pool)
        running = pool.submit(slow, 0.3)
    assert running.done()
    with ProcessPool(1) as pool:
        futures = [pool.submit(slow, 0.01) for _ in range(5)]
        pool.shutdown(cancel_futures=True)
    assert all(future.cancelled() for future in futures)


SCRIPT = """
from fouriertree.search.executors import ordered, process_pool

def square(x):
    return x * x

print(list(ordered(square, range(5), process_pool(2))))
"""


@pytest.mark.parametrize("is_file", [False, True], ids=["stdin", "script without a main guard"])
def test_functions_of_the_main_module_run_in_workers(is_file, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")] if is_file else [sys.executable],
        input=None if is_file else SCRIPT, capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[0, 1, 4, 9, 16]\n", "")


ABANDONED = """
import time
from fouriertree.search.executors import ordered, process_pool

print(next(ordered(time.sleep, [0.0, 600.0, 600.0], process_pool(2))))
"""


def test_a_program_does_not_wait_for_abandoned_tasks():
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("None\n", "", 0)


ENDLESS = """
import time
from fouriertree.search.executors import ordered, process_pool

for result in ordered(time.sleep, [0.0, 600.0, 600.0], process_pool(2)):
    print("running", flush=True)
"""


def endless():
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": SOURCE}, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "running\n"
    return process


@posix
def test_workers_end_when_their_parent_is_killed():
    process = endless()
    workers = workers_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive


@posix
def test_ctrl_c_in_a_terminal_ends_the_program_at_once_and_quietly():
    process = endless()
    workers = workers_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert errors.count("Traceback") == 1, errors
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive


@posix
def test_a_forked_process_has_its_own_pool(pool):
    wait_until_ready(pool)
    child = get_context("fork").Process(target=use_in_child, args=(pool,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert list(ordered(inverse, [2], pool)) == [0.5]


def use_in_child(pool):
    assert not pool.ready
    assert list(ordered(inverse, [4], pool)) == [0.25]
    pool.shutdown()


@dataclass(frozen=True, eq=False)
class Table(Shared):
    values: np.ndarray


def test_a_shared_object_is_pickled_once(monkeypatch):
    table = Table(np.arange(1000.0))
    first = table.__reduce_ex__(5)
    assert table.__reduce_ex__(5)[1][1] is first[1][1]
    assert pickle.loads(pickle.dumps(table)) is table
    data, values = pickle.dumps([table, table]), table.values
    del table, first
    one, other = pickle.loads(data)
    assert one is other
    assert one is pickle.loads(data)[0]
    np.testing.assert_array_equal(one.values, values)
    assert pickle.dumps([one, one]) == data


def test_few_received_objects_are_kept():
    many = [pickle.dumps(Table(np.array([float(i)]))) for i in range(10)]
    for data in many:
        pickle.loads(data)
    assert len(shared._kept) == shared.KEPT
    assert [pickle.loads(data).values[0] for data in many] == [float(i) for i in range(10)]


def identity_in_worker(table):
    return os.getpid(), id(table)


def test_a_shared_object_is_unpickled_once_per_worker(pool):
    table = Table(np.zeros(10))
    found = set(ordered(identity_in_worker, [table] * 20, pool))
    assert len(found) == len({worker for worker, _ in found})


def test_the_number_of_blas_threads_is_restored_by_the_last_thread_that_leaves():
    before = blas_threads(0)
    entered, leave = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(60)
    with one_blas_thread():
        leave.set()
        thread.join()
        assert set(blas_threads(0)) <= {1}
    assert blas_threads(0) == before


def sum_in_worker(table):
    return float(table.values.sum())


def test_a_large_shared_object_is_sent_as_a_file_that_is_removed_with_it(pool):
    table = Table(np.arange(300_000.0))
    assert list(ordered(sum_in_worker, [table] * 3, pool)) == [float(table.values.sum())] * 3
    path = Path(table._path)
    assert path.stat().st_size > table.values.nbytes
    with shared.same_computer():
        assert len(pickle.dumps(table)) < 1000
        assert pickle.loads(pickle.dumps(table)) is table
    assert len(pickle.dumps(table)) > table.values.nbytes
    del table
    wait_until(lambda: not path.exists())


def wait_until(condition):
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
