"""Dictionaries: values are those of the expressions and of the token arrays, and no two functions are multiples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.dictionary import (
    SPECS,
    DictionarySpec,
    TermPacker,
    basis_functions,
    distinct,
    make_dictionary,
)
from fouriertree.search.hybrid.functions import BasisFunction

V = Vocabulary(PrimitiveSet.default())
SETS = {
    "default": PrimitiveSet.default(),
    "paper": PrimitiveSet.paper(),
    "polynomial": PrimitiveSet.polynomial(),
    "without roots": PrimitiveSet(["add", "mul", "div", "exp"]),
    "without squares": PrimitiveSet(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt"]),
    "arithmetic": PrimitiveSet(["add", "mul", "div"]),
    "sums": PrimitiveSet(["add", "sin"]),
}
seeds = st.integers(0, 2**32 - 1)


def variables(d):
    return tuple(Expression.variable(i) for i in range(d))


def rows(seed, d, signed=False, n=60):
    return np.random.default_rng(seed).uniform(-3.0 if signed else 0.3, 3.0, (d, n))


def dictionary(data, v=V, roots=None, z=None, spec=None, max_size=10_000, **options):
    """A dictionary with functions, unless `spec` or options say otherwise."""
    n = data.shape[1]
    if spec is None:
        defaults = {"name": "test", "n_monomials": 60, "functions": True, "max_size": 10_000}
        spec = DictionarySpec(**defaults | options)
    z, roots = np.ones(n) if z is None else z, np.ones(n) if roots is None else roots
    return make_dictionary(basis_functions(data, v, spec), data, z, roots, v, spec, max_size)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def operators_in(e):
    return {e.primitives.by_opcode(code).name for code in e.op.tolist() if code > 1}


# Values -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("operators", SETS.values(), ids=SETS)
@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
@pytest.mark.parametrize("d", [1, 3])
def test_values_of_basis_functions_are_those_of_their_expressions(operators, signed, d):
    v, data = Vocabulary(operators), rows(d, d, signed)
    found = dictionary(data, v)
    assert len(found) == len(found.values) > d
    assert np.isfinite(found.values).all()
    # Every fourth: expressions take their time.
    for i in range(0, len(found), 4):
        expression = found.functions[i].expression(v, variables(d))
        np.testing.assert_allclose(expression.evaluate(data.T), found.values[i], rtol=1e-9, atol=1e-12)
        assert operators_in(expression) <= set(operators.names)


@pytest.mark.parametrize("name", ["modulated", "modulated ratio"])
def test_functions_of_a_denominator_are_times_the_target_and_modulated_ones_times_the_modulator(name):
    data = rows(0, 2)
    z = np.exp(data[0]) * (2.0 + np.sin(1.7 * data[1]))
    found = dictionary(data, z=z, spec=SPECS[name])
    n_below = sum(f.below for f in found.functions)
    assert (n_below > 10) == SPECS[name].ratio
    assert sum(f.times is not None for f in found.functions) > 10
    for function, values in zip(found.functions, found.values, strict=True):
        expected = function.expression(V, variables(2)).evaluate(data.T) * (z if function.below else 1.0)
        np.testing.assert_allclose(values, expected, rtol=1e-9)


# Which functions there are ----------------------------------------------------------------------------------
@pytest.mark.parametrize("d", [1, 2])
def test_no_two_basis_functions_are_multiples_of_each_other(d):
    data = rows(3, d)
    roots = np.sqrt(np.random.default_rng(4).uniform(0.1, 2.0, 60))
    units = unit(dictionary(data, roots=roots, n_monomials=150, max_size=800).values * roots)
    units *= np.sign(units[:, :1])
    for i, one in enumerate(units[1:], 1):
        assert np.abs(units[:i] - one).max(axis=1).min() > 1e-6


def test_of_equal_functions_the_first_stays_and_those_without_values_do_not():
    values = np.array(
        [[1.0, 2.0, 3.0], [-2.0, -4.0, -6.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0], [1.0, 2.0, 4.0]]
    )
    functions = [BasisFunction((float(i),)) for i in range(5)]
    found = distinct(functions, values, np.ones(3))
    assert found.functions == (functions[0], functions[4])
    np.testing.assert_array_equal(found.values, values[[0, 4]])


def test_rows_without_weight_do_not_distinguish_functions():
    values = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]])
    functions = [BasisFunction((1.0,)), BasisFunction((2.0,))]
    assert len(distinct(functions, values, np.array([1.0, 1.0, 0.0]))) == 1


@pytest.mark.parametrize("limited", ["spec", "option"])
def test_a_dictionary_has_at_most_its_size_and_a_smaller_one_is_its_beginning(limited):
    data = rows(5, 3)

    def of_size(size):
        in_spec = limited == "spec"
        spec = DictionarySpec("test", 100, True, size if in_spec else 10_000)
        return dictionary(data, spec=spec, max_size=10_000 if in_spec else size)

    large, small = of_size(400), of_size(150)
    assert (len(large), len(small)) == (400, 150)
    assert large.functions[:150] == small.functions
    np.testing.assert_array_equal(large.values[:150], small.values)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, exponents=st.lists(st.integers(-30, 30), min_size=2, max_size=2))
def test_in_other_units_the_functions_are_the_same_up_to_their_constants(seed, exponents):
    data = rows(seed, 2)
    units = 2.0 ** np.array(exponents, float)
    one, other = (dictionary(d, n_monomials=40) for d in (data, data * units[:, None]))
    assert [(f.powers, f.name) for f in one.functions] == [(f.powers, f.name) for f in other.functions]
    waves = [i for i, f in enumerate(one.functions) if f.name.startswith(("sin", "cos", "tanh"))]
    np.testing.assert_allclose(one.values[waves], other.values[waves], rtol=1e-9, atol=1e-12)


# Terms as token arrays --------------------------------------------------------------------------------------
PACKED = rows(0, 3, n=80)
Z = PACKED[0] * (2.0 + np.sin(PACKED[1]))
X = variables(3)


@pytest.mark.parametrize("name", ["functions", "ratio", "modulated", "modulated ratio"])
@pytest.mark.parametrize("operators", ["default", "arithmetic", "without squares"])
def test_packed_terms_and_products_are_the_expressions_of_the_basis_functions(operators, name):
    v = Vocabulary(SETS[operators])
    found = dictionary(PACKED, v, z=Z, spec=SPECS[name], max_size=800)
    packed = TermPacker(found.functions, v, X, 3 if SPECS[name].ratio else None, {})

    def expression(i):
        e = found.functions[i].expression(v, X)
        return v.product([e, Expression.variable(3)]) if found.functions[i].below else e

    which = np.random.default_rng(1).integers(0, len(found), (200, 2))
    which[:3], which[3:6, 1] = 0, 0
    assert list(packed.terms(which[:, 0])) == [expression(i) for i in which[:, 0]]
    products = list(packed.terms(which[:, 0], which[:, 1]))
    one = expression(0)
    for (i, j), product in zip(which, products, strict=True):
        # The factor one is left out, whichever it is.
        expected = v.product([expression(i), expression(j)])
        assert product == expected or one in (expression(i), expression(j))


def test_values_of_packed_terms_are_those_of_the_dictionary():
    found = dictionary(PACKED, max_size=800)
    terms = TermPacker(found.functions, V, X, None, {}).terms(np.arange(len(found)))
    values = np.array([e.evaluate(PACKED.T) for e in terms])
    np.testing.assert_allclose(values, found.values, rtol=1e-9, atol=1e-12)


def test_the_order_in_which_terms_are_asked_for_does_not_matter():
    found = dictionary(PACKED, max_size=400)
    one, other = (TermPacker(found.functions, V, X, None, {}) for _ in range(2))
    everything = np.arange(len(found))
    other.terms(everything[::-7])
    assert list(one.terms(everything)) == list(other.terms(everything))


def test_templates_of_other_dictionaries_over_the_same_variables_change_no_term():
    known = {}
    for name in ("functions", "ratio", "modulated", "powers"):
        found = dictionary(PACKED, z=Z, spec=SPECS[name], max_size=300)
        alone, together = (TermPacker(found.functions, V, X, 3, templates) for templates in ({}, known))
        everything = np.arange(len(found))
        assert list(together.terms(everything)) == list(alone.terms(everything))
