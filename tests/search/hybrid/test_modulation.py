"""Modulators: C of A + B·C is found, whatever A and B are."""

import numpy as np
import pytest

from fouriertree.expr import PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.functions import function_values
from fouriertree.search.hybrid.modulation import modulators, polynomials

V = Vocabulary(PrimitiveSet.default())
# A and B lie in the span of the polynomials, which are of logarithms where features are positive.
MODULATORS = {"sin": 2.3, "cos": 5.1, "exp": -0.9, "tanh": 0.8, "shift^-1": 1.7, "shift^0.5": 0.5, "log": 0.0}


def rows(seed, d, n=60):
    return np.random.default_rng(seed).uniform(0.3, 3.0, (d, n))


def modulated(name, constant, place):
    data = rows(1, 3, n=300)
    a, b, x = np.roll(data, -place, axis=0)
    A, B = 1.0 + np.log(a) - np.log(b) ** 2, 2.0 + np.log(a) * np.log(b)
    return data, A + B * function_values(name, constant, x), (place + 2) % 3


def of_variable(found, i):
    return [(function, values) for function, values in found if function.powers[i]]


@pytest.mark.parametrize(("name", "constant"), MODULATORS.items())
def test_of_all_functions_the_modulator_of_a_plus_b_times_c_is_c(name, constant):
    data, y, i = modulated(name, constant, 0)
    function, values = of_variable(modulators(data, y, np.ones(300), V, 5, 10), i)[0]
    assert function.name == name
    assert function.constant == pytest.approx(constant, rel=1e-5)
    np.testing.assert_allclose(values, function_values(name, function.constant, data[i]), rtol=1e-12)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_wave_is_the_one_modulator_of_its_variable_whichever_that_is(place):
    data, y, i = modulated("sin", 2.3, place)
    [(function, _)] = of_variable(modulators(data, y, np.ones(300), V, 5, 1), i)
    assert (function.name, function.constant) == ("sin", pytest.approx(2.3, rel=1e-5))


def test_every_variable_has_its_modulators_and_as_many_as_asked_for():
    data = rows(2, 3, n=200)
    z = data[0] * np.sin(data[1]) + data[2]
    for count in (1, 2):
        found = modulators(data, z, np.ones(200), V, 3, count)
        variables = [tuple(np.flatnonzero(function.powers)) for function, _ in found]
        assert variables == [(i,) for i in range(3) for _ in range(count)]


@pytest.mark.parametrize("d", [0, 1, 2, 3, 6])
def test_polynomials_are_complete_degrees_and_do_not_depend_on_units(d):
    data = rows(3, d, n=200)
    found = polynomials(data, 28)
    assert found.shape[1] <= 28
    assert np.linalg.matrix_rank(found) == found.shape[1]
    scaled = polynomials(data * (10.0 ** np.arange(d))[:, None], 28)
    np.testing.assert_allclose(scaled, found, rtol=1e-9, atol=1e-9)
