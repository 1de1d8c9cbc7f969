"""Problems by name."""

import pytest

from fouriertree.problems import (
    Benchmark,
    LargeScalePolynomial,
    get_problem,
    register_problem,
    registered_problems,
    unregister_problem,
)


@pytest.fixture
def mine():
    problem = register_problem(Benchmark("mine", "x0^2 + 1", (0.0, 3.0), n_points=7))
    yield problem
    unregister_problem("mine")


def test_a_registered_problem_is_found_and_can_be_run(mine):
    assert get_problem("mine") is mine
    assert get_problem("mine").problem(0).space.dimension == 7
    assert list(registered_problems())[-1] == "mine"


def test_the_papers_problems_are_registered():
    assert list(registered_problems())[:9] == list(__import__("fouriertree").problems.CONVENTIONAL)
    assert get_problem("lsp10") == LargeScalePolynomial(10)
    assert get_problem("lsp7") == LargeScalePolynomial(7)


def test_a_name_is_not_taken_twice_by_accident(mine):
    with pytest.raises(ValueError, match="'mine' is registered already"):
        register_problem(Benchmark("mine", "x0"))
    assert register_problem(Benchmark("mine", "x0"), replace=True).formula == "x0"


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Benchmark("bad", "x0 + x1"), "x0 only"),
        (Benchmark("bad", "x0", (1.0, 1.0)), "a < b"),
        (Benchmark("bad", "x0", n_points=0), "at least one point"),
        (Benchmark("bad", "sinn(x0)"), "sin"),
        (LargeScalePolynomial(3), "has no name"),
    ],
)
def test_an_invalid_problem_is_rejected(problem, message):
    with pytest.raises(ValueError, match=message):
        register_problem(problem)
    assert "bad" not in registered_problems()


def test_a_polynomial_is_registered_under_a_user_defined_name():
    register_problem(LargeScalePolynomial(2, coefficients=(1, 2, 3)), name="parabola")
    try:
        assert get_problem("parabola").degree == 2
    finally:
        unregister_problem("parabola")


def test_an_unknown_name_is_refused_with_the_valid_ones():
    with pytest.raises(ValueError, match=r"unknown problem 'koza9'; add it with register_problem.*'koza1', "):
        get_problem("koza9")
