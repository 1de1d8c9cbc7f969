"""The stored facts of the cases are the published ones."""

import json

import numpy as np
import pytest
import sympy

from fouriertree.experiments.bench.names import SUITES, case_names, facts, quick_names
from fouriertree.experiments.bench.sampling import Range, table
from fouriertree.experiments.bench.suites import draw, measured_path

COUNTS = {
    "feynman": 48, "classic": 46, "strogatz": 6, "srsd-easy": 30, "everyday": 24, "feynman-solved": 47,
    "compositions": 24, "first-principles": 6, "blackbox": 12,
}  # fmt: skip


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_has_its_number_of_cases(suite):
    assert len(case_names(suite)) == COUNTS[suite]


def published(shared, file):
    return {case["name"]: case for case in json.loads((shared / f"{file}.json").read_text())}


def same_formula(ours, theirs):
    names = {
        "E": sympy.Symbol("E"),
        "I": sympy.Symbol("I"),
        "beta": sympy.Symbol("beta"),
        "gamma": sympy.Symbol("gamma"),
    }
    return sympy.sympify(ours, locals=names) == sympy.sympify(theirs, locals=names)


@pytest.mark.parametrize("suite", ["feynman", "srsd-easy"])
def test_laws_and_ranges_are_the_published_ones(shared, suite):
    theirs = published(shared, suite.replace("-", "_"))
    ours = facts(suite.replace("-", "_"))
    assert list(ours) == list(theirs)
    laws = {"uniform": "uniform", "loguniform": "log", "integer": "integer"}
    for name, case in theirs.items():
        assert same_formula(ours[name]["formula"], case["formula"]), name
        assert list(ours[name]["ranges"]) == [variable["name"] for variable in case["variables"]]
        for law, variable in zip(ours[name]["ranges"].values(), case["variables"], strict=True):
            read = Range.read(law) if isinstance(law, str) else Range("uniform", *law)
            assert read.law == laws[variable["distribution"]], name
            assert (read.low, read.high) == pytest.approx((variable["low"], variable["high"]), rel=1e-15), (
                name
            )
            assert read.signed == (variable.get("sign") == "+-"), name


def test_everyday_laws_have_the_published_values(shared):
    theirs, ours = published(shared, "everyday"), facts("everyday")
    assert list(ours) == list(theirs)
    for name, case in theirs.items():
        assert ours[name]["ranges"] == {column: [low, high] for column, low, high in case["box"]}
        data = draw("everyday", name, 50, np.random.default_rng(0), None)
        law = sympy.lambdify(case["inputs"], sympy.sympify(case["formula"]))
        np.testing.assert_allclose(data.y, law(*data.X.T), rtol=1e-12)


def test_classic_functions_and_samples_are_the_published_ones(shared):
    ours, theirs = facts("classic"), published(shared, "classic")
    assert list(ours) == list(theirs)
    for name, case in theirs.items():
        assert same_formula(ours[name]["formula"], case["formula"]), name
        assert ours[name]["train"] == case["train_spec"]["all"], name
        assert ours[name]["test"] == case["test_spec"]["all"], name
        data = draw("classic", name, 0, np.random.default_rng(0), None)
        assert data.X.shape[1] == len(case["variables"]), name


def test_trajectories_have_the_published_laws(shared):
    for name, case in published(shared, "strogatz").items():
        system, k = name.removeprefix("strogatz_")[:-1], int(name[-1]) - 1
        assert same_formula(facts("strogatz")[system]["formulas"][k], case["formula"])
        X, y = table(shared / case["data"])
        law = sympy.lambdify(sympy.symbols("x y"), sympy.sympify(facts("strogatz")[system]["formulas"][k]))
        np.testing.assert_allclose(law(*X.T), y, atol=1e-12)


def test_simulated_trajectories_start_where_the_recorded_ones_do_and_stay_in_their_box(shared):
    for name in ("strogatz_lv1", "strogatz_lv2"):
        recorded, simulated = (draw("strogatz", name, 0, np.random.default_rng(0), f) for f in (shared, None))
        np.testing.assert_allclose(simulated.box[:, 1], recorded.box[:, 1])
        np.testing.assert_allclose(simulated.box[:, 0], recorded.box[:, 0], atol=0.02)


def test_the_tables_of_measurements_exist(shared):
    for suite in ("first-principles", "blackbox"):
        for case in case_names(suite):
            X, y = table(measured_path(suite, case, shared))
            assert len(X) == len(y) > 5


def test_the_short_list_is_the_published_one_and_names_cases_that_exist(shared):
    for key, names in json.loads((shared / "quick.json").read_text()).items():
        suite = key.replace("_", "-")
        assert quick_names(suite) == names
        assert set(names) <= set(case_names(suite))
