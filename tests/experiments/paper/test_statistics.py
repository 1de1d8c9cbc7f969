"""The statistics of the published tables, on examples worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.statistics import REACHED, errors, summary, table
from fouriertree.experiments.paper.table import as_csv, as_latex, published, with_test_errors


def test_statistics_are_those_of_the_successful_runs_only():
    found = summary([1, 501, 1001, 1501, math.nan, math.nan], 6)
    assert found.mean_fe == 751.0
    # Deviations ±250 and ±750: the SD divides by n = 4.
    assert found.sd == pytest.approx(math.sqrt((2 * 250**2 + 2 * 750**2) / 4))
    assert found.sem == pytest.approx(found.sd / 2.0)
    assert (found.q1, found.median, found.q3) == (376.0, 751.0, 1126.0)
    assert found.success_percent == 66


def test_a_cell_without_success_is_infinite_like_the_published_ones():
    assert summary([math.nan] * 3, 3) == (math.inf, 0.0, 0.0, math.inf, math.inf, math.inf, 0)


def test_a_single_success_has_no_spread():
    assert summary([7.0, math.nan], 2) == (7.0, 0.0, 0.0, 7.0, 7.0, 7.0, 50)


def test_published_cells_have_the_successes_that_their_rates_were_truncated_from():
    published = facts.published_table()
    assert len(published) == 324
    rates = [int(cell.successes / cell.runs * 100) for cell in published.itertuples()]
    assert rates == published.success_percent.tolist()
    cell = published.query("algorithm == '(1+1)-GP' and problem == 'nguyen8' and tolerance == 1e-3").iloc[0]
    assert (cell.success_percent, cell.successes) == (56, 57)
    # SD 1.915 over SEM 0.192 would give 99 runs; all 100 succeeded.
    cell = published.query("algorithm == 'FTG' and problem == 'koza2' and tolerance == 1").iloc[0]
    assert (cell.success_percent, cell.successes) == (100, 100)


def test_published_numbers_of_successes_explain_the_standard_errors():
    published = facts.published_table().query("sem > 0")
    assert np.allclose(published["sd"] / np.sqrt(published.successes), published["sem"], rtol=2e-3, atol=1e-3)


def runs_frame():
    rows = [
        {"algorithm": algorithm, "problem": problem, "seed": seed, "loss": 20.0 * seed, "test_mse": 3.0 + seed,
         "size": 5, "terms": 1, "evaluations": 1000, "seconds": 0.5, **dict.fromkeys(REACHED, 100.0 + seed)}
        for algorithm in facts.ALGORITHMS for problem in facts.PROBLEMS for seed in range(3)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_table_has_the_published_columns_and_the_fifth_algorithm_in_every_cell():
    found = table(runs_frame())
    assert tuple(found.columns) == facts.COLUMNS == tuple(facts.published_table().columns[:10])
    assert len(found) == 5 * 9 * 9
    assert as_csv(found).splitlines()[:2] == [
        "tolerance,problem,algorithm,mean_fe,sd,sem,q1,median,q3,success_percent",
        "1.0,koza1,(1+1)-GP,101.000,0.816,0.471,100.500,101.000,101.500,100",
    ]


def test_markdown_and_latex_show_every_cell_with_its_test_error():
    full = with_test_errors(table(runs_frame()), runs_frame())
    text = published(full).markdown()
    assert len(text.splitlines()) == 2 + 405
    assert (
        "| 1e-08 | nguyen8 | Orthonormal-FTG | 101.0 | 0.8 | 0.5 | 100.5 | 101.0 | 101.5 | 100 | 4.0e+00 |"
        in text
    )
    latex = as_latex(full)
    assert latex.count(r" \\") == 405 + 1
    assert r"$(1+\lambda)$-GP" in latex


def test_training_errors_are_means_over_the_points_like_test_errors():
    row = errors(runs_frame()).iloc[0]
    assert row.training_mse == 1.0  # the loss 20 of the median run is a sum over 20 points
    assert row.test_mse == 4.0
    assert (row["runs_at_1e-8"], row.test_mse_of_those) == (1, 3.0)
    assert row.evaluations_per_second == 2000.0
