"""Whole fits to tiny, degenerate and badly scaled tables: the table of equations can be used and saved."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree import FTG, CanonicalGP, GramSVD, OnePlusLambda, SymbolicClassifier, SymbolicRegressor
from fouriertree.selection.table import CRITERIA

from .cases import Choices
from .fits import REFUSALS, check_refused

Floats = NDArray[np.float64]
ROWS = [2, 3, 4, 5, 6, 8, 12, 19, 20, 21, 25, 40]
SCALES = [1.0, 1.0, 1e-8, 1e8, 1e-100, 1e100, 1e-139, 1e139, 1e-300, 1e300, 5e-324]
LOSSES = ["squared", "squared", "absolute", "huber", "quantile", "relative", "logistic"]
SEARCHES: list[Any] = [
    None, None, None, FTG(max_terms=3), FTG(GramSVD(), max_terms=3), OnePlusLambda(), CanonicalGP(10),
]  # fmt: skip


def column(choices: Choices, n: int, rng: np.random.Generator) -> Floats:
    """One feature or target of a degenerate kind: (n,)."""
    kinds = [
        lambda: rng.normal(size=n),
        lambda: np.full(n, rng.integers(-1, 3), dtype=float),
        lambda: np.arange(n, dtype=float),
        lambda: rng.integers(0, 2, n).astype(float),
        lambda: np.where(np.arange(n) == 0, 1.0, 0.0),
        lambda: np.repeat(rng.normal(size=(n + 1) // 2), 2)[:n],
        lambda: 1.0 + 1e-15 * rng.integers(0, 9, n),
        lambda: np.exp(rng.uniform(-300, 300, n)),
        lambda: rng.standard_cauchy(n) ** 3,
        lambda: np.where(rng.random(n) < 0.5, 1e-200, 1e200),
    ]
    values: Floats = choices.pick(kinds)() * choices.pick(SCALES)
    return values


def check_degenerate(data: bytes) -> None:
    """The bytes choose a small table, a loss, weights and a search."""
    choices = Choices(data)
    n, rng = choices.pick(ROWS), np.random.default_rng(choices.number(256))
    with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        X = np.column_stack([column(choices, n, rng) for _ in range(choices.number(3) + 1)])
        y = column(choices, n, rng)
        weights = choices.pick([None, None, None, np.abs(column(choices, n, rng))])
        try:
            if choices.with_probability(0.15):
                labels = choices.pick([y > np.median(y), rng.integers(0, 3, n)])
                check_classifier(X, labels, weights, Path(folder))
            else:
                check_regressor(choices, X, y, weights, Path(folder))
        except REFUSALS as error:
            check_refused(error)


def check_regressor(choices: Choices, X: Floats, y: Floats, weights: Floats | None, folder: Path) -> None:
    search, loss = choices.pick(SEARCHES), choices.pick(LOSSES)
    if loss == "logistic":
        y = (y > np.median(y)).astype(float)
    fitted = SymbolicRegressor(
        search, loss=loss, max_evaluations=300, max_traverses=3000, random_state=0, run_dir=folder / "runs",
        model_selection=choices.pick(list(CRITERIA)), target_transform=choices.pick([None, None, None, "log"]),
    ).fit(X, y, weights)  # fmt: skip
    check_table(fitted, X if weights is None else X[weights > 0.0])
    check_files(fitted, folder, X)
    fitted.predict(X, interval=0.9)
    fitted.coefficient_intervals()
    fitted.certificate()
    fitted.slopes()


def check_table(fitted: SymbolicRegressor, X: Floats) -> None:
    """The table is ordered, and the chosen equation has a finite value on every row."""
    table = fitted.equations_
    assert np.isfinite(fitted.predict(X)).all(), "a chosen equation that is not finite on the training set"
    assert (np.diff(table["complexity"]) > 0).all()
    assert (table["r2"] <= 1.0).all()
    assert not table["loss"].isna().any()
    assert all((scores >= 0.0).all() and (np.sort(scores) == scores).all() for scores in fitted.scores_)


def check_files(fitted: SymbolicRegressor, folder: Path, X: Floats) -> None:
    """The model is saved as strict JSON and restored exactly."""
    fitted.save(folder / "model.json")
    again = SymbolicRegressor.load(folder / "model.json")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    run = fitted.run_path_
    assert (run / "model.json").exists()
    for text in [(run / "run.json").read_text(), *(run / "events.jsonl").read_text().splitlines()]:
        json.loads(text, parse_constant=refuse_constant)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def check_classifier(X: Floats, labels: Any, weights: Floats | None, folder: Path) -> None:
    fitted = SymbolicClassifier(max_evaluations=300, random_state=0).fit(X, labels, weights)
    shares = fitted.predict_proba(X)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    fitted.save(folder / "classes.json")
    np.testing.assert_array_equal(
        SymbolicClassifier.load(folder / "classes.json").predict(X), fitted.predict(X)
    )


def seeds() -> list[bytes]:
    check_degenerate(b"")
    rng = np.random.default_rng(1)
    return [b"", *(rng.bytes(30) for _ in range(60))]
