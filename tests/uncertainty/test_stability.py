"""Stability: shares count structures for any constants, rows are bootstrapped, and interrupts keep the refits."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree.expr import parse
from fouriertree.model import Model
from fouriertree.search.executors import ProcessPool
from fouriertree.uncertainty.stability import frequencies, stability, structure

X = np.random.default_rng(0).uniform(-2, 2, (40, 2))
Y = 3 * np.sin(X[:, 0]) + X[:, 1]


def model(text):
    return Model.from_expression(parse(text))


def front(*texts):
    """A front whose last equation is the chosen one."""
    return [(i == len(texts) - 1, model(formula)) for i, formula in enumerate(texts)]


SAME = [
    ("2*sin(x0)", "sin(x0)"),
    ("sin(2*x0)", "sin(x0)"),
    ("sin(x0/3)", "sin(x0)"),
    ("sin(-x0)", "sin(x0)"),
    ("sin(x0 + 2)", "sin(3*x0 - 1)"),
    ("x0*x1", "5*x1*x0"),
    ("exp(x0 - x1)", "exp(2*x1 + x0)"),
    ("x0^2.5", "x0^1.5"),
    ("1/(x0 + 1)", "3/(2 - x0)"),
    ("1/x0", "inv(2*x0)"),
    ("x0/(x1*2)/x2", "x0/(x2*x1)"),
    ("x0*(x1/x2)", "x1*x0/x2"),
]
DIFFERENT = [
    ("sin(x0)", "cos(x0)"),
    ("sin(x0)", "sin(x1)"),
    ("sin(x0)", "sin(x0 + 1)"),
    ("x0*x1", "x0/x1"),
    ("x0 + x1", "x0*x1"),
    ("x0^2", "x0^3"),
    ("1/x0", "x0"),
    ("x0/x1", "x1/x0"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_structures_that_differ_in_constants_only_are_the_same(one, other):
    assert structure(parse(one)) == structure(parse(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_structures_that_differ_in_more_are_not(one, other):
    assert structure(parse(one)) != structure(parse(other))


def test_a_form_does_not_depend_on_the_order_of_terms():
    front, refit = [(True, model("2*x0 + sin(x1)"))], [(True, model("3*sin(x1) - x0"))]
    assert frequencies(front, [refit], 1).forms["share_chosen"].tolist() == [1.0]


def test_shares_count_the_refits_that_contain_a_structure():
    original = front("2*x0", "2*x0 + 3*sin(x1)")
    refits = [
        front("1.9*x0", "2.1*x0 + 2.9*sin(1.1*x1)"),
        front("1.9*x0 - 3*sin(x1)", "x0^2"),
        front("x0^2", "x0"),
        front("x0^2", "5*x0"),
    ]
    found = frequencies(original, refits, 4)
    terms = found.terms.set_index("term")
    assert terms.loc["2*x0"].tolist() == [True, 0.75, 1.0]
    assert terms.loc["3*sin(x1)"].tolist() == [True, 0.25, 0.5]
    forms = found.forms.set_index("form")
    assert forms.loc["2*x0"].tolist() == [False, 0.5, 0.75]
    assert forms.loc["2*x0 + 3*sin(x1)"].tolist() == [True, 0.25, 0.5]


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_a_term_of_every_refit_has_share_one_and_a_term_of_none_has_share_zero(seed, n):
    def fit(X, y, weights, seed):
        return front("x0", f"{1 + seed % 7}*x0 + cos(x1)")

    found = stability(fit, X, Y, n=n, seed=seed, original=front("x0", "x0 + sin(x1)"))
    shares = found.terms.set_index("term")["share_chosen"]
    assert shares.to_dict() == {"x0": 1.0, "sin(x1)": 0.0}
    assert found.n == n


def test_rows_are_drawn_with_replacement_and_twice_is_twice_the_weight():
    weights = np.arange(1.0, 41.0)
    calls = []

    def fit(X, y, w, seed):
        calls.append((X, y, w, seed))
        return front("x0")

    stability(fit, X, Y, weights, n=50, seed=3)
    assert np.array_equal(calls[0][0], X)
    for rows, target, w, _ in calls[1:]:
        places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
        times = w / weights[places]
        assert times.sum() == pytest.approx(40)
        assert np.allclose(times, times.round())
        assert np.array_equal(target, Y[places])
    assert len({seed for *_, seed in calls}) == 51
    # Of n rows drawn from n, a share of 1 − 1/e is drawn at least once.
    assert np.mean([len(w) for _, _, w, _ in calls[1:]]) / 40 == pytest.approx(1 - np.exp(-1), abs=0.04)


def test_the_same_seed_draws_the_same_rows():
    drawn = []

    def fit(X, y, weights, seed):
        drawn.append((weights.tolist(), seed))
        return front("x0")

    for _ in range(2):
        stability(fit, X, Y, n=3, seed=9)
    assert drawn[:4] == drawn[4:]


def test_an_interrupt_keeps_what_is_done_so_far():
    done = []

    def fit(X, y, weights, seed):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(seed)
        return front("x0")

    reported = []
    found = stability(fit, X, Y, n=10, original=front("x0"), progress=lambda i, n: reported.append((i, n)))
    assert (found.n, found.requested) == (3, 10)
    assert reported == [(1, 10), (2, 10), (3, 10)]
    assert found.forms["share_chosen"].tolist() == [1.0]
    assert "3 bootstrap refits of 10 (stopped)" in found.text()


def test_without_refits_shares_are_undefined():
    found = frequencies(front("x0"), [], 5)
    assert found.terms["share_chosen"].isna().all()
    assert "is not known" in found.text()
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["forms"][0]["share_front"] is None


def test_the_text_has_the_shares_of_the_chosen_equation_and_its_terms():
    found = frequencies(front("2*x0", "2*x0 + 3*sin(x1)"), [front("x0"), front("x0 + sin(x1)")], 2)
    assert found.text().splitlines() == [
        "In 2 bootstrap refits, the form of the chosen equation was chosen in 50 % and on the front in 50 %.",
        "2*x0: in the chosen equation in 100 %, on the front in 100 %.",
        "3*sin(x1): in the chosen equation in 50 %, on the front in 50 %.",
    ]


def test_a_front_without_a_chosen_equation_is_rejected():
    with pytest.raises(ValueError, match="chosen"):
        stability(lambda *_: [], X, Y, original=[(False, model("x0"))])


def test_tables_are_data_frames_with_plain_columns():
    found = frequencies(front("x0"), [front("x0")], 1)
    assert isinstance(found.terms, pd.DataFrame)
    assert list(found.terms) == ["term", "chosen", "share_chosen", "share_front"]
    assert list(found.forms) == ["form", "chosen", "share_chosen", "share_front"]


def front_of_sample(X, y, weights, seed):
    """A front that depends on the sample."""
    return front("x0", f"{1 + seed % 3}*x0 + {'cos' if weights.sum() + seed % 2 > 40.5 else 'sin'}(x1)")


def test_the_result_does_not_depend_on_the_executor():
    expected = stability(front_of_sample, X, Y, n=6, seed=1).to_json()
    with ThreadPoolExecutor(2) as threads, ProcessPool(2) as processes:
        for executor in (threads, processes):
            assert stability(front_of_sample, X, Y, n=6, seed=1, executor=executor).to_json() == expected


def test_an_interrupt_of_workers_keeps_what_is_done_so_far():
    def interrupt(done, n):
        if done == 2:
            raise KeyboardInterrupt

    with ProcessPool(2) as pool:
        found = stability(front_of_sample, X, Y, n=6, original=front("x0"), progress=interrupt, executor=pool)
    assert (found.n, found.requested) == (2, 6)
