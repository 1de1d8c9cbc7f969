"""Genetic programming, the baselines of the paper, in compiled loops."""

from fouriertree.search.gp.canonical import CanonicalGP
from fouriertree.search.gp.one_plus_lambda import OnePlusLambda

__all__ = ["CanonicalGP", "OnePlusLambda"]
