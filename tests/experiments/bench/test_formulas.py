"""Expressions of other systems are evaluated with their semantics."""

import numpy as np

from fouriertree.experiments.bench.formulas import evaluate, parse, variables


def test_nested_protected_operators_can_be_evaluated():
    symbols = variables([-1.0])
    text = "guarded(log(abs(guarded(1/x0, x0, 0))), guarded(1/x0, x0, 0), 0)"
    values = evaluate(parse(text, {"x0": symbols[0]}), symbols, np.array([[0.0], [0.5], [-2.0], [1e-9]]))
    assert np.allclose(values, [0.0, np.log(2.0), -np.log(2.0), 0.0])
