"""A model is a sum of terms that predicts, prints, and round-trips through JSON."""

import json

import numpy as np
import pytest

from fouriertree import Model, PrimitiveSet, ReferenceEngine, parse

X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))


def model_of(*terms, names=None):
    coefficients, texts = zip(*terms, strict=True)
    return Model(tuple(coefficients), tuple(parse(text) for text in texts), names)


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ([(2.0, "1"), (-3.0, "x0")], "2 - 3*x0"),
        ([(0.5, "x0*x1^2")], "0.5*x0*x1^2"),
        ([(2.0, "x0/x1/x0")], "2*x0/(x0*x1)"),
        ([(2.0, "0.25*x0")], "0.5*x0"),
        ([(2.0, "x0 + x1")], "2*(x0 + x1)"),
        ([(1.0, "sin(x0)"), (-1.0, "x1")], "sin(x0) - x1"),
        ([(1.0 + 1e-15, "x0*x1")], "x0*x1"),
        ([(-2.0, "3")], "-6"),
        ([(-2.0, "x0"), (-1.0, "x1/x0")], "-2*x0 - x1/x0"),
        ([(1.0, "x0"), (-2.0, "-3*x1"), (2.0, "-0.4*x0")], "x0 + 6*x1 - 0.8*x0"),
    ],
)
def test_coefficients_are_printed_at_the_leftmost_factor(terms, text):
    assert model_of(*terms).text(digits=6) == text


def test_the_whole_sum_as_one_tree_has_the_same_values():
    model = model_of((0.5, "1"), (-3.0, "x0*x1/x0"), (2.0, "0.3*sin(x0)"), (1.0, "x1"), (-1.0, "x0^2"))
    assert model.expression.evaluate(X) == pytest.approx(model.predict(X), rel=1e-14)
    assert parse(model.text()).evaluate(X) == pytest.approx(model.predict(X), rel=1e-14)


def test_a_model_round_trips_through_json_bit_for_bit():
    model = model_of((1 / 3, "sin(x0*0.1)"), (-2e-300, "x1"), names=("a b", "größe"))
    back = Model.from_json(json.loads(json.dumps(model.to_json())))
    assert back.names == model.names
    assert back.coefficients == model.coefficients
    assert back.expressions == model.expressions
    assert (back.predict(X) == model.predict(X)).all()


def test_a_model_with_a_user_defined_operator_needs_it_to_be_restored():
    operators = PrimitiveSet(["add"])
    operators.add("twice", lambda a: 2.0 * a)
    model = Model((1.0,), (parse("twice(x0)", primitives=operators),))
    assert (Model.from_json(model.to_json(), operators).predict(X) == 2.0 * X[:, 0]).all()
    with pytest.raises(ValueError, match="unknown operator 'twice'"):
        Model.from_json(model.to_json())


def test_predictions_do_not_depend_on_the_other_rows():
    model = model_of((0.1, "exp(x0)"), (0.7, "sin(x1)/x0"))
    assert (model.predict(X)[:7] == model.predict(X[:7])).all()


def test_a_model_without_terms_is_zero():
    model = Model((), ())
    assert (model.predict(X) == 0.0).all()
    assert str(model) == "0.0"


def test_both_engines_predict_the_same():
    model = model_of((0.5, "sin(x0)*x1"), (2.0, "sqrt(x1)"))
    assert model.predict(X) == pytest.approx(model.predict(X, ReferenceEngine()), rel=1e-14)


def test_names_appear_in_every_form():
    model = model_of((2.0, "x0*x1"), names=("mass", "top speed"))
    assert str(model) == "2.0*mass*`top speed`"
    assert {symbol.name for symbol in model.sympy().free_symbols} == {"mass", "top speed"}
    assert "mass" in model.latex()
