"""A plan multiplies out what was asked for, and nothing else."""

import pytest

from fouriertree.experiments.bench.names import quick_names
from fouriertree.experiments.bench.plan import Plan


@pytest.fixture
def plan():
    def make(*suites, **changes):
        plain = {
            "systems": ["ours", "operon"],
            "noises": [0.0, 0.01],
            "seeds": [0],
            "seconds": 1.0,
            "rows": 10,
        }
        return Plan(suites, **{**plain, **changes})

    return make


def test_systems_take_turns_on_every_case(plan):
    tasks = plan("strogatz").tasks()
    assert len(tasks) == 6 * 2 * 2
    assert [task.system for task in tasks[:4]] == ["ours", "operon"] * 2
    assert len({task.case for task in tasks[:4]}) == 1


def test_measurements_get_no_noise_on_top(plan):
    assert {task.noise for task in plan("first-principles", "blackbox").tasks()} == {0.0}


def test_tables_without_a_law_are_compared_with_a_line(plan):
    assert {task.system for task in plan("blackbox").tasks()} == {"ours", "operon", "linear"}
    assert {task.system for task in plan("feynman").tasks()} == {"ours", "operon"}


def test_the_short_list_and_names_narrow_the_cases(plan):
    assert [name for _, name in plan("classic", quick=True).chosen_cases()] == [
        name for _, name in plan("classic").every_case() if name in quick_names("classic")
    ]
    assert plan("classic", "strogatz", cases=["Koza-1"]).chosen_cases() == [("classic", "Koza-1")]


def test_generated_laws_take_the_place_of_the_published_ones(plan):
    names = [name for _, name in plan("everyday", generate=2, generator_seed=5).chosen_cases()]
    assert names == ["everyday_g5_00", "everyday_g5_01"]
    assert plan("everyday", generate=2, quick=True).chosen_cases() == [
        ("everyday", "everyday_g0_00"),
        ("everyday", "everyday_g0_01"),
    ]


def test_a_generated_law_that_is_named_is_a_case_and_its_name_is_the_only_one(plan):
    assert plan("everyday", cases=["everyday_g5_03"]).chosen_cases() == [("everyday", "everyday_g5_03")]
    assert plan("everyday", cases=["everyday_g5_3"]).chosen_cases() == []
    assert plan("feynman", cases=["everyday_g5_03"]).chosen_cases() == []


def test_a_repeated_wish_is_one_wish(plan):
    once, twice = (
        plan("strogatz"),
        plan("strogatz", seeds=[0, 0], noises=[0.0, 0.01, 0.0], systems=["ours", "operon", "ours"]),
    )
    assert once.tasks() == twice.tasks()
