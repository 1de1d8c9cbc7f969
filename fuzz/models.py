"""Model files: a loaded model equals its file and saves to the same bytes."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np

from fouriertree import Model, SymbolicRegressor
from fouriertree.engine import ReferenceEngine
from fouriertree.export import ExportError, export
from fouriertree.expr import parse
from fouriertree.runs.model_file import ModelFileError, decoded, encoded_record, from_json

from .cases import check_sentence

#: more features are not evaluated
MAX_FEATURES = 50
EXPORTS = ("python", "c", "sqlite", "excel", "latex", "json", "javascript")


@cache
def model_files() -> list[bytes]:
    """Files of small fits, with names that are identifiers, with other names, and without names."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (40, 2))
    y = 4.0 * np.sin(X[:, 0]) + 0.5 * X[:, 1] + rng.normal(0.0, 0.01, 40)
    files = []
    for names in (["angle", "speed"], ["a b", "x0"], None):
        fitted = SymbolicRegressor(feature_names=names, max_evaluations=3000, random_state=0).fit(X, y)
        files.append(encoded_record(fitted.to_record("y")))
    return files


def check_model_file(data: bytes) -> None:
    try:
        saved = from_json(decoded(data))
    except ModelFileError as error:
        check_sentence(str(error))
        return
    once = encoded_record(saved)
    assert encoded_record(from_json(decoded(once))) == once
    content = json.loads(data)
    assert saved.chosen == content["chosen"]
    assert (saved.names, saved.target) == (
        None if content["names"] is None else tuple(content["names"]),
        content["target"],
    )
    for model, row in zip(saved.models, content["rows"], strict=True):
        check_model(model, row, len(saved.box))
    check_regressor(saved)


def check_model(model: Model, row: dict[str, Any], n_columns: int) -> None:
    """The model predicts the sum of its terms, and its expression is the printed one."""
    assert parse(row["formula"], model.names) == model.expression
    if n_columns > MAX_FEATURES:
        return
    X = np.random.default_rng(1).uniform(-2.0, 2.0, (4, n_columns))
    total = np.zeros(4)
    with np.errstate(all="ignore"):
        for term in row["terms"]:
            total += float(term["coefficient"]) * parse(term["expression"]).evaluate(X)
        found = model.predict(X, ReferenceEngine())
    np.testing.assert_array_equal(found, total)
    for target in EXPORTS:
        try:
            assert export(model, target)
        except ExportError as error:
            check_sentence(str(error))


def check_regressor(saved: Any) -> None:
    """The regressor of any accepted file can be printed and predicts."""
    try:
        regressor = SymbolicRegressor.from_record(saved)
    except ModelFileError as error:
        check_sentence(str(error))
        return
    assert str(regressor).isprintable() or "\n" in str(regressor)
    if len(saved.box) <= MAX_FEATURES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = np.zeros((2, len(saved.box)))
            values = regressor.predict(X, interval=0.9).value
        np.testing.assert_array_equal(values, regressor.model_.predict(X))


def check_description(data: bytes) -> None:
    """`Model.from_json` accepts the output of `to_json`, and refuses other input."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    try:
        model = Model.from_json(content)
    except ValueError as error:
        check_sentence(getattr(error, "reason", str(error)))
        return
    again = Model.from_json(model.to_json())
    assert (again.coefficients, again.expressions, again.names) == (
        model.coefficients,
        model.expressions,
        model.names,
    )


def descriptions() -> list[bytes]:
    models = [
        Model((0.5, 2.0), (parse("1"), parse("sin(x0)")), ("angle",)),
        Model((-1e-300, 3.0), (parse("x0*x1"), parse("pdiv(x0, x2)")), None),
        Model((), (), ()),
    ]
    return [json.dumps(model.to_json()).encode() for model in models]
