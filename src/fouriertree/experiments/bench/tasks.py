"""A task: one fit of one system to one case."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: stages of a fit: imports and compilation done, model fitted, measures on the test set, structural recovery, symbolic
#: criterion, size after simplification
STAGES = ("ready", "fitted", "measured", "structured", "judged", "sized")
#: the file of all records
FILE = "results.jsonl"


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

    @property
    def file(self) -> str:
        return FILE

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
