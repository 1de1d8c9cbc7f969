"""gplearn: standard genetic programming, generation by generation until the time limit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array
from fouriertree.experiments.bench.formulas import evaluate, parse, variables

FUNCTIONS = ("add", "sub", "mul", "div", "sqrt", "log", "neg", "inv", "sin", "cos")
#: error relative to the target's standard deviation at which the search stops
EXACT = 1e-12
#: arguments of exp are clipped, because gplearn requires finite functions
LARGEST_EXPONENT = 50.0
#: texts of gplearn's functions where no argument is in the protected range
PLAIN = {
    "add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "neg": "(-{})", "inv": "(1/{})",
    "sqrt": "sqrt(abs({}))", "log": "log(abs({}))", "sin": "sin({})", "cos": "cos({})", "exp": "exp({})",
    "tanh": "tanh({})",
}  # fmt: skip
#: texts of the protected functions
GUARDED = PLAIN | {
    "div": "guarded({0} / {1}, {1}, 1)",
    "inv": "guarded(1/{0}, {0}, 0)",
    "log": "guarded(log(abs({0})), {0}, 0)",
}


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    """The best program of all generations.  The target is standardized, because parsimony is absolute."""
    deadline = time.monotonic() + seconds
    unit = float(y.std()) or 1.0
    model = regressor(seed)
    best: Any = None
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y / unit)
        if best is None or model._program.fitness_ < best.fitness_:
            best = model._program
        if time.monotonic() >= deadline or best.raw_fitness_ <= EXACT:
            return f"{unit!r}*{text(best, X)}"
        model.generations += 1


def regressor(seed: int) -> Any:
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    exp = make_function(function=bounded_exp, name="exp", arity=1, wrap=False)
    tanh = make_function(function=np.tanh, name="tanh", arity=1, wrap=False)
    return SymbolicRegressor(
        population_size=1000, generations=1, warm_start=True, low_memory=True, tournament_size=20,
        function_set=[*FUNCTIONS, exp, tanh], const_range=(-5.0, 5.0), init_depth=(2, 6), metric="rmse",
        parsimony_coefficient=0.001, p_crossover=0.7, p_subtree_mutation=0.1, p_hoist_mutation=0.05,
        p_point_mutation=0.1, stopping_criteria=0.0, random_state=seed, n_jobs=1,
    )  # fmt: skip


def bounded_exp(a: Array) -> Array:
    return np.exp(np.minimum(a, LARGEST_EXPONENT))


def text(program: Any, X: Array) -> str:
    """The unprotected text of a program if it has the program's values on the rows of X, else the protected one."""
    plain = infix(iter(program.program), PLAIN)
    symbols = variables([-1.0] * X.shape[1])
    values = evaluate(parse(plain, {str(symbol): symbol for symbol in symbols}), symbols, X)
    same = np.allclose(values, program.execute(X), rtol=1e-9)
    return plain if same else infix(iter(program.program), GUARDED)


def infix(program: Iterator[Any], texts: dict[str, str]) -> str:
    """The text of a program in prefix order: functions, feature indices, constants."""
    node = next(program)
    if isinstance(node, (int, np.integer)):
        return f"x{int(node)}"
    if isinstance(node, (float, np.floating)):
        return f"({float(node)!r})"
    return texts[node.name].format(*[infix(program, texts) for _ in range(node.arity)])
