"""Goals of experiments: comparisons, lines and exit status."""

import math

import pytest

from fouriertree.experiments.bars import Bar, report


@pytest.mark.parametrize(
    ("comparison", "met"),
    [(">=", [False, True, True]), ("<=", [True, True, False]), (">", [False, False, True])],
)
def test_a_goal_is_met_if_its_comparison_holds(comparison, met):
    assert [Bar("b", measured, 2.0, comparison).ok for measured in (1.0, 2.0, 3.0)] == met
    assert not Bar("b", math.nan, 2.0, comparison).ok


def test_the_report_has_a_line_per_bar_and_fails_if_one_goal_is_missed(capsys):
    met, missed = Bar("rate", 83.3333, 75.0), Bar("seconds", 5.5, 5.0, "<=")
    assert report([met]) == 0
    assert report(bar for bar in (met, missed)) == 1
    assert capsys.readouterr().out == (
        "\nBAR rate 83.33 75 ok\n" + "\nBAR rate 83.33 75 ok\nBAR seconds 5.5 5 short\n"
    )
