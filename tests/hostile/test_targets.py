"""Every target of `make fuzz`, driven by Hypothesis: its seeds, mutations of them, and random bytes."""

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import ParseError, parse
from fuzz.engine import Guard, run_loop
from fuzz.targets import TARGETS, Target

#: examples of each; a fit, like all exports of one pair of names, takes some hundredths of a second
EXAMPLES = {
    "formula": 300,
    "guess": 150,
    "operators": 100,
    "model": 200,
    "description": 150,
    "commands": 3,
    "checkpoint": 60,
    "run": 5,
    "table": 100,
    "names": 20,
    "fit": 60,
    "degenerate": 40,
}


@cache
def seeds(name):
    return TARGETS[name].seeds()


def changed(name, place, number):
    pool = seeds(name)
    return TARGETS[name].mutate(pool[place % len(pool)], Random(number), pool)


def inputs(name):
    changes = st.builds(changed, st.just(name), st.integers(0, 10**6), st.integers(0, 2**32))
    return st.one_of(changes, changes, st.binary(max_size=60))


def test_every_target_has_examples():
    assert set(EXAMPLES) == set(TARGETS)
    assert sum(target.cases for target in TARGETS.values()) >= 10**5


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("fit", "degenerate")])
def test_seeds_are_accepted_or_refused_with_one_message(name):
    for data in seeds(name):
        TARGETS[name].check(data)


@pytest.mark.parametrize("name", EXAMPLES)
def test_hostile_input_is_accepted_correctly_or_refused_with_one_message(name):
    @settings(max_examples=EXAMPLES[name], database=None)
    @given(inputs(name))
    def attacked(data):
        TARGETS[name].check(data)

    attacked()


LONG = 10_000
DEEP = {
    "brackets": "(" * LONG + "x0" + ")" * LONG,
    "open brackets": "(" * LONG,
    "signs": "-" * LONG + "x0",
    "calls": "sin(" * LONG + "x0" + ")" * LONG,
    "sums": "x0+" * LONG + "x0",
    "nested sums": "x0+(" * LONG + "x0" + ")" * LONG,
    "powers": "x0^" * LONG + "x0",
    "commas": "max(" + "x0," * LONG + "x0)",
    "digits": "9" * LONG,
    "a feature index of many digits": "x" + "9" * LONG,
    "a word": "a" * LONG,
    "spaces": " " * LONG + "?",
    "backticks": "`" * LONG,
    "NUL": "x0\0" * LONG,
    "digits of other scripts": "٣" * LONG,
    "unpaired surrogates": "\ud800" * LONG,
}


@pytest.mark.parametrize("what", DEEP)
def test_no_formula_is_too_deep_or_too_long(what):
    try:
        tree = parse(DEEP[what])
    except ParseError as error:
        tree, sentence = None, str(error)
    assert len(sentence) < 1000 if tree is None else parse(str(tree)) == tree


def fails(data):
    if data.startswith(b"bad"):
        raise KeyError(data)


def test_the_loop_counts_cases_and_keeps_failing_inputs(tmp_path):
    guard = Guard(fails, tmp_path / "failures")
    target = Target("none", fails, lambda: [b"good", b"bad"], 0, lambda data, rng, others: data)
    run_loop(target, guard, cases=50, seed=0)
    result = guard.result()
    assert result["cases"] == 50
    assert len(result["failures"]) == 1
    (kept,) = (tmp_path / "failures").glob("*.input")
    assert kept.read_bytes() == b"bad"
