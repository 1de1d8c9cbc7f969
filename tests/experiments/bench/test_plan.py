"""A plan is the product of its options."""

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


def test_tasks_are_ordered_by_case_then_system(plan):
    tasks = plan("strogatz").tasks()
    assert len(tasks) == 6 * 2 * 2
    assert [task.system for task in tasks[:4]] == ["ours", "operon"] * 2
    assert len({task.case for task in tasks[:4]}) == 1


def test_no_noise_is_added_to_measurements(plan):
    assert {task.noise for task in plan("first-principles", "blackbox").tasks()} == {0.0}


def test_tables_without_a_law_are_compared_with_the_linear_baseline(plan):
    assert {task.system for task in plan("blackbox").tasks()} == {"ours", "operon", "linear"}
    assert {task.system for task in plan("feynman").tasks()} == {"ours", "operon"}


def test_the_short_list_and_names_narrow_the_cases(plan):
    assert [name for _, name in plan("classic", quick=True).chosen_cases()] == [
        name for _, name in plan("classic").every_case() if name in quick_names("classic")
    ]
    assert plan("classic", "strogatz", cases=["Koza-1"]).chosen_cases() == [("classic", "Koza-1")]


def test_generated_laws_replace_the_published_ones(plan):
    names = [name for _, name in plan("everyday", generate=2, generator_seed=5).chosen_cases()]
    assert names == ["everyday_g5_00", "everyday_g5_01"]
    assert plan("everyday", generate=2, quick=True).chosen_cases() == [
        ("everyday", "everyday_g0_00"),
        ("everyday", "everyday_g0_01"),
    ]


def test_compositions_are_generated_and_named_like_everyday_laws(plan):
    names = [
        name for _, name in plan("everyday", "compositions", generate=1, generator_seed=5).chosen_cases()
    ]
    assert names == ["everyday_g5_00", "compositions_g5_00"]
    named = plan("compositions", "everyday", cases=["compositions_g5_03"])
    assert named.chosen_cases() == [("compositions", "compositions_g5_03")]
    assert plan("compositions", quick=True).chosen_cases() == []


def test_a_named_generated_law_is_a_case_and_its_name_is_unique(plan):
    assert plan("everyday", cases=["everyday_g5_03"]).chosen_cases() == [("everyday", "everyday_g5_03")]
    assert plan("everyday", cases=["everyday_g5_3"]).chosen_cases() == []
    assert plan("feynman", cases=["everyday_g5_03"]).chosen_cases() == []


def test_repeated_options_count_once(plan):
    once, twice = (
        plan("strogatz"),
        plan("strogatz", seeds=[0, 0], noises=[0.0, 0.01, 0.0], systems=["ours", "operon", "ours"]),
    )
    assert once.tasks() == twice.tasks()
