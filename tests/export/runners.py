"""Run exported models in their languages: (models, X) -> one array of values per model, None where there is none."""

import ctypes
import inspect
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fouriertree.export import TARGETS, export, jax_function, torch_module
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree

from .latex_reader import value_of

#: stands for the value on a row that was left out
UNTRIED = -1.2345e-67
EVERY = 23
Runner = Callable[[list, np.ndarray, Path], list[np.ndarray]]


def numbers(model) -> list[int]:
    """The features of the exported function."""
    return list(whole_tree(model).columns)


def identifiers(model) -> list[str]:
    return [column.identifier for column in columns_of(model, whole_tree(model))]


def full(values, X) -> np.ndarray:
    """A constant expression gives one value."""
    return np.broadcast_to(np.asarray(values, dtype=float), len(X))


def python(models, X, folder):
    found = []
    for model in models:
        names = {}
        exec(export(model, "python"), names)
        found.append(full(names["predict"](*(X[:, i] for i in numbers(model))), X))
    return found


def latex(models, X, folder):
    return [full(value_of(export(model, "latex"), X), X) for model in models]


def compiled(target: str, compiler: str) -> Runner:
    def run(models, X, folder):
        program = needed(compiler)
        texts = [export(model, target, function=f"predict_{i}") for i, model in enumerate(models)]
        if target == "cpp":
            texts = [text.replace("\ndouble predict_", '\nextern "C" double predict_') for text in texts]
        source, library = folder / f"all.{target}", folder / f"all_{target}.so"
        source.write_text("\n".join(texts), encoding="utf-8")
        flags = ["-O1", "-Wall", "-Werror", "-Wno-unused-function", "-ffp-contract=off", "-shared", "-fPIC"]
        checked([program, *flags, source, "-o", library, "-lm"])
        loaded = ctypes.CDLL(str(library))
        return [called(getattr(loaded, f"predict_{i}"), model, X) for i, model in enumerate(models)]

    return run


def called(function, model, X):
    function.restype = ctypes.c_double
    columns = numbers(model)
    function.argtypes = [ctypes.c_double] * len(columns)
    return np.array([function(*row) for row in X[:, columns].tolist()])


def interpreted(target: str, program: str, arguments: list[str], suffix: str, script: Callable) -> Runner:
    """A process that reads the rows from a file and writes the values of all models, one after the other."""

    def run(models, X, folder):
        path = needed(program)
        X.T.astype("<f8").tofile(folder / "rows.bin")
        for i, model in enumerate(models):
            (folder / f"predict_{i}{suffix}").write_text(
                export(model, target, function=f"predict_{i}"), encoding="utf-8"
            )
        (folder / f"main{suffix}").write_text(script(models, X.shape), encoding="utf-8")
        checked([path, *arguments, f"main{suffix}"], cwd=folder)
        return list(np.fromfile(folder / "values.bin", dtype="<f8").reshape(len(models), len(X)))

    return run


def node_script(models, shape):
    lines = [
        'const fs = require("fs");',
        'const bytes = fs.readFileSync("rows.bin");',
        "const data = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);",
        f"const n = {shape[0]}, out = new Float64Array(n * {len(models)});",
        "const column = (j, i) => data[j * n + i];",
    ]
    for k, model in enumerate(models):
        arguments = ", ".join(f"column({j}, i)" for j in numbers(model))
        lines.append(f"const p{k} = require('./predict_{k}.js').predict_{k};")
        lines.append(f"for (let i = 0; i < n; i++) out[{k} * n + i] = p{k}({arguments});")
    return "\n".join([*lines, 'fs.writeFileSync("values.bin", Buffer.from(out.buffer));'])


def octave_script(models, shape):
    lines = [f"f = fopen('rows.bin'); X = fread(f, [{shape[0]}, {shape[1]}], 'double'); fclose(f);"]
    lines.append("f = fopen('values.bin', 'w');")
    for k, model in enumerate(models):
        arguments = ", ".join(f"X(:, {j + 1})" for j in numbers(model))
        lines.append(f"v = predict_{k}({arguments}); assert(isreal(v));")
        lines.append(f"fwrite(f, v .* ones({shape[0]}, 1), 'double');")
    return "\n".join([*lines, "fclose(f);"])


def r_script(models, shape):
    lines = [f"X <- matrix(readBin('rows.bin', 'double', {shape[0] * shape[1]}), {shape[0]})"]
    lines.append("f <- file('values.bin', 'wb')")
    for k, model in enumerate(models):
        arguments = ", ".join(f"X[, {j + 1}]" for j in numbers(model))
        lines.append(f"source('predict_{k}.R', encoding = 'UTF-8')")
        lines.append(f"writeBin(rep_len(predict_{k}({arguments}), {shape[0]}), f)")
    return "\n".join([*lines, "close(f)"])


def julia_script(models, shape):
    lines = [f"X = Array{{Float64}}(undef, {shape[0]}, {shape[1]})", 'read!("rows.bin", X)']
    lines.append('f = open("values.bin", "w")')
    for k, model in enumerate(models):
        arguments = ", ".join(f"X[i, {j + 1}]" for j in numbers(model))
        lines.append(f'include("predict_{k}.jl")')
        lines.append(f"write(f, Float64[predict_{k}({arguments}) for i in 1:{shape[0]}])")
    return "\n".join([*lines, "close(f)"])


def sqlite(models, X, folder):
    connection = sqlite3.connect(":memory:")
    options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    if "ENABLE_MATH_FUNCTIONS" not in options:
        pytest.skip("this SQLite has no mathematical functions")
    make_table(connection, X, "REAL")
    return [queried(connection, export(model, "sqlite", table="data"), X) for model in models]


def duckdb(models, X, folder):
    connection = pytest.importorskip("duckdb").connect()
    make_table(connection, X, "DOUBLE")
    return [queried(connection, export(model, "duckdb", table="data"), X) for model in models]


def make_table(connection, X, kind):
    columns = ", ".join(f"x{j} {kind}" for j in range(X.shape[1]))
    connection.execute(f"CREATE TABLE data ({columns})")
    places = ", ".join("?" * X.shape[1])
    connection.executemany(f"INSERT INTO data VALUES ({places})", X.tolist())


def queried(connection, query, X):
    found = connection.execute(query).fetchall()
    assert len(found) == len(X)
    return np.array([np.nan if value is None else value for (value,) in found], dtype=float)


def excel(models, X, folder):
    """With the package `formulas`, which takes milliseconds for a cell: every model is tried on other rows."""
    found = np.full((len(models), len(X)), UNTRIED)
    for k, model in enumerate(models):
        some = slice(k % EVERY, None, EVERY)
        found[k, some] = spreadsheet(export(model, "excel"), numbers(model), X[some])
    return list(found)


def spreadsheet(text, columns, X):
    pytest.importorskip("formulas")
    formula, *cells = text.splitlines()
    assert len(cells) == len(columns)
    function = parsed_formula(formula)
    found = []
    for row in X[:, columns].tolist():
        inputs = np.array([[value if np.isfinite(value) else "" for value in row]], dtype=object)
        found.append(cell_value(function, inputs, columns))
    return np.array(found)


@cache
def parsed_formula(text):
    from formulas import Parser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Parser().ast(text)[1].compile()


def cell_value(function, row, columns):
    from formulas.ranges import Ranges

    def cell(name):
        first, _, last = name.partition(":")
        j, k = (ord(end[0]) - ord("A") for end in (first, last or first))
        return Ranges().push(name, row[:, j : k + 1])

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = np.ravel(np.asarray(function(*(cell(name) for name in function.inputs)), dtype=object))[0]
    return float(value) if isinstance(value, int | float | np.number) else np.nan


def onnx(models, X, folder):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    found = []
    for model in models:
        session = runtime.InferenceSession(export(model, "onnx"), providers=["CPUExecutionProvider"])
        width = session.get_inputs()[0].shape[1]
        found.append(session.run(["y"], {"X": np.ascontiguousarray(X[:, :width])})[0])
    return found


def torch(models, X, folder):
    library = pytest.importorskip("torch")
    rows = library.tensor(X)
    return [torch_module(model)(rows).detach().numpy() for model in models]


def jax(models, X, folder):
    library = pytest.importorskip("jax")
    with library.enable_x64(True) if hasattr(library, "enable_x64") else library.experimental.enable_x64():
        found = []
        for model in models:
            function, parameters = jax_function(model)
            found.append(np.asarray(function(parameters, library.numpy.asarray(X))))
        return found


def needed(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def checked(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stderr[-3000:]


#: targets with IEEE arithmetic, including infinities
EXACT: dict[str, Runner] = {
    "python": python,
    "latex": latex,
    "c": compiled("c", "gcc"),
    "cpp": compiled("cpp", "g++"),
    "javascript": interpreted("javascript", "node", [], ".js", node_script),
    "matlab": interpreted("matlab", "octave-cli", ["--no-init-file"], ".m", octave_script),
    "r": interpreted("r", "Rscript", ["--vanilla"], ".R", r_script),
    "julia": interpreted("julia", "julia", ["--startup-file=no"], ".jl", julia_script),
    "onnx": onnx,
    "torch": torch,
    "jax": jax,
}
#: targets where a subtree that is not finite may make the value undefined
CAREFUL: dict[str, Runner] = {"sqlite": sqlite, "duckdb": duckdb, "excel": excel}
#: targets without a runner, and why
NOT_RUN = {
    "sympy": "does algebra; compared on ordinary rows in test_targets.py",
    "postgresql": "needs a server; tried by hand, as docs/export.md says",
    "json": "read back by Model.from_json in test_targets.py",
}
#: targets that are source code of a function, whose name is an option
CODE = [name for name, row in TARGETS.items() if "function" in inspect.signature(row.write).parameters]

assert sys.byteorder == "little"
