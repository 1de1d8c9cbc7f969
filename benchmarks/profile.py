"""Where a noisy fit of 20 s spends its time: `make bench-profile`.

1,000 rows of sums of two or three terms of three features with 1 % noise, one process.  Time inside compiled kernels
and linear algebra (BLAS, LAPACK) is measured at their calls from Python; everything else counts as Python, NumPy's
elementwise functions included.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from fouriertree import SymbolicRegressor
from fouriertree.engine import compiled, gradients
from fouriertree.experiments.bars import Bar, report
from fouriertree.projection import variable
from fouriertree.search.hybrid import beam, compositions, evaluation, separable, surrogate, transformed

#: compiled functions by name: the objects, or modules, that hold them, and their attributes
COMPILED: dict[str, list[tuple[Any, str]]] = {
    "variable projection": [(variable, "fit_models")],
    "residuals of compositions": [(compositions, "residuals_of")],
    "screening of pairs": [(transformed, "best_products"), (transformed, "best_sums")],
    "screening of separable products": [(separable.Screen, "best_of_blocks")],
    "selection of forms": [(transformed, "first_of_each"), (beam, "first_of_each")],
    "losses of ratios": [(transformed, "losses_of_ratios")],
    "projection of the dictionary": [(transformed.TransformedProblem, "directions")],
    "evaluation of expressions": [(compiled.CompiledEngine, "evaluate")],
    "refits": [(gradients, "expand")],
    "surrogates": [(surrogate, "negative_evidence"), (surrogate, "gaussian")],
    "linear algebra": [(np.linalg, name) for name in ("lstsq", "qr", "svd", "pinv", "solve", "cholesky")],
}
LAWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "decay": lambda a, b, c: (
        1.6 * np.exp(-0.67 * b) * np.cos(0.34 * a) + 0.56 * c * np.exp(-1.1 * a) + 0.3 * c / b
    ),
    "wave": lambda a, b, c: 0.7 * np.sin(2.7 * b) * np.exp(-0.39 * a) + 0.63 * a * c + np.tanh(1.3 * c),
    "ratio": lambda a, b, c: 2.0 * a / (0.8 + b) + np.log(c) * np.sqrt(a) + 0.4 * b * c,
}


class Clock:
    """Seconds inside functions; a call inside of another one counts once."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.fits = 0
        self._depth = 0

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds[name] += time.perf_counter() - began

        return call

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(batch: Any, *args: Any, **kwargs: Any) -> Any:
            self.fits += len(batch)
            return function(batch, *args, **kwargs)

        return call

    def install(self) -> None:
        for name, places in COMPILED.items():
            for place, attribute in places:
                setattr(place, attribute, self.timed(name, getattr(place, attribute)))
        for module in (transformed, evaluation, variable):
            module.fit_batch = self.counted(module.fit_batch)


def table(law: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.uniform(0.5, 4.0, (1000, 3))
    y = law(*X.T)
    return X, y + 0.01 * y.std() * rng.normal(size=len(y))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    SymbolicRegressor(max_evaluations=100_000).fit(*table(LAWS["decay"]))
    clock = Clock()
    clock.install()
    total = 0.0
    for name, law in LAWS.items():
        before, fits, began = sum(clock.seconds.values()), clock.fits, time.perf_counter()
        SymbolicRegressor(time_limit=options.seconds, random_state=0).fit(*table(law))
        seconds = time.perf_counter() - began
        total += seconds
        share = (sum(clock.seconds.values()) - before) / seconds
        print(
            f"{name}: {100 * share:.1f} % compiled, {(clock.fits - fits) / seconds:,.0f} candidates fitted per second"
        )
    for name, seconds in clock.seconds.most_common():
        print(f"  {name}: {100 * seconds / total:.1f} %")
    compiled_share = 100.0 * sum(clock.seconds.values()) / total
    print(f"  Python and elementwise NumPy: {100 - compiled_share:.1f} %")
    return report(
        [
            Bar("compiled-percent", compiled_share, 75.0),
            Bar("fitted-per-second", clock.fits / total, 10_000.0),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
