"""Generated laws have the properties of everyday laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench.everyday import HIGH, LOW, SPREAD, generate
from fouriertree.experiments.bench.formulas import evaluate, parse, variables
from fouriertree.experiments.bench.names import EVERYDAY, facts, generated_law, generated_name

SEEDS = st.integers(0, 2**63 - 1), st.integers(0, 500)


@given(*SEEDS)
@settings(max_examples=150, deadline=None)
def test_a_generated_law_is_a_sum_of_products_of_simple_functions(seed, index):
    law = generate(seed, index)
    assert 1 <= law.n_variables <= 5
    assert 2 <= len(law.terms) <= 3
    for term in law.terms:
        variables = [factor.variable for factor in term.factors]
        assert 1 <= len(variables) <= 3
        assert len(set(variables)) == len(variables)
    assert {f.variable for t in law.terms for f in t.factors} == set(range(law.n_variables))


@given(*SEEDS)
@settings(max_examples=150, deadline=None)
def test_every_term_of_a_generated_law_matters_on_any_sample(seed, index):
    law = generate(seed, index)
    X = np.random.default_rng(1).uniform(LOW, HIGH, (4000, law.n_variables))
    assert law.spreads(X).min() >= SPREAD


@given(*SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_formula_and_the_ranges_are_those_of_the_law(seed, index):
    law = generate(seed, index)
    assert list(law.fact["ranges"].values()) == [[LOW, HIGH]] * law.n_variables
    symbols = variables([LOW] * law.n_variables)
    X = np.random.default_rng(1).uniform(LOW, HIGH, (20, law.n_variables))
    found = evaluate(parse(law.formula, {str(s): s for s in symbols}), symbols, X)
    np.testing.assert_allclose(found, sum(term.values(X) for term in law.terms), rtol=1e-9, atol=1e-12)


@given(*SEEDS)
def test_a_name_determines_its_law(seed, index):
    assert generated_law(generated_name(EVERYDAY, seed, index)) == (EVERYDAY, seed, index)
    generate.cache_clear()
    first = generate(seed, index)
    generate.cache_clear()
    assert generate(*generated_law(generated_name(EVERYDAY, seed, index))[1:]) == first


def test_another_index_and_another_seed_give_another_law():
    assert len({generate(seed, index) for seed in range(5) for index in range(20)}) == 100


def test_a_stored_name_means_the_same_law_in_every_version():
    assert generate(5, 3).formula == "-1.7*(0.79 + x2) + 4.4*log(x1)*x0"


@pytest.mark.parametrize("name", facts("everyday"))
def test_every_term_of_a_published_law_matters(name):
    fact = facts("everyday")[name]
    symbols = variables([LOW] * len(fact["ranges"]))
    law = parse(fact["formula"], {str(s): s for s in symbols})
    X = np.random.default_rng(1).uniform(LOW, HIGH, (4000, len(symbols)))
    spread = evaluate(law, symbols, X).std()
    terms = [term for term in law.as_ordered_terms() if term.free_symbols]
    assert all(evaluate(term, symbols, X).std() >= 0.95 * SPREAD * spread for term in terms)
