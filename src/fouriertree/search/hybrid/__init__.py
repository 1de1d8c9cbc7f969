"""The hybrid search, the default search of `SymbolicRegressor`."""

from fouriertree.search.hybrid.scheduler import HybridState
from fouriertree.search.hybrid.search import Hybrid

__all__ = ["Hybrid", "HybridState"]
