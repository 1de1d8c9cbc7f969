"""The benchmarks of the paper: formulas, intervals, points and seeds."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fouriertree.engine import ReferenceEngine
from fouriertree.expr import parse
from fouriertree.expr.generate import RampedHalfAndHalf
from fouriertree.expr.polynomial import Polynomial, normal_form
from fouriertree.problems import CONVENTIONAL, LargeScalePolynomial

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper"
FORMULAS = {
    "koza1": (lambda x: x**4 + x**3 + x**2 + x, (-1, 1)),
    "koza2": (lambda x: x**5 - 2 * x**3 + x, (-1, 1)),
    "koza3": (lambda x: x**6 - 2 * x**4 + x**2, (-1, 1)),
    "nguyen3": (lambda x: sum(x**i for i in range(1, 6)), (-1, 1)),
    "nguyen4": (lambda x: sum(x**i for i in range(1, 7)), (-1, 1)),
    "nguyen5": (lambda x: math.sin(x**2) * math.cos(x) - 1, (-1, 1)),
    "nguyen6": (lambda x: math.sin(x) + math.sin(x + x**2), (-1, 1)),
    "nguyen7": (lambda x: math.log(x + 1) + math.log(x**2 + 1), (0, 2)),
    "nguyen8": (lambda x: math.sqrt(x), (0, 4)),
}


def test_there_are_nine():
    assert set(CONVENTIONAL) == set(FORMULAS)
    assert all(benchmark.name == name for name, benchmark in CONVENTIONAL.items())


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_and_its_interval_are_the_papers(name):
    function, interval = FORMULAS[name]
    benchmark = CONVENTIONAL[name]
    assert benchmark.interval == interval
    x = np.linspace(*interval, 101)
    values = benchmark.expression.evaluate(x[:, None])
    np.testing.assert_allclose(values, [function(v) for v in x], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", FORMULAS)
def test_every_run_has_its_own_twenty_points_in_the_interval(name):
    function, (low, high) = FORMULAS[name]
    benchmark = CONVENTIONAL[name]
    X, y = benchmark.sample(3)
    assert X.shape == (20, 1)
    assert y.shape == (20,)
    assert ((low <= X) & (high >= X)).all()
    np.testing.assert_allclose(y, [function(v) for v in X[:, 0]], rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(benchmark.sample(3)[0], X)
    assert not np.isin(benchmark.sample(4)[0], X).any()


@pytest.mark.parametrize("name", FORMULAS)
def test_points_are_uniform_in_the_interval(name):
    low, high = CONVENTIONAL[name].interval
    X, _ = CONVENTIONAL[name].sample(0, n=20_000)
    assert X.shape == (20_000, 1)
    assert X.mean() == pytest.approx((low + high) / 2, abs=5 * (high - low) / math.sqrt(12 * 20_000))
    assert X.min() < low + (high - low) / 1000
    assert X.max() > high - (high - low) / 1000


def test_a_problem_has_the_papers_space_and_grammar():
    problem = CONVENTIONAL["nguyen7"].problem(5, ReferenceEngine())
    X, y = CONVENTIONAL["nguyen7"].sample(5)
    np.testing.assert_array_equal(problem.space.X, X)
    np.testing.assert_array_equal(problem.space.target, y)
    assert isinstance(problem.space.engine, ReferenceEngine)
    assert problem.space.dimension == 20
    assert problem.grammar.primitives.names == ("add", "sub", "mul", "pdiv", "sin", "cos", "plog")
    assert (problem.grammar.constant_share, problem.grammar.constants) == (0.5, (-1.0, 1.0))
    assert (problem.grammar.n_columns, problem.name) == (1, "nguyen7")


def test_the_benchmarks_are_those_of_the_authors_runs():
    runs = PAPER / "authors_ftg_runs.csv"
    if not runs.exists():
        pytest.skip("the folder ../shared with the authors' runs is not beside this checkout")
    with runs.open() as file:
        names = {row["benchmark"].lower().replace("-", "").replace("_", "") for row in csv.DictReader(file)}
    assert names == set(CONVENTIONAL)


# Large-scale polynomials -----------------------------------------------------------------------------
@pytest.mark.parametrize("degree", [0, 3, 100])
def test_the_large_polynomial_is_the_sum_of_all_powers(degree):
    target = LargeScalePolynomial(degree).target
    assert target.coefficients == (1,) * (degree + 1)
    x = Fraction(1, 3)
    assert target(x) == (1 - x ** (degree + 1)) / (1 - x)


def test_its_coefficients_can_be_chosen():
    lsp = LargeScalePolynomial(2, coefficients=[1, 0, Fraction(1, 2)])
    assert lsp.target == Polynomial.of([1, 0, Fraction(1, 2)])


def test_its_grammar_is_that_of_the_published_runs():
    grammar = LargeScalePolynomial(5).grammar
    assert grammar.primitives.names == ("add", "mul", "sub")
    batch = RampedHalfAndHalf(1, 5).draw(grammar, 0, 0, 500)
    constants = {c for tree in batch for c in tree.constants}
    assert constants == {1.0}
    assert batch.n_columns == 1


@pytest.mark.parametrize("degree", [1, 10])
def test_its_two_spaces_agree(degree):
    lsp = LargeScalePolynomial(degree)
    exact, quadrature = lsp.exact_problem().space, lsp.problem().space
    assert quadrature.target @ quadrature.target == pytest.approx(exact.target @ exact.target, rel=1e-14)
    for text in ("1", "x0", "x0*x0 - 1"):
        moments = [s.coordinates([parse(text)])[0] @ s.target for s in (exact, quadrature)]
        assert moments[0] == pytest.approx(moments[1], rel=1e-14)
        assert moments[0] == pytest.approx(
            float((normal_form(parse(text)) * lsp.target).integral(-1, 1)), rel=1e-13
        )


def test_quadrature_has_enough_nodes_for_the_largest_tree():
    space = LargeScalePolynomial(10).problem().space
    # Trees of ten levels reach degree 512, and their squares 1024.
    assert 2 * space.dimension - 1 >= 2 * 512
    assert LargeScalePolynomial(700).problem().space.dimension > 700
    assert space.weights @ space.X[:, 0] ** 1024 == pytest.approx(2 / 1025, rel=1e-14)
