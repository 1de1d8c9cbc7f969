"""Sums times a function of a product are found; pairs of terms are those of least squares."""

import numpy as np
import pytest

from fouriertree.expr import PrimitiveSet
from fouriertree.search.hybrid.evaluation import Evaluation
from fouriertree.search.hybrid.function_factors import _sums, function_factor_candidates
from tests.search.hybrid.contexts import candidates_of, context_of

X = np.random.default_rng(0).uniform(0.6, 3.0, (400, 4))
a, b, c, d = X.T
LAWS = {
    "1/sqrt(1 + u)": (a - 0.6 * b * c) / np.sqrt(1.0 - 0.03 * c**2 / d**2),
    "exp": (0.7 * a + 1.9 / b) * np.exp(-0.4 * c),
    "sin": (a**2 - 0.3 * b) * np.sin(0.8 * c * d),
    "1/(1 + u)": (a * b + 2.0 * c) / (1.0 + 0.4 * d**2),
}


def candidates(y, table=X, operators=None):
    return candidates_of(function_factor_candidates, context_of(y, table, operators))


@pytest.mark.parametrize("law", LAWS)
def test_a_sum_times_a_function_is_found(law):
    found = candidates(LAWS[law])
    assert found.has_law
    assert found.cost.candidates > 1000


def test_noise_does_not_hide_it():
    y = LAWS["exp"]
    noise = 0.01 * np.sqrt(np.mean(y**2)) * np.random.default_rng(1).normal(size=len(y))
    assert any(found.loss < 1.1e-4 and found.complexity < 30 for found in candidates(y + noise).found)


def test_one_variable_and_few_operators_have_none():
    assert candidates(a, X[:, :1]) == Evaluation()
    assert candidates(LAWS["exp"], operators=PrimitiveSet(["add", "mul"])) == Evaluation()


def test_the_best_pairs_are_those_of_least_squares():
    rng = np.random.default_rng(2)
    M, F = rng.uniform(0.5, 2.0, (5, 40)), rng.uniform(0.5, 2.0, (3, 40))
    y, weights = rng.normal(size=40), rng.uniform(0.5, 2.0, 40)
    found = _sums(np.arange(3), M, y, weights, F)
    roots = np.sqrt(weights)
    for k in range(3):
        losses = {}
        for i in range(5):
            for j in range(i + 1, 5):
                A = (roots * F[k] * M[[i, j]]).T
                solution = np.linalg.lstsq(A, roots * y, rcond=None)[0]
                losses[i, j] = float(np.sum(np.square(roots * y - A @ solution))), solution
        best = min(losses, key=lambda pair: losses[pair][0])
        assert {int(found.first[k]), int(found.second[k])} == set(best)
        loss, solution = losses[best]
        assert found.losses[k] == pytest.approx(loss / float(np.sum(weights * y**2)), rel=1e-6)
        assert sorted([found.c[k], found.d[k]]) == pytest.approx(sorted(solution), rel=1e-6)
