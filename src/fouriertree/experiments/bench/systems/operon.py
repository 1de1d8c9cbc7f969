"""Operon: NSGA-II over error and length, coefficients by Levenberg–Marquardt in every individual."""

from __future__ import annotations

import re

from fouriertree.experiments.bench.cases import Array

SYMBOLS = "add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh,constant,variable"


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols=SYMBOLS, objectives=["r2", "length"], max_length=50, population_size=1000,
        optimizer="lm", optimizer_iterations=5, generations=10**9, max_evaluations=10**15, epsilon=0.0,
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
