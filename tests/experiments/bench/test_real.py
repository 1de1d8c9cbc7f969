"""Measured sets: equations are compared with the law on the scale on which it was fitted."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from fouriertree.experiments.bench.formulas import evaluate
from fouriertree.experiments.bench.judge import r2
from fouriertree.experiments.bench.names import facts
from fouriertree.experiments.bench.real import (
    SLACK,
    RealSet,
    Verdict,
    bars,
    real_sets,
    verdict,
    with_parameters,
)
from fouriertree.expr import parse
from fouriertree.model import Model

LAW = "2.0*exp(-0.5*x0)"


def real_set(noise=0.01, **changes):
    """A set of the law with noise, whose certified residual is that of the law."""
    X = np.linspace(0.5, 8.0, 40)[:, None]
    law = 2.0 * np.exp(-0.5 * X[:, 0])
    y = law * np.exp(noise * np.random.default_rng(0).standard_normal(40))
    plain = {"r2": r2(y, law), "logarithmic": False, "certified": float(np.sum((y - law) ** 2))}
    return RealSet("decay", X, y, LAW, **{**plain, **changes})


def table(chosen, *others):
    models = [Model.from_expression(parse(text)) for text in (chosen, *others)]
    return SimpleNamespace(model_=models[0], models_=models)


def test_the_law_itself_is_accurate_certified_and_as_long_as_the_law():
    found = verdict(real_set(), table(LAW))
    assert found.accurate
    assert found.certified
    assert found.ratio == 1.0


def test_another_form_is_less_accurate_and_not_certified():
    found = verdict(real_set(), table("1.5 - 0.3*x0"))
    assert not found.accurate
    assert found.certified is False
    assert "less accurate, not certified" in found.line()


def test_any_row_that_is_no_longer_than_the_law_may_reach_the_certified_residual():
    assert verdict(real_set(), table("1.5 - 0.3*x0", LAW)).certified
    longer = "2.0*exp(-0.5*x0) + 0.000000001*sin(x0)"
    assert verdict(real_set(), table("1.5 - 0.3*x0", longer)).certified is False
    assert verdict(real_set(certified=None), table(LAW)).certified is None


def test_on_the_logarithmic_scale_relative_errors_count():
    case = real_set(logarithmic=True, r2=0.99)
    # Its errors are small where the target is large, and as large as the target where it is small.
    shifted = "2.0*exp(-0.5*x0) + 0.02"
    assert r2(case.y, evaluate(case.sympy(shifted), case.symbols, case.X)) > 0.99
    assert not verdict(case, table(shifted)).accurate
    assert verdict(case, table(LAW)).accurate
    assert verdict(case, table("2.0*exp(-0.5*x0) - 0.1")).r2 == -np.inf


def test_longer_equations_have_a_larger_ratio():
    assert verdict(real_set(), table("2.0*exp(-0.5*x0) + 0.001*sin(x0)")).ratio > 1.5


def test_goals_count_accurate_sets_sizes_and_certified_residuals():
    good = Verdict("a", 0.99, 0.99 + 0.9 * SLACK, 10, 10, True, "")
    poor = Verdict("b", 0.9, 0.95, 40, 10, False, "")
    plain = Verdict("c", 0.99, 0.9, 10, 10, None, "")
    measured = [(bar.measured, bar.goal) for bar in bars([good, poor, plain])]
    assert measured == [(pytest.approx(200.0 / 3.0), 90.0), (1.0, 1.5), (1, 2)]
    assert all(bar.ok for bar in bars([good, plain]))


def test_negative_parameters_are_in_parentheses():
    assert with_parameters("b1 - b2*x0**b10", [-1.0, 2.0, *[0.0] * 7, -0.5]) == "(-1.0) - 2.0*x0**(-0.5)"


def test_formulas_have_the_manifests_accuracy_and_the_certified_residual(shared):
    found = {case.name: case for case in real_sets(shared / "real")}
    assert list(found) == list(facts("real"))
    for case in found.values():
        predicted = evaluate(case.law, case.symbols, case.X)
        assert case.r2_of(predicted) == pytest.approx(case.r2, abs=2e-5), case.name
        if case.certified is not None:
            assert np.sum((case.y - predicted) ** 2) == pytest.approx(case.certified, rel=1e-6), case.name
            assert case.complexity > 0


def test_all_sets_with_a_law_but_pipe_friction_have_a_formula(shared):
    manifest = json.loads((shared / "real" / "manifest.json").read_text("utf-8"))
    laws = {entry["name"] for entry in manifest if entry["kind"] == "law"}
    assert laws - set(facts("real")) == {"pipe_friction"}
