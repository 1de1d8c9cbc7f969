"""Generated compositions have the stated form, every part of them matters, and they are defined on the whole box."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench.compositions import FUNCTIONS, POWERS, PRODUCT, generate
from fouriertree.experiments.bench.everyday import HIGH, LOW, two_digits
from fouriertree.experiments.bench.formulas import evaluate, parse, variables
from fouriertree.experiments.bench.names import COMPOSITIONS, case_names, generated_law, generated_name

SEEDS = st.integers(0, 2**63 - 1), st.integers(0, 500)


def box(law, rows=4000):
    return np.random.default_rng(1).uniform(LOW, HIGH, (rows, law.n_variables))


def monomials(law):
    return [*law.argument, law.outside, *([] if law.simple is None else [law.simple])]


@given(*SEEDS)
@settings(max_examples=50)
def test_a_composition_is_a_function_times_a_power_law_plus_a_simple_term(seed, index):
    law = generate(seed, index)
    inside = {j for part in law.argument for j, _ in part.powers}
    assert 2 <= law.n_variables <= 9
    assert 2 <= len(inside) <= 4
    assert len(law.outside.powers) <= 4
    assert law.simple is None or 1 <= len(law.simple.powers) <= 2
    assert len(law.argument) == 1 or all(len(part.powers) == 1 for part in law.argument)
    assert len(law.argument) > 1 or PRODUCT in FUNCTIONS[law.function].arguments
    assert {j for part in monomials(law) for j, _ in part.powers} == set(range(law.n_variables))


@given(*SEEDS)
@settings(max_examples=50)
def test_constants_have_two_digits_and_exponents_are_simple(seed, index):
    for part in monomials(generate(seed, index)):
        assert part.coefficient == two_digits(part.coefficient) != 0.0
        assert {exponent for _, exponent in part.powers} <= set(POWERS)


@given(*SEEDS)
@settings(max_examples=50)
def test_every_part_of_a_composition_matters_on_any_sample(seed, index):
    law = generate(seed, index)
    assert law.matters(box(law))


@given(*SEEDS)
@settings(max_examples=50)
def test_a_composition_is_defined_on_the_whole_box(seed, index):
    law = generate(seed, index)
    corners = np.array(list(product([LOW, HIGH], repeat=law.n_variables)))
    u = law.arguments(corners)
    assert np.isfinite(law.values(corners)).all()
    # An argument is monotonic in every variable, so that its extreme values are at corners.
    assert not FUNCTIONS[law.function].positive or u.min() > 0.0
    assert not FUNCTIONS[law.function].bounded or np.abs(u).max() <= 1.0


@given(*SEEDS)
@settings(max_examples=30)
def test_the_formula_has_the_values_of_the_composition(seed, index):
    law = generate(seed, index)
    assert list(law.fact["ranges"].values()) == [[LOW, HIGH]] * law.n_variables
    symbols = variables([LOW] * law.n_variables)
    found = evaluate(parse(law.formula, {str(s): s for s in symbols}), symbols, box(law, 20))
    np.testing.assert_allclose(found, law.values(box(law, 20)), rtol=1e-9, atol=1e-12)


@given(*SEEDS)
@settings(max_examples=20)
def test_a_name_determines_its_composition(seed, index):
    name = generated_name(COMPOSITIONS, seed, index)
    assert generated_law(name) == (COMPOSITIONS, seed, index)
    first = generate.__wrapped__(seed, index)
    assert generate.__wrapped__(*generated_law(name)[1:]) == first


def test_another_index_and_another_seed_give_another_composition():
    assert len({generate(seed, index) for seed in range(3) for index in range(20)}) == 60


def test_a_stored_name_means_the_same_composition_in_every_version():
    assert (
        generate(5, 3).formula
        == "-0.82*(0.034*x2**2 + 0.076*x4**2 + 0.024*x5**2)**(3/2)/x0*x1/x3/x6 + 2.5/sqrt(x7)"
    )


def test_all_functions_and_numbers_of_variables_occur():
    laws = [generate(0, index) for index in range(200)]
    assert {law.function for law in laws} == set(FUNCTIONS)
    assert {law.n_variables for law in laws} == set(range(2, 10))
    assert {law.simple is None for law in laws} == {not law.outside.powers for law in laws} == {True, False}


def test_without_generation_the_cases_are_the_first_laws_of_seed_0():
    assert case_names(COMPOSITIONS)[:2] == ["compositions_g0_00", "compositions_g0_01"]
    assert all(generated_law(name) for name in case_names(COMPOSITIONS))
