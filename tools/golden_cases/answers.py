"""Inspection to fitted estimators: bounds, certificates, slopes, stability, files, refusals."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np

from golden_cases import tables as t
from golden_cases.fits import EVALUATIONS, NAMES, classes, own_operators
from golden_cases.fitted import write_classifier, write_outputs, write_regressor
from golden_cases.names import call, ft, get
from golden_cases.record import Record, case


def fitted(table: t.Table, **parameters: Any) -> Any:
    parameters = {"max_evaluations": EVALUATIONS, "random_state": 0, **parameters}
    return call(ft.SymbolicRegressor, **parameters).fit(*table)


def write_said(record: Record, name: str, thing: Any) -> None:
    """An answer that knows its own plain data."""
    record.document(name, thing.to_json())
    record.words(f"{name}.str", str(thing))


@case("answers-certificate")
def certificate(record: Record) -> None:
    for name, table in (("noisy", t.noisy()), ("quotient", t.quotient()), ("hard", t.hard())):
        model = fitted(table)
        for index in range(len(get(model, "models_"))):
            write_said(record, f"{name}.certificate({index})", get(model, "certificate")(index))
            for i, slope in enumerate(get(model, "slopes")(index)):
                write_said(record, f"{name}.slopes({index})[{i}]", slope)


@case("answers-intervals")
def intervals(record: Record) -> None:
    X, y = t.noisy()
    model = fitted((X, y))
    for index in range(len(get(model, "models_"))):
        record.value(f"coefficient_intervals({index})", get(model, "coefficient_intervals")(index))
    for method in ("conformal", "linear"):
        found = call(model.predict, X[:15], interval=0.9, method=method)
        for name, part in zip(("value", "lower", "upper"), found, strict=True):
            record.value(f"predict.{method}.{name}", part)
    record.value("outside", model.predict(10.0 * X[:5]))


@case("answers-intervals-few-rows")
def intervals_few_rows(record: Record) -> None:
    X, y = t.noisy(12)
    model = fitted((X, y))
    found = call(model.predict, X, interval=0.8)
    for name, part in zip(("value", "lower", "upper"), found, strict=True):
        record.value(f"predict.{name}", part)


@case("answers-stability")
def stability(record: Record) -> None:
    found = get(fitted(t.noisy(), max_evaluations=5_000), "stability")(2)
    write_said(record, "stability", found)


@case("answers-forms")
def forms(record: Record) -> None:
    """SymPy, LaTeX, the best row."""
    model = fitted(t.exact(), feature_names=NAMES)
    for index in range(len(get(model, "models_"))):
        record.value(f"sympy({index})", str(model.sympy(index)))
        record.value(f"latex({index})", model.latex(index))
    record.value("best", dict(get(model, "get_best")()))
    record.value("repr", repr(model))
    three = call(ft.SymbolicClassifier, max_evaluations=EVALUATIONS, random_state=0).fit(*classes(3))
    record.value("classifier.best", get(three, "get_best")())
    record.value("classifier.latex", three.latex("far"))
    record.value("classifier.sympy", str(three.sympy("near")))
    record.words("classifier.str", str(three))


@case("answers-pickle")
def pickled(record: Record) -> None:
    X, y = t.noisy()
    again = pickle.loads(pickle.dumps(fitted((X, y))))
    write_regressor(record, again, X[:20])


@case("answers-score")
def score(record: Record) -> None:
    """Scikit-learn's own view: scores, clones, cross-validation."""
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    X, y = t.noisy()
    model = fitted((X, y), max_evaluations=2_000)
    record.value("score", model.score(X, y))
    record.value("clone", clone(model).fit(X, y).score(X, y))
    record.value("cross", cross_val_score(model, X, y, cv=3))


# Files --------------------------------------------------------------------------------------------------------
@case("file-regressor")
def saved_regressor(record: Record) -> None:
    X, y = t.named(t.exact(), NAMES)
    path = record.folder / "model.json"
    fitted((X, y)).save(path, "yield")
    record.document("file", json.loads(path.read_text("utf-8")))
    again = ft.SymbolicRegressor.load(path)
    write_regressor(record, again, X.head(20))
    again.save(record.folder / "again.json", "yield")
    record.value("same bytes", path.read_bytes() == (record.folder / "again.json").read_bytes())


@case("file-own-operators")
def saved_own_operators(record: Record) -> None:
    X, y = t.noisy()
    path = record.folder / "model.json"
    fitted((X, y), operators=own_operators(), loss="quantile", quantile=0.75).save(path)
    record.document("file", json.loads(path.read_text("utf-8")))
    write_regressor(record, call(ft.SymbolicRegressor.load, path, operators=own_operators()), X[:20])


@case("file-several-outputs")
def saved_outputs(record: Record) -> None:
    X, y = t.noisy()
    path = record.folder / "model.json"
    fitted((X, np.column_stack([y, X[:, 0] ** 2]))).save(path)
    record.document("file", json.loads(path.read_text("utf-8")))
    write_outputs(record, ft.SymbolicRegressor.load(path), X[:20])


@case("file-classifier")
def saved_classifier(record: Record) -> None:
    X, y = classes(3)
    path = record.folder / "model.json"
    call(ft.SymbolicClassifier, max_evaluations=EVALUATIONS, random_state=0).fit(X, y).save(path)
    record.document("file", json.loads(path.read_text("utf-8")))
    write_classifier(record, ft.SymbolicClassifier.load(path), X[:20])


# Refusals -----------------------------------------------------------------------------------------------------
@case("refusals")
def refusals(record: Record) -> None:
    """Bad input is refused by the same kinds of errors; their sentences are words."""
    X, y = t.noisy(10)
    missing = np.where(X > 1.9, np.nan, X)
    missing[0, 0] = np.nan
    tries: dict[str, Any] = {
        "loss": lambda: fitted((X, y), loss="cubed"),
        "quantile": lambda: fitted((X, y), loss="quantile", quantile=1.5),
        "logistic": lambda: fitted((X, y), loss="logistic"),
        "selection": lambda: fitted((X, y), model_selection="random"),
        "operators": lambda: fitted((X, y), operators=["sine"]),
        "guess": lambda: fitted((X, y), guesses=["sin("]),
        "nesting": lambda: fitted((X, y), nesting={"sine": {"sin": 0}}),
        "names": lambda: fitted((X, y), feature_names=["a"]),
        "twins": lambda: fitted((X, y), feature_names=["a", "a"]),
        "terms": lambda: fitted((X, y), max_terms=0),
        "budget": lambda: fitted((X, y), max_evaluations=-1),
        "nan": lambda: fitted((missing, y)),
        "rows": lambda: fitted((X[:5], y)),
        "one row": lambda: fitted((X[:1], y[:1])),
        "huge": lambda: fitted((X, 1e200 * y)),
        "index": lambda: fitted((X, y), max_evaluations=500).predict(X, index=99),
        "method": lambda: fitted((X, y), max_evaluations=500).predict(X, interval=0.9, method="exact"),
        "columns": lambda: fitted((X, y), max_evaluations=500).predict(X[:, :1]),
        "target": lambda: fitted((X, y), max_evaluations=500).export("prose"),
        "unfitted": lambda: ft.SymbolicRegressor().predict(X),
        "one class": lambda: ft.SymbolicClassifier().fit(X, np.zeros(10)),
        "features": lambda: call(ft.SymbolicTransformer, n_features=0).fit(X, y),
        "no file": lambda: ft.SymbolicRegressor.load(record.folder / "nothing.json"),
        "no run": lambda: ft.SymbolicRegressor.resume(record.folder / "nothing", X, y),
    }
    for name, attempt in tries.items():
        try:
            attempt()
            record.value(name, "accepted")
        except Exception as error:
            # Subclasses may be renamed; what a caller catches may not.
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            record.value(name, kinds[0])
            record.words(name, str(error))
