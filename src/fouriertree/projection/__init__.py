"""The best coefficients of a target in the span of elements that come and go one at a time."""

from .base import Projection, Projector, State
from .gram_svd import GramSVD
from .qr import IncrementalQR

__all__ = ["GramSVD", "IncrementalQR", "Projection", "Projector", "State"]
