"""The garbage collector during imports, whose objects it would visit in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def long_lived_objects() -> Iterator[None]:
    """Inside, nothing is collected; afterwards all objects belong to the oldest generation of the collector.

    For imports, which create some hundred thousand objects that live as long as the process.  Not for work that is
    repeated: its garbage would wait for a full collection, which every call postpones.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # New objects are in the youngest generation, whose next collection would visit all of them.  Freezing and
        # unfreezing moves them to the oldest; what the caller has frozen stays so.
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
