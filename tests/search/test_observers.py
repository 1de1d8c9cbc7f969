"""The collector of candidates."""

import numpy as np

from fouriertree import parse
from fouriertree.search import Progress, Reported
from fouriertree.search.observers import CandidateCollector


def reported(text, loss, complexity, on_all_rows=None):
    on_all_rows = loss if on_all_rows is None else on_all_rows
    return Reported(
        Progress(0, 0, 0, 0, loss), np.array([2.0]), (parse(text),), complexity, loss, on_all_rows
    )


def texts(collector):
    return [terms[0].text() for _, terms in collector.best(100)]


def test_sums_of_another_target_are_not_compared_but_kept():
    collector = CandidateCollector()
    collector(reported("x0", 1.0, 3))
    collector(reported("sin(x0)", 0.5, 6))
    collector.start_next_run(n_rows=100)
    collector(reported("x1", 70.0, 3))
    assert set(texts(collector)) == {"x0", "sin(x0)", "x1"}
    assert texts(collector)[0] == "x1"


def test_sums_of_the_same_target_are_compared():
    collector = CandidateCollector()
    collector(reported("x0", 1.0, 3))
    collector.start_next_run()
    collector(reported("exp(x1)", 70.0, 6))
    assert texts(collector) == ["x0"]


def test_kept_candidates_are_restored_from_a_state():
    collector, again = CandidateCollector(), CandidateCollector()
    collector(reported("x0", 1.0, 3))
    collector.start_next_run(n_rows=100)
    collector(reported("x1", 70.0, 3))
    again.restore(collector.state())
    assert texts(again) == texts(collector)
    assert again.runs == 1


def test_candidates_with_a_small_loss_on_all_rows_are_not_displaced_by_overfitted_ones():
    collector, again = CandidateCollector(), CandidateCollector()
    collector(reported("x0", 1.0, 3, on_all_rows=1.2))
    for i, overfitted in enumerate(("sin(x0)", "cos(x0)", "tanh(x0)", "exp(x0)")):
        collector(reported(overfitted, 0.1 - 0.01 * i, 3, on_all_rows=9.0))
    assert "x0" in texts(collector)
    again.restore(collector.state())
    assert texts(again) == texts(collector)


def test_a_candidate_is_collected_once():
    collector = CandidateCollector()
    collector(reported("x0", 1.0, 3))
    collector(reported("x0", 1.0, 3))
    assert texts(collector) == ["x0"]
