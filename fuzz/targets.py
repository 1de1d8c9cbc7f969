"""The targets.  Another target is another row: a function of bytes, seeds, and a mutation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from . import commands, degenerate, fits, formulas, models, names, runs, tables
from .mutation import mutate_json, mutate_text

Mutate = Callable[[bytes, Random, list[bytes]], bytes]


@dataclass(frozen=True)
class Target:
    name: str
    check: Callable[[bytes], None]  #: raises if the package misbehaved
    seeds: Callable[[], list[bytes]]
    cases: int  #: in `make fuzz`
    mutate: Mutate = mutate_text


def encoded(texts: list[str]) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


_ROWS = (
    Target("formula", formulas.check_formula, encoded(formulas.FORMULAS), 40_000),
    Target("guess", formulas.check_guess, encoded(formulas.GUESSES), 20_000),
    Target("operators", formulas.check_operators, encoded(formulas.OPERATORS), 10_000),
    Target("model", models.check_model_file, models.model_files, 15_000, mutate_json),
    Target("description", models.check_description, models.descriptions, 10_000, mutate_json),
    Target("commands", commands.check_commands, commands.seeds, 200, mutate_json),
    Target("checkpoint", runs.check_checkpoint, runs.checkpoints, 5_000),
    Target("run", runs.check_description, runs.descriptions, 400, mutate_json),
    Target("table", tables.check_table, lambda: tables.TABLES, 8_000),
    Target("names", names.check_names, names.seeds, 3_000),
    Target("fit", fits.check_fit, fits.seeds, 1_500),
    Target("degenerate", degenerate.check_degenerate, degenerate.seeds, 1_500),
)
TARGETS = {row.name: row for row in _ROWS}
