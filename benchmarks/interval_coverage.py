"""Coverage of prediction intervals at 80, 90 and 95 %, for three kinds of noise.

Run: python benchmarks/interval_coverage.py.  Two experiments, each repetition with its own seed:

fixed form: the parameters of a known expression are fitted to the training set, and the absolute errors on the
validation set are the conformity scores; the intervals are centred on the expression refitted to all rows.  Where the
validation set is too small for a level, the scores come from leave-one-out.
whole fits: `SymbolicRegressor` finds the expression, and `predict` gives the intervals.

A repetition draws rows, fits, and counts how many of 500 test rows lie within their intervals; the table has the mean
coverage over repetitions in per cent, and the standard error of that mean at the level of 90 %.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fouriertree import SymbolicRegressor
from fouriertree.estimators.fitted import METHODS, ExtrapolationWarning
from fouriertree.experiments.bars import Bar, report
from fouriertree.expr import Expression, parse
from fouriertree.model import Model
from fouriertree.projection.refit import refit_constants
from fouriertree.uncertainty.intervals import calibration_scores, linear_prediction_bounds, prediction_bounds

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, Floats], Floats]

LEVELS = (0.8, 0.9, 0.95)
TEST_ROWS = 500
VALIDATION_SHARE, MIN_ROWS_TO_SPLIT = 0.2, 20
#: from this number of rows on, coverage must be within GOAL of its level
GOAL_ROWS, GOAL = 200, 0.02
FORM = parse("2.0*sin(1.3*x0) + 0.5*x1 + 0.7")

NOISES: dict[str, Noise] = {
    "homoscedastic": lambda rng, X: rng.normal(0.0, 0.3, len(X)),
    "heteroscedastic": lambda rng, X: rng.normal(0.0, 1.0, len(X)) * (0.05 + 0.3 * np.abs(X[:, 0])),
    "heavy-tailed": lambda rng, X: 0.2 * rng.standard_t(3.0, len(X)),
}


def sample(noise: Noise, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    X = rng.uniform(-2.0, 2.0, (n, 2))
    return X, FORM.evaluate(X) + noise(rng, X)


def covered(bounds: tuple[Floats, Floats], y: Floats) -> float:
    return float(np.mean((bounds[0] <= y) & (y <= bounds[1])))


def rates(
    final: Expression, seen: NDArray[np.bool_], train: tuple[Floats, Floats], new: tuple[Floats, Floats]
) -> Floats:
    """Coverage of the test rows: (split-conformal and closed form, levels)."""
    values, model = final.evaluate(new[0]), Model.from_expression(final)
    conformal = []
    for level in LEVELS:
        scores = calibration_scores(final, *train, None, seen, level)
        conformal.append(covered(prediction_bounds(values, scores, level), new[1]))
    closed = [
        covered(linear_prediction_bounds(model, *train, None, new[0], level), new[1]) for level in LEVELS
    ]
    return np.array([conformal, closed])


def fixed_form(noise: Noise, n: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    X, y = sample(noise, rng, n)
    ones = np.ones(n)
    final = refit_constants(FORM, X, y, ones)
    # The rows are exchangeable, so that any of them may be the validation set.
    seen = np.arange(n) >= (int(VALIDATION_SHARE * n) if n >= MIN_ROWS_TO_SPLIT else 0)
    return rates(final, seen, (X, y), sample(noise, rng, TEST_ROWS))


def whole_fit(noise: Noise, n: int, seed: int, max_evaluations: int) -> Floats:
    rng = np.random.default_rng(seed)
    X, y = sample(noise, rng, n)
    model = SymbolicRegressor(max_evaluations=max_evaluations, random_state=seed).fit(X, y)
    X_new, y_new = sample(noise, rng, TEST_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        bounds = [[model.predict(X_new, None, v, method)[1:] for v in LEVELS] for method in METHODS]
    return np.array([[covered(bound, y_new) for bound in row] for row in bounds])


def table(
    title: str, one: Callable[[Noise, int, int], Floats], rows: list[int], repetitions: int
) -> list[float]:
    """Print the coverage by noise and number of rows; the largest deviations from the level, from GOAL_ROWS rows on."""
    print(f"\n{title}: {repetitions} repetitions, seeds 0 to {repetitions - 1}")
    print(
        f"{'noise':<16}{'rows':>6}  " + "".join(f"{'split ' + f'{100 * v:.0f} %':>12}" for v in LEVELS),
        end="",
    )
    print("".join(f"{'closed ' + f'{100 * v:.0f} %':>13}" for v in LEVELS) + f"{'± of 90 %':>12}")
    far = []
    for name, noise in NOISES.items():
        for n in rows:
            all_of_them = np.array([one(noise, n, seed) for seed in range(repetitions)])
            mean = all_of_them.mean(axis=0)
            errors = all_of_them[:, 0].std(axis=0, ddof=1) / np.sqrt(repetitions)
            cells = "".join(f"{100 * v:>12.1f}" for v in mean[0]) + "".join(
                f"{100 * v:>13.1f}" for v in mean[1]
            )
            print(f"{name:<16}{n:>6}  {cells}{100 * errors[1]:>12.1f}", flush=True)
            if n >= GOAL_ROWS:
                far.append(float(np.abs(mean[0] - np.array(LEVELS)).max()))
    return far


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=500, help="of the fixed form")
    parser.add_argument("--fits", type=int, default=20, help="repetitions of whole fits; 0 for none")
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 15, 50, 100, 200, 1000])
    parser.add_argument("--fit-rows", type=int, nargs="+", default=[15, 50, 200])
    parser.add_argument("--max-evaluations", type=int, default=3_000_000)
    options = parser.parse_args()
    far = table("fixed form", fixed_form, options.rows, options.repetitions)
    bars = [Bar("largest-miss-fixed-form", max(far), GOAL, "<=")] if far else []
    if options.fits:

        def fit(noise: Noise, n: int, seed: int) -> Floats:
            return whole_fit(noise, n, seed, options.max_evaluations)

        far = table("whole fits", fit, options.fit_rows, options.fits)
        bars += [Bar("largest-miss-whole-fits", max(far), GOAL, "<=")] if far else []
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
