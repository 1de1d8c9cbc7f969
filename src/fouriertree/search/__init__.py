"""Searches, and the loop that runs them within a budget."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fouriertree.search.loop import (
    Accepted,
    Budget,
    Event,
    Finished,
    Observer,
    Progress,
    Reported,
    Resumable,
    Run,
    RunState,
    Search,
    StopSearch,
    run,
)

if TYPE_CHECKING:
    from fouriertree.search.ftg import ALL_TERMS, FTG, AbsoluteProduct, Cosine, FTGState, Relevance
    from fouriertree.search.gp import CanonicalGP, OnePlusLambda
    from fouriertree.search.hybrid import Hybrid, HybridState

# Imported when first asked for: a program that only imports the package runs no search.
_HOMES = {
    "ftg": ("ALL_TERMS", "FTG", "AbsoluteProduct", "Cosine", "FTGState", "Relevance"),
    "gp": ("CanonicalGP", "OnePlusLambda"),
    "hybrid": ("Hybrid", "HybridState"),
}

__all__ = [
    "ALL_TERMS", "FTG", "AbsoluteProduct", "Accepted", "Budget", "CanonicalGP", "Cosine", "Event", "FTGState",
    "Finished", "Hybrid", "HybridState", "Observer", "OnePlusLambda", "Progress", "Relevance", "Reported", "Resumable",
    "Run", "RunState", "Search", "StopSearch", "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"fouriertree.search.{home}"), name)
    raise AttributeError(f"module 'fouriertree.search' has no attribute {name!r}")
