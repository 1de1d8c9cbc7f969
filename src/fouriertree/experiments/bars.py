"""Goals of experiments: one line per bar, and an exit status for all of them together."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass

COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt}


@dataclass(frozen=True)
class Bar:
    """A measured value and its goal; `comparison` is the key of `COMPARISONS` that must hold between them."""

    name: str
    measured: float
    goal: float
    comparison: str = ">="

    @property
    def ok(self) -> bool:
        """Whether the goal is met; a NaN meets none."""
        return bool(COMPARISONS[self.comparison](self.measured, self.goal))

    def line(self) -> str:
        """One line for scripts to read.

        >>> Bar("seconds", 1.23456, 1, "<=").line()
        'BAR seconds 1.235 1 short'
        """
        return f"BAR {self.name} {self.measured:.4g} {self.goal:.4g} {'ok' if self.ok else 'short'}"


def report(bars: Iterable[Bar]) -> int:
    """Print the line of every bar; the exit status is 0 if all goals are met, else 1."""
    bars = list(bars)
    print("", *(bar.line() for bar in bars), sep="\n")
    return int(not all(bar.ok for bar in bars))
