"""Searches, and the loop that runs them within a budget."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fouriertree.search.hybrid import Hybrid, HybridState
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

# Imported when first asked for: a fit with the default search needs neither.
_FTG = ("ALL_TERMS", "FTG", "AbsoluteProduct", "Cosine", "FTGState", "Relevance")
_GP = ("CanonicalGP", "OnePlusLambda")

__all__ = [
    "ALL_TERMS", "FTG", "AbsoluteProduct", "Accepted", "Budget", "CanonicalGP", "Cosine", "Event", "FTGState",
    "Finished", "Hybrid", "HybridState", "Observer", "OnePlusLambda", "Progress", "Relevance", "Reported", "Resumable",
    "Run", "RunState", "Search", "StopSearch", "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in (*_FTG, *_GP):
        raise AttributeError(f"module 'fouriertree.search' has no attribute {name!r}")
    return getattr(import_module(f"fouriertree.search.{'ftg' if name in _FTG else 'gp'}"), name)
