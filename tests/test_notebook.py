"""A real kernel: what the button "interrupt" of a notebook does to a fit."""

import os
import time
from contextlib import contextmanager

import pytest

import fouriertree

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="sends signals")]

DATA = """
import numpy as np
from fouriertree import SymbolicRegressor
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 4)), rng.normal(size=500)
SymbolicRegressor(max_evaluations=1000, random_state=0).fit(X, y)
"""
FIT = "model = SymbolicRegressor(random_state=0); model.fit(X, y); print('fitted')"
#: a search that no single interrupt ends, because its first step does not
STUCK = """
import time
from fouriertree import FTG
class Stuck(FTG):
    def step(self, *arguments):
        while True:
            time.sleep(0.01)
model = SymbolicRegressor(Stuck(), random_state=0)
"""
QUICK = 30.0  #: seconds that a busy machine may take


@contextmanager
def notebook():
    """A kernel that has the data and has compiled; `cell(code, interrupts)` runs a cell and tells what it printed."""
    from jupyter_client.manager import start_new_kernel

    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    kernel, client = start_new_kernel(env=os.environ | {"PYTHONPATH": source})

    def cell(code, interrupts=()):
        ran = client.execute(code)
        for seconds in interrupts:
            time.sleep(seconds)
            kernel.interrupt_kernel()
        printed = []
        while True:
            message = client.get_iopub_msg(timeout=240)
            if message["parent_header"].get("msg_id") != ran:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                printed.append(content["text"])
            elif kind == "error":
                printed.append(content["ename"])
            elif kind == "status" and content["execution_state"] == "idle":
                return "".join(printed).strip()

    try:
        cell(DATA)
        yield cell
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def test_an_interrupt_in_a_notebook_keeps_the_model_and_a_second_one_raises():
    with notebook() as cell:
        started = time.monotonic()
        assert cell(FIT, [1.0]) == "fitted"
        assert time.monotonic() - started < QUICK
        assert cell("print(model.stop_reason_, len(model.equations_) >= 1)") == "interrupted True"

        assert cell(STUCK) == ""
        started = time.monotonic()
        assert cell("model.fit(X, y)", [1.0, 1.0]) == "KeyboardInterrupt"
        assert time.monotonic() - started < QUICK
        assert cell("print(hasattr(model, 'stop_reason_'))") == "False"

        # The kernel is as good as before.
        assert cell("print(SymbolicRegressor(max_evaluations=1000).fit(X, y).stop_reason_)") == (
            "evaluations used up"
        )


#: a function and an operator of a cell, in the process pool
POOL = """
import time
from fouriertree.expr import PrimitiveSet, parse
from fouriertree.search.executors import ordered, process_pool
operators = PrimitiveSet(["add"])
operators.add("twice", lambda a: 2 * a)
def value(expression):
    return float(expression.evaluate([[21.0]])[0])
print(list(ordered(value, [parse("twice(x0)", primitives=operators)] * 2, process_pool(2))))
"""


def test_functions_of_a_notebook_run_in_the_process_pool_and_an_interrupt_ends_them():
    with notebook() as cell:
        assert cell(POOL) == "[42.0, 42.0]"
        started = time.monotonic()
        assert cell("list(ordered(time.sleep, [600.0], process_pool(2)))", [1.0]) == "KeyboardInterrupt"
        assert time.monotonic() - started < QUICK
        assert cell("print(list(ordered(abs, [-1], process_pool(2))))") == "[1]"
