"""Export of models: source code, SQL, spreadsheets, graphs.

>>> from fouriertree import Model, parse
>>> model = Model((0.5, 2.0), (parse("1"), parse("sin(x0)")), names=("angle",))
>>> print(export(model, "javascript"))
//   angle = "angle"
function predict(angle) {
  return 0.5 + 2.0 * Math.sin(angle);
}
if (typeof module !== "undefined") module.exports = { predict };
<BLANKLINE>
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fouriertree.export import excel, functions, json_text, latex, onnx_graph, sql, trainable
from fouriertree.export.errors import ExportError
from fouriertree.export.trainable import jax_function, torch_module
from fouriertree.expr.primitives import did_you_mean
from fouriertree.model import Model

__all__ = ["TARGETS", "ExportError", "Target", "export", "find", "jax_function", "torch_module"]


@dataclass(frozen=True)
class Target:
    """A format that models are exported to.

    Attributes
    ----------
    name, suffix, description : str
        The name for `export`, the suffix of files, and a description.
    write : callable
        From a model and options to the content of a file.
    extra : str or None
        The optional dependencies of the package that `export` needs.
    binary : bool
        Whether the content is bytes.
    make : callable or None
        From a model to the result of `export`, if that is not the content of a file.
    """

    name: str
    suffix: str
    description: str
    write: Callable[..., str | bytes]
    extra: str | None = None
    binary: bool = False
    make: Callable[[Model], object] | None = None


_ROWS = (
    Target("python", ".py", "a Python function that needs NumPy only", functions.PYTHON.write),
    Target("sympy", ".py", "Python source that builds a SymPy expression", functions.write_sympy),
    Target("latex", ".tex", "LaTeX, for mathematical mode", latex.write),
    Target("c", ".c", "a C function", functions.C.write),
    Target("cpp", ".cpp", "a C++ function", functions.CPP.write),
    Target("julia", ".jl", "a Julia function", functions.JULIA.write),
    Target("matlab", ".m", "a MATLAB or Octave function", functions.MATLAB.write),
    Target("r", ".R", "an R function", functions.R.write),
    Target("javascript", ".js", "a JavaScript function", functions.JAVASCRIPT.write),
    Target("sqlite", ".sql", "an SQL expression for SQLite", sql.SQLITE.write),
    Target("duckdb", ".sql", "an SQL expression for DuckDB", sql.DUCKDB.write),
    Target("postgresql", ".sql", "an SQL expression for PostgreSQL", sql.POSTGRESQL.write),
    Target("excel", ".txt", "a formula for a spreadsheet", excel.write),
    Target("onnx", ".onnx", "an ONNX graph, in double precision", onnx_graph.write, "onnx", binary=True),
    Target("torch", ".py", "a trainable PyTorch module", trainable.write_torch, "torch", make=torch_module),
    Target("jax", ".py", "a trainable JAX function", trainable.write_jax, "jax", make=jax_function),
    Target("json", ".json", "names and terms, which Model.from_json reads", json_text.write),
)
TARGETS: Mapping[str, Target] = MappingProxyType({row.name: row for row in _ROWS})


def export(model: Model, target: str, **options: Any) -> Any:
    """The model in another language.

    Parameters
    ----------
    model : Model
    target : str
        A key of `TARGETS`.
    **options
        `function`, the name of the function in source code; `table`, the table of an SQL query.

    Returns
    -------
    str, bytes (ONNX), torch.nn.Module (PyTorch), or (function, parameters) (JAX)

    Raises
    ------
    ExportError
        If there is no such target or option, or the language has no form of an operator.

    Examples
    --------
    >>> from fouriertree import parse
    >>> export(Model((2.0,), (parse("x0"),)), "prose")
    Traceback (most recent call last):
    fouriertree.export.errors.ExportError: there is no target 'prose'; choose one of python, sympy, ...
    """
    chosen = find(target)
    make = chosen.make or chosen.write
    known = list(inspect.signature(make).parameters)[1:]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ExportError(f"the target {target!r} has no option {unknown[0]!r}")
    return make(model, **options)


def find(target: str) -> Target:
    """The target with this name."""
    if target not in TARGETS:
        hint = did_you_mean(target, TARGETS) or f"; choose one of {', '.join(TARGETS)}"
        raise ExportError(f"there is no target {target!r}{hint}")
    return TARGETS[target]
