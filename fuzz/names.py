"""Feature names: whatever they are, every export is the same expression, and a name stays one token or comment."""

from __future__ import annotations

import ast
import io
import json
import re
import sqlite3
import tokenize

import numpy as np

from fouriertree import Model
from fouriertree.export import ExportError, export
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.expr import parse

from .cases import check_sentence, text_of

TREE = parse("2.0*x0 - sin(x1)/pdiv(x0, x1 + 1) + min(x0, x1)^2.5")
X = np.random.default_rng(0).uniform(0.5, 2.0, (4, 2))
HOSTILE = [
    '"; DROP TABLE data; --', "'; DROP TABLE data; --", "`; DROP TABLE data; --",
    "*/ int main() { system(\"id\"); } /*",
    "// x\nimport os", "a\r\nb", "a\\", "a\\\n", "??/", "%{", "#=", "=#", "{{a}}", "${x}", "#{x}", "=cmd|' /C calc'!A0",
    "@SUM(1)", "+1", "-1", "\\input{x}", "$x$", "^^M", "}", "</script><script>alert(1)</script>", "<!--", "-->", "]]>",
    "&lt;", "\x00", "\x1b[31m", "\x07", "\r", "\u202e", "\u2028", "\ufeff", "\ud800", "while", "predict", "np",
    "t1", "x1",
    "x0", "", " ", "a" * 300, "名前", "__import__('os').system('id')", '"""', "'''", "q\"", "I", "EOF", "M_PI",
    "NULL", "1e5",
]  # fmt: skip
#: prefix of a comment line
COMMENTS = {"c": "//", "cpp": "//", "javascript": "//", "matlab": "%", "python": "#", "julia": "#", "r": "#"}


def check_names(data: bytes) -> None:
    """The bytes are two names separated by a line feed."""
    first, _, second = text_of(data).partition("\n")
    if first != second:
        check_pair((first, second))


def check_pair(names: tuple[str, str]) -> None:
    model = Model((1.0,), (TREE,), names)
    assert parse(model.text(), names) == model.expression
    check_source(model)
    check_python(model)
    check_texts(model)
    check_data(model)
    check_database(model)


def check_source(model: Model) -> None:
    """Code equals that of plain identifiers; a name itself occurs only in one printable line of comment."""
    plain = Model(model.coefficients, model.expressions, ("first", "second"))
    words = dict(zip(("first", "second"), identifiers(model), strict=True))
    for target, mark in COMMENTS.items():
        found, expected = (without_comments(export(m, target), mark) for m in (model, plain))
        assert found == re.sub(r"\b(first|second)\b", lambda match: words[match[1]], expected)
        text = export(model, target)
        assert all(line.isprintable() for line in text.split("\n"))
        assert not re.search(r"\*/|</|<!--", text)


def identifiers(model: Model) -> list[str]:
    return [column.identifier for column in columns_of(model, whole_tree(model))]


def without_comments(text: str, mark: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.strip().startswith(mark))


def check_python(model: Model) -> None:
    """Every Python target is valid, a name is one token, and the exported function has the same values."""
    for target in ("python", "sympy"):
        source = export(model, target)
        ast.parse(source)
    for target in ("torch", "jax"):
        source = export_source(model, target)
        ast.parse(source)
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(source).readline)]
        assert kinds.count(tokenize.COMMENT) == 2
    space: dict[str, object] = {}
    exec(export(model, "python"), space)
    function = space["predict"]
    assert callable(function)
    np.testing.assert_allclose(function(X[:, 0], X[:, 1]), model.predict(X), rtol=1e-12)


def export_source(model: Model, target: str) -> str:
    """The source of a target whose export is an object."""
    from fouriertree.export import TARGETS

    return str(TARGETS[target].write(model))


def check_texts(model: Model) -> None:
    """Names are text cells in a spreadsheet; LaTeX has balanced braces and no commands from names."""
    formula, *cells = export(model, "excel").rstrip("\n").split("\n")
    assert formula == export(Model(model.coefficients, model.expressions), "excel").split("\n")[0]
    assert len(cells) == 2
    assert all(re.match(r'[AB]2: ".*"$', cell) and cell.isprintable() for cell in cells)
    for text in (export(model, "latex"), model.latex()):
        bare = re.sub(r"\\(textbackslash|textasciicircum|textasciitilde)\{\}|\\[%&#$_{}]", "", text)
        assert bare.count("{") == bare.count("}")
        for inside in re.findall(r"\\text\{([^{}]*)\}", bare):
            assert inside.isprintable()
            assert not set(inside) & set("\\%&#$_^~{}")


def check_data(model: Model) -> None:
    """JSON contains the names unchanged, and can be encoded."""
    text = export(model, "json")
    text.encode()
    assert model.names is not None
    assert json.loads(text)["names"] == [json.loads(json.dumps(name)) for name in model.names]


def check_database(model: Model) -> None:
    """SQLite computes the same values on columns of these names, and executes nothing else."""
    assert model.names is not None
    try:
        query = export(model, "sqlite", table="data")
    except ExportError as error:
        check_sentence(str(error))
        return
    if len({name.lower() for name in model.names}) < 2:
        return  # one table cannot have both
    connection = sqlite3.connect(":memory:")
    first, second = ("`" + name.replace("`", "``") + "`" for name in model.names)
    connection.execute(f"CREATE TABLE data ({first} REAL, {second} REAL)")
    connection.executemany("INSERT INTO data VALUES (?, ?)", X.tolist())
    found = [value for (value,) in connection.execute(query)]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.close()
    assert tables == (1,)
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def seeds() -> list[bytes]:
    return [f"{name}\nb".encode("utf-8", "surrogatepass") for name in HOSTILE]
