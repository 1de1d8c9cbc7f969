"""The target of a fit: y or log y, the equation for y, and which values and losses it can have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import Model, PrimitiveSet, parse
from fouriertree.criteria.losses import as_loss
from fouriertree.data.training import TrainingData
from fouriertree.fit.target import Target, check_values, is_wide, measure_of, wide_hint

LOG, PLAIN = Target("log"), Target()
DEFAULT = PrimitiveSet.default()
X = np.random.default_rng(0).uniform(0.5, 3.0, (30, 2))

FORMS = [
    ("1.5", "4.48169"),
    ("2*log(x0)", "x0^2"),
    ("0.75*log(x0)", "x0^0.75"),
    ("0.5*x0", "exp(0.5*x0)"),
    ("log(x0) + log(x1)", "x0*x1"),
    ("log(x0) - 2*log(x1) + 3*x0", "x0*exp(3*x0)/x1^2"),
    ("sin(x0)", "exp(sin(x0))"),
]


@pytest.mark.parametrize(("log_y", "y"), FORMS)
def test_the_equation_for_y_is_the_shortest_form_of_the_exponential(log_y, y):
    found = LOG.model(Model.from_expression(parse(log_y)), DEFAULT, positive=(0, 1))
    assert found.text(6) == y


SUMS = st.lists(
    st.tuples(
        st.floats(-3.0, 3.0),
        st.sampled_from(["1", "x0", "log(x0)", "log(x1 + 1)", "x0*x1", "1/x1", "sin(x1)"]),
    ),
    min_size=1,
    max_size=4,
)


@given(terms=SUMS)
def test_the_model_of_y_has_the_exponentials_of_the_predictions_of_log_y(terms):
    log_y = Model(tuple(c for c, _ in terms), tuple(parse(e) for _, e in terms))
    np.testing.assert_allclose(LOG.model(log_y, DEFAULT).predict(X), np.exp(log_y.predict(X)), rtol=1e-9)


def test_names_of_features_are_kept():
    found = LOG.model(Model.from_expression(parse("1.4*log(x0)"), ("mass",)), DEFAULT)
    assert str(found) == "mass^1.4"


def test_without_a_transform_nothing_changes():
    model, data = Model.from_expression(parse("2*x0 + 1")), TrainingData(X, X[:, 0], np.ones(30), 24)
    assert PLAIN.model(model, DEFAULT) is model
    assert PLAIN.of(data) is data
    assert PLAIN.guess(parse("2*x0")) == parse("2*x0")


def test_rows_weights_and_the_validation_set_are_those_of_y():
    y = np.exp(X[:, 0])
    data = TrainingData.from_arrays(X, y, np.arange(30.0) % 3, seed=0)
    log = LOG.of(data)
    np.testing.assert_array_equal(log.y, np.log(data.y))
    np.testing.assert_array_equal(log.weights, data.weights)
    np.testing.assert_array_equal(log.without_repetitions[1], np.log(data.without_repetitions[1]))
    assert (log.n_training, log.n_validation) == (data.n_training, data.n_validation)


@pytest.mark.parametrize("guess", ["0.7*x0^0.5", "3*exp(-x0)*x1", "x0", "x0 + 2*x1"])
def test_a_guess_for_y_is_its_logarithm_for_log_y(guess):
    found = LOG.guess(parse(guess)).evaluate(X)
    np.testing.assert_allclose(found, np.log(parse(guess).evaluate(X)), rtol=1e-9, atol=1e-12)


# Values and losses ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_log_y_needs_positive_values(bad):
    with pytest.raises(
        ValueError, match=r"^log y needs positive values of y, and 2 of 4 are not positive; leave"
    ):
        check_values(np.array([1.0, bad, bad, 2.0]), "log")


def test_relative_errors_need_values_other_than_zero():
    check_values(np.array([-1.0, 3.0]), "relative")
    check_values(np.array([-1.0, 0.0]), "absolute")
    with pytest.raises(
        ValueError, match=r"^errors relative to y need values other than zero, and 1 of 3 are zero"
    ):
        check_values(np.array([1.0, 0.0, 2.0]), "relative")
    with pytest.raises(ValueError, match="give y in another unit"):
        check_values(np.array([1.0, 1e-80]), "relative")


@pytest.mark.parametrize("loss", ["relative", "logistic"])
def test_a_loss_without_a_meaning_for_log_y_is_refused(loss):
    with pytest.raises(ValueError, match="log"):
        LOG.check(np.array([0.2, 0.4]), as_loss(loss, 0.5))
    PLAIN.check(np.array([0.2, 0.4]), as_loss(loss, 0.5))


@pytest.mark.parametrize(
    ("transform", "loss", "measure"),
    [
        (None, "squared", "absolute"),
        (None, "relative", "relative"),
        ("log", "huber", "log"),
        (None, abs, "absolute"),
    ],
)
def test_errors_are_measured_as_the_parameters_say(transform, loss, measure):
    assert measure_of({"target_transform": transform, "loss": loss}) == measure


# The hint ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("y", "wide"),
    [
        ([1.0, 100.0], False),
        ([1.0, 101.0], True),
        ([0.0, 1e9], False),
        ([-1.0, 1e9], False),
        ([1e-300, 1e300], True),
    ],
)
def test_more_than_two_decades_of_positive_values_are_wide(y, wide):
    assert is_wide(np.array(y)) is wide


def test_the_hint_names_the_target_and_the_options():
    found = wide_hint(np.array([1.0, 2000.0]), "'mass'", "--loss relative", "--target-transform log")
    assert found.startswith("'mass' spans a factor of 2e+03, so that")
    assert "--loss relative or --target-transform log" in found
    assert wide_hint(np.array([1.0, 2.0]), "y", "", "") is None
