"""`python -m fuzz.worker TARGET CASES SEED FOLDER ENGINE`: one target in its own process."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

from .cases import clean
from .engine import Guard, run_atheris, run_loop, write_result
from .targets import TARGETS

#: modules whose coverage guides Atheris
MODULES = (
    "fouriertree.expr.parse", "fouriertree.expr.tokens", "fouriertree.expr.text", "fouriertree.fit.guesses",
    "fouriertree.runs.model_file", "fouriertree.model", "fouriertree.cli.fitting.arguments",
    "fouriertree.io.tables.table",
    "fouriertree.data.checks", "fouriertree.io.tables.header", "fouriertree.io.tables.text", "fouriertree.export.names",
    "fouriertree.export.sql", "fouriertree.export.latex", "fouriertree.export.excel",
)  # fmt: skip


def main(name: str, cases: int, seed: int, folder: Path, engine: str) -> None:
    target = TARGETS[name]
    guard = Guard(target.check, folder / "failures" / name)

    def finish() -> None:
        clean()
        write_result(folder / f"{name}.json", guard.result())

    if engine == "atheris":
        instrument()
        run_atheris(target, guard, cases, seed, folder / "corpus" / name, finish)
    else:
        run_loop(target, guard, cases, seed)
        finish()


def instrument() -> None:
    """Instrument functions for coverage; one by one, because Numba must compile the others unchanged."""
    import atheris

    for module in map(importlib.import_module, MODULES):
        for function in functions_of(module):
            atheris.instrument_func(function)


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            yield from (member for member in vars(value).values() if isinstance(member, FunctionType))
        elif isinstance(value, FunctionType):
            yield value


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), sys.argv[5])
