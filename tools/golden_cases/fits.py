"""Fits: every search, loss, kind of weights and option, on small tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from golden_cases import tables as t
from golden_cases.fitted import write_classifier, write_outputs, write_regressor, write_transformer
from golden_cases.names import call, ft
from golden_cases.record import Record, case

#: evaluations of a fit that says nothing else: enough for the first stages of the hybrid search
EVALUATIONS = 100_000
#: passes over the data of the searches of the paper
TRAVERSES = 3_000


@dataclass(frozen=True)
class Fit:
    """One fit: its table, the parameters of the regressor, and weights by number of rows."""

    table: Callable[[], t.Table]
    parameters: dict[str, Any] = field(default_factory=dict)
    weights: Callable[[int], Any] | None = None
    search: Callable[[], Any] | None = None  #: made late: the package is imported when a case runs

    def run(self, record: Record) -> None:
        X, y = self.table()
        weights = None if self.weights is None else self.weights(len(y))
        write_regressor(record, self.model().fit(X, y, weights), X[:20])

    def model(self) -> Any:
        budget = {"max_traverses": TRAVERSES} if self.search else {"max_evaluations": EVALUATIONS}
        parameters = {"random_state": 0, **budget, **self.parameters}
        made = {name: value() if isinstance(value, Late) else value for name, value in parameters.items()}
        search = {} if self.search is None else {"search": self.search()}
        return call(ft.SymbolicRegressor, **search, **made)


class Late(partial[Any]):
    """A parameter that needs the package."""


def small() -> Any:
    return ft.RampedHalfAndHalf(1, 4)


def own_operators() -> Any:
    operators = ft.PrimitiveSet(["+", "*", "sin"])
    operators.add("ramp", lambda a: max(a, 0.0), derivative="0.5 + 0.5*a/abs(a)", complexity=2)
    operators.add("mean", lambda a, b: 0.5 * (a + b), arity=2)
    return operators


def own_loss(y: Any, predicted: Any) -> Any:
    return np.abs(y - predicted) ** 1.5


def whole(n: int) -> Any:
    return 1.0 + np.arange(n) % 4


def fractional(n: int) -> Any:
    return np.random.default_rng(7).uniform(0.1, 3.0, n)


def zeros(n: int) -> Any:
    return (np.arange(n) % 3 > 0).astype(float)


NAMES = ["mass", "top speed", "c%"]
ARITHMETIC = ["+", "-", "*", "/"]

FITS: dict[str, Fit] = {
    # searches
    "hybrid-noisy": Fit(t.noisy),
    "hybrid-noisy-longer": Fit(t.noisy, {"max_evaluations": 2_000_000}),
    "hybrid-hard": Fit(t.hard, {"max_evaluations": 4_000_000}),
    "hybrid-curve": Fit(t.curve, {"max_evaluations": 2_000_000}),
    "hybrid-variation": Fit(t.noisy, {"operators": ["+", "*", "sin"], "max_evaluations": 1_000_000}),
    "hybrid-other-seed": Fit(t.hard, {"random_state": 12345, "max_evaluations": 100_000}),
    "hybrid-exact": Fit(t.exact, {"max_evaluations": 4_000_000}),
    "hybrid-quotient": Fit(t.quotient),
    "hybrid-without-limits": Fit(
        t.noisy, {"operators": ["+", "*"], "max_terms": 2, "max_evaluations": None}
    ),
    "hybrid-part": Fit(t.noisy, search=lambda: ft.Hybrid(max_terms=3, rounds=1)),
    "ftg-qr": Fit(t.noisy, search=lambda: ft.FTG(generator=small())),
    "ftg-qr-max-terms": Fit(t.exact, {"max_traverses": None}, search=lambda: ft.FTG(max_terms=6)),
    "ftg-gram-svd": Fit(
        t.noisy,
        {"operators": Late(lambda: ft.PrimitiveSet.paper())},
        search=lambda: ft.FTG(projector=ft.GramSVD(), max_terms=8),
    ),
    "ftg-best-of": Fit(t.noisy, search=lambda: ft.FTG(generator=small(), best_of=500, max_terms=5)),
    "ftg-cosine": Fit(
        t.hard, search=lambda: ft.FTG(relevance=ft.Cosine(0.05), generator=small(), max_terms=6)
    ),
    "ftg-composition": Fit(
        t.hard, search=lambda: ft.FTG(generator=ft.GenerateComposition(), best_of=200, max_terms=5)
    ),
    "one-plus-lambda": Fit(t.noisy, {"max_traverses": 10_000}, search=lambda: ft.OnePlusLambda(50)),
    "one-plus-one": Fit(t.hard, {"max_traverses": 10_000}, search=lambda: ft.OnePlusLambda(1)),
    "canonical-gp": Fit(t.noisy, {"max_traverses": 10_000}, search=lambda: ft.CanonicalGP(100)),
    "canonical-gp-in-place": Fit(
        t.noisy, {"max_traverses": 5_000}, search=lambda: ft.CanonicalGP(50, in_place=True)
    ),
    # losses
    "loss-absolute": Fit(t.outliers, {"loss": "absolute"}),
    "loss-huber": Fit(t.outliers, {"loss": "huber"}),
    "loss-quantile": Fit(t.noisy, {"loss": "quantile", "quantile": 0.9}),
    "loss-quantile-low": Fit(t.noisy, {"loss": "quantile", "quantile": 0.25}),
    "loss-relative": Fit(t.large_units, {"loss": "relative"}),
    "target-log": Fit(t.probabilities, {"target_transform": "log"}),
    "loss-logistic": Fit(t.probabilities, {"loss": "logistic"}),
    "loss-own": Fit(t.outliers, {"loss": own_loss}),
    "loss-absolute-ftg": Fit(
        t.outliers, {"loss": "absolute"}, search=lambda: ft.FTG(generator=small(), best_of=200, max_terms=4)
    ),
    "loss-huber-gp": Fit(t.outliers, {"loss": "huber"}, search=lambda: ft.OnePlusLambda(20)),
    # weights
    "weights-whole": Fit(t.noisy, weights=whole),
    "weights-fractional": Fit(t.noisy, weights=fractional),
    "weights-zeros": Fit(t.noisy, weights=zeros),
    "weights-alike": Fit(t.noisy, weights=lambda n: np.full(n, 2.5)),
    "weights-repeated-rows": Fit(t.repeated),
    "weights-repeated-rows-whole": Fit(t.repeated, weights=whole),
    "weights-fractional-huber": Fit(t.outliers, {"loss": "huber"}, fractional),
    "weights-whole-ftg": Fit(t.noisy, {}, whole, lambda: ft.FTG(generator=small(), max_terms=5)),
    "weights-fractional-gp": Fit(t.noisy, {}, fractional, lambda: ft.CanonicalGP(50)),
    # what equations are made of
    "guesses": Fit(t.noisy, {"guesses": ["a*sin(b*x0)", "x0*x1 + c"]}),
    "guesses-exact": Fit(t.exact, {"guesses": ["a*sin(x0) + b*x1^2 + c"], "max_evaluations": 1_000}),
    "nesting": Fit(t.hard, {"nesting": {"sin": {"sin": 0, "exp": 0}, "exp": {"exp": 0}}}),
    "complexities": Fit(t.noisy, {"complexities": {"sin": 5, "mul": 2}}),
    "operators-names": Fit(t.noisy, {"operators": ARITHMETIC}),
    "operators-set": Fit(t.noisy, {"operators": Late(lambda: ft.PrimitiveSet.polynomial())}),
    "operators-own": Fit(t.noisy, {"operators": Late(own_operators)}),
    "operators-own-ftg": Fit(
        t.noisy, {"operators": Late(own_operators)}, search=lambda: ft.FTG(generator=small(), max_terms=4)
    ),
    "max-size": Fit(t.hard, {"max_size": 8}),
    "max-terms": Fit(t.noisy, {"max_terms": 1}),
    "target-loss": Fit(t.noisy, {"target_loss": 60.0}),
    "selection-best": Fit(t.noisy, {"model_selection": "best"}),
    "selection-accuracy": Fit(t.noisy, {"model_selection": "accuracy"}),
    # tables
    "table-pure-noise": Fit(t.pure_noise),
    "table-constant": Fit(t.constant),
    "table-two-rows": Fit(lambda: t.noisy(2)),
    "table-few-rows": Fit(lambda: t.noisy(8)),
    "table-nineteen-rows": Fit(lambda: t.exact(19)),
    "table-wide": Fit(t.wide, {"max_evaluations": 5_000_000}),
    "table-linear": Fit(t.linear),
    "table-large-units": Fit(t.large_units),
    "table-many-rows": Fit(lambda: t.noisy(3_000, 0.3)),
    "feature-names": Fit(t.exact, {"feature_names": NAMES}),
    "jobs-2": Fit(t.hard, {"n_jobs": 2, "max_evaluations": 4_000_000}),
    "jobs-2-ftg": Fit(t.noisy, {"n_jobs": 2}, search=lambda: ft.FTG(generator=small(), max_terms=4)),
}  # fmt: skip

for _name, _fit in FITS.items():
    case(f"fit-{_name}")(_fit.run)


@case("fit-data-frame")
def data_frame(record: Record) -> None:
    X, y = t.named(t.exact(), NAMES)
    model = call(ft.SymbolicRegressor, max_evaluations=EVALUATIONS, random_state=0).fit(X, y)
    write_regressor(record, model, X.head(20))
    record.value("names", list(model.feature_names_in_))


@case("fit-several-outputs")
def several_outputs(record: Record) -> None:
    X, y = t.noisy()
    Y = pd.DataFrame({"sum": y, "square": X[:, 0] ** 2 - X[:, 1]})
    model = call(ft.SymbolicRegressor, max_evaluations=EVALUATIONS, random_state=3).fit(X, Y)
    write_outputs(record, model, X[:20])


def classes(n_classes: int, n: int = 90) -> tuple[Any, Any]:
    X = t.uniform(n, 2)
    score = X[:, 0] ** 2 + X[:, 1] ** 2 + t.noise(n, 0.3)
    words = np.array(["near", "middle", "far"][:n_classes])
    return X, words[np.digitize(score, [1.5, 3.5][: n_classes - 1])]


@case("classifier-two-classes")
def two_classes(record: Record) -> None:
    X, y = classes(2)
    model = call(ft.SymbolicClassifier, max_evaluations=EVALUATIONS, random_state=0).fit(X, y)
    write_classifier(record, model, X[:20])


@case("classifier-three-classes")
def three_classes(record: Record) -> None:
    X, y = classes(3)
    model = call(ft.SymbolicClassifier, max_evaluations=2 * EVALUATIONS, random_state=0).fit(X, y)
    write_classifier(record, model, X[:20])


@case("classifier-weights")
def weighted_classes(record: Record) -> None:
    X, y = classes(2)
    model = call(ft.SymbolicClassifier, max_evaluations=EVALUATIONS, max_size=12, random_state=1)
    write_classifier(record, model.fit(X, y, zeros(len(y)) + whole(len(y)) - 1.0), X[:20])


@case("transformer")
def transformer(record: Record) -> None:
    X, y = t.noisy()
    model = call(ft.SymbolicTransformer, 4, max_evaluations=EVALUATIONS, random_state=0).fit(X, y)
    write_transformer(record, model, X[:20])


@case("transformer-wide")
def transformer_wide(record: Record) -> None:
    X, y = t.wide()
    model = call(ft.SymbolicTransformer, max_evaluations=EVALUATIONS, loss="huber", random_state=0)
    write_transformer(record, model.fit(X, y, fractional(len(y))), X[:20])
