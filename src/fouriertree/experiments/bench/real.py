"""Measured sets with a textbook law: the chosen equation against the law, by accuracy and size.

There is no test set: the whole table is the training data, as it was for the law.  Accuracy is R², on the logarithm of
the target where the manifest says so.  For sets of NIST's StRD the least residual sum of squares of the model is
certified; a row of the table that is no longer than the model should reach it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np
import pandas as pd

from fouriertree.experiments.bars import Bar
from fouriertree.experiments.bench.formulas import Array, evaluate, parse, size, variables
from fouriertree.experiments.bench.judge import r2
from fouriertree.experiments.bench.names import facts
from fouriertree.experiments.bench.rounding import simplified
from fouriertree.expr import parse as parse_expression

#: how much lower than the law's an R² may be
SLACK = 0.002
#: relative tolerance of a residual sum of squares
RESIDUAL = 1e-6
#: goals: percentage of sets with the law's R², and median ratio of sizes
LEAST_PERCENT, LARGEST_RATIO = 90.0, 1.5


class Fitted(Protocol):
    """What is judged of a fitted regressor: the models of the rows of its table, and the chosen one."""

    models_: list[Any]
    model_: Any


@dataclass(frozen=True)
class RealSet:
    """A measured set: features and target of all rows, and the law as text over x0, x1, … with its constants.

    `logarithmic`: whether errors are those of the logarithm; `certified`: the residual sum of squares of NIST.
    """

    name: str
    X: Array
    y: Array
    formula: str
    r2: float
    logarithmic: bool
    certified: float | None = None

    @property
    def symbols(self) -> list[Any]:
        return variables(self.X.min(axis=0).tolist())

    @property
    def law(self) -> Any:
        """The law as a SymPy expression."""
        return self.sympy(self.formula)

    @property
    def complexity(self) -> int:
        """The complexity of the law as `facts/real.toml` has it."""
        return parse_expression(self.formula).complexity

    def sympy(self, formula: str) -> Any:
        return parse(formula, {str(symbol): symbol for symbol in self.symbols})

    def r2_of(self, predicted: Array) -> float:
        """R² on the set's scale; −∞ for a prediction without a logarithm."""
        if not self.logarithmic:
            return r2(self.y, predicted)
        with np.errstate(all="ignore"):
            return r2(np.log(self.y), np.log(predicted))

    def reaches(self, predicted: Array) -> bool:
        """Whether the residual sum of squares is the certified one, or less."""
        if self.certified is None or not np.isfinite(predicted).all():
            return False
        return float(np.sum((self.y - predicted) ** 2)) <= self.certified * (1.0 + RESIDUAL)


@dataclass(frozen=True)
class Verdict:
    """R² and size of the chosen equation and of the law; `certified` is None without a certified residual sum."""

    name: str
    r2: float
    law_r2: float
    size: int
    law_size: int
    certified: bool | None
    formula: str

    @property
    def accurate(self) -> bool:
        return self.r2 >= self.law_r2 - SLACK

    @property
    def ratio(self) -> float:
        return self.size / self.law_size

    def line(self) -> str:
        marks = ["" if self.accurate else "less accurate", "not certified" if self.certified is False else ""]
        return (
            f"{self.name:16s} R² {self.r2:9.5f}, law {self.law_r2:.5f}; size {self.size:3d}, law {self.law_size:3d}; "
            f"{', '.join(filter(None, marks)) or 'ok'}: {self.formula}"
        )


def real_sets(folder: Path) -> Iterator[RealSet]:
    """The sets with a law whose formula is known, of a folder of tables with a manifest."""
    formulas = facts("real")
    for entry in json.loads((folder / "manifest.json").read_text("utf-8")):
        if entry["kind"] == "law" and entry["name"] in formulas:
            yield real_set(entry, formulas[entry["name"]], folder)


def real_set(entry: dict[str, Any], formula: str, folder: Path) -> RealSet:
    frame = pd.read_csv(folder / entry["file"])
    y = frame.pop(entry["target"]).to_numpy(np.float64)
    certified = entry.get("certified", {})
    fit = entry["law_fit"]
    return RealSet(
        entry["name"],
        np.array(frame.to_numpy(np.float64), order="C"),
        y,
        with_parameters(formula, certified.get("parameters") or fit["parameters"]),
        fit["r2"],
        fit.get("on", "").startswith("log"),
        certified.get("residual_sum_of_squares"),
    )


def with_parameters(formula: str, parameters: Sequence[float]) -> str:
    """A formula with numbers in the place of b1, b2, ….

    >>> with_parameters("b1*x0**b2", [2.0, -0.5])
    '2.0*x0**(-0.5)'
    """

    def number(found: re.Match[str]) -> str:
        value = parameters[int(found[1]) - 1]
        return f"({value!r})" if value < 0.0 else repr(value)

    return re.sub(r"\bb(\d+)\b", number, formula)


def verdict(case: RealSet, fitted: Fitted) -> Verdict:
    """The chosen equation against the law, and the rows of the table against the certified residual."""
    formula = str(fitted.model_)
    found = case.sympy(formula)
    short = [model for model in fitted.models_ if model.complexity <= case.complexity]
    return Verdict(
        case.name,
        case.r2_of(evaluate(found, case.symbols, case.X)),
        case.r2,
        nodes(found),
        nodes(case.law),
        None if case.certified is None else any(case.reaches(model.predict(case.X)) for model in short),
        formula,
    )


def nodes(formula: Any) -> int:
    return min(size(formula), size(simplified(formula)))


def bars(verdicts: Sequence[Verdict]) -> list[Bar]:
    """Goals of accuracy and size, and all certified residuals."""
    certified = [v.certified for v in verdicts if v.certified is not None]
    accurate = 100.0 * float(np.mean([v.accurate for v in verdicts]))
    return [
        Bar("real-percent-as-accurate-as-the-law", accurate, LEAST_PERCENT),
        Bar("real-median-size-ratio", median(v.ratio for v in verdicts), LARGEST_RATIO, "<="),
        Bar("nist-certified", sum(certified), len(certified)),
    ]
