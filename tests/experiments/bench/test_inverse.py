"""The stored solutions invert the laws that they were solved from."""

import numpy as np
import pytest

from fouriertree.experiments.bench.formulas import size
from fouriertree.experiments.bench.inverse import OUTPUT, Inverse
from fouriertree.experiments.bench.names import FEYNMAN, FEYNMAN_SOLVED, facts
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.suites import load

SOLUTIONS = facts("feynman_solved")


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_solution_inverts_its_law_on_samples_of_the_ranges(name):
    inverse = Inverse.of(SOLUTIONS[name])
    X = inverse.draw(500, np.random.default_rng(0))
    again = X.copy()
    again[:, inverse.place] = inverse.solution(X)
    low, high = inverse.bounds[inverse.place]
    assert again[:, inverse.place].min() >= low - 1e-6
    assert again[:, inverse.place].max() <= high + 1e-6
    # Near a maximum of the law, a small change of the variable hardly changes the value, but not conversely.
    np.testing.assert_allclose(inverse.law(again), X[:, inverse.place], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_most_samples_of_the_ranges_are_kept(name):
    _, same = Inverse.of(SOLUTIONS[name]).sample(2000, np.random.default_rng(1))
    assert same.mean() > 0.45


def test_every_law_is_solved_at_most_once_for_one_of_its_variables():
    laws = [fact["law"] for fact in SOLUTIONS.values()]
    assert len(laws) == len(set(laws)) >= 40
    for name, fact in SOLUTIONS.items():
        assert fact["variable"] in facts(FEYNMAN)[fact["law"]]["ranges"]
        assert name == f"{fact['law']}_for_{fact['variable']}"
        assert OUTPUT in fact["formula"]


@pytest.mark.parametrize("disguise", [False, True])
def test_the_features_are_those_of_the_law_with_its_value_in_place_of_the_variable(disguise):
    name = "feynman_I_10_7_for_v"
    data = load(FEYNMAN_SOLVED, name, 0, 60, 0.0, disguise, None)
    assert data.X.shape == (60, len(facts(FEYNMAN)[SOLUTIONS[name]["law"]]["ranges"]))
    assert structure_right(data.truth, data)
    assert not structure_right(data.truth * data.symbols[0], data)


def test_solutions_are_not_bloated():
    for name in SOLUTIONS:
        solution = load(FEYNMAN_SOLVED, name, 0, 20, 0.0, False, None).truth
        law = load(FEYNMAN, SOLUTIONS[name]["law"], 0, 20, 0.0, False, None).truth
        assert size(solution) <= 2 * size(law) + 14, name
