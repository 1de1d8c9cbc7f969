"""A task: one fit of one system to one case."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: what a fit goes through: imported and warm, a formula, numbers on test rows, the structure of the formula, the
#: symbolic rule, nodes when simplified
STAGES = ("ready", "fitted", "measured", "structured", "judged", "sized")


@dataclass(frozen=True)
class Task:
    """Everything that a result depends on."""

    suite: str
    case: str
    noise: float
    system: str
    seed: int
    disguise: bool
    seconds: float
    rows: int

    @property
    def key(self) -> str:
        disguise = "disguised" if self.disguise else "plain"
        return (
            f"{self.suite}/{self.case} noise {self.noise:g} {self.system} seed {self.seed} {disguise} "
            f"{self.seconds:g} s {self.rows} rows"
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
