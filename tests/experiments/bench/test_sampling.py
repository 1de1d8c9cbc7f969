"""Data are drawn and split by the seed, with SRBench's noise."""

import numpy as np
import pytest

from fouriertree.experiments.bench.names import case_names
from fouriertree.experiments.bench.suites import load

SAMPLED = ["feynman", "classic", "strogatz", "srsd-easy", "everyday", "feynman-solved", "compositions"]


@pytest.mark.parametrize("suite", SAMPLED)
@pytest.mark.parametrize("disguise", [False, True])
def test_the_same_seed_gives_the_same_data_and_another_seed_others(suite, disguise):
    name = case_names(suite)[-1]
    first, second = (load(suite, name, 7, 60, 0.01, disguise, None) for _ in range(2))
    other = load(suite, name, 8, 60, 0.01, disguise, None)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.y, other.y)


def test_training_and_test_sets_are_drawn_independently():
    data = load("feynman", "feynman_I_12_2", 0, 80, 0.0, False, None)
    assert data.X.shape == data.X_test.shape == (80, 4)
    assert not np.isin(data.X, data.X_test).any()


def test_noise_is_a_fraction_of_the_targets_rms_and_the_test_set_has_none():
    clean, noisy = (load("feynman", "feynman_I_12_2", 0, 4000, level, False, None) for level in (0.0, 0.1))
    np.testing.assert_array_equal(noisy.X, clean.X)
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)
    share = np.std(noisy.y - clean.y) / np.sqrt(np.mean(clean.y**2))
    assert share == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("suite", SAMPLED)
def test_every_target_is_finite(suite):
    for name in case_names(suite):
        data = load(suite, name, 0, 50, 0.0, False, None)
        assert np.isfinite(data.y).all(), name
        assert np.isfinite(data.y_test).all(), name


def test_three_quarters_of_a_table_are_the_training_set(tmp_path):
    (tmp_path / "mine.csv").write_text("target,a\n" + "\n".join(f"{2 * k},{k}" for k in range(40)))
    data = load("folder", "mine", 0, 0, 0.0, False, tmp_path)
    assert len(data.y) == 30
    assert len(data.y_test) == 10
    np.testing.assert_array_equal(data.y, 2 * data.X[:, 0])


def test_without_a_column_called_target_the_last_column_is_the_target(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n" + "".join(f"{k},{2 * k}\n" for k in range(1, 9)))
    data = load("folder", "mine", 0, 0, 0.0, False, tmp_path)
    np.testing.assert_array_equal(data.y, 2 * data.X[:, 0])
