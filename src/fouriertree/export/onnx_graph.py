"""An ONNX graph in double precision."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fouriertree.export.errors import ExportError
from fouriertree.export.language import absence
from fouriertree.export.tree import whole_tree
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.operators.forms import Nodes
from fouriertree.model import Model

#: the oldest operator set with all operators that are used here
OPSET, IR_VERSION = 17, 8


class Graph:
    """A graph under construction: nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._numbers: dict[str, str] = {}

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def number(self, value: float) -> str:
        key = float(value).hex()
        if key not in self._numbers:
            self._numbers[key] = self.array(np.array(value, dtype=np.float64))
        return self._numbers[key]

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Σ coefficients[k]·x^k, by Horner's rule."""
        total = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.node("Add", self.node("Mul", total, x), self.number(coefficient))
        return total

    def array(self, values: Any) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name


def write(model: Model) -> bytes:
    """A float64 model with the input X (n_rows, n_features), the features of the fit, and the output y (n_rows,)."""
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
            form = row.forms.get("onnx")
            if not isinstance(form, Nodes):
                raise absence("ONNX", row, form)
            stack[-row.arity :] = [form.build(g, *stack[-row.arity :])]
    return stack[0]
