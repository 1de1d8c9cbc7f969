"""How long a description is: errors, numbers and form."""

import numpy as np
import pytest

from fouriertree import Model, parse
from fouriertree.criteria.code_lengths import LINEAR_MODEL_NATS, feature_code_length, subset_code_length
from fouriertree.criteria.description_length import description_length
from fouriertree.criteria.losses import as_loss
from fouriertree.criteria.objective import Objective
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


def test_a_number_for_every_row_describes_nothing():
    data = rows(NOISE[:6])
    assert length("0.37*sin(1.37*x0 + 2.47) + 3.37*exp(4.37*x1)", 1e-30, data) == np.inf
    assert np.isfinite(length("0.37*sin(1.37*x0)", 1e-30, data))


def test_a_description_is_longer_with_a_larger_loss_a_fitted_number_or_more_complexity():
    data = rows(NOISE)
    short = length("sin(2*x0)", 0.1, data)
    assert short < length("sin(2*x0)", 0.2, data)
    assert short < length("sin(2.0001*x0)", 0.1, data)
    assert short < length("sin(2*x0)", 0.1, data, complexity=20)


def test_a_description_of_log_odds_is_their_loss_in_nats():
    data = rows((NOISE > 0.0).astype(float), loss="logistic")
    assert length("0.5*x0", 0.7, data) - length("0.5*x0", 0.6, data) == pytest.approx(0.1 * 60)


def test_another_column_is_cheaper_than_another_term_of_its_size_where_little_is_explained():
    data = rows(NOISE)

    def price(term, loss):
        return length(f"1.37*sin(x0) + {term}", loss, data) - length("1.37*sin(x0)", loss, data)

    spread = data.baseline
    assert price("2.37*x1", 0.5 * spread) < 1.0 < price("2.37*x1^2", 0.5 * spread)
    in_a_law = price("2.37*x1", 1e-9 * spread)
    assert in_a_law > 7.0


def test_a_short_number_never_makes_a_column_cost_less_than_nothing():
    data = rows(NOISE)
    for loss in (0.9, 0.5, 0.1, 0.01, 1e-4):
        assert length("1.37*sin(x0) + 2*x1", loss, data) > length("1.37*sin(x0)", loss, data)
        assert length("1.37*sin(x0) + x1", loss, data) > length("1.37*sin(x0)", loss, data)


def test_that_columns_tell_anything_has_to_be_seen():
    data = rows(NOISE)
    spread = data.baseline
    assert length("0.37*x0 + 0.37", 0.95 * spread, data) > length("0.37", spread, data)
    assert length("0.37*x0 + 0.37", 0.8 * spread, data) < length("0.37", spread, data)


def test_a_line_costs_the_price_of_its_columns_of_its_constant_and_of_their_choice():
    data = rows(NOISE)
    spread = data.baseline
    price = feature_code_length(60, 0.0)
    for constant in ("0.37", "0", "7"):
        assert length(constant, spread, data) == pytest.approx(price)
    assert length("0.37*x0 + 0.73", spread, data) == pytest.approx(
        2 * price + LINEAR_MODEL_NATS + subset_code_length(1, 2)
    )
    assert length("0.37*x0 + 0.73 - 1.37*x1", spread, data) == pytest.approx(3 * price + LINEAR_MODEL_NATS)
