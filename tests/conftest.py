"""What all tests share."""

import math
import os

import pytest
from hypothesis import settings

from fouriertree.estimators import fitted
from fouriertree.fit.stopping import PROCESS_LOG

# Workers share the cores, and BLAS threads of one wait for those of another; set before NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A slow example on a busy machine is no failure. `make test` tries the same examples every time, so that a failure
# belongs to the change at hand; `make test-random` draws new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def no_press_before(monkeypatch):
    """A test that presses Ctrl-C follows on no other."""
    monkeypatch.setattr(PROCESS_LOG, "_last", -math.inf)


@pytest.fixture(autouse=True)
def no_hint_before(monkeypatch):
    """A test that prints a hint follows on no other."""
    monkeypatch.setattr(fitted, "HINTS_SHOWN", [])
