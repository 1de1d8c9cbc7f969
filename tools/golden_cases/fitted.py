"""What there is to say about fitted estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from golden_cases.names import get
from golden_cases.record import Record

#: fitted attributes that are numbers, or plain data
COUNTS = ("best_index_", "seed_", "evaluations_", "traverses_", "data_", "n_features_in_")


def write_regressor(record: Record, model: Any, X: Any, name: str = "model") -> None:
    """The table of equations, the choice, its predictions and its bounds."""
    for attribute in COUNTS:
        record.value(f"{name}.{attribute}", get(model, attribute))
    record.value(f"{name}.equations_", get(model, "equations_"))
    record.value(f"{name}.models_", "\n".join(exact_text(one) for one in get(model, "models_")))
    record.value(f"{name}.scores_", "\n".join(map(array_text, get(model, "scores_"))))
    record.value(f"{name}.box_", get(model, "box_"))
    record.value(f"{name}.predict", model.predict(X))
    record.words(f"{name}.stop_reason_", get(model, "stop_reason_"))
    record.words(f"{name}.str", str(model))


def write_outputs(record: Record, model: Any, X: Any) -> None:
    """Of a target with several columns."""
    record.value("model.targets_", get(model, "targets_"))
    record.value("model.evaluations_", get(model, "evaluations_"))
    record.value("model.predict", model.predict(X))
    for i, one in enumerate(get(model, "estimators_")):
        write_regressor(record, one, X, f"estimators_[{i}]")


def write_classifier(record: Record, model: Any, X: Any) -> None:
    record.value("model.classes_", get(model, "classes_"))
    record.value("model.exponents_", get(model, "exponents_"))
    record.value("model.decision_function", model.decision_function(X))
    record.value("model.predict_proba", model.predict_proba(X))
    record.value("model.predict", model.predict(X))
    record.value("model.equations_", get(model, "equations_"))
    for i, one in enumerate(get(model, "estimators_")):
        write_regressor(record, one, X, f"estimators_[{i}]")


def write_transformer(record: Record, model: Any, X: Any) -> None:
    record.value("model.names", model.get_feature_names_out())
    record.value("model.terms_", "\n".join(term.text() for term in get(model, "terms_")))
    record.value("model.means_", get(model, "means_"))
    record.value("model.transform", model.transform(X))
    write_regressor(record, get(model, "regressor_"), X, "regressor_")


def exact_text(model: Any) -> str:
    """The terms of a model, to the last bit."""
    return str([(term["coefficient"], term["expression"]) for term in model.to_json()["terms"]])


def array_text(values: Any) -> str:
    return " ".join(map(repr, np.asarray(values).tolist()))
