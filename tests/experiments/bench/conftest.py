from pathlib import Path

import pytest

from fouriertree.experiments.bench.plan import Task

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def shared():
    """The folder of public benchmark data, which a clone of the project does not have."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared/data to compare with")
    return SHARED


@pytest.fixture
def task():
    """Make a task from what matters about it."""

    def make(**changes):
        plain = {
            "suite": "feynman", "case": "feynman_I_25_13", "noise": 0.0, "system": "linear", "seed": 0,
            "disguise": False, "seconds": 1.0, "rows": 50,
        }  # fmt: skip
        return Task(**{**plain, **changes})

    return make
