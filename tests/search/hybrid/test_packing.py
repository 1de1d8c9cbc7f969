"""Packed basis functions and variation: the token arrays are those of the expressions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import SumBatch
from fouriertree.search.hybrid.atoms import Recipe, make_atoms
from fouriertree.search.hybrid.explore import Image
from fouriertree.search.hybrid.modulation import modulators
from fouriertree.search.hybrid.packing import PackedAtoms
from fouriertree.search.hybrid.variation import offspring

rng = np.random.default_rng(0)
V = rng.uniform(0.5, 3.0, (3, 80))
Z = V[0] * np.sin(V[1])
X = tuple(Expression.variable(i) for i in range(3))
SETS = {
    "default": PrimitiveSet.default(),
    "arithmetic": PrimitiveSet(["add", "mul", "div"]),
    "without squares": PrimitiveSet(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt"]),
}


def dictionary(operators, ratio=False, modulated=False):
    v = Vocabulary(SETS[operators])
    waves = modulators(V, Z, np.ones(80), v, 3, 1) if modulated else ()
    recipe = Recipe(60, functions=not (ratio or modulated), periods=3, limit=800)
    return v, make_atoms(V, v, np.ones(80), recipe, Z if ratio else None, waves)


@pytest.mark.parametrize("kind", [{}, {"ratio": True}, {"modulated": True}], ids=str)
@pytest.mark.parametrize("operators", SETS)
def test_packed_terms_and_products_are_the_expressions_of_the_basis_functions(operators, kind):
    v, atoms = dictionary(operators, **kind)
    target = 3 if kind.get("ratio") else None
    packed = PackedAtoms(atoms.atoms, v, X, target)

    def expression(i):
        e = atoms.atoms[i].expression(v, X)
        return v.product([e, Expression.variable(3)]) if atoms.atoms[i].below else e

    which = np.random.default_rng(1).integers(0, len(atoms), (200, 2))
    which[:3], which[3:6, 1] = 0, 0
    assert list(packed.terms(which[:, 0])) == [expression(i) for i in which[:, 0]]
    products = list(packed.terms(which[:, 0], which[:, 1]))
    one = expression(0)
    for (i, j), product in zip(which, products, strict=True):
        # The factor one is left out, whichever it is.
        expected = v.product([expression(i), expression(j)])
        assert product == expected or one in (expression(i), expression(j))


def test_values_of_packed_terms_are_those_of_the_dictionary():
    v, atoms = dictionary("default")
    terms = PackedAtoms(atoms.atoms, v, X, None).terms(np.arange(len(atoms)))
    values = np.array([e.evaluate(V.T) for e in terms])
    np.testing.assert_allclose(values, atoms.values, rtol=1e-9, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from(sorted(SETS)))
def test_children_are_valid_sums_of_the_allowed_operators_without_constant_terms(seed, operators):
    primitives = SETS[operators]
    grammar = Grammar(primitives, 3, constant_share=0.25, constants=(0.2, 2.0))
    trees = RampedHalfAndHalf(1, 3).draw(grammar, seed, 0, 60)
    some = [e for e in trees if (e.op != CONST).any()]
    parents = [tuple(some[:3]), tuple(some[3:4]), tuple(some[4:8])]
    batch = SumBatch.pack(parents)
    children = offspring(
        batch, np.array([1.0, 2.0, 3.0]), trees, primitives, np.random.default_rng(seed), 100
    )
    allowed = set(primitives.opcodes.tolist())
    assert 0 < len(children) <= 100
    for i in range(len(children)):
        for e in children.expressions(i):
            Expression(e.op, e.arg, e.const)  # raises if the program is not complete
            assert set(e.op[e.op > 1].tolist()) <= allowed
            assert (e.op != CONST).any()


def test_the_same_generator_makes_the_same_children():
    trees = RampedHalfAndHalf(1, 3).draw(Grammar(PrimitiveSet.default(), 3), 5, 0, 60)
    batch = SumBatch.pack([(X[0], X[1]), (X[2],)])
    arguments = batch, np.zeros(2), trees, PrimitiveSet.default()
    first, second = (offspring(*arguments, np.random.default_rng(7), 50) for _ in range(2))
    assert [*first.programs] == [*second.programs]


def test_a_beam_step_whose_candidates_are_all_infinite_has_no_sums():
    v, atoms = dictionary("default")
    image = Image(atoms, Z, np.ones(80), X, V.T, v)
    infinite = SumBatch.pack(
        [(Expression.apply("log", X[0] * -1.0),), (Expression.apply("inv", X[0] - X[0]),)]
    )
    assert image.polish(infinite) == []
    assert image.polish(SumBatch.pack([])) == []


def test_the_loss_of_a_fraction_is_its_error_on_the_rows():
    v, atoms = dictionary("default", ratio=True)
    image = Image(atoms, Z, np.ones(80), X, np.column_stack([V.T, Z]), v, target=3)
    terms = (X[0], X[1], X[2] * Expression.variable(3))
    [found] = image.fitted([terms], 0)
    a, b, d = found.coefficients
    fraction = (a * V[0] + b * V[1]) / (1.0 - d * V[2])
    assert found.loss == pytest.approx(np.sum((Z - fraction) ** 2) / np.sum(Z**2), rel=1e-9)
    assert image.fitted([(X[2] * Expression.variable(3),)], 0) == []  # no numerator
