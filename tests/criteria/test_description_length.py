"""Description length: errors, parameters and structure."""

import numpy as np
import pytest

from fouriertree import Model, parse
from fouriertree.criteria.code_lengths import (
    LINEAR_MODEL_NATS,
    description_length,
    feature_code_length,
    subset_code_length,
)
from fouriertree.criteria.losses import Objective, as_loss
from fouriertree.data.training import TrainingData
from fouriertree.engine import CompiledEngine
from fouriertree.expr.complexity import Complexity

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (60, 2))
NOISE = rng.normal(size=60)


def rows(y, loss="squared"):
    data = TrainingData(X[: len(y)], y, np.ones(len(y)), len(y))
    return Objective(data, as_loss(loss, 0.5), CompiledEngine())


def length(text, loss, data, complexity=None):
    expression = parse(text)
    size = Complexity()(expression) if complexity is None else complexity
    return description_length(Model.from_expression(expression), size, loss, data)


def test_as_many_parameters_as_rows_have_an_infinite_description_length():
    data = rows(NOISE[:6])
    assert length("0.37*sin(1.37*x0 + 2.47) + 3.37*exp(4.37*x1)", 1e-30, data) == np.inf
    assert np.isfinite(length("0.37*sin(1.37*x0)", 1e-30, data))


def test_the_description_length_grows_with_loss_parameters_and_complexity():
    data = rows(NOISE)
    short = length("sin(2*x0)", 0.1, data)
    assert short < length("sin(2*x0)", 0.2, data)
    assert short < length("sin(2.0001*x0)", 0.1, data)
    assert short < length("sin(2*x0)", 0.1, data, complexity=20)


def test_the_description_length_of_log_odds_is_their_loss_in_nats():
    data = rows((NOISE > 0.0).astype(float), loss="logistic")
    assert length("0.5*x0", 0.7, data) - length("0.5*x0", 0.6, data) == pytest.approx(0.1 * 60)


def test_with_little_explained_a_feature_has_a_shorter_code_than_a_term_of_its_size():
    data = rows(NOISE)

    def added_length(term, loss):
        return length(f"1.37*sin(x0) + {term}", loss, data) - length("1.37*sin(x0)", loss, data)

    variance = data.baseline
    assert added_length("2.37*x1", 0.5 * variance) < 1.0 < added_length("2.37*x1^2", 0.5 * variance)
    in_a_law = added_length("2.37*x1", 1e-9 * variance)
    assert in_a_law > 7.0


def test_a_short_constant_never_makes_the_code_length_of_a_feature_negative():
    data = rows(NOISE)
    for loss in (0.9, 0.5, 0.1, 0.01, 1e-4):
        assert length("1.37*sin(x0) + 2*x1", loss, data) > length("1.37*sin(x0)", loss, data)
        assert length("1.37*sin(x0) + x1", loss, data) > length("1.37*sin(x0)", loss, data)


def test_linear_models_need_significant_features():
    data = rows(NOISE)
    variance = data.baseline
    assert length("0.37*x0 + 0.37", 0.95 * variance, data) > length("0.37", variance, data)
    assert length("0.37*x0 + 0.37", 0.8 * variance, data) < length("0.37", variance, data)


def test_the_code_length_of_a_linear_model_is_that_of_its_features_its_constant_and_their_selection():
    data = rows(NOISE)
    variance = data.baseline
    feature_length = feature_code_length(60, 0.0)
    for constant in ("0.37", "0", "7"):
        assert length(constant, variance, data) == pytest.approx(feature_length)
    assert length("0.37*x0 + 0.73", variance, data) == pytest.approx(
        2 * feature_length + LINEAR_MODEL_NATS + subset_code_length(1, 2)
    )
    assert length("0.37*x0 + 0.73 - 1.37*x1", variance, data) == pytest.approx(
        3 * feature_length + LINEAR_MODEL_NATS
    )
