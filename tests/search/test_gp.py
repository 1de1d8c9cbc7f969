"""The compiled GP searches, compared with slow references on Expression objects, and invariants of every run."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from fouriertree.expr import Expression, PrimitiveSet, Programs
from fouriertree.expr._draw import below, draw_ramped, draw_tree, mix, random_bits, stream_key
from fouriertree.expr._span import degree_of, span_size
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.polynomial import Polynomial, normal_form
from fouriertree.problems import CONVENTIONAL, LargeScalePolynomial, Problem
from fouriertree.search import Accepted, Budget, CanonicalGP, OnePlusLambda, Progress, run
from fouriertree.search.gp.loops import (
    DRAWN_TOKENS,
    ENLARGEMENTS,
    GENERATION_SPAN,
    INDIVIDUALS,
    LATEST_SPAN,
    MAX_TREE_SIZE,
    SIZES,
    SPAN,
    WATCHED,
)
from fouriertree.space import EmpiricalSpace
from fouriertree.testing.searches import CHECKS

U64 = np.uint64


# Slow references ------------------------------------------------------------------------------------------
class Stream:
    """The random stream of one offspring."""

    def __init__(self, seed, number):
        self.key = U64(stream_key(seed, number))

    def bits(self, counter, key=None):
        return U64(random_bits(self.key if key is None else key, counter))

    def below(self, counter, n):
        return int(below(self.bits(counter), n))

    def uniform(self, counter, key=None):
        return int(self.bits(counter, key) >> U64(11)) / 2**53


def drawn(problem, draw, *arguments):
    """A tree from one of the compiled generators, which have their own references."""
    tokens = (np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS, np.int32), np.empty(DRAWN_TOKENS))
    first = draw(*arguments, problem.grammar.packed(), *tokens, DRAWN_TOKENS, np.empty(16, np.int64))
    return Expression(*(array[first:] for array in tokens), problem.grammar.primitives)


def loss_of(problem, tree):
    difference = problem.space.coordinates([tree])[0] - problem.space.target
    return float(difference @ difference)


@dataclass
class SlowOnePlusLambda:
    """(1+λ)-GP, word for word."""

    offspring: int

    def run(self, problem, seed, generations):
        parent = drawn(problem, draw_ramped, Stream(seed, 0).key, 2, 6)
        loss, evaluations, history = loss_of(problem, parent), 1, []
        for _ in range(generations):
            mutants = []
            for _ in range(self.offspring):
                stream = Stream(seed, evaluations)
                evaluations += 1
                node = stream.below(0, len(parent))
                mutants.append(parent.replace(node, drawn(problem, draw_ramped, U64(mix(stream.key)), 1, 3)))
            losses = [loss_of(problem, mutant) for mutant in mutants]
            best = int(np.argmin(losses))
            if losses[best] < loss:
                parent, loss = mutants[best], losses[best]
            history.append((str(parent), loss, evaluations))
        return history


@dataclass
class Tree:
    """A tree that several entries of a population may share."""

    expression: Expression


@dataclass
class SlowCanonical:
    """Canonical GP, word for word; entries of the population are (tree, stored loss)."""

    population: int
    in_place: bool
    elites: int = 2

    def run(self, problem, seed, generations):
        trees = [Tree(drawn(problem, draw_ramped, Stream(seed, i).key, 2, 6)) for i in range(self.population)]
        entries = [(tree, loss_of(problem, tree.expression)) for tree in trees]
        evaluations, history = self.population, []
        for _ in range(generations):
            elite = sorted(range(self.population), key=lambda i: entries[i][1])[: self.elites]
            children = []
            for i in range(self.population - self.elites):
                children.append(self.child(problem, entries, Stream(seed, evaluations + i)))
            evaluations += self.population - self.elites
            entries = [entries[i] for i in elite] + [(t, loss_of(problem, t.expression)) for t in children]
            history.append([(str(tree.expression), loss) for tree, loss in entries])
        return history

    def child(self, problem, entries, stream):
        def tournament(counter):
            a, b = (entries[stream.below(counter + i, len(entries))] for i in range(2))
            return (a if a[1] <= b[1] else b)[0]

        host, donor = tournament(0), tournament(2)
        if stream.uniform(4) < 0.9 and len(host.expression) > 1 and len(donor.expression) > 1:
            cut = stream.below(5, len(host.expression) - 1)
            part = donor.expression.subtree(stream.below(6, len(donor.expression) - 1))
            child = Tree(host.expression.replace(cut, part))
        else:
            child = host if self.in_place else Tree(host.expression)
        node, counter, key = len(child.expression) - 1, 0, U64(mix(stream.key))
        while stream.uniform(counter, key) >= 0.1:
            counter += 1
            children = child.expression.children(node)
            if not children:
                return child
            node = children[0]
        branch = drawn(problem, draw_tree, U64(mix(~stream.key)), 3, 1, False)
        child.expression = child.expression.replace(node, branch)
        return child


def history_of(search, problem, seed, generations):
    state, _ = search.init(problem, seed)
    for _ in range(generations):
        state, _ = search.step(problem, state, Budget())
        yield state


@pytest.mark.parametrize("name", ["koza1", "nguyen7"])
@pytest.mark.parametrize("offspring", [1, 7])
def test_one_plus_lambda_equals_its_slow_reference(name, offspring):
    problem = CONVENTIONAL[name].problem(3)
    search = OnePlusLambda(offspring, generations_per_step=1)
    expected = SlowOnePlusLambda(offspring).run(problem, 5, 40)
    for state, (text, loss, evaluations) in zip(history_of(search, problem, 5, 40), expected, strict=True):
        assert str(state.expression) == text
        assert state.progress.loss == pytest.approx(loss, rel=1e-9)
        assert state.progress.traverses == evaluations


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "copied"])
@pytest.mark.parametrize("name", ["koza1", "nguyen7"])
def test_canonical_gp_equals_its_slow_reference(name, in_place):
    problem = CONVENTIONAL[name].problem(4)
    search = CanonicalGP(population=30, in_place=in_place)
    expected = SlowCanonical(30, in_place).run(problem, 6, 12)
    for state, entries in zip(history_of(search, problem, 6, 12), expected, strict=True):
        population = state.population
        for i, (text, stored) in enumerate(entries):
            assert str(population.expression(i, problem.grammar.primitives)) == text
            assert population.losses[i] == pytest.approx(stored, rel=1e-9)


# What the switch does --------------------------------------------------------------------------------
def stale(state, problem):
    """Entries whose stored loss is not that of their tree."""
    p = state.population
    trees = [p.expression(i, problem.grammar.primitives) for i in range(len(p.tree))]
    losses = np.array([loss_of(problem, tree) for tree in trees])
    return int((~np.isclose(losses, p.losses, rtol=1e-6)).sum())


def test_mutation_in_place_leaves_stale_losses_and_copying_leaves_none():
    problem = CONVENTIONAL["koza1"].problem(0)
    counts = {
        in_place: sum(
            stale(s, problem) for s in history_of(CanonicalGP(100, in_place=in_place), problem, 0, 30)
        )
        for in_place in (True, False)
    }
    assert counts[True] > 0
    assert counts[False] == 0


# Theorems --------------------------------------------------------------------------------------------
SEARCHES = [OnePlusLambda(1), OnePlusLambda(50), CanonicalGP(60), CanonicalGP(60, in_place=True)]
every_search = pytest.mark.parametrize("search", SEARCHES, ids=repr)


CONTRACT = [OnePlusLambda(10, generations_per_step=1), CanonicalGP(30)]


@pytest.mark.parametrize("search", CONTRACT, ids=repr)
@pytest.mark.parametrize("name", ["koza1", "nguyen7"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_gp_satisfies_the_contract_for_searches(check, name, search):
    check(search, CONVENTIONAL[name].problem(2), np.random.default_rng(0))


@every_search
def test_the_best_loss_never_increases_and_is_that_of_its_tree(search):
    problem = CONVENTIONAL["koza2"].problem(1)
    events = []
    run(search, problem, Budget(3000), [events.append], seed=2)
    losses = [event.loss for event in events if isinstance(event, Progress)]
    assert losses == sorted(losses, reverse=True)
    for event in events:
        if isinstance(event, Accepted):
            assert event.progress.loss == pytest.approx(loss_of(problem, event.expression), rel=1e-9)


@every_search
def test_a_run_is_the_same_however_often_it_is_repeated_and_another_for_another_seed(search):
    problem = CONVENTIONAL["koza1"].problem(0)

    def outcome(seed):
        state = run(search, problem, Budget(2000), seed=seed).state
        return str(state.expression), state.progress

    assert outcome(1) == outcome(1)
    assert outcome(1) != outcome(2)


def test_the_result_does_not_depend_on_the_division_into_steps():
    problem = CONVENTIONAL["nguyen5"].problem(0)
    runs = [
        run(OnePlusLambda(3, generations_per_step=g), problem, Budget(1501), seed=9).state
        for g in (1, 7, 250)
    ]
    assert len({(str(state.expression), state.progress) for state in runs}) == 1


@every_search
def test_the_budget_is_exceeded_by_less_than_a_generation(search):
    problem = CONVENTIONAL["koza3"].problem(0)
    evaluations = run(search, problem, Budget(997), seed=0).state.progress.traverses
    generation = search.offspring if isinstance(search, OnePlusLambda) else search.population
    assert 997 <= evaluations < 997 + generation


def test_evaluations_count_as_in_the_published_tables():
    problem = CONVENTIONAL["koza3"].problem(0)
    counts = [
        s.progress.traverses for s in history_of(OnePlusLambda(500, generations_per_step=1), problem, 0, 2)
    ]
    assert counts == [501, 1001]
    assert [s.progress.traverses for s in history_of(CanonicalGP(), problem, 0, 2)] == [998, 1496]


def test_the_initial_population_is_ramped_half_and_half_of_two_to_six_levels():
    problem = CONVENTIONAL["koza1"].problem(0)
    state, _ = CanonicalGP().init(problem, 11)
    expected = RampedHalfAndHalf(2, 6).draw(problem.grammar, 11, 0, 500)
    found = [state.population.expression(i, problem.grammar.primitives) for i in range(500)]
    assert list(map(str, found)) == list(map(str, expected))


def test_the_streams_choose_every_node_equally_often():
    # That mutations are made where the streams say is what the slow references show.
    n = 13
    cuts = [Stream(1, i).below(0, n) for i in range(20_000)]
    assert stats.chisquare(np.bincount(cuts, minlength=n)).pvalue > 1e-4


def test_many_rows_and_weights_give_the_loss_of_the_space():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(1700, 2)), rng.normal(size=1700), rng.uniform(0.5, 2.0, 1700)
    problem = Problem(EmpiricalSpace(X, y, weights), Grammar(n_columns=2))
    state = run(OnePlusLambda(20), problem, Budget(500), seed=0).state
    assert state.progress.loss == pytest.approx(loss_of(problem, state.expression), rel=1e-9)


def test_tall_trees_on_many_rows_have_the_loss_of_the_space():
    X = np.random.default_rng(0).uniform(-1, 1, (2000, 1))
    problem = Problem(EmpiricalSpace(X, X[:, 0] * 30), Grammar(PrimitiveSet(["add"])))
    for search in (OnePlusLambda(20), CanonicalGP(40)):
        state = run(search, problem, Budget(3000), seed=0).state
        assert state.expression.depth > 5
        assert state.progress.loss == pytest.approx(loss_of(problem, state.expression), rel=1e-9, abs=1e-12)


def test_trees_do_not_grow_without_limit():
    X = np.linspace(0, 1, 20)[:, None]
    problem = Problem(EmpiricalSpace(X, 1e12 * X[:, 0]), Grammar(PrimitiveSet(["add"])))
    state = run(CanonicalGP(100), problem, Budget(40_000), seed=0).state
    sizes = state.population.store.nodes["size"][state.population.roots]
    assert MAX_TREE_SIZE / 4 < sizes.max() <= MAX_TREE_SIZE


def test_a_grammar_of_more_features_than_the_data_is_rejected():
    problem = Problem(EmpiricalSpace(np.ones((5, 2)), np.ones(5)), Grammar(n_columns=50))
    with pytest.raises(ValueError, match=r"more features \(50\)"):
        CanonicalGP().init(problem, 0)


def test_the_state_of_a_run_cannot_be_pickled():
    state, _ = OnePlusLambda().init(CONVENTIONAL["koza1"].problem(0), 0)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(state)


def test_user_defined_operators_are_used():
    operators = PrimitiveSet(["add", "mul"])
    operators.add("softstep", lambda a: a / (1.0 + abs(a)))
    X = np.linspace(-2, 2, 40)[:, None]
    problem = Problem(EmpiricalSpace(X, X[:, 0] / (1 + np.abs(X[:, 0]))), Grammar(operators))
    ended = run(OnePlusLambda(100), problem, Budget(20_000, target_loss=1e-20), seed=0)
    assert ended.reason == "target loss reached"


def test_the_largest_span_of_a_generation_is_that_of_all_its_trees():
    problem = LargeScalePolynomial(10).exact_problem()
    watch = np.zeros(WATCHED, np.int64)
    search = CanonicalGP(40, watch=watch)
    state, _ = search.init(problem, 3)
    for _ in range(15):
        trees = [state.population.expression(i, problem.grammar.primitives) for i in range(40)]
        first = 0 if state.progress.traverses == 40 else search.elites
        assert watch[GENERATION_SPAN] == max(normal_form(tree).span_size for tree in trees[first:])
        watch[GENERATION_SPAN] = 0
        state, _ = search.step(problem, state, Budget())


@pytest.mark.parametrize(
    ("search", "what"),
    [
        (OnePlusLambda(0), "offspring"),
        (OnePlusLambda(init_levels=(2, 11)), "init_levels"),
        (OnePlusLambda(mutation_levels=(0, 3)), "mutation_levels"),
        (CanonicalGP(population=2), "population"),
        (CanonicalGP(elites=-1), "elites"),
        (CanonicalGP(mutation_levels=30), "mutation_levels"),
        (CanonicalGP(init_levels=(5, 2)), "init_levels"),
        (CanonicalGP(crossover_rate=5), "crossover_rate"),
        (CanonicalGP(watch=np.zeros(7, np.int64)), "watch"),
        (OnePlusLambda(watch=np.zeros(2, np.int64)), "watch"),
    ],
)
def test_invalid_parameters_are_rejected(search, what):
    with pytest.raises(ValueError, match=what):
        search.init(CONVENTIONAL["koza1"].problem(0), 0)


# Polynomials -----------------------------------------------------------------------------------------
def polynomial_trees(n):
    return RampedHalfAndHalf(1, 8).draw(LargeScalePolynomial(3).grammar, 3, 0, n)


def test_spans_modulo_a_prime_are_those_of_exact_arithmetic():
    for tree in polynomial_trees(300):
        height = Programs.pack([tree]).height
        assert span_size(tree.op, tree.const, 0, len(tree), height) == normal_form(tree).span_size


def test_the_degree_of_a_tree_bounds_that_of_its_polynomial():
    for tree in polynomial_trees(300):
        bound = degree_of(tree.op, 0, len(tree), np.empty(len(tree), np.int64))
        assert normal_form(tree).degree <= bound


@pytest.mark.parametrize("degree", [4, 30])
@pytest.mark.parametrize("search", [OnePlusLambda(50), CanonicalGP(60)], ids=repr)
def test_losses_on_polynomial_spaces_are_exact_integrals(search, degree):
    problem = LargeScalePolynomial(degree).exact_problem()
    tree = run(search, problem, Budget(3000), seed=1).state
    difference = Polynomial.of([1] * (degree + 1)) - normal_form(tree.expression)
    exact = float((difference * difference).integral(-1, 1))
    assert tree.progress.loss == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("kind", [OnePlusLambda, CanonicalGP])
def test_statistics_count_individuals_and_spans(kind):
    watch = np.zeros(WATCHED, np.int64)
    search = kind(30, watch=watch)
    events = []
    ended = run(search, LargeScalePolynomial(10).exact_problem(), Budget(2000), [events.append], seed=0)
    assert watch[INDIVIDUALS] == ended.state.progress.traverses
    assert watch[GENERATION_SPAN] >= watch[SPAN]
    assert watch[SIZES] >= watch[INDIVIDUALS]
    assert watch[LATEST_SPAN] == normal_form(ended.state.expression).span_size
    assert 0 < watch[ENLARGEMENTS] <= watch[SPAN]


@pytest.mark.parametrize(
    "search", [OnePlusLambda(40), CanonicalGP(40), CanonicalGP(40, in_place=True)], ids=repr
)
@pytest.mark.parametrize("nodes", [1, 150])
def test_a_generation_divided_into_steps_is_the_same(search, nodes, monkeypatch):
    problem = CONVENTIONAL["koza1"].problem(0)
    whole = run(search, problem, Budget(1201), seed=3)
    rows = len(problem.space.target)
    monkeypatch.setattr("fouriertree.search.gp.state.NODES_PER_STEP", nodes * rows)
    steps = []
    cut = run(search, problem, Budget(1201), [steps.append], seed=3)
    assert sum(isinstance(event, Progress) for event in steps) > 60
    # A cut run ends within a generation, as soon as the budget is spent.
    assert cut.state.progress.traverses <= whole.state.progress.traverses
    same = run(search, problem, Budget(whole.state.progress.traverses), seed=3)
    assert str(same.state.expression) == str(whole.state.expression)
    assert same.state.progress == whole.state.progress
