"""Guesses: unknown names are free parameters, and errors have their position."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import ParseError, PrimitiveSet, parse
from fouriertree.fit.guesses import STARTS, parse_guesses

DEFAULT = PrimitiveSet.default()


def guesses(*texts, names=("x0", "x1"), primitives=DEFAULT):
    return parse_guesses(texts, names, primitives)


def constants(expression):
    return expression.const[expression.op == 0].tolist()


def test_a_guess_without_free_parameters_is_that_expression():
    assert guesses("2*sin(x0) + x1^2") == (parse("2*sin(x0) + x1^2"),)


def test_an_unknown_name_is_a_free_parameter_with_every_initial_value():
    found = guesses("a*sin(x0)")
    assert found == tuple(parse(f"{start}*sin(x0)") for start in STARTS)
    assert len(found) == len(STARTS) > 1


def test_equal_names_are_equal_constants_and_others_differ():
    for guess in guesses("a*x0 + b*x1 + a"):
        first, second, third = constants(guess)
        assert first == third != second


@settings(max_examples=30, deadline=None)
@given(
    unknown=st.sets(st.sampled_from(["a", "b", "k", "omega", "c1", "größe", "_t"]), min_size=1, max_size=4)
)
def test_features_stay_features_and_unknown_names_become_constants(unknown):
    text = " + ".join(f"{name}*x{i % 2}" for i, name in enumerate(sorted(unknown)))
    for guess in guesses(text):
        assert set(guess.columns) == {i % 2 for i in range(len(unknown))}
        assert len(set(constants(guess))) == len(unknown)
        assert np.isfinite(guess.evaluate(np.ones((3, 2)))).all()


def test_names_of_features_constants_and_operators_are_not_free_parameters():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (5, 2))
    [guess] = guesses("pi*mass + e*sqrt(speed)", names=("mass", "speed"))
    np.testing.assert_allclose(guess.evaluate(X), np.pi * X[:, 0] + np.e * np.sqrt(X[:, 1]))
    [guess] = guesses("2*`my mass`", names=("my mass",))
    assert guess == parse("2*x0")


def test_a_feature_may_have_the_name_of_a_parameter():
    [guess] = guesses("a + x1", names=("a", "b"))
    assert guess == parse("x0 + x1")


def test_guesses_may_have_user_defined_operators_and_others_than_the_search():
    own = PrimitiveSet(["add", "mul"])
    own.add("half", lambda a: 0.5 * a)
    [guess] = guesses("half(x0) + tan(x1)", primitives=own)
    np.testing.assert_allclose(guess.evaluate([[2.0, 0.5]]), 1.0 + np.tan(0.5))


def test_duplicate_guesses_are_dropped_and_no_guesses_are_none():
    assert guesses("x0 + 1", "x0 + 1", "1 + x0") == (parse("x0 + 1"), parse("1 + x0"))
    assert guesses() == ()


BAD = [
    ("sin(x0", "expected|closed"),
    ("x0 +", "ends|expected"),
    ("x0 ? x1", "unexpected character '[?]'"),
    ("2 x0", "expected|unexpected"),
    ("sine(x0)", "did you mean 'sin'"),
    ("x7*2", "there is no column x7"),
    ("", "empty|expected|ends"),
]


NO_FEATURES = [
    ("a*sin(angel)", "it has no feature; did you mean 'angle'?"),
    ("k*c", "it has no feature; there are 'angle', 'speed'"),
]


@pytest.mark.parametrize(("text", "sentence"), NO_FEATURES)
def test_a_guess_of_free_parameters_only_is_refused_with_a_suggestion(text, sentence):
    with pytest.raises(ParseError) as caught:
        guesses(text, names=("angle", "speed"))
    assert caught.value.reason == sentence


def test_a_constant_is_a_guess_as_it_is_a_row_of_an_earlier_table():
    assert guesses("0.25") == (parse("0.25"),)


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_a_guess_that_cannot_be_parsed_is_refused_with_its_position(text, sentence):
    with pytest.raises(ParseError, match=sentence) as caught:
        guesses(text)
    assert text in str(caught.value)
    assert str(caught.value).rstrip().endswith("^")


def test_a_single_guess_must_be_in_a_list():
    with pytest.raises(ValueError, match=r"guesses must be a list of formulas, such as \['a\*x0'\]"):
        parse_guesses("a*x0", ["x0"], DEFAULT)
