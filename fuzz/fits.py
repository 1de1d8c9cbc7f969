"""Tables and parameters of a fit: predictions equal the values of the printed expression, or one error message."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fouriertree import FTG, SymbolicRegressor
from fouriertree.expr import parse

from .cases import Choices, check_sentence
from .names import HOSTILE

Table = Any
nan, inf = math.nan, math.inf
SHAPES = [(12, 2), (30, 2), (2, 1), (3, 3), (1, 2), (0, 2), (12, 0), (5, 40), (25, 1)]
SCALES = [1.0, 1e300, 1e-300, 5e-324, 1e150, 1e-150, 1e16, 0.0, 1e-8]
CELLS: list[Any] = [
    nan, inf, -inf, None, "a", "1.5", "", b"1", True, 2**60 + 1, 10**400, 1j, {}, [1], pd.NA, pd.NaT, Fraction(1, 3),
    Decimal("1e400"), date(2020, 1, 1), object, np.float64(1e308), "1_0", "\ud800", 5e-324, -0.0,
]  # fmt: skip
NAMES = [name for name in HOSTILE if "\ud800" not in name]


def masked(X: Any) -> Any:
    return np.ma.array(X, mask=np.asarray(X) > 1.0)


def longer(X: Any) -> Any:
    return np.repeat(X, 2, axis=0)[::2]


def read_only(X: Any) -> Any:
    X = np.array(X)
    X.setflags(write=False)
    return X


def categories(X: Any) -> Any:
    return pd.DataFrame(np.round(X)).astype("category")


def dates(X: Any) -> Any:
    return pd.DataFrame({"when": pd.date_range("2020", periods=len(X)), "b": np.arange(len(X))})


#: conversions of a numeric table, to valid and invalid forms
FORMS: list[Callable[[Any], Table]] = [
    lambda X: X, lambda X: X.tolist(), np.asfortranarray, longer, lambda X: X[::-1, ::-1], read_only, masked,
    lambda X: X.astype(np.float32), lambda X: X.astype(np.float16), lambda X: X.astype(np.longdouble) * 2,
    lambda X: X.astype(object), lambda X: X.astype(str), lambda X: X > 0, lambda X: np.round(X * 9).astype(np.int64),
    lambda X: X.astype(">f8"), lambda X: X[:, 0], lambda X: X[:, :, None], lambda X: X + 1j, sparse.csr_matrix,
    lambda X: X.astype("M8[s]"), lambda X: np.hstack([X, X]), lambda X: np.hstack([X, np.ones((len(X), 1))]),
    lambda X: None, lambda X: "table", lambda X: iter(X), np.matrix, categories, dates, pd.DataFrame,
    lambda X: pd.DataFrame(X).astype("Float64"), lambda X: pd.DataFrame(X).astype(pd.SparseDtype(float)),
    lambda X: pd.DataFrame(X, index=range(7, 7 + len(X))), lambda X: pd.DataFrame(X > 0),
]  # fmt: skip
WRONG: list[Any] = [
    0, -1, 1, 3, nan, inf, -inf, "", "a", None, [], {}, [1], ["a"], {"sin": 1}, {"sin": {"sin": 0}}, {1: 2},
    1.5, 10**30,
    -(10**30), True, np.int64(3), np.array([1, 2]), pd.NA, 1j, object, ["+", "sin"], ["+", "+"], ["\ud800", "b"], "sin",
    ["p", "q"], ["a*x0"], ["x0 + x99"], ["sin("], ["a+" * 400 + "a"], FTG(max_terms=2), {"sin": "a"}, b"x", 1e300,
]  # fmt: skip
PARAMETERS = sorted(set(SymbolicRegressor().get_params()))
REFUSALS = (ValueError, TypeError)


def check_fit(data: bytes) -> None:
    """The bytes choose a table, a target and parameters."""
    choices = Choices(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = make_table(choices)
        parameters = make_parameters(choices)
        try:
            fitted = SymbolicRegressor(**parameters).fit(X, y)
        except REFUSALS as error:
            check_refused(error)
            return
        check_fitted(fitted, X)


def make_table(choices: Choices) -> tuple[Any, Any]:
    rows, columns = choices.pick(SHAPES)
    rng = np.random.default_rng(choices.number(256))
    X = rng.normal(size=(rows, columns)) * choices.pick(SCALES)
    y = rng.normal(size=rows) if choices.with_probability(0.5) or columns == 0 else 2.0 * X[:, 0] + 1.0
    y = y * choices.pick([1.0, 1.0, 1.0, 1e100, 1e-100, 1e200, 0.0])
    if choices.with_probability(0.3) and X.size:
        X = X.astype(object)
        X[choices.number(rows), choices.number(columns)] = choices.pick(CELLS)
    if choices.with_probability(0.2) and rows:
        y = y.astype(object)
        y[choices.number(rows)] = choices.pick(CELLS)
    return make_form(choices, X), choices.pick(
        [y, y, y, y, y.tolist(), y[:, None], pd.Series(y, dtype=y.dtype), None, y[1:]]
    )


def make_form(choices: Choices, X: Any) -> Any:
    try:
        if choices.with_probability(0.3):
            # As objects: Arrow strings, which pandas may use, hold no unpaired surrogates.
            names = pd.Index([choices.pick(HOSTILE) for _ in range(X.shape[1])], dtype=object)
            return pd.DataFrame(X, columns=names)
        return choices.pick(FORMS)(X)
    except (TypeError, ValueError, OverflowError, IndexError):  # no such table exists
        return X


def make_parameters(choices: Choices) -> dict[str, Any]:
    parameters: dict[str, Any] = {"random_state": 0, "max_evaluations": 300}
    if choices.with_probability(0.5):
        name, value = choices.pick(PARAMETERS), choices.pick(WRONG)
        parameters[name] = value
        if parameters["max_evaluations"] is None or name == "max_evaluations":
            parameters["time_limit"] = 0.3
    return parameters


def check_refused(error: Exception) -> None:
    sentence = getattr(error, "reason", None) or str(error)
    check_sentence(sentence)
    for words in (
        "'NoneType' object",
        "ambiguous",
        "ufunc",
        "could not be promoted",
        "codec can't",
        "unhashable",
    ):
        assert words not in sentence, sentence


def check_fitted(fitted: SymbolicRegressor, X: Any) -> None:
    """Every equation predicts the values of its parsed text."""
    values = np.asarray(X, dtype=np.float64)
    assert np.isfinite(fitted.predict(X)).all(), "a chosen equation that is not finite on the training set"
    for i, model in enumerate(fitted.models_):
        found = fitted.predict(X, index=i)
        tree = parse(model.text(), model.names)
        with np.errstate(all="ignore"):
            expected = tree.evaluate(values)
            parts = [
                abs(c) * np.abs(e.evaluate(values))
                for c, e in zip(model.coefficients, model.expressions, strict=True)
            ]
            size = np.sum(parts, axis=0) if parts else np.zeros(len(values))
        # The text has its coefficients at the first factor, where extreme values overflow earlier or later.
        both = np.isfinite(found) & np.isfinite(expected) & np.isfinite(size)
        assert both.all() or is_extreme(values)
        np.testing.assert_allclose(
            found[both], expected[both], rtol=1e-9, atol=float(1e-9 * size[both].max(initial=0.0))
        )


def is_extreme(values: Any) -> bool:
    sizes = np.abs(values[values != 0.0])
    return bool(sizes.size and (sizes.max() > 1e100 or sizes.min() < 1e-100))


def seeds() -> list[bytes]:
    # The first fit compiles, which counts for no case.
    check_fit(b"")
    rng = np.random.default_rng(0)
    return [b"", *(rng.bytes(40) for _ in range(60))]
