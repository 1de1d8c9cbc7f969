"""Words that options take, for help texts and completion, which import nothing heavy; a test compares them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: targets of `export`
TARGETS = (
    "python", "sympy", "latex", "c", "cpp", "julia", "matlab", "r", "javascript", "sqlite", "duckdb", "postgresql",
    "excel", "onnx", "torch", "jax", "json",
)  # fmt: skip
SUITES = ("feynman", "classic", "strogatz", "srsd-easy", "everyday", "first-principles", "blackbox")
SYSTEMS = ("ours", "operon", "rils-rols", "eggp", "gplearn", "linear")

_ENTRIES = Path(__file__).resolve().parents[1] / "expr" / "operators"


@cache
def operators() -> tuple[str, ...]:
    """The built-in operators by sign or name: read from the text of their entries, as importing them takes a second.

    >>> operators()[:5], "erf" in operators()
    (('+', '-', '*', '/', '^'), True)
    """
    found = [word for path in sorted(_ENTRIES.glob("*.py")) for word in _entries(path)]
    return tuple(sorted(found, key=lambda word: word.isidentifier()))


def _entries(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Primitive":
            name, arity = (ast.literal_eval(argument) for argument in node.args[:2])
            symbols = [ast.literal_eval(k.value) for k in node.keywords if k.arg == "symbol"]
            yield symbols[0] if symbols and arity == 2 else name
