"""Kinds of noise: the same standard deviation, other tails."""

import numpy as np
import pytest
from scipy.stats import kurtosis

from fouriertree.experiments.bench.names import GAUSSIAN, STUDENT
from fouriertree.experiments.bench.plan import Plan
from fouriertree.experiments.bench.suites import load

CASE = "feynman", "feynman_I_12_2", 0, 40_000


def noise(kind, level=0.1, disguise=False):
    clean, noisy = (load(*CASE, share, disguise, None, kind) for share in (0.0, level))
    np.testing.assert_array_equal(noisy.X, clean.X)
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)
    return (noisy.y - clean.y) / np.sqrt(np.mean(clean.y**2))


@pytest.mark.parametrize("kind", [GAUSSIAN, STUDENT])
@pytest.mark.parametrize("disguise", [False, True])
def test_noise_of_any_kind_has_the_stated_standard_deviation(kind, disguise):
    # The variance of squares of Student's t with 3 degrees of freedom is infinite.
    assert noise(kind, 0.1, disguise).std() == pytest.approx(0.1, rel=0.1)


def test_students_noise_has_heavy_tails_and_most_of_it_is_smaller():
    gaussian, student = noise(GAUSSIAN), noise(STUDENT)
    assert kurtosis(student) > 5.0 > 0.1 > abs(kurtosis(gaussian))
    assert np.median(np.abs(student)) < 0.75 * np.median(np.abs(gaussian))


def test_gaussian_noise_is_the_default():
    named, default = load(*CASE, 0.1, False, None, GAUSSIAN), load(*CASE, 0.1, False, None)
    np.testing.assert_array_equal(named.y, default.y)


def test_results_of_each_kind_of_noise_are_stored_under_another_key(task):
    assert task(noise=0.01, noise_kind=STUDENT).key != task(noise=0.01).key
    assert "student" in task(noise=0.01, noise_kind=STUDENT).key
    assert GAUSSIAN not in task(noise=0.01).key


def test_without_noise_there_is_one_kind_of_result():
    plans = [
        Plan(["strogatz"], ["ours"], [0.0], [0], 1.0, 10, noise_kind=kind) for kind in (GAUSSIAN, STUDENT)
    ]
    assert plans[0].tasks() == plans[1].tasks()
    noisy = Plan(["strogatz"], ["ours"], [0.0, 0.01], [0], 1.0, 10, noise_kind=STUDENT)
    assert {(task.noise, task.noise_kind) for task in noisy.tasks()} == {(0.0, GAUSSIAN), (0.01, STUDENT)}
