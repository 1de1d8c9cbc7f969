"""Tasks: one task is one run of one algorithm on one problem."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from fouriertree import FTG, Budget, GramSVD, __version__
from fouriertree.experiments.paper import facts
from fouriertree.problems import get_problem
from fouriertree.search import CanonicalGP, OnePlusLambda

TABLE, LSP = "table", "lsp"
#: to be raised when the meaning of a record changes, which invalidates stored records
RECIPE = 1

#: a smaller loss of a polynomial with integer coefficients is rounding: it is the target
SOLVED = 1e-20
BUDGETS = {
    TABLE: Budget(facts.EVALUATIONS, target_loss=facts.TOLERANCES[-1]),
    LSP: Budget(facts.EVALUATIONS, target_loss=SOLVED),
}

#: approximate seconds of a run of each of `facts.ALGORITHMS`: long ones start first, and the remaining time is
#: estimated from them
SECONDS = {
    TABLE: (0.3, 0.25, 0.6, 0.05, 0.03),
    "lsp10": (0.0, 0.6, 5.0, 1.4, 0.05),
    "lsp100": (0.0, 1.2, 8.0, 1.0, 2.5),
}


@dataclass(frozen=True)
class Task:
    """One run; `clean` is canonical GP that copies parents instead of changing them in place."""

    part: str
    algorithm: str
    problem: str
    seed: int
    clean: bool = False

    @property
    def key(self) -> str:
        """Equal for tasks with equal results: it contains everything that a result depends on."""
        return f"{self.part}/{self.algorithm}/{self.problem}/{digest(settings(self))}/{self.seed}"

    @property
    def file(self) -> str:
        """One file for runs that differ only in seed or settings, such as table-1-lambda-gp-koza1.jsonl."""
        group = f"{self.part} {self.algorithm} {self.problem}"
        return re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-") + ".jsonl"

    @property
    def seconds(self) -> float:
        part = SECONDS[TABLE if self.part == TABLE else self.problem]
        return part[facts.ALGORITHMS.index(self.algorithm)]


def search_of(task: Task) -> Any:
    """The algorithm of a task, with the settings of the paper."""
    lsp = task.part == LSP
    match task.algorithm:
        case facts.ONE_PLUS_ONE:
            return OnePlusLambda(1)
        case facts.ONE_PLUS_LAMBDA:
            return OnePlusLambda(500, generations_per_step=1 if lsp else None)
        case facts.CANONICAL:
            return CanonicalGP(in_place=not task.clean)
        case facts.PUBLISHED_FTG:
            return FTG.published_lsp() if lsp else FTG(projector=GramSVD(), max_terms=facts.POINTS)
        case facts.ORTHONORMAL_FTG:
            return FTG() if lsp else FTG(max_terms=facts.POINTS)
    raise ValueError(f"unknown algorithm {task.algorithm!r}; there are {', '.join(facts.ALGORITHMS)}")


def settings(task: Task) -> str:
    """Everything that a result depends on besides the seed, as text."""
    parts = (search_of(task), BUDGETS[task.part], get_problem(task.problem), RECIPE, __version__)
    return " | ".join(map(repr, parts))


@cache
def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def table_tasks(runs: int, clean: bool = False, algorithms: Sequence[str] = facts.ALGORITHMS) -> list[Task]:
    """The conventional benchmarks: every algorithm on every problem."""
    return product_of(TABLE, algorithms, facts.PROBLEMS, runs, clean)


def lsp_tasks(runs: int, clean: bool = False) -> list[Task]:
    """The large-scale polynomials; the paper has no (1+1)-GP there."""
    problems = [f"lsp{degree}" for degree in facts.LSP_DEGREES]
    return product_of(LSP, facts.ALGORITHMS[1:], problems, runs, clean)


def product_of(
    part: str, algorithms: Sequence[str], problems: Sequence[str], runs: int, clean: bool
) -> list[Task]:
    return [
        Task(part, algorithm, problem, seed, clean and algorithm == facts.CANONICAL)
        for algorithm, problem, seed in product(algorithms, problems, range(runs))
    ]


def perform(task: Task) -> dict[str, Any]:
    """Run a task; its record holds JSON types only."""
    from fouriertree.experiments.paper.runs import run_benchmark, run_polynomial

    return run_benchmark(task) if task.part == TABLE else run_polynomial(task)
