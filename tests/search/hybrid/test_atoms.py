"""Atoms and modulators: stored values are those of the expressions, no two are the same, and C of A + B·C is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.atoms import (
    Atom,
    Recipe,
    arguments,
    distinct,
    function_atoms,
    function_values,
    make_atoms,
    monomials,
    power_values,
)
from fouriertree.search.hybrid.modulation import modulators, polynomials

V = Vocabulary(PrimitiveSet.default())
SETS = {
    "default": PrimitiveSet.default(),
    "paper": PrimitiveSet.paper(),
    "polynomial": PrimitiveSet.polynomial(),
    "without roots": PrimitiveSet(["add", "mul", "div", "exp"]),
    "sums": PrimitiveSet(["add", "sin"]),
}
seeds = st.integers(0, 2**32 - 1)
vocabularies = pytest.mark.parametrize(
    "operators",
    [pytest.param(s, id=n) for n, s in SETS.items()],
)


def variables(d):
    return tuple(Expression.variable(i) for i in range(d))


def rows(seed, d, signed=False, n=60):
    return np.random.default_rng(seed).uniform(-3.0 if signed else 0.3, 3.0, (d, n))


def norm_of(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def operators_in(e):
    return {e.primitives.by_opcode(code).name for code in e.op.tolist() if code > 1}


# Values -----------------------------------------------------------------------------------------------------
@vocabularies
@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
@pytest.mark.parametrize("d", [1, 3])
def test_values_of_atoms_are_those_of_their_expressions(operators, signed, d):
    v, data = Vocabulary(operators), rows(d, d, signed)
    pool = make_atoms(data, v, np.ones(data.shape[1]), Recipe(60, functions=True, periods=2))
    assert len(pool) == len(pool.values) > d
    assert np.isfinite(pool.values).all()
    # Every fourth: expressions take their time.
    for i in range(0, len(pool), 4):
        expression = pool.atoms[i].expression(v, variables(d))
        np.testing.assert_allclose(expression.evaluate(data.T), pool.values[i], rtol=1e-9, atol=1e-12)
        assert operators_in(expression) <= set(operators.names)


def test_atoms_for_a_denominator_are_times_the_target_and_modulated_ones_times_the_modulator():
    data = rows(0, 2)
    z, wave = np.exp(data[0]), np.sin(1.7 * data[1])
    modulator = Atom((0.0, 1.0), "sin", 1.7)
    pool = make_atoms(data, V, np.ones(60), Recipe(30, functions=False), z, [(modulator, wave)])
    below = [a for a in pool.atoms if a.below]
    modulated = [a for a in pool.atoms if a.times is not None]
    assert len(below) == 10
    assert len(modulated) > 10
    for atom, values in zip(pool.atoms, pool.values, strict=True):
        expected = atom.expression(V, variables(2)).evaluate(data.T) * (z if atom.below else 1.0)
        np.testing.assert_allclose(values, expected, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, powers=st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5, -1.5]), min_size=3, max_size=3))
def test_products_of_powers_are_products_of_powers(seed, powers):
    data = rows(seed, 3)
    slow = np.prod([data[i] ** p for i, p in enumerate(powers)], axis=0)
    np.testing.assert_allclose(power_values(data, [tuple(powers)])[0], slow, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "slow"),
    [
        ("sin", lambda u: np.sin(1.3 * u)),
        ("exp", lambda u: np.exp(1.3 * u)),
        ("cos^-2", lambda u: np.cos(1.3 * u) ** -2.0),
        ("shift^-0.5", lambda u: (u + 1.3) ** -0.5),
        ("logshift", lambda u: np.log(u + 1.3)),
    ],
)
def test_the_name_of_a_function_says_what_it_is(function, slow):
    u = np.linspace(0.2, 0.9, 20)
    np.testing.assert_allclose(function_values(function, 1.3, u), slow(u), rtol=1e-14)
    expression = Atom((1.0,), function, 1.3).expression(V, variables(1))
    np.testing.assert_allclose(expression.evaluate(u[:, None]), slow(u), rtol=1e-12)


# Pools ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("d", [1, 2])
def test_no_two_atoms_of_a_pool_are_multiples_of_each_other(d):
    data = rows(3, d)
    roots = np.sqrt(np.random.default_rng(4).uniform(0.1, 2.0, 60))
    units = norm_of(make_atoms(data, V, roots, Recipe(150, functions=True, periods=2)).values * roots)
    units *= np.sign(units[:, :1])
    for i, unit in enumerate(units[1:], 1):
        assert np.abs(units[:i] - unit).max(axis=1).min() > 1e-6


def test_of_equal_atoms_the_first_stays_and_those_without_values_go():
    values = np.array(
        [[1.0, 2.0, 3.0], [-2.0, -4.0, -6.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0], [1.0, 2.0, 4.0]]
    )
    atoms = [Atom((float(i),)) for i in range(5)]
    found = distinct(atoms, values, np.ones(3))
    assert found.atoms == (atoms[0], atoms[4])
    np.testing.assert_array_equal(found.values, values[[0, 4]])


def test_rows_without_weight_do_not_tell_atoms_apart():
    values = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]])
    assert len(distinct([Atom((1.0,)), Atom((2.0,))], values, np.array([1.0, 1.0, 0.0]))) == 1


def test_a_pool_has_as_many_atoms_as_it_may_and_a_smaller_one_is_its_beginning():
    data, roots = rows(5, 3), np.ones(60)
    large = make_atoms(data, V, roots, Recipe(100, functions=True, periods=2, limit=400))
    small = make_atoms(data, V, roots, Recipe(100, functions=True, periods=2, limit=150))
    assert (len(large), len(small)) == (400, 150)
    assert large.atoms[:150] == small.atoms


@settings(max_examples=10, deadline=None)
@given(seed=seeds, exponents=st.lists(st.integers(-30, 30), min_size=2, max_size=2))
def test_in_other_units_the_atoms_are_the_same_up_to_their_constants(seed, exponents):
    data = rows(seed, 2)
    units = 2.0 ** np.array(exponents, float)
    recipe = Recipe(40, functions=True, periods=2)
    one, other = (make_atoms(d, V, np.ones(60), recipe) for d in (data, data * units[:, None]))
    assert [(a.powers, a.function) for a in one.atoms] == [(a.powers, a.function) for a in other.atoms]
    waves = [i for i, a in enumerate(one.atoms) if a.function.startswith(("sin", "cos", "tanh"))]
    np.testing.assert_allclose(one.values[waves], other.values[waves], rtol=1e-9, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(limit=st.integers(1, 400), signed=st.booleans())
def test_monomials_are_distinct_simple_first_and_defined_on_the_data(limit, signed):
    data = rows(0, 3, signed)
    data[1, 0] = 0.0
    found = monomials(data, V, limit)
    assert len(found) == len(set(found)) <= limit
    assert found == monomials(data, V, 1000)[: len(found)]
    values = power_values(data, found)
    assert np.isfinite(values).all()
    assert (np.array(found)[:, 1] >= 0.0).all()
    whole = monomials(data, V, limit, whole=True)
    assert all(p == int(p) for powers in whole for p in powers)


def test_without_products_and_division_the_arguments_are_the_columns_alone():
    data = rows(0, 3)
    assert {sum(p != 0.0 for p in powers) for powers in arguments(data, Vocabulary(SETS["sums"]), 40)} == {1}
    assert all(min(powers) >= 0.0 for powers in arguments(data, Vocabulary(SETS["polynomial"]), 40))
    assert any(min(powers) < 0.0 for powers in arguments(data, V, 40))


def test_no_function_has_a_pole_on_the_data():
    for signed in (False, True):
        data = rows(7, 2, signed)
        found = list(function_atoms(data, V, arguments(data, V, 40), 5))
        assert all(np.isfinite(values).all() for _, _, values in found)


# Modulators -------------------------------------------------------------------------------------------------
# A and B lie in the span of the polynomials, which are of logarithms where columns are positive.
MODULATORS = {"sin": 2.3, "cos": 5.1, "exp": -0.9, "tanh": 0.8, "shift^-1": 1.7, "shift^0.5": 0.5, "log": 0.0}


def modulated(function, constant, place):
    data = rows(1, 3, n=300)
    a, b, x = np.roll(data, -place, axis=0)
    A, B = 1.0 + np.log(a) - np.log(b) ** 2, 2.0 + np.log(a) * np.log(b)
    return data, A + B * function_values(function, constant, x), (place + 2) % 3


def of_column(found, column):
    return [(atom, values) for atom, values in found if atom.powers[column]]


@pytest.mark.parametrize(("function", "constant"), MODULATORS.items())
def test_of_all_functions_the_modulator_of_a_plus_b_times_c_is_c(function, constant):
    data, y, column = modulated(function, constant, 0)
    atom, values = of_column(modulators(data, y, np.ones(300), V, 5, 10), column)[0]
    assert atom.function == function
    assert atom.constant == pytest.approx(constant, rel=1e-5)
    np.testing.assert_allclose(values, function_values(function, atom.constant, data[column]), rtol=1e-12)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_wave_is_the_one_modulator_of_its_column_whichever_that_is(place):
    data, y, column = modulated("sin", 2.3, place)
    [(atom, _)] = of_column(modulators(data, y, np.ones(300), V, 5, 1), column)
    assert (atom.function, atom.constant) == ("sin", pytest.approx(2.3, rel=1e-5))


def test_every_variable_has_its_modulators_and_as_many_as_asked_for():
    data = rows(2, 3, n=200)
    z = data[0] * np.sin(data[1]) + data[2]
    for count in (1, 2):
        columns = [tuple(np.flatnonzero(a.powers)) for a, _ in modulators(data, z, np.ones(200), V, 3, count)]
        assert columns == [(i,) for i in range(3) for _ in range(count)]


@pytest.mark.parametrize("d", [0, 1, 2, 3, 6])
def test_polynomials_are_complete_degrees_and_do_not_depend_on_units(d):
    data = rows(3, d, n=200)
    found = polynomials(data, 28)
    assert found.shape[1] <= 28
    assert np.linalg.matrix_rank(found) == found.shape[1]
    scaled = polynomials(data * (10.0 ** np.arange(d))[:, None], 28)
    np.testing.assert_allclose(scaled, found, rtol=1e-9, atol=1e-9)
