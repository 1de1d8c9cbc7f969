import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree.expr import Expression, ParseError, parse

from .strategies import expressions

x, y, z = map(Expression.variable, range(3))


@given(expressions(max_leaves=25))
def test_parsing_the_text_gives_the_same_tree(e):
    assert parse(e.text()) == e


AWKWARD = [
    "x1",
    "x2",
    "x0",
    "e",
    "pi",
    "nan",
    "inf",
    "sin",
    "pow",
    "a b",
    "`",
    "``",
    "",
    "+",
    "Größe",
    "mass",
    "2x",
    "\n",
]


@given(
    expressions(),
    st.lists(st.one_of(st.sampled_from(AWKWARD), st.text()), min_size=3, max_size=5, unique=True),
)
def test_text_with_feature_names_is_parsed_with_the_same_names(e, names):
    assert parse(e.text(names=names), names=names) == e


@given(expressions(edges=False), st.integers(1, 17))
def test_rounded_text_is_a_valid_formula(e, digits):
    read = parse(e.text(digits=digits))
    assert read.columns == e.columns


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (x + y + z, "x0 + x1 + x2"),
        (x + (y + z), "x0 + (x1 + x2)"),
        (x - (y - z), "x0 - (x1 - x2)"),
        (x * (y / z), "x0*(x1/x2)"),
        (x * y / z, "x0*x1/x2"),
        ((x + y) * z, "(x0 + x1)*x2"),
        (-x * y, "-x0*x1"),
        (-(x * y), "-(x0*x1)"),
        (Expression.apply("neg", -x), "-(-x0)"),
        (-(x**2), "-x0^2"),
        ((-x) ** 2, "(-x0)^2"),
        ((x**2) ** 3, "(x0^2)^3"),
        (x ** (y**2), "x0^x1^2"),
        ((x**y) ** z, "(x0^x1)^x2"),
        (x**-y, "x0^-x1"),
        (x ** Expression.constant(2.0), "pow(x0, 2.0)"),
        (x**-2, "x0^-2.0"),
        (Expression.constant(-2.0) ** 2, "(-2.0)^2"),
        (-(Expression.constant(2.0) ** 2), "-2.0^2"),
        (-Expression.constant(2.0), "-(2.0)"),
        (-Expression.constant(-2.0), "-(-2.0)"),
        (Expression.constant(-0.0), "-0.0"),
        (Expression.constant(-np.inf), "-inf"),
        (x - -1.5, "x0 - -1.5"),
        (x * -1.5, "x0*-1.5"),
        (Expression.apply("pdiv", x + 1, y), "pdiv(x0 + 1.0, x1)"),
    ],
)
def test_parentheses_are_written_only_where_they_are_needed(e, text):
    assert str(e) == text
    assert parse(text) == e
    assert repr(e) == f"Expression({text!r})"


def test_ambiguous_names_are_in_backticks():
    names = ["my col", "a`b", "sin"]
    assert (x + y + z).text(names=names) == "`my col` + `a``b` + `sin`"
    assert (x + y + z).text(names=["x0", "x2", "e"]) == "x0 + `x2` + `e`"
    assert (x + y).text(names=["mass", "Größe"]) == "mass + Größe"
    with pytest.raises(ValueError, match="feature x2, but only 2"):
        z.text(names=["a", "b"])


def test_digits_round_the_constants():
    assert (x * (1 / 3) + 1e10).text(digits=3) == "x0*0.333 + 1e+10"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("sin(x0^2)*cos(x0) - 1", "sin(square(x0))*cos(x0) - 1"),
        ("x0**2**3", "pow(x0, cube(2))"),
        ("-2^2", "neg(square(2))"),
        ("2*-x0", "2*neg(x0)"),
        ("- - x0", "neg(neg(x0))"),
        ("+x0 - +1", "x0 - 1"),
        ("x0^(2)", "square(x0)"),
        ("(-2)^x0", "pow(-2, x0)"),
        (" x0\n+ .5e1 ", "x0 + 5.0"),
        ("-x0^-x1*2", "neg(pow(x0, neg(x1)))*2"),
        ("min(x0, max(1, x1))", "min(x0,max(1,x1))"),
        ("add(1, sub(x0, mul(x0, div(1, x1))))", "1 + (x0 - x0*(1/x1))"),
    ],
)
def test_different_spellings_of_one_formula(text, same):
    assert parse(text) == parse(same)


def test_constants_have_names():
    assert parse("pi").constants == (np.pi,)
    assert parse("-e").constants == (-np.e,)
    assert parse("inf - nan") == Expression.constant(np.inf) - Expression.constant(np.nan)
    assert parse("-2^2")([[0.0]])[0] == -4


def test_features_by_name_or_index():
    assert parse("mass*x1", names=["mass", "a b"]) == x * y
    assert parse("`a b` + `mass`", names=["mass", "a b"]) == y + x


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("", "the formula is empty", 0),
        ("   ", "the formula is empty", 3),
        ("1 + y", "unknown name 'y'; features are x0, x1, ... or given names", 4),
        ("sine(x0)", "unknown operator 'sine'; did you mean 'sin'?", 0),
        ("sin(x0, x1)", "sin takes 1 argument, got 2", 10),
        ("max(x0)", "max takes 2 arguments, got 1", 6),
        ("sin()", "sin takes 1 argument, got 0", 4),
        ("2*(x0 + 1", "this parenthesis is not closed", 2),
        ("x0 + 1)", "no parenthesis is open here", 6),
        ("x0, x1", "no parenthesis is open here", 2),
        ("(x0, x1)", "a comma belongs between the arguments", 3),
        ("x0 +", "the formula ends where a value is expected", 4),
        ("x0 * / x1", "'/' comes where a value is expected", 5),
        ("max(x0, )", "')' comes where a value is expected", 8),
        ("2 x0", "expected an operator before 'x0'", 2),
        ("x0 $ 1", "unexpected character '$'", 3),
        ("`x0", "this backtick is not closed", 0),
        ("sin + 1", "sin is an operator; its arguments are missing", 0),
        ("x0(1)", "x0 is a value, not an operator; write x0*(...)", 0),
        ("x99999999999", "there is no feature x99999999999", 0),
    ],
)
def test_errors_have_a_reason_and_a_position(text, reason, position):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert reason in str(caught.value)
    assert caught.value.position == position
    assert str(caught.value).splitlines()[-1] == " " * (2 + position) + "^"


@pytest.mark.parametrize(
    ("text", "names", "reason"),
    [
        ("mas + 1", ["mass"], "unknown name 'mas'; features are mass; did you mean 'mass'?"),
        ("x1", ["x1", "x2"], "write `x1` in backticks for the name"),
        ("1 - e", ["e"], "write `e` in backticks for the feature"),
        ("-e", ["e"], "write `e` in backticks for the feature"),
        ("sin", ["sin"], "write it in backticks for the feature"),
        ("x5", ["a", "b"], "there is no feature x5; features are a, b"),
        ("`c`", ["a", "b"], "unknown name 'c'"),
    ],
)
def test_errors_with_names_have_a_reason(text, names, reason):
    with pytest.raises(ParseError) as caught:
        parse(text, names=names)
    assert reason in str(caught.value)


def test_names_must_differ():
    with pytest.raises(ValueError, match="unique"):
        parse("a", names=["a", "a"])


def test_only_a_window_of_a_long_formula_is_shown():
    with pytest.raises(ParseError) as caught:
        parse("x0 + " * 1000 + "y")
    lines = str(caught.value).splitlines()
    assert len(lines[1]) < 130
    assert lines[1][lines[2].index("^")] == "y"


@given(st.text(alphabet="x01e+-*/^(),. `sinpow\n$", max_size=20))
def test_any_text_parses_or_raises_a_parse_error(text):
    try:
        e = parse(text)
    except ParseError:
        return
    assert parse(str(e)) == e
