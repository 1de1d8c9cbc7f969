"""Functions that have become straight are replaced by lines, and only those."""

import numpy as np
import pytest

from fouriertree import SymbolicRegressor, parse
from fouriertree.search.hybrid.limits import straightened

X = np.random.default_rng(0).uniform(-1.0, 2.0, (40, 2))


@pytest.mark.parametrize(
    "text",
    ["1e4*sin(1e-4*x0)*x1", "3e6*log(2e6 + x0*x1) + sin(x0)", "tanh(1e-3*x0)/sqrt(1e6 + x1)", "exp(1e-4*x0)"],
)
def test_a_straight_function_becomes_a_line_with_the_same_values(text):
    whole = parse(text)
    terms = straightened([1.0], [whole], X)
    assert not any(name in " ".join(map(str, terms)) for name in ("log", "tanh", "exp", "sin(1", "sin(0"))
    columns = np.stack([*(term.evaluate(X) for term in terms), np.ones(len(X))], axis=1)
    y = whole.evaluate(X)
    found = columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    assert np.abs(found - y).max() < 1e-3 * np.ptp(y)


@pytest.mark.parametrize(
    "text", ["sin(x0)", "exp(x0*x1)", "x0^2 + x1", "cos(1e-4*x0)", "3*x0", "1/x0", "sqrt(x0)"]
)
def test_what_is_not_straight_stays(text):
    assert straightened([1.0], [parse(text)], X) is None


def test_a_polynomial_is_found_behind_waves_without_end():
    x = np.random.default_rng(1).uniform(0.0, 1.0, (20, 2))
    y = x[:, 0] ** 4 - x[:, 0] ** 3 + 0.5 * x[:, 1] ** 2 - x[:, 1]
    model = SymbolicRegressor(
        operators=["+", "-", "*", "sin", "cos"], random_state=0, max_evaluations=20_000_000
    )
    found = model.fit(x, y).get_best()["equation"]
    assert "sin" not in found
    assert model.score(x, y) > 1.0 - 1e-9
