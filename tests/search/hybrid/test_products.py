"""Functions of products c·P·f(a·Q) + d·m: exponents are fitted to the logarithm, whatever P is."""

import numpy as np
import pytest

from fouriertree.expr import PrimitiveSet
from fouriertree.expr.opcodes import VAR
from fouriertree.search.hybrid import logarithms
from fouriertree.search.hybrid.evaluation import Evaluation
from fouriertree.search.hybrid.logarithms import LogProblem
from fouriertree.search.hybrid.products import product_candidates, shapes
from fouriertree.search.hybrid.reductions import Reduction
from tests.search.hybrid.contexts import candidates_of, context_of

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 4.0, (300, 4))
a, b, c, d = X.T
LAWS = {
    "exp": 1.8 * a * np.sqrt(b / d) * np.exp(-0.0072 * b**2 * c**2 * d / np.sqrt(a)) + 0.8 * c**2 / d,
    "1/(1 + u)": -0.5 * b * d**2 / (1.0 + 0.39 * np.sqrt(a) * c / b),
    "tanh": 0.4 * a / b * np.tanh(0.03 * a**2 * c**2),
    "atan": 0.9 * np.sqrt(b) / d * np.arctan(0.24 * a**2 * np.sqrt(c)) + 0.1 * c**2,
    "asin": 0.3 * a * np.arcsin(-0.12 * np.sqrt(b) * c),
    "sinh": 1.2 * d / a * np.sinh(0.3 * b / c),
    "log": -1.4 * a**2 * b * np.log(0.33 * b / a**2) - 9.0 / b,
}


def candidates(target, table=X, operators=None):
    return candidates_of(product_candidates, context_of(target, table, operators))


@pytest.mark.parametrize("function", LAWS)
def test_a_function_of_a_product_is_found(function):
    found = candidates(LAWS[function])
    assert found.has_law
    assert found.cost.candidates > 1000


@pytest.mark.parametrize("function", ["exp", "asin", "sinh"])
def test_noise_does_not_hide_it(function):
    law = LAWS[function]
    scale = 0.01 * np.sqrt(np.mean(law**2))
    found = candidates(law + scale * np.random.default_rng(1).normal(size=len(law)))
    assert min(candidate.loss for candidate in found.found) < 1.1e-4


def test_variables_of_both_signs_and_few_operators_have_none():
    assert candidates(a * np.exp(b), X - 2.0) == Evaluation()
    assert candidates(a * np.exp(b), X[:, :1]) == Evaluation()
    assert candidates(a * np.exp(b), operators=PrimitiveSet(["add", "mul"])) == Evaluation()


def test_only_allowed_functions_are_written():
    found = candidates(LAWS["tanh"], operators=PrimitiveSet(["add", "mul", "div", "exp", "sqrt"]))
    expressions = [e for f in found.found for e in f.terms]
    names = {e.primitives.by_opcode(int(code)).name for e in expressions for code in e.op if code > VAR}
    assert names <= {"add", "mul", "div", "exp", "sqrt", "pow"}


def problem_of(target):
    context = context_of(target, X)
    problem = LogProblem.of(context, Reduction(context.data.variables))
    assert problem is not None
    return problem


def test_losses_by_matrix_products_are_those_of_least_squares():
    problem = problem_of(LAWS["exp"])
    shapes = np.random.default_rng(0).normal(size=(3, logarithms.ROWS))
    terms, offsets = np.array([0, 5, 20]), np.array([0.0, 0.3, -0.2])
    losses = problem._losses(terms, offsets, shapes)
    z, slope, w = problem.logarithm(terms, offsets)
    for i in range(3):
        for j in range(3):
            columns = [*problem.linear, shapes[j], *([slope[i]] if terms[i] else [])]
            A = (w[i] * np.array(columns)).T
            error = w[i] * z[i] - A @ np.linalg.lstsq(A, w[i] * z[i], rcond=None)[0]
            assert losses[i, j] == pytest.approx(error @ error, rel=1e-6)


def test_exponents_are_fitted_where_only_some_are_right_at_first():
    problem = problem_of(LAWS["exp"])
    with np.errstate(all="ignore"):
        shape = shapes(problem.logs)[0]
        best = problem.optimized(problem.first_pairs(shape), shape).best(1, 1)
    powers = best.parameters[0, :-1]
    powers = powers / np.abs(powers).max()
    variables = context_of(LAWS["exp"], X).data.features
    expected = np.array([-0.25, 1.0, 1.0, 0.5])[variables]
    np.testing.assert_allclose(np.abs(powers), np.abs(expected), atol=1e-6)
