"""What has been found so far."""

import numpy as np

from fouriertree import parse
from fouriertree.search import Progress, Reported
from fouriertree.search.observers import CandidateCollector


def offered(text, loss, complexity, everywhere=None):
    everywhere = loss if everywhere is None else everywhere
    return Reported(Progress(0, 0, 0, 0, loss), np.array([2.0]), (parse(text),), complexity, loss, everywhere)


def texts(found):
    return [terms[0].text() for _, terms in found.best(100)]


def test_sums_of_another_target_are_not_compared_but_kept():
    found = CandidateCollector()
    found(offered("x0", 1.0, 3))
    found(offered("sin(x0)", 0.5, 6))
    found.start_next_run(n_rows=100)
    found(offered("x1", 70.0, 3))
    assert set(texts(found)) == {"x0", "sin(x0)", "x1"}
    assert texts(found)[0] == "x1"


def test_sums_of_the_same_target_are_compared():
    found = CandidateCollector()
    found(offered("x0", 1.0, 3))
    found.start_next_run()
    found(offered("exp(x1)", 70.0, 6))
    assert texts(found) == ["x0"]


def test_what_was_set_aside_comes_back_from_a_state():
    found, again = CandidateCollector(), CandidateCollector()
    found(offered("x0", 1.0, 3))
    found.start_next_run(n_rows=100)
    found(offered("x1", 70.0, 3))
    again.restore(found.state())
    assert texts(again) == texts(found)
    assert again.runs == 1


def test_what_holds_on_all_rows_is_not_pushed_out_by_what_fits_by_luck():
    found, again = CandidateCollector(), CandidateCollector()
    found(offered("x0", 1.0, 3, everywhere=1.2))
    for i, lucky in enumerate(("sin(x0)", "cos(x0)", "tanh(x0)", "exp(x0)")):
        found(offered(lucky, 0.1 - 0.01 * i, 3, everywhere=9.0))
    assert "x0" in texts(found)
    again.restore(found.state())
    assert texts(again) == texts(found)


def test_a_sum_is_finished_once():
    found = CandidateCollector()
    found(offered("x0", 1.0, 3))
    found(offered("x0", 1.0, 3))
    assert texts(found) == ["x0"]
