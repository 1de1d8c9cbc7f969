"""Basis functions: values and expressions by their names, defined on the data, simple ones first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.functions import (
    BasisFunction,
    arguments,
    function_values,
    monomials,
    nonlinear_functions,
    power_values,
)

V = Vocabulary(PrimitiveSet.default())
seeds = st.integers(0, 2**32 - 1)


def rows(seed, d, signed=False, n=60):
    return np.random.default_rng(seed).uniform(-3.0 if signed else 0.3, 3.0, (d, n))


@settings(max_examples=30, deadline=None)
@given(seed=seeds, powers=st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5, -1.5]), min_size=3, max_size=3))
def test_products_of_powers_are_products_of_powers(seed, powers):
    data = rows(seed, 3)
    slow = np.prod([data[i] ** p for i, p in enumerate(powers)], axis=0)
    np.testing.assert_allclose(power_values(data, [tuple(powers)])[0], slow, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("sin", lambda u: np.sin(1.3 * u)),
        ("exp", lambda u: np.exp(1.3 * u)),
        ("cos^-2", lambda u: np.cos(1.3 * u) ** -2.0),
        ("shift^-0.5", lambda u: (u + 1.3) ** -0.5),
        ("logshift", lambda u: np.log(u + 1.3)),
    ],
)
def test_the_name_of_a_function_determines_its_values_and_its_expression(name, slow):
    u = np.linspace(0.2, 0.9, 20)
    np.testing.assert_allclose(function_values(name, 1.3, u), slow(u), rtol=1e-14)
    expression = BasisFunction((1.0,), name, 1.3).expression(V, [Expression.variable(0)])
    np.testing.assert_allclose(expression.evaluate(u[:, None]), slow(u), rtol=1e-12)


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


def test_without_products_and_division_the_arguments_are_the_variables_alone():
    data = rows(0, 3)
    sums, polynomial = (Vocabulary(s) for s in (PrimitiveSet(["add", "sin"]), PrimitiveSet.polynomial()))
    assert {sum(p != 0.0 for p in powers) for powers in arguments(data, sums, 40)} == {1}
    assert all(min(powers) >= 0.0 for powers in arguments(data, polynomial, 40))
    assert any(min(powers) < 0.0 for powers in arguments(data, V, 40))


@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
def test_no_function_has_a_pole_on_the_data(signed):
    data = rows(7, 2, signed)
    found = list(nonlinear_functions(data, V, arguments(data, V, 40), 5))
    assert found
    assert all(np.isfinite(values).all() for _, _, values in found)


def test_functions_with_the_same_form_differ_in_constants_only():
    wave, other = BasisFunction((1.0, 0.0), "sin", 2.0), BasisFunction((1.0, 0.0), "sin", 3.0)
    assert wave.form == other.form
    assert BasisFunction((0.0, 1.0), times=wave).form == BasisFunction((0.0, 1.0), times=other).form
    assert wave.form != BasisFunction((1.0, 0.0), "cos", 2.0).form != BasisFunction((1.0, 0.0)).form
