"""Evaluations per second of our GP searches at 20 rows, against gplearn and DEAP.

Run: make bench-gp.  Same operators, population sizes, rates and initial depths for all; one core; the systems run in
rotation.  Ours runs the paper's 100,000 evaluations without bloat control, and for the comparison also as few
generations as the others.
"""

from __future__ import annotations

import operator
import random
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

from fouriertree.experiments.bars import Bar, report
from fouriertree.problems import CONVENTIONAL
from fouriertree.search import Budget, CanonicalGP, OnePlusLambda, run

PROBLEMS = ("koza1", "koza3", "nguyen6")
SEEDS = range(3)
#: generations of 500 in the comparison
SLOW_GENERATIONS = 6
Measured = tuple[int, float]  #: evaluations, seconds


def ours(search: OnePlusLambda | CanonicalGP, evaluations: int = 100_000) -> Callable[[str, int], Measured]:
    def work(name: str, seed: int) -> Measured:
        problem = CONVENTIONAL[name].problem(seed)
        started = time.perf_counter()
        # No target loss: a run that stops early evaluates fewer large trees.
        ended = run(search, problem, Budget(evaluations, target_loss=-1.0), seed=seed)
        return ended.state.progress.traverses, time.perf_counter() - started

    return work


def gplearn_canonical(name: str, seed: int) -> Measured:
    from gplearn.genetic import SymbolicRegressor

    X, y = CONVENTIONAL[name].sample(seed)
    regressor = SymbolicRegressor(
        population_size=500, generations=SLOW_GENERATIONS, tournament_size=2, stopping_criteria=0.0,
        const_range=(-1.0, 1.0), init_depth=(2, 6), function_set=("add", "sub", "mul", "div", "sin", "cos", "log"),
        metric="mse", parsimony_coefficient=0.0, p_crossover=0.9, p_subtree_mutation=0.1, p_hoist_mutation=0.0,
        p_point_mutation=0.0, random_state=seed,
    )  # fmt: skip
    started = time.perf_counter()
    regressor.fit(X, y)
    return 500 * SLOW_GENERATIONS, time.perf_counter() - started


def deap_toolbox(name: str, seed: int) -> object:
    """DEAP's standard set-up: trees compiled to functions of NumPy arrays."""
    from deap import base, creator, gp, tools

    X, y = CONVENTIONAL[name].sample(seed)
    x = X[:, 0]
    primitives = gp.PrimitiveSet("main", 1)
    for function in (operator.add, operator.sub, operator.mul):
        primitives.addPrimitive(function, 2)
    primitives.addPrimitive(lambda a, b: np.where(b == 0, 1.0, np.divide(a, b)), 2, name="pdiv")
    primitives.addPrimitive(np.sin, 1, name="sin")
    primitives.addPrimitive(np.cos, 1, name="cos")
    primitives.addPrimitive(lambda a: np.where(a == 0, 0.0, np.log(np.abs(a))), 1, name="plog")
    primitives.addEphemeralConstant(
        f"constant_{name}_{seed}_{time.monotonic_ns()}", lambda: random.uniform(-1, 1)
    )
    if not hasattr(creator, "Smallest"):
        creator.create("Smallest", base.Fitness, weights=(-1.0,))
        creator.create("Individual", gp.PrimitiveTree, fitness=creator.Smallest)
    toolbox = base.Toolbox()
    toolbox.register("tree", gp.genHalfAndHalf, pset=primitives, min_=1, max_=5)
    toolbox.register("branch", gp.genHalfAndHalf, min_=0, max_=2)
    toolbox.register("individual", tools.initIterate, creator.Individual, toolbox.tree)
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("mate", gp.cxOnePoint)
    toolbox.register("mutate", gp.mutUniform, expr=toolbox.branch, pset=primitives)
    toolbox.register("select", tools.selTournament, tournsize=2)

    def loss(individual: object) -> tuple[float]:
        error = gp.compile(individual, primitives)(x) - y
        return (float(np.sum(error * error)),)

    toolbox.register("evaluate", loss)
    return toolbox


def deap_canonical(name: str, seed: int) -> Measured:
    from deap import algorithms

    random.seed(seed)
    toolbox = deap_toolbox(name, seed)
    started = time.perf_counter()
    _, log = algorithms.eaSimple(
        toolbox.population(n=500), toolbox, 0.9, 0.1, SLOW_GENERATIONS, verbose=False
    )
    return sum(log.select("nevals")), time.perf_counter() - started


def deap_one_plus_lambda(name: str, seed: int) -> Measured:
    from deap import algorithms, tools

    random.seed(seed)
    toolbox = deap_toolbox(name, seed)
    toolbox.register("select", tools.selBest)
    started = time.perf_counter()
    _, log = algorithms.eaMuPlusLambda(
        toolbox.population(n=1), toolbox, 1, 500, 0.0, 1.0, SLOW_GENERATIONS, verbose=False
    )
    return sum(log.select("nevals")), time.perf_counter() - started


CONTENDERS = {
    "(1+1)-GP": ours(OnePlusLambda(1)),
    "(1+500)-GP": ours(OnePlusLambda(500)),
    "canonical GP": ours(CanonicalGP(in_place=True)),
    "canonical GP, short": ours(CanonicalGP(), 500 * SLOW_GENERATIONS),
    "(1+500)-GP, short": ours(OnePlusLambda(500), 500 * SLOW_GENERATIONS),
    "gplearn, canonical": gplearn_canonical,
    "DEAP, canonical": deap_canonical,
    "DEAP, (1+500)": deap_one_plus_lambda,
}


def main() -> int:
    warnings.simplefilter("ignore")
    for label, work in CONTENDERS.items():
        if "GP" in label:
            work("koza1", 99)  # compile, or load from the cache
    spent = {label: [0, 0.0] for label in CONTENDERS}
    for name in PROBLEMS:
        for seed in SEEDS:
            for label, work in CONTENDERS.items():
                evaluations, seconds = work(name, seed)
                spent[label][0] += evaluations
                spent[label][1] += seconds
    rates = {label: evaluations / seconds for label, (evaluations, seconds) in spent.items()}
    print(f"Evaluations per second on one core, 20 rows; {', '.join(PROBLEMS)}, seeds 0–{max(SEEDS)}")
    for label, rate in rates.items():
        print(f"  {label:20s} {rate:>12,.0f}")
    canonical, lambda_ = rates["canonical GP, short"], rates["(1+500)-GP, short"]
    return report(
        [
            Bar("million-evaluations-one-plus-one", rates["(1+1)-GP"] / 1e6, 0.5),
            Bar("million-evaluations-one-plus-500", rates["(1+500)-GP"] / 1e6, 0.5),
            Bar("million-evaluations-canonical", rates["canonical GP"] / 1e6, 0.15),
            Bar("canonical-vs-gplearn", canonical / rates["gplearn, canonical"], 50.0),
            Bar("canonical-vs-deap", canonical / rates["DEAP, canonical"], 20.0),
            Bar("one-plus-500-vs-deap", lambda_ / rates["DEAP, (1+500)"], 20.0),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
