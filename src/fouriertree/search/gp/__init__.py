"""Genetic programming, the baselines of the paper, in compiled loops."""

from .searches import CanonicalGP, OnePlusLambda

__all__ = ["CanonicalGP", "OnePlusLambda"]
