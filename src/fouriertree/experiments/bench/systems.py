"""The systems that are compared: each is a function of (X, y, seconds, seed) that imports its package when called."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from fouriertree.experiments.bench.formulas import Array, evaluate, parse, variables

#: (X, y, seconds, seed) -> a model over x0, x1, … as text, fitted by one thread
Fit = Callable[[Array, Array, float, int], str]


def fit_ours(X: Array, y: Array, seconds: float, seed: int) -> str:
    """This package with its defaults."""
    from fouriertree import SymbolicRegressor

    return str(SymbolicRegressor(time_limit=seconds, random_state=seed, n_jobs=1).fit(X, y).model_)


def fit_linear(X: Array, y: Array, seconds: float, seed: int) -> str:
    """min ‖y − Xβ − c‖, the linear baseline, with standardized features, so that units do not matter."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    beta = np.linalg.lstsq((X - middle) / scale, y - y.mean())[0] / scale
    intercept = float(y.mean() - middle @ beta)
    return " + ".join([repr(intercept), *(f"({b!r})*x{j}" for j, b in enumerate(beta.tolist()))])


def fit_operon(X: Array, y: Array, seconds: float, seed: int) -> str:
    """NSGA-II over error and length, coefficients by Levenberg–Marquardt in every individual."""
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh,constant,variable",
        objectives=["r2", "length"], max_length=50, population_size=1000, optimizer="lm", optimizer_iterations=5,
        generations=10**9, max_evaluations=10**15, epsilon=0.0,
        # Operon's description length needs the noise level; BIC estimates it.
        model_selection_criterion="bayesian_information_criterion",
        max_time=max(1, round(seconds)), n_threads=1, random_state=seed,
    )  # fmt: skip
    model.fit(X, y)
    return zero_based(model.get_model_string(model.model_, precision=17))


def zero_based(formula: str) -> str:
    """Operon numbers features from X1.

    >>> zero_based("(X1 + (2.5 * X12))")
    '(x0 + (2.5 * x11))'
    """
    return re.sub(r"\bX(\d+)", lambda found: f"x{int(found[1]) - 1}", formula)


def fit_rils_rols(X: Array, y: Array, seconds: float, seed: int) -> str:
    """Iterated local search whose terms are refitted by ordinary least squares."""
    from rils_rols.rils_rols import RILSROLSRegressor

    class Unsimplified(RILSROLSRegressor):  # type: ignore[misc]
        """Without its own simplification, which takes up to two seconds; all models are simplified alike."""

        def call_model_symplify(self) -> None:
            self.model_simp: Any = self.model

    # It stops in the first whole second after the limit.
    model = Unsimplified(max_fit_calls=10**9, max_time=max(1, round(seconds) - 1), random_state=seed)
    model.fit(X, y)
    return str(model.model)


def fit_eggp(X: Array, y: Array, seconds: float, seed: int) -> str:
    """Genetic programming on an e-graph; of its Pareto front, the expression with the best BIC.  It takes no seed."""
    # Options of the Haskell runtime: one core, and memory that makes garbage collection rare.
    os.environ["GHCRTS"] = "-N1 -A64m"
    from eggp import EGGP

    # Larger expressions slow its e-graph down; more constants than rows crash the process.  It stops about five
    # seconds before its limit, at the end of a generation.
    model = EGGP(
        gen=10**6, max_time=round(seconds) + 5, nPop=100, maxSize=min(20, len(y) + 1),
        nonterminals="add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh", nTournament=3, pc=0.9, pm=0.3, loss="MSE",
        optIter=20, optRepeat=1,
    )  # fmt: skip
    model.fit(X, y)
    table = model.results
    # A smaller error is rounding.
    loss = np.maximum(table["loss_train"].astype(float), (1e-10 * y.std()) ** 2)
    criterion = len(y) * np.log(loss) + np.log(len(y)) * table["size"].astype(float)
    return with_constants(table.loc[criterion.idxmin()])


def with_constants(row: Any) -> str:
    """The expression of a row of eggp's table: NumPy's text with the constants inserted.

    >>> with_constants({"Numpy": "(t[0] * np.sqrt(x[:, 12]))", "theta": "0.5"})
    '((0.5) * sqrt(x12))'
    """
    constants = str(row["theta"]).split(";")
    formula = str(row["Numpy"]).replace("np.", "")
    formula = re.sub(r"t\[(\d+)\]", lambda found: f"({constants[int(found[1])]})", formula)
    return re.sub(r"x\[:, (\d+)\]", r"x\1", formula)


# gplearn -------------------------------------------------------------------------------------------------------------
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


def fit_gplearn(X: Array, y: Array, seconds: float, seed: int) -> str:
    """Standard genetic programming until the time limit: the best program of all generations."""
    deadline = time.monotonic() + seconds
    # The target is standardized, because parsimony is absolute.
    unit = float(y.std()) or 1.0
    model = gplearn_regressor(seed)
    best: Any = None
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y / unit)
        if best is None or model._program.fitness_ < best.fitness_:
            best = model._program
        if time.monotonic() >= deadline or best.raw_fitness_ <= EXACT:
            return f"{unit!r}*{gplearn_text(best, X)}"
        model.generations += 1


def gplearn_regressor(seed: int) -> Any:
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    exp = make_function(function=bounded_exp, name="exp", arity=1, wrap=False)
    tanh = make_function(function=np.tanh, name="tanh", arity=1, wrap=False)
    functions = ["add", "sub", "mul", "div", "sqrt", "log", "neg", "inv", "sin", "cos", exp, tanh]
    return SymbolicRegressor(
        population_size=1000, generations=1, warm_start=True, low_memory=True, tournament_size=20,
        function_set=functions, const_range=(-5.0, 5.0), init_depth=(2, 6), metric="rmse",
        parsimony_coefficient=0.001, p_crossover=0.7, p_subtree_mutation=0.1, p_hoist_mutation=0.05,
        p_point_mutation=0.1, stopping_criteria=0.0, random_state=seed, n_jobs=1,
    )  # fmt: skip


def bounded_exp(a: Array) -> Array:
    return np.exp(np.minimum(a, LARGEST_EXPONENT))


def gplearn_text(program: Any, X: Array) -> str:
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


# The table -----------------------------------------------------------------------------------------------------------
class System(NamedTuple):
    """A system: its fit, the module that it needs, and how to install that."""

    fit: Fit
    module: str
    install: str = ""

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


RILS_ROLS = "pip install pybind11 setuptools wheel, then pip install rils-rols --no-build-isolation"
OURS, LINEAR = "ours", "linear"
SYSTEMS = {
    OURS: System(fit_ours, "fouriertree"),
    "operon": System(fit_operon, "pyoperon", "pip install pyoperon"),
    "rils-rols": System(fit_rils_rols, "rils_rols", RILS_ROLS),
    "eggp": System(fit_eggp, "eggp", "pip install eggp"),
    "gplearn": System(fit_gplearn, "gplearn", "pip install gplearn"),
    LINEAR: System(fit_linear, "numpy"),
}
PEERS = tuple(name for name in SYSTEMS if name not in (OURS, LINEAR))
