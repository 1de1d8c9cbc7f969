"""Goals of a benchmark: one line per bar, and an exit status that tells whether all of them hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True)
class Bar:
    """`measured` must be at least `goal`, or at most if `at_most`."""

    name: str
    measured: float
    goal: float
    at_most: bool = False

    @property
    def holds(self) -> bool:
        # A NaN holds nothing.
        return self.measured <= self.goal if self.at_most else self.measured >= self.goal

    def __str__(self) -> str:
        return f"BAR {self.name} {self.measured:.4g} {self.goal:g} {'ok' if self.holds else 'short'}"


def finish(bars: Sequence[Bar]) -> NoReturn:
    """Print the bars and leave with status 1 if any is short."""
    print()
    for bar in bars:
        print(bar)
    sys.exit(0 if all(bar.holds for bar in bars) else 1)
