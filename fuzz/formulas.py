"""Formulas, guesses and lists of operators."""

from __future__ import annotations

import numpy as np

from fouriertree import PrimitiveSet
from fouriertree.cli.fitting.arguments import parse_operators
from fouriertree.errors import InputError
from fouriertree.expr import Expression, ParseError, parse
from fouriertree.fit.guesses import parse_guesses
from fouriertree.selection.guesses.parametric import ParametricSum

from .cases import check_sentence, text_of

#: names that are ambiguous in a formula
NAMES = ("x1", "x0", "sin", "e", "a b", "`", "", "π", "1e5", "+", "a\nb", "speed")
ROWS = np.linspace(-2.0, 2.0, 3 * 12).reshape(3, 12)
FORMULAS = [
    "sin(x0^2)*cos(x0) - 1", "-2^2", "x0^x1^x2", "pdiv(x0, plog(x1))", "min(x0, max(x1, -1e-5))", "((x0))", "-(-2)",
    "x0**3 + .5e3/tanh(x1)", "inf - nan + pi*e", "`x0` + 1", "1e999", "-x0^-2", "inv(neg(square(cube(x0))))", "x00012",
    "__import__('os').system('id')", "x0.__class__", "x٣ + ²", "x" + "9" * 5000, "-" * 200 + "x0", "(" * 300,
    "sin(" * 100 + "x0" + ")" * 100, "`" * 99, "2 x0", "x0 +", "sine(x0)", "max(x0)", "",
]  # fmt: skip
GUESSES = [
    "a*sin(b*speed) + c",
    "a*`a b`^k",
    "speed/(1 + speed)",
    "x0 + x99",
    "a + a + b",
    "sin + 1",
    *FORMULAS,
]
OPERATORS = [
    "+,-,*,/",
    "add, sub ,sin",
    "sine",
    ",,",
    "+,+",
    "^,pow",
    "sin,cos,exp,log,sqrt,tanh",
    "min,max,\0",
]


def check_formula(data: bytes) -> None:
    """Printing and parsing are inverse under any names; errors point at their position."""
    try:
        tree = parse(text_of(data))
    except ParseError as error:
        check_refused_formula(error)
        return
    assert parse(str(tree)) == tree
    if not tree.columns or tree.columns[-1] < len(NAMES):
        assert parse(tree.text(NAMES), NAMES) == tree
        assert tree.evaluate(ROWS).shape == (3,)


def check_refused_formula(error: ParseError) -> None:
    check_sentence(error.reason)
    assert "\n" not in error.reason
    assert 0 <= error.position <= len(error.formula)
    _, place, caret = str(error).split("\n")
    assert place.isprintable()
    assert caret.strip() == "^"


def check_guess(data: bytes) -> None:
    """A guess is a formula over the features; unknown names are free parameters."""
    try:
        found = parse_guesses([text_of(data)], NAMES, PrimitiveSet.default())
    except ParseError as error:
        check_refused_formula(error)
        return
    [guess] = found
    parametric = ParametricSum.of(guess.tree, len(NAMES))
    for tree in parametric.with_values(np.ones(parametric.n_parameters)):
        assert isinstance(tree, Expression)
        assert not tree.columns or tree.columns[-1] < len(NAMES)
        assert parse(tree.text(NAMES), NAMES) == tree


def check_operators(data: bytes) -> None:
    """Every word is a requested operator, once."""
    text = text_of(data)
    try:
        found = parse_operators(text)
    except InputError as error:
        check_sentence(str(error)[:500])
        return
    wanted = [word.strip() for word in text.split(",") if word.strip()]
    assert len(found) == len(wanted) > 0
    assert all(word in found for word in wanted)
