"""Searches, and the loop that runs them within a budget."""

from fouriertree.search.ftg import ALL_TERMS, FTG, AbsoluteProduct, Cosine, FTGState, Relevance
from fouriertree.search.gp import CanonicalGP, OnePlusLambda
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

__all__ = [
    "ALL_TERMS", "FTG", "AbsoluteProduct", "Accepted", "Budget", "CanonicalGP", "Cosine", "Event", "FTGState",
    "Finished", "Hybrid", "HybridState", "Observer", "OnePlusLambda", "Progress", "Relevance", "Reported", "Resumable",
    "Run", "RunState", "Search", "StopSearch", "run",
]  # fmt: skip
