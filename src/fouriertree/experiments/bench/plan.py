"""The tasks of a benchmark: the product of cases, systems, noise levels and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fouriertree.experiments.bench import names
from fouriertree.experiments.bench.names import GAUSSIAN, generated_law
from fouriertree.experiments.bench.systems import LINEAR

#: the file of all records
FILE = "results.jsonl"


@dataclass(frozen=True)
class Task:
    """One fit of one system to one case: everything that a result depends on."""

    suite: str
    case: str
    noise: float
    system: str
    seed: int
    disguise: bool
    seconds: float
    rows: int
    noise_kind: str = GAUSSIAN

    @property
    def key(self) -> str:
        disguise = "disguised" if self.disguise else "plain"
        # Keys of Gaussian noise are those of stored results that do not name the kind.
        kind = "" if self.noise_kind == GAUSSIAN else f" {self.noise_kind}"
        return (
            f"{self.suite}/{self.case} noise {self.noise:g}{kind} {self.system} seed {self.seed} {disguise} "
            f"{self.seconds:g} s {self.rows} rows"
        )

    @property
    def file(self) -> str:
        return FILE

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """Options of a benchmark; no `cases` are all of them, `data` holds measured tables, `folder` user tables.

    With `generate`, that number of laws of `generator_seed` replace the other ones of suites that have a generator.
    """

    suites: Sequence[str]
    systems: Sequence[str]
    noises: Sequence[float]
    seeds: Sequence[int]
    seconds: float
    rows: int
    cases: Sequence[str] = ()
    quick: bool = False
    disguise: bool = False
    data: Path | None = None
    folder: Path | None = None
    generate: int = 0
    generator_seed: int = 0
    noise_kind: str = GAUSSIAN

    def every_case(self) -> list[tuple[str, str]]:
        """Suite and name of all cases of the suites."""
        return [(suite, name) for suite in self.suites for name in self.names_of(suite)]

    def names_of(self, suite: str) -> list[str]:
        """The cases of a suite, with the generated laws that `cases` names."""
        if suite not in names.GENERATED:
            return names.case_names(suite, self.folder)
        generated = [names.generated_name(suite, self.generator_seed, k) for k in range(self.generate)]
        named = [name for name in self.cases if (law := generated_law(name)) and law[0] == suite]
        return list(dict.fromkeys([*(generated or names.case_names(suite)), *named]))

    def chosen_cases(self) -> list[tuple[str, str]]:
        """The cases that were asked for."""
        every = self.every_case()
        if self.cases:
            return [(suite, name) for suite, name in every if name in self.cases]
        if self.quick:
            # User tables and laws that `generate` asks for are always kept.
            return [
                (suite, name)
                for suite, name in every
                if suite == names.FOLDER
                or (self.generate and generated_law(name))
                or name in names.quick_names(suite)
            ]
        return every

    def tasks(self) -> list[Task]:
        """All fits, case by case, so that an interrupted benchmark compares the systems on the same cases.

        No noise is added to tables of measurements; tables without a known law also have the linear baseline.
        """
        measured = (*names.MEASURED, names.FOLDER)
        return [
            Task(suite, case, noise, system, seed, self.disguise, self.seconds, self.rows, kind)
            for suite, case in self.chosen_cases()
            for noise in dict.fromkeys([0.0] if suite in measured else self.noises)
            # Without noise there is one kind of result.
            for kind in [self.noise_kind if noise else GAUSSIAN]
            for seed in dict.fromkeys(self.seeds)
            for system in dict.fromkeys([*self.systems, LINEAR] if suite in names.NOISY else self.systems)
        ]

    def folder_of(self, task: Task) -> Path | None:
        return self.folder if task.suite == names.FOLDER else self.data
