"""Formulas of other systems are read as they mean them."""

import numpy as np

from fouriertree.experiments.bench.formulas import evaluate, parse, variables


def test_guards_inside_of_guards_can_be_evaluated():
    symbols = variables([-1.0])
    text = "guarded(log(abs(guarded(1/x0, x0, 0))), guarded(1/x0, x0, 0), 0)"
    values = evaluate(parse(text, {"x0": symbols[0]}), symbols, np.array([[0.0], [0.5], [-2.0], [1e-9]]))
    assert np.allclose(values, [0.0, np.log(2.0), -np.log(2.0), 0.0])
