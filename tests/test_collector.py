"""The garbage collector during imports."""

import gc
import weakref

import pytest

from fouriertree.collector import long_lived_objects


class Node:
    pass


def cycle() -> weakref.ref[Node]:
    node = Node()
    node.itself = node  # type: ignore[attr-defined]
    return weakref.ref(node)


@pytest.fixture(autouse=True)
def unchanged_collector():
    yield
    gc.unfreeze()
    gc.enable()


def test_collector_is_off_inside_and_on_afterwards_even_after_an_error():
    with long_lived_objects():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), long_lived_objects():
        raise KeyError
    assert gc.isenabled()


def test_collector_that_is_off_stays_off():
    gc.disable()
    with long_lived_objects():
        pass
    assert not gc.isenabled()


def test_new_objects_are_in_the_oldest_generation_and_are_still_collected():
    with long_lived_objects():
        reference = cycle()
    gc.collect(1)
    assert reference() is not None
    gc.collect()
    assert reference() is None


def test_objects_that_the_caller_has_frozen_stay_frozen():
    gc.freeze()
    frozen = gc.get_freeze_count()
    with long_lived_objects():
        pass
    assert gc.get_freeze_count() > 0.9 * frozen
