"""Genetic programming, the baselines of the paper, in compiled loops."""

from .canonical import CanonicalGP
from .one_plus_lambda import OnePlusLambda

__all__ = ["CanonicalGP", "OnePlusLambda"]
