"""Guesses: columns stay columns, unknown names become numbers, and what cannot be read is refused with its place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import ParseError, PrimitiveSet, parse
from fouriertree.fit.guesses import STARTS, parse_guesses

DEFAULT = PrimitiveSet.default()


def guesses(*texts, names=("x0", "x1"), primitives=DEFAULT):
    return parse_guesses(texts, names, primitives)


def numbers(expression):
    return expression.const[expression.op == 0].tolist()


def test_a_formula_without_unknown_names_is_that_formula():
    assert guesses("2*sin(x0) + x1^2") == (parse("2*sin(x0) + x1^2"),)


def test_an_unknown_name_is_a_number_from_every_start():
    found = guesses("a*sin(x0)")
    assert found == tuple(parse(f"{start}*sin(x0)") for start in STARTS)
    assert len(found) == len(STARTS) > 1


def test_the_same_name_is_the_same_number_and_others_are_different():
    for guess in guesses("a*x0 + b*x1 + a"):
        first, second, third = numbers(guess)
        assert first == third != second


@settings(max_examples=30, deadline=None)
@given(
    unknown=st.sets(st.sampled_from(["a", "b", "k", "omega", "c1", "größe", "_t"]), min_size=1, max_size=4)
)
def test_only_the_columns_are_columns(unknown):
    text = " + ".join(f"{name}*x{i % 2}" for i, name in enumerate(sorted(unknown)))
    for guess in guesses(text):
        assert set(guess.columns) == {i % 2 for i in range(len(unknown))}
        assert len(set(numbers(guess))) == len(unknown)
        assert np.isfinite(guess.evaluate(np.ones((3, 2)))).all()


def test_names_of_columns_constants_and_operators_are_no_unknowns():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (5, 2))
    [guess] = guesses("pi*mass + e*sqrt(speed)", names=("mass", "speed"))
    np.testing.assert_allclose(guess.evaluate(X), np.pi * X[:, 0] + np.e * np.sqrt(X[:, 1]))
    [guess] = guesses("2*`my mass`", names=("my mass",))
    assert guess == parse("2*x0")


def test_a_column_may_be_called_like_an_unknown():
    [guess] = guesses("a + x1", names=("a", "b"))
    assert guess == parse("x0 + x1")


def test_operators_of_your_own_and_those_that_the_search_may_not_use_are_read():
    own = PrimitiveSet(["add", "mul"])
    own.add("half", lambda a: 0.5 * a)
    [guess] = guesses("half(x0) + tan(x1)", primitives=own)
    np.testing.assert_allclose(guess.evaluate([[2.0, 0.5]]), 1.0 + np.tan(0.5))


def test_guesses_that_are_the_same_come_once_and_none_are_none():
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


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_what_cannot_be_read_is_refused_with_its_place(text, sentence):
    with pytest.raises(ParseError, match=sentence) as caught:
        guesses(text)
    assert text in str(caught.value)
    assert str(caught.value).rstrip().endswith("^")


def test_a_single_formula_must_stand_in_a_list():
    with pytest.raises(ValueError, match=r"guesses must be a list of formulas, such as \['a\*x0'\]"):
        parse_guesses("a*x0", ["x0"], DEFAULT)
