"""Write src/fouriertree/experiments/bench/facts/feynman_solved.toml: python tools/solved_laws.py

Every law of the suite feynman, y = f(x₁, …, xₙ), is solved for one of its variables, xⱼ = g(x with y in the place of
xⱼ).  The variables are tried in an order that depends on `SEED` and the law's name, and the first one is chosen that
has a solution in elementary functions which is not bloated and holds on enough samples of the law's ranges.
"""

from __future__ import annotations

import signal
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from fouriertree.experiments.bench.formulas import parse, size, variables
from fouriertree.experiments.bench.inverse import OUTPUT, Inverse
from fouriertree.experiments.bench.names import FEYNMAN, facts

FILE = Path(__file__).resolve().parents[1] / "src/fouriertree/experiments/bench/facts/feynman_solved.toml"
HEADER = """\
# The laws of the suite feynman, each solved for one of its variables; written by tools/solved_laws.py.
# name = { law, variable, formula }: `output` is the value of the law; the features are the law's columns with `output`
# in the place of the variable.

"""
SEED = 0
#: smallest share of the samples of the law's ranges on which a solution must hold
LEAST_VALID = 0.5
SAMPLES = 2000
#: seconds for solving a law for one variable
SECONDS = 30
FUNCTIONS = (
    sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.tan, sympy.asin, sympy.acos, sympy.atan, sympy.sinh, sympy.cosh,
    sympy.tanh, sympy.asinh, sympy.acosh, sympy.atanh,
)  # fmt: skip


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after so many seconds: SymPy may not end."""

    def expired(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def solutions(formula: Any, variable: Any) -> list[Any]:
    """Solutions of output = formula for a variable, in elementary functions; none if SymPy finds none in time."""
    try:
        with time_limit(SECONDS):
            found = sympy.solve(sympy.Eq(sympy.Symbol(OUTPUT), formula), variable)
            return [
                form
                for solution in found
                for form in (solution, sympy.simplify(solution))
                if elementary(form)
            ]
    except (NotImplementedError, TimeoutError, RecursionError, TypeError):
        return []


def elementary(formula: Any) -> bool:
    return all(isinstance(part, FUNCTIONS) for part in formula.atoms(sympy.Function)) and not formula.has(
        sympy.I, sympy.Piecewise, sympy.nan, sympy.zoo
    )


def solved(name: str) -> dict[str, str] | None:
    """The law solved for the first variable that has a solution; None if there is no such variable."""
    fact = facts(FEYNMAN)[name]
    columns = list(fact["ranges"])
    symbols = dict(zip(columns, variables([low for low, _ in fact["ranges"].values()], columns), strict=True))
    formula = parse(fact["formula"], symbols)
    order = np.random.default_rng([SEED, zlib.crc32(name.encode())]).permutation(columns).tolist()
    for variable in order:
        forms = [
            {"law": name, "variable": variable, "formula": sympy.sstr(form)}
            for form in sorted(solutions(formula, symbols[variable]), key=size)
            if size(form) <= 2 * size(formula) + 10
        ]
        shares = [valid_share(form) for form in forms]
        if shares and max(shares) >= LEAST_VALID:
            return forms[int(np.argmax(shares))]
    return None


def valid_share(fact: dict[str, str]) -> float:
    """The share of samples of the law's ranges on which its solution is the variable's value."""
    return float(Inverse.of(fact).sample(SAMPLES, np.random.default_rng(SEED))[1].mean())


def line(fact: dict[str, str]) -> str:
    content = ", ".join(f'{key} = "{value}"' for key, value in fact.items())
    return f"{fact['law']}_for_{fact['variable']} = {{ {content} }}\n"


def main() -> int:
    lines = []
    for name in facts(FEYNMAN):
        fact = solved(name)
        print(
            f"{name}: {'no solution' if fact is None else fact['variable'] + ' = ' + fact['formula']}",
            flush=True,
        )
        lines += [] if fact is None else [line(fact)]
    FILE.write_text(HEADER + "".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
