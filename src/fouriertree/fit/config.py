"""`FitConfig`: the parameters of an estimator, resolved into the objects of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from fouriertree.engine import CompiledEngine
from fouriertree.expr import PrimitiveSet
from fouriertree.expr.complexity import Complexity
from fouriertree.fit.guesses import Guess, parse_guesses
from fouriertree.fit.target import Target
from fouriertree.search import Search
from fouriertree.search.executors import process_pool
from fouriertree.search.nesting import Nesting


@dataclass(frozen=True)
class FitConfig:
    """The options of one fit; `search` is None for the hybrid search, and a limit of None is no limit."""

    search: Search[Any] | None
    primitives: PrimitiveSet
    engine: CompiledEngine
    executor: Executor | None  #: None for this process
    complexity: Complexity
    nesting: Nesting
    guesses: tuple[Guess, ...]
    names: tuple[str, ...] | None  #: of the features
    target: Target
    seed: int
    max_terms: int | None
    max_size: int
    model_selection: str
    time_limit: float | None
    max_evaluations: float | None
    max_traverses: float | None
    target_loss: float | None
    progress: bool

    @classmethod
    def from_parameters(
        cls, parameters: Mapping[str, Any], names: tuple[str, ...] | None, n_features: int, seed: int
    ) -> FitConfig:
        """The options in the valid parameters of an estimator."""
        primitives = as_primitives(parameters["operators"])
        texts = names or tuple(f"x{i}" for i in range(n_features))
        max_terms, time_limit = parameters["max_terms"], parameters["time_limit"]
        check_search(parameters["search"], parameters["guesses"])
        target = Target(parameters["target_transform"])
        guesses = parse_guesses(parameters["guesses"] or (), texts, primitives)
        engine = CompiledEngine(n_jobs=1 if parameters["n_jobs"] is None else parameters["n_jobs"])
        return cls(
            search=parameters["search"],
            primitives=primitives,
            engine=engine,
            executor=as_executor(parameters["executor"], engine.n_threads),
            complexity=Complexity(parameters["complexities"], primitives),
            nesting=Nesting.of(parameters["nesting"] or {}, primitives),
            guesses=tuple(replace(guess, tree=target.guess(guess.tree)) for guess in guesses),
            names=names,
            target=target,
            seed=seed,
            max_terms=None if max_terms is None else int(max_terms),
            max_size=int(parameters["max_size"]),
            time_limit=None if time_limit is None else float(time_limit),
            **{name: parameters[name] for name in UNCHANGED},
        )


#: parameters without a conversion
UNCHANGED = ("model_selection", "max_evaluations", "max_traverses", "target_loss", "progress")


def check_search(search: Search[Any] | None, guesses: Any) -> None:
    """ValueError if there are guesses and the search ignores them."""
    if guesses and search is not None and not hasattr(search, "guesses"):
        name = type(search).__name__
        raise ValueError(
            f"guesses are for the hybrid search, and {name} ignores them; leave out search, or guesses"
        )


def as_executor(executor: Executor | None, n_jobs: int) -> Executor | None:
    """The executor, by default the process pool of so many workers, which start when it is used; None for one."""
    return process_pool(n_jobs) if executor is None and n_jobs > 1 else executor


def as_primitives(operators: Any) -> PrimitiveSet:
    """A set of operators from None, names, or a set."""
    if operators is None:
        return PrimitiveSet.default()
    return operators if isinstance(operators, PrimitiveSet) else PrimitiveSet(operators)
