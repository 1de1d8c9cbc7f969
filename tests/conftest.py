"""What all tests share."""

import math

import pytest

from fouriertree.fit.stopping import Stop


@pytest.fixture(autouse=True)
def no_press_before(monkeypatch):
    """A test that presses Ctrl-C follows on no other."""
    monkeypatch.setattr(Stop, "_ended_one_at", -math.inf)
