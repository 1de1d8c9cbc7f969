"""The tests of agreement: level for equal distributions, power for different ones."""

import numpy as np
import pandas as pd
import pytest

from fouriertree.experiments.paper.agreement import (
    drift,
    holm,
    quartile_p,
    quartiles_p,
    rate_p,
    single_runs_p,
)


def skewed(rng, n, scale=1.0):
    return np.round(scale * np.exp(rng.normal(8.0, 1.0, n)))


def quartiles(values):
    return np.percentile(values, [25, 50, 75])


def generations(values):
    """Counts at the ends of generations of 500, as (1+λ)-GP has them: many ties."""
    return 1 + 500 * np.ceil(values / 500)


@pytest.mark.parametrize("shape", [lambda v: v, generations], ids=["continuous", "with ties"])
@pytest.mark.parametrize(("m", "n"), [(100, 100), (37, 95), (10, 100), (3, 5)])
def test_quartiles_of_the_same_distribution_are_rejected_at_most_at_the_nominal_level(m, n, shape):
    rng = np.random.default_rng(0)
    rejected = [
        quartiles_p(shape(skewed(rng, m)), quartiles(shape(skewed(rng, n))), n) <= 0.05 for _ in range(600)
    ]
    # The test is exact or conservative: three standard errors above 5 %.
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


def test_the_test_of_one_quartile_has_nearly_its_nominal_level():
    rng = np.random.default_rng(1)
    rejected = [
        quartile_p(skewed(rng, 100), np.median(skewed(rng, 99)), 0.5, 99) <= 0.05 for _ in range(2000)
    ]
    assert 0.02 <= np.mean(rejected) <= 0.065


def power(scale, level, spread=1.0, draws=200):
    """Power of the test of quartiles with 100 runs on either side, with log SD 1 on the published side."""
    rng = np.random.default_rng(2)
    p = [
        quartiles_p(scale * np.exp(rng.normal(8.0, spread, 100)), quartiles(skewed(rng, 100)), 100)
        for _ in range(draws)
    ]
    return np.mean(np.array(p) <= level)


def test_the_power_after_correction_is_the_documented_one():
    first_step = 0.05 / 324
    assert power(3.0, first_step) >= 0.95
    assert 0.35 <= power(2.0, first_step) <= 0.75
    assert power(1.5, first_step) <= 0.15


def test_a_change_of_spread_alone_is_detected_in_most_draws_without_correction():
    assert power(1.0, 0.05, spread=3.0) >= 0.7


def test_a_drift_that_no_single_cell_shows_is_shown_by_algorithm():
    cells = pd.DataFrame(
        {
            "algorithm": ["FTG"] * 4,
            "successes": [90, 80, 70, 0],
            "runs": [100] * 4,
            "published_successes": [100, 90, 80, 0],
            "published_runs": [100] * 4,
            "median": [20.0, 40.0, 10.0, np.inf],
            "published_median": [10.0, 20.0, 5.0, np.inf],
            "p": [0.5, 0.5, 0.01, 1.0],
            "agrees": [True] * 4,
        }
    )
    row = drift(cells).iloc[0]
    assert row.median_ratio == pytest.approx(2.0)
    assert row.rate_difference == pytest.approx(-7.5)
    assert (row.cells_slower, row.cells_faster, row.below_level) == (3, 0, 1)


def test_equal_constants_agree():
    assert quartiles_p(np.full(100, 3.0), [3.0, 3.0, 3.0], 100) == 1.0
    assert single_runs_p(np.full(100, 3.0), np.full(100, 3.0)) == 1.0


def test_cells_without_success_on_one_side_are_left_to_the_test_of_rates():
    assert quartiles_p(np.array([]), [1.0, 2.0, 3.0], 100) == 1.0
    assert quartiles_p(np.array([5.0]), [np.inf] * 3, 0) == 1.0


def test_success_rates_are_compared_by_fishers_exact_test():
    assert rate_p(50, 100, 50, 100) == 1.0
    # Two of two against none of two: hypergeometric 1/6 in either tail.
    assert rate_p(2, 2, 0, 2) == pytest.approx(1 / 3)
    assert rate_p(20, 100, 80, 100) < 1e-15


def test_a_run_without_success_is_larger_than_all_others():
    early, late = np.arange(1.0, 101.0), np.full(100, np.nan)
    assert single_runs_p(early, late) < 1e-10


def test_holm_steps_down_and_stops_at_the_first_hypothesis_that_is_not_rejected():
    assert holm([0.001, 0.2, 0.015, 0.02], 0.05).tolist() == [True, False, True, True]
    assert holm([0.02, 0.03, 0.04], 0.05).tolist() == [False, False, False]
    assert holm([1e-9, 1e-9], 0.05).all()


def test_the_family_wise_error_rate_of_many_cells_is_bounded():
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(20):
        p = [quartiles_p(skewed(rng, 60), quartiles(skewed(rng, 60)), 60) for _ in range(81)]
        alarms += holm(p).any()
    assert alarms <= 4
