"""An ONNX graph in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fouriertree.export.errors import ExportError
from fouriertree.export.tree import whole_tree
from fouriertree.expr import Expression, Primitive
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR
from fouriertree.model import Model

#: the oldest operator set with all that is used here
OPSET, IR_VERSION = 17, 8
#: terms of the series of atan, for |x| ≤ tan(π/16)
SERIES = 12
#: what has an operator of that name in ONNX, in double precision wherever it runs
PLAIN = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "sin": "Sin", "cos": "Cos", "exp": "Exp", "log": "Log",
    "sqrt": "Sqrt", "neg": "Neg", "abs": "Abs", "tanh": "Tanh", "pow": "Pow", "min": "Min", "max": "Max",
}  # fmt: skip


class Graph:
    """Nodes and constants, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._numbers: dict[str, str] = {}

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The name of the result."""
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def number(self, value: float) -> str:
        key = float(value).hex()
        if key not in self._numbers:
            self._numbers[key] = self.array(np.array(value, dtype=np.float64))
        return self._numbers[key]

    def array(self, values: Any) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name


def pdiv(g: Graph, a: str, b: str) -> str:
    return g.node("Where", g.node("Equal", b, g.number(0.0)), g.number(1.0), g.node("Div", a, b))


def plog(g: Graph, a: str) -> str:
    logarithm = g.node("Log", g.node("Abs", a))
    return g.node("Where", g.node("Equal", a, g.number(0.0)), g.number(0.0), logarithm)


def tan(g: Graph, a: str) -> str:
    return g.node("Div", g.node("Sin", a), g.node("Cos", a))


def atan(g: Graph, a: str) -> str:
    """With nothing but arithmetic: 1/a instead of a beyond 1, the half of the angle twice, and then the series."""
    one, half_pi = g.number(1.0), g.number(math.pi / 2)
    size = g.node("Abs", a)
    large = g.node("Greater", size, one)
    t = g.node("Where", large, g.node("Div", one, size), size)
    for _ in range(2):
        root = g.node("Sqrt", g.node("Add", one, g.node("Mul", t, t)))
        t = g.node("Div", t, g.node("Add", one, root))
    z = g.node("Mul", t, t)
    total = g.number(series(SERIES - 1))
    for k in reversed(range(1, SERIES - 1)):
        total = g.node("Add", g.node("Mul", total, z), g.number(series(k)))
    angle = g.node("Add", t, g.node("Mul", g.node("Mul", t, z), total))
    angle = g.node("Mul", g.number(4.0), angle)
    angle = g.node("Where", large, g.node("Sub", half_pi, angle), angle)
    return g.node("Mul", g.node("Sign", a), angle)


def series(k: int) -> float:
    """atan t = t − t³/3 + t⁵/5 − …: the number in front of t^(2k+1)."""
    return (-1.0) ** k / (2 * k + 1)


def asin(g: Graph, a: str) -> str:
    one = g.number(1.0)
    cosine = g.node("Sqrt", g.node("Mul", g.node("Sub", one, a), g.node("Add", one, a)))
    return atan(g, g.node("Div", a, cosine))


def acos(g: Graph, a: str) -> str:
    one = g.number(1.0)
    half = g.node("Sqrt", g.node("Div", g.node("Sub", one, a), g.node("Add", one, a)))
    return g.node("Mul", g.number(2.0), atan(g, half))


#: what ONNX Runtime does not have in double precision, or nobody has
COMPOSED: dict[str, Callable[..., str]] = {
    "pdiv": pdiv,
    "plog": plog,
    "tan": tan,
    "atan": atan,
    "asin": asin,
    "acos": acos,
    "square": lambda g, a: g.node("Mul", a, a),
    "cube": lambda g, a: g.node("Mul", g.node("Mul", a, a), a),
    "inv": lambda g, a: g.node("Div", g.number(1.0), a),
}


def write(model: Model) -> bytes:
    """A model with the input X (n_rows, n_columns), the columns of the fit, and the output y (n_rows), in float64."""
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ExportError("the target 'onnx' needs a package: pip install 'fouriertree[onnx]'") from None

    tree = whole_tree(model)
    g = Graph()
    last = result(g, tree)
    width = len(model.names) if model.names is not None else max(tree.columns, default=0) + 1
    y = g.node("Expand", last, g.node("Shape", "X", start=0, end=1))
    graph = helper.make_graph(
        g.nodes,
        "formula",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["rows", width])],
        [helper.make_tensor_value_info(y, TensorProto.DOUBLE, ["rows"])],
        g.constants,
    )
    graph.output[0].name = graph.node[-1].output[0] = "y"
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    checker.check_model(built)
    return bytes(built.SerializeToString())


def result(g: Graph, tree: Expression) -> str:
    stack: list[str] = []
    columns = {column: g.node("Gather", "X", g.array(np.array(column)), axis=1) for column in tree.columns}
    for code, column, value in zip(tree.op.tolist(), tree.arg.tolist(), tree.const.tolist(), strict=True):
        if code == CONST:
            stack.append(g.number(value))
        elif code == VAR:
            stack.append(columns[column])
        else:
            row = tree.primitives.by_opcode(code)
            stack[-row.arity :] = [applied(g, row, stack[-row.arity :])]
    return stack[0]


def applied(g: Graph, row: Primitive, arguments: list[str]) -> str:
    if row.name in PLAIN:
        return g.node(PLAIN[row.name], *arguments)
    if row.name in COMPOSED:
        return COMPOSED[row.name](g, *arguments)
    own = ", an operator of your own" if row.opcode >= USER_OPCODE_START else ""
    raise ExportError(f"ONNX has no {row.name}{own}; choose a formula without it, or export to JSON")
