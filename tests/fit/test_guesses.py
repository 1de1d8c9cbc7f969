"""Guesses as text: unknown names are free parameters, names that resemble a column's are questioned."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import ParseError, PrimitiveSet, parse
from fouriertree.fit.guesses import PARAMETERS, parse_guesses, resembled
from fouriertree.selection.guesses.parametric import ParametricSum

DEFAULT = PrimitiveSet.default()


def trees(*texts, names=("x0", "x1"), primitives=DEFAULT):
    return tuple(guess.tree for guess in parse_guesses(texts, names, primitives))


def test_a_guess_without_free_parameters_is_that_expression():
    assert trees("2*sin(x0) + x1^2") == (parse("2*sin(x0) + x1^2"),)


def test_equal_names_are_one_parameter_and_others_differ():
    [tree] = trees("a*x0 + b*x1 + a")
    assert tree == parse("x2*x0 + x3*x1 + x2")


@settings(max_examples=30, deadline=None)
@given(
    unknown=st.sets(st.sampled_from(["a", "b", "k", "omega", "c1", "größe", "_t"]), min_size=1, max_size=4)
)
def test_features_stay_features_and_unknown_names_become_constants(unknown):
    text = " + ".join(f"sin({name}*x{i % 2})" for i, name in enumerate(sorted(unknown)))
    [tree] = trees(text)
    found = ParametricSum.of(tree, 2)
    assert found.n_parameters == len(unknown)
    terms = found.with_values(np.arange(2.0, 2.0 + len(unknown)))
    assert {column for term in terms for column in term.columns} == {i % 2 for i in range(len(unknown))}
    assert sorted(c for term in terms for c in term.constants) == list(range(2, 2 + len(unknown)))


def test_names_of_features_constants_and_operators_are_not_free_parameters():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (5, 2))
    [tree] = trees("pi*mass + e*sqrt(speed)", names=("mass", "speed"))
    np.testing.assert_allclose(tree.evaluate(X), np.pi * X[:, 0] + np.e * np.sqrt(X[:, 1]))
    [tree] = trees("2*`my mass`", names=("my mass",))
    assert tree == parse("2*x0")


def test_a_feature_may_have_the_name_of_a_parameter():
    [tree] = trees("a + x1", names=("a", "b"))
    assert tree == parse("x0 + x1")


def test_guesses_may_have_user_defined_operators_and_others_than_the_search():
    own = PrimitiveSet(["add", "mul"])
    own.add("half", lambda a: 0.5 * a)
    [tree] = trees("half(x0) + tan(x1)", primitives=own)
    np.testing.assert_allclose(tree.evaluate([[2.0, 0.5]]), 1.0 + np.tan(0.5))


def test_duplicate_guesses_are_dropped_and_no_guesses_are_none():
    assert trees("x0 + 1", "x0 + 1", "1 + x0") == (parse("x0 + 1"), parse("1 + x0"))
    assert trees() == ()


# Errors -----------------------------------------------------------------------------------------------------
BAD = [
    ("sin(x0", "expected|closed"),
    ("x0 +", "ends|expected"),
    ("x0 ? x1", "unexpected character '[?]'"),
    ("2 x0", "expected|unexpected"),
    ("sine(x0)", "did you mean 'sin'"),
    ("x7*2", "there is no column x7"),
    ("", "empty|expected|ends"),
]


def test_a_guess_of_free_parameters_only_is_refused():
    with pytest.raises(ParseError) as caught:
        trees("k*c", names=("angle", "speed"))
    assert caught.value.reason == "it has no feature; there are 'angle', 'speed'"


def test_a_constant_is_a_guess_as_it_is_a_row_of_an_earlier_table():
    assert trees("0.25") == (parse("0.25"),)


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_a_guess_that_cannot_be_parsed_is_refused_with_its_position(text, sentence):
    with pytest.raises(ParseError, match=sentence) as caught:
        trees(text)
    assert text in str(caught.value)
    assert str(caught.value).rstrip().endswith("^")


def test_a_single_guess_must_be_in_a_list():
    with pytest.raises(ValueError, match=r"guesses must be a list of formulas, such as \['a\*x0'\]"):
        parse_guesses("a*x0", ["x0"], DEFAULT)


# Names that resemble a column's -----------------------------------------------------------------------------
COLUMNS = ("girth_in", "temperature_C", "wind_speed", "A", "x (m)", "top speed")
RESEMBLED = [
    ("girth", "girth_in"), ("Girth_in", "girth_in"), ("girth_inn", "girth_in"), ("grith_in", "girth_in"),
    ("temp", "temperature_C"), ("temperature", "temperature_C"), ("temprature_C", "temperature_C"),
    ("TEMPERATURE_C", "temperature_C"), ("speed", "wind_speed"), ("wind", "wind_speed"), ("a", "A"),
    ("windSpeed", "wind_speed"), ("top_speed", "top speed"),
]  # fmt: skip
FREE = (
    "b", "c", "k", "b1", "c0", "k1", "T0", "t", "K_m", "kcat", "Vmax", "y0", "x_0", "w", "q10", "speed0x", "ratio",
    "wind_speed_0", "girth_in_ref", "halflife",
    *PARAMETERS,
)  # fmt: skip


@pytest.mark.parametrize(("name", "column"), RESEMBLED)
def test_a_name_that_resembles_a_column_is_questioned(name, column):
    with pytest.raises(ParseError) as caught:
        trees(f"b*exp(-{name}/`x (m)`)", names=COLUMNS)
    assert caught.value.reason == (
        f"{name!r} is no column; did you mean {column!r}? A free parameter needs a name that resembles no column, "
        "such as b"
    )


@pytest.mark.parametrize("name", sorted(FREE))
def test_a_usual_name_of_a_parameter_is_one(name):
    assert resembled(name, COLUMNS) is None


@pytest.mark.parametrize("name", ["theta", "beta", "rate", "time"])
def test_a_name_of_a_column_itself_is_that_column_even_if_it_is_usual_for_parameters(name):
    [tree] = trees(f"a*{name}", names=(name, "zeta", "dose_rate"))
    assert tree.columns == (0, 3)


def test_a_greek_letter_is_no_misspelling_of_another_one():
    names = ("theta", "sigma", "tau_s")
    assert [resembled(name, names) for name in ("eta", "beta", "zeta", "gamma")] == [None] * 4
    assert resembled("tau", names) == "tau_s"


def test_x_is_questioned_where_features_are_numbered():
    with pytest.raises(ParseError, match=re.escape("'x' is no column; did you mean 'x0'?")):
        trees("a*x + x1")
    assert resembled("x", ("time", "dose")) is None


@settings(max_examples=200, deadline=None)
@given(column=st.from_regex(r"[a-z]{3,8}(_[a-z]{1,4})?", fullmatch=True))
def test_every_prefix_of_three_letters_or_more_is_questioned_unless_it_is_usual(column):
    first = column.split("_")[0]
    for n in range(3, len(column)):
        if column[:n] not in PARAMETERS or column[:n] == first:
            assert resembled(column[:n], (column,)) == column
    assert resembled(column.upper(), (column,)) == column
