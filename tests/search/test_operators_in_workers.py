"""Custom operators in other processes: the right function, whatever operators a process had before."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import fouriertree
from fouriertree.expr import Expression, PrimitiveSet, Programs, parse
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.search.executors import ProcessPool, ordered

X = np.linspace(-2.0, 2.0, 5)[:, None]


@pytest.fixture(scope="module", params=["local pool", "standard pool"])
def executor(request):
    made = {
        "local pool": lambda: ProcessPool(1),
        "standard pool": lambda: ProcessPoolExecutor(1, get_context("spawn")),
    }
    with made[request.param]() as executor:
        # The worker's first opcodes belong to other operators.
        assert next(ordered(register_others, [3], executor)) >= USER_OPCODE_START + 2
        yield executor


KEPT = []


def register_others(n):
    operators = PrimitiveSet([])
    KEPT.append(operators)
    return max(operators.add(f"other{i}", lambda a, i=i: a + i).opcode for i in range(n))


def operators():
    made = PrimitiveSet(["add", "mul"])
    made.add("triple", lambda a: 3.0 * a)
    offset = 7.0
    made.add("moved", lambda a: a + offset)
    return made


def values(programs):
    return np.array([expression.evaluate(X) for expression in programs])


def changed(expression):
    return Expression.apply(expression.primitives["triple"], expression)


def test_programs_have_the_same_operators_in_a_worker(executor):
    known = operators()
    batch = Programs.pack(
        [parse(text, primitives=known) for text in ("moved(triple(x0))", "triple(x0) + 1", "x0*x0")]
    )
    [there] = ordered(values, [batch], executor)
    np.testing.assert_array_equal(there, values(batch))
    np.testing.assert_array_equal(there[0], 3.0 * X[:, 0] + 7.0)


def test_expressions_from_a_worker_have_the_operators_of_this_process(executor):
    known = operators()
    [back] = ordered(changed, [parse("moved(x0)", primitives=known)], executor)
    assert back == parse("triple(moved(x0))", primitives=known)
    assert back.primitives["moved"] is known["moved"]


def opcodes(expression):
    return expression.op.tolist(), os.getpid()


def test_an_operator_is_compiled_once_in_a_worker(executor):
    known = operators()
    found = [
        tuple(codes) for codes, _ in ordered(opcodes, [parse("moved(x0)", primitives=known)] * 3, executor)
    ]
    assert len(set(found)) == 1


class Locked:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, a):
        return 2.0 * a


def test_an_operator_that_cannot_be_sent_is_named(executor):
    known = PrimitiveSet(["add"])
    with pytest.warns(UserWarning, match="locked runs as NumPy"):
        known.add("locked", Locked())
    with pytest.raises(
        ValueError, match=r"operator 'locked' cannot be sent to another process .* or use n_jobs=1"
    ):
        list(ordered(opcodes, [parse("locked(x0)", primitives=known)], executor))


SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import numpy as np
from fouriertree.expr import PrimitiveSet, parse
from fouriertree.search.executors import ordered, process_pool

def cube(a):
    return a * a * a

def value(expression):
    return float(expression.evaluate([[2.0]])[0])

if __name__ == "__main__":
    operators = PrimitiveSet(["add"])
    operators.add("cubed", cube)
    with ProcessPoolExecutor(1, get_context("spawn")) as standard:
        for executor in (None, process_pool(1), standard):
            print(list(ordered(value, [parse("cubed(x0)", primitives=operators)], executor)))
"""


def test_operators_of_a_script_work_in_all_pools(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    source = str(Path(fouriertree.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[8.0]\n" * 3, "")
