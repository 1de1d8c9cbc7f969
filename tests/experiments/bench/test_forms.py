"""Forms of measured laws are recognised however an expression is written."""

import numpy as np
import pytest

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import parse, variables
from fouriertree.experiments.bench.judge import has_form


def recognised(formula, law, X):
    X = np.asarray(X, dtype=float)
    symbols = tuple(variables(X.min(axis=0).tolist()))
    data = Data(X, X[:, 0], X, X[:, 0], symbols, law=law)
    return has_form(parse(formula, {str(s): s for s in symbols}), data)


AXES = np.array([[0.4], [0.7], [1.0], [1.5], [5.2], [9.5]])
ORBITS = np.array([[-1000.0], [0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
GAS = np.random.default_rng(0).uniform(20.0, 400.0, (30, 3))


@pytest.mark.parametrize(
    ("formula", "law", "X", "is_it"),
    [
        ("365.1*x0*sqrt(x0)", "power 1.5", AXES, True),
        ("365.1*exp(1.5*log(x0)) + 1e-6", "power 1.5", AXES, True),
        ("365.1*x0^1.52", "power 1.5", AXES, False),
        ("365.1*x0^1.5 + 20", "power 1.5", AXES, False),
        ("0.0821*x0*x1/x2", "power 1 1 -1", GAS, True),
        ("x1/(12.2*x2/x0)", "power 1 1 -1", GAS, True),
        ("0.0821*x0/x2", "power 1 1 -1", GAS, False),
        ("17.0", "power 1 1 -1", GAS, False),
        ("log(7/x0^2)", "log-power -2", AXES, True),
        ("7/x0^2", "log-power -2", AXES, False),
        ("0.39 + 0.3*2^x0", "exponential 0.6931471805599453", ORBITS, True),
        ("0.4 + exp(0.68*x0 - 1.1)", "exponential 0.6931471805599453", ORBITS, True),
        ("0.4 + exp(0.9*x0 - 1.1)", "exponential 0.6931471805599453", ORBITS, False),
        ("0.4 + 0.5*x0^2", "exponential 0.6931471805599453", ORBITS, False),
        ("6.15", "exponential 0.6931471805599453", ORBITS, False),
    ],
)
def test_a_form_is_recognised_by_its_differential_equation(formula, law, X, is_it):
    assert recognised(formula, law, X) == is_it
