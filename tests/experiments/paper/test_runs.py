"""Single runs: evaluations, losses and series."""

import numpy as np
import pytest

from fouriertree.experiments.paper import facts, lsp, runs
from fouriertree.experiments.paper.exact import exact_loss, integer_polynomial
from fouriertree.experiments.paper.runs import Record, WatchedGP, met, run_benchmark, shape_of_sum
from fouriertree.experiments.paper.tasks import Task, perform, search_of
from fouriertree.expr.generate import RampedHalfAndHalf
from fouriertree.expr.polynomial import normal_form
from fouriertree.problems import LargeScalePolynomial, get_problem
from fouriertree.search import Budget, run


def test_a_tolerance_is_met_at_the_first_loss_that_is_not_above_it():
    assert met([(1, 5.0), (501, 1.0), (1001, 1e-9)]) == [501, *[1001] * 8]


def test_a_count_above_the_budget_is_a_failure():
    assert met([(1, 0.5), (100_001, 0.0)]) == [1, *[None] * 8]


@pytest.mark.parametrize("algorithm", facts.ALGORITHMS)
def test_the_same_task_gives_the_same_record(algorithm):
    task = Task("table", algorithm, "koza2", 3)
    first, second = perform(task), perform(task)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert first["test_mse"] >= 0.0
    assert first["reached"] == sorted(first["reached"], key=lambda n: np.inf if n is None else n)


@pytest.mark.parametrize(
    ("algorithm", "first", "step"), [("(1+lambda)-GP", 1, 500), ("Canonical-GP", 500, 498)]
)
def test_gp_counts_at_the_end_of_a_generation(algorithm, first, step):
    for n in run_benchmark(Task("table", algorithm, "koza1", 1))["reached"]:
        assert n is None or (n - first) % step == 0


def test_the_first_record_of_ftg_is_at_three_evaluations():
    record = Record()
    run(search_of(Task("table", "FTG", "koza3", 0)), get_problem("koza3").problem(0), Budget(50), [record])
    assert record.losses[0][0] == 3


def test_tolerances_first_met_by_the_last_basis_before_the_budget_is_exhausted_are_failures_as_run(
    monkeypatch,
):
    tight = Budget(300, target_loss=1e-8)
    monkeypatch.setitem(runs.BUDGETS, "table", tight)
    lost = 0
    for seed in range(12):
        task, record = Task("table", "FTG", "nguyen4", seed), Record()
        ended = run(search_of(task), get_problem("nguyen4").problem(seed), tight, [record], seed)
        last = record.losses[-1][0] if ended.reason == "traverses used up" else None
        found = run_benchmark(task)
        assert found["reached_as_run"] == [
            None if n is not None and n == last else n for n in found["reached"]
        ]
        lost += found["reached_as_run"] != found["reached"]
    assert lost > 0


# Polynomials -----------------------------------------------------------------------------------------
def test_integer_polynomials_equal_the_normal_forms_of_rational_arithmetic():
    grammar = LargeScalePolynomial(10).grammar
    for tree in RampedHalfAndHalf().draw(grammar, 0, 0, 200):
        assert integer_polynomial(tree) == normal_form(tree)


def test_the_exact_loss_of_the_target_itself_is_zero():
    target = LargeScalePolynomial(4).target
    assert exact_loss(target, [1.0], [target], -1.0, 1.0) == 0.0
    assert exact_loss(target, [0.0], [target], -1.0, 1.0) == float((target * target).integral(-1, 1))


def test_the_shape_of_a_sum_is_that_of_its_tree():
    from fouriertree.expr import parse

    elements = [parse("1"), parse("x0*x0"), parse("x0 + x0*x0")]
    tree = None
    for element in elements:
        term = 2.0 * element
        tree = term if tree is None else tree + term
    assert shape_of_sum([e.size for e in elements], [e.depth for e in elements]) == (tree.size, tree.depth)


@pytest.mark.parametrize("algorithm", ["(1+lambda)-GP", "Canonical-GP"])
def test_a_watched_gp_is_the_same_search(algorithm):
    task, problem = Task("lsp", algorithm, "lsp10", 0), get_problem("lsp10").exact_problem()
    watched = WatchedGP(search_of(task))
    ended = run(watched, problem, Budget(3000), seed=5)
    plain = run(search_of(task), problem, Budget(3000), seed=5)
    assert ended.state.expression == plain.state.expression
    # 3,000 evaluations: the first generation, and as many of 500 or 498 as it takes to pass the budget.
    assert len(watched.lines) == 7
    losses = [line[0] for line in watched.lines]
    assert losses == sorted(losses, reverse=True)


def test_ftg_is_placed_on_the_axis_by_its_evaluations():
    record = {"evaluations": 1300, "accepted_at": [2, 400, 1300], "series": {"loss": [3.0, 2.0, 1.0]}}
    axis = lsp.on_axis(record, "loss")
    assert axis[:4].tolist() == [3.0, 2.0, 2.0, 1.0]
    assert np.isnan(axis[4:]).all()


def test_means_are_over_the_runs_that_have_not_ended():
    mean, sd = lsp.mean_and_sd(np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]]))
    assert mean[:2].tolist() == [2.0, 2.0]
    assert sd[:2].tolist() == [1.0, 0.0]
    assert np.isnan(mean[2])
