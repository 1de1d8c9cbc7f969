"""The hybrid search, the default search of `SymbolicRegressor`."""

from fouriertree.search.hybrid.search import Hybrid
from fouriertree.search.hybrid.state import HybridState

__all__ = ["Hybrid", "HybridState"]
