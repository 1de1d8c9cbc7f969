"""Explanations of cells that disagree with the published table; the evidence is in docs/reproduction.md."""

from __future__ import annotations

#: (algorithm, problem, tolerance) → one sentence; None stands for any problem or any tolerance
EXPLANATIONS: dict[tuple[str, str | None, float | None], str] = {}

UNEXPLAINED = "not explained yet"


def reason(algorithm: str, problem: str, tolerance: float) -> str:
    """The most specific explanation of a cell."""
    keys = ((algorithm, problem, tolerance), (algorithm, problem, None), (algorithm, None, None))
    return next((EXPLANATIONS[key] for key in keys if key in EXPLANATIONS), UNEXPLAINED)
