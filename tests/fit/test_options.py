"""The table of options: the constructors, the command line and the reference agree with it."""

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer.main

from fouriertree import SymbolicClassifier, SymbolicRegressor, SymbolicTransformer
from fouriertree.cli import app
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.criteria.losses import NAMES
from fouriertree.fit.options import LOSSES, OPTIONS, check_parameters

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {option.name: option for option in OPTIONS}
SELECTIONS = BY_NAME["model_selection"].kind.choices
ESTIMATORS = (SymbolicRegressor, SymbolicClassifier, SymbolicTransformer)


@pytest.fixture(scope="module")
def docs():
    spec = importlib.util.spec_from_file_location("option_docs", ROOT / "tools" / "option_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_of_an_estimator_is_in_the_table_with_its_default(estimator):
    for name, parameter in inspect.signature(estimator).parameters.items():
        assert parameter.default == BY_NAME[name].default, name
        assert name in estimator.__doc__


def test_every_option_is_a_parameter_of_an_estimator():
    names = {name for estimator in ESTIMATORS for name in inspect.signature(estimator).parameters}
    assert names == set(BY_NAME)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_the_default_is_valid_and_the_help_is_one_sentence(option):
    option.check(option.default)
    assert option.help.endswith(".")
    assert ". " not in option.help


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_size", 0, "max_size must be a whole number of at least 1; got 0"),
        ("max_terms", 1.5, "max_terms must be None or a whole number of at least 1; got 1.5"),
        ("time_limit", "soon", "time_limit must be None or a number of seconds, at least 0; got 'soon'"),
        (
            "n_jobs",
            0,
            "n_jobs must be None or a whole number of at least 1, or -1 for one per processor; got 0",
        ),
        ("model_selection", "nice", f"model_selection must be one of {', '.join(SELECTIONS)}; got 'nice'"),
        ("quantile", 1.0, "quantile must be a number between 0 and 1, such as 0.9; got 1.0"),
        ("run_dir", 5, "run_dir must be None or a path; got 5"),
    ],
)
def test_an_invalid_value_is_refused_with_the_valid_ones(name, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_parameters({name: value})


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_size": np.int64(9), "time_limit": np.float32(1.5), "max_evaluations": float("inf")},
        {"progress": np.bool_(True), "warm_start": True, "n_jobs": None, "random_state": np.random.RandomState(0)},
        {"feature_names": np.array(["a"])}, {"feature_names": pd.Index(["a"])}, {"feature_names": ("a", "b")},
        {"run_dir": Path("runs"), "loss": np.subtract},
    ],
)  # fmt: skip
def test_values_of_numpy_and_pandas_are_valid(parameters):
    check_parameters(parameters)


def test_the_losses_are_those_of_the_criteria():
    assert LOSSES == NAMES


def test_the_command_line_has_every_option_with_a_flag_and_the_parameters_follow():
    fit = typer.main.get_command(app).commands["fit"]
    flags = {flag for parameter in fit.params for flag in parameter.opts}
    parameters = FitArguments(data=Path("d.csv")).parameters()
    for option in OPTIONS:
        if option.flag is not None:
            assert "--" + option.key.replace("_", "-") in flags
            assert parameters[option.name] in (option.default, [])


def test_arguments_come_back_from_json_and_damage_is_named():
    given = FitArguments(data=Path("d.csv"), column=["a"], max_size=9, run_dir=Path("runs"))
    record = given.to_json()
    assert Path(record["data"]).is_absolute()
    assert FitArguments.from_json(record).to_json() == record
    assert FitArguments.from_json({"data": "d.csv"}).search == "hybrid"
    for damage in ({"data": None}, {"max_size": "9"}, {"column": "a"}, {"column": [1]}, {"colour": "red"}):
        with pytest.raises(ValueError, match=next(iter(damage))):
            FitArguments.from_json(record | damage)


def test_the_page_of_options_and_the_docstring_are_current(docs):
    assert docs.PAGE.read_text("utf-8") == docs.page(), "run: python tools/option_docs.py"
    assert docs.parameters() in docs.SOURCE.read_text("utf-8"), "run: python tools/option_docs.py"


def test_the_table_imports_nothing_heavy():
    code = "import sys, fouriertree.fit.options; print([m for m in ('numpy', 'numba', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
