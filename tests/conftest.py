"""What all tests share."""

import math
import os

import pytest
from hypothesis import settings

from fouriertree.fit.stopping import PROCESS_LOG

# Workers share the cores, and BLAS threads of one wait for those of another; set before NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A slow example on a busy machine is no failure.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def no_press_before(monkeypatch):
    """A test that presses Ctrl-C follows on no other."""
    monkeypatch.setattr(PROCESS_LOG, "_last", -math.inf)
