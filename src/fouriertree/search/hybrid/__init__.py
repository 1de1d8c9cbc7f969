"""The hybrid search, one concept a file; `Hybrid` is its face."""

from fouriertree.search.hybrid.hybrid import Hybrid, HybridState

__all__ = ["Hybrid", "HybridState"]
