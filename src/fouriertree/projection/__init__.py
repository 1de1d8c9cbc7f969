"""Orthogonal projections onto the span of elements that are added and removed one at a time."""

from .base import Projection, Projector, State
from .gram_svd import GramSVD
from .qr import IncrementalQR

__all__ = ["GramSVD", "IncrementalQR", "Projection", "Projector", "State"]
