"""What all tests share."""

import math

import pytest
from hypothesis import settings

from fouriertree.fit.stopping import PROCESS_LOG

# A slow example on a busy machine is no failure.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def no_press_before(monkeypatch):
    """A test that presses Ctrl-C follows on no other."""
    monkeypatch.setattr(PROCESS_LOG, "_last", -math.inf)
