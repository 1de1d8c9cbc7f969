"""The heat maps of the published table, for known cells."""

import numpy as np

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.figures import draw_heatmaps, median_ratio, rate_difference


def cell(grid, problem, exponent):
    return grid[facts.PROBLEMS.index(problem), facts.EXPONENTS.index(exponent)]


def test_the_largest_published_ratio_is_that_of_nguyen6():
    ratios = median_ratio(facts.published_table())
    assert round(float(ratios.max()), 2) == 0.42
    assert cell(ratios, "nguyen6", -8) == ratios.max()


def test_a_cell_in_which_no_gp_succeeded_is_zero():
    assert cell(median_ratio(facts.published_table()), "koza3", -8) == 0.0


def test_published_cells_are_recomputed_from_the_table():
    published = facts.published_table()
    # koza1 at 1: FTG 45 against (1+1)-GP 435.5, the smallest of the three medians.
    assert cell(median_ratio(published), "koza1", 0) == 45.0 / 435.5
    # koza1 at 0.01: FTG 100 % against canonical GP 98 %.
    assert cell(rate_difference(published), "koza1", -2) == 2.0


def test_ftg_never_has_a_lower_rate_in_the_published_table():
    assert rate_difference(facts.published_table()).min() == 0.0


def test_ratios_are_infinite_only_where_ftg_alone_fails():
    table = facts.published_table().copy()
    ftg = table.algorithm == "FTG"
    table.loc[ftg & (table.problem == "koza1"), "median"] = np.inf
    assert np.isinf(median_ratio(table)[0]).all()
    assert np.isfinite(median_ratio(table)[1:]).all()


def test_the_figure_is_written_as_png_and_svg(tmp_path):
    published = facts.published_table()
    ours = published.replace({"algorithm": {"FTG": "Orthonormal-FTG"}})
    import pandas as pd

    draw_heatmaps(pd.concat([published, ours[ours.algorithm == "Orthonormal-FTG"]]), tmp_path)
    assert (tmp_path / "heatmaps.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "heatmaps.svg").read_bytes()[:2000]
