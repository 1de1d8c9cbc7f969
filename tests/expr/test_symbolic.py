import subprocess
import sys

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

from fouriertree.expr import Expression, parse
from fouriertree.expr.catalogue import CATALOGUE

from .strategies import expressions

ORDINARY = np.array([0.15, 0.3, 0.55, 0.8, 0.95])


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_sympy_form_has_the_values_of_the_reference(name):
    row = CATALOGUE[name]
    e = Expression.apply(name, *map(Expression.variable, range(row.arity)))
    symbols = sympy.symbols("x0 x1")
    for a in ORDINARY:
        for b in ORDINARY[::-1]:
            value = e.sympy().subs(dict(zip(symbols, (a, b), strict=True)))
            assert float(value) == pytest.approx(e([[a, b]])[0], rel=1e-12)


def test_protected_operators_keep_their_values_at_zero():
    x0, x1 = sympy.symbols("x0 x1")
    assert parse("pdiv(x0, x1)").sympy().subs({x0: 3, x1: 0}) == 1
    assert parse("plog(x0)").sympy().subs({x0: 0}) == 0
    assert float(parse("plog(x0)").sympy().subs({x0: -2})) == pytest.approx(np.log(2))


def test_columns_become_symbols_and_whole_numbers_integers():
    a, b = sympy.Symbol("a"), sympy.Symbol("b c")
    assert parse("2*x0^2 + x1*0.25").sympy(["a", "b c"]) == 2 * a**2 + sympy.Float(0.25) * b
    assert parse("5*x0^2/x1").latex() == r"\frac{5 x_{0}^{2}}{x_{1}}"
    assert parse("0.1*x0").sympy() == sympy.Float(0.1) * sympy.Symbol("x0")


def test_constant_parts_follow_our_arithmetic():
    assert parse("log(-1)").sympy() is sympy.nan
    assert parse("inv(0)").sympy() == sympy.oo
    assert parse("-inf").sympy() == -sympy.oo
    assert parse("exp(exp(exp(9)))").sympy() == sympy.oo
    assert parse("max(x0, sqrt(-1))").sympy() is sympy.nan


def test_importing_the_package_does_not_import_sympy():
    code = "import sys, fouriertree.expr; sys.exit('sympy' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_nested_powers_of_integers_do_not_explode():
    e = Expression.variable(0) * 2
    for _ in range(40):
        e = e**2
    assert e.sympy().free_symbols == {sympy.Symbol("x0")}


@settings(max_examples=50)
@given(expressions(max_leaves=5))
def test_every_expression_has_a_sympy_form(e):
    assert isinstance(e.sympy(), sympy.Basic)
