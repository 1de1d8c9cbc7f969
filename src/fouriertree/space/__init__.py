"""Hilbert spaces of functions: inner products, coordinates and targets."""

from fouriertree.space.base import Scores, Space
from fouriertree.space.empirical import EmpiricalSpace
from fouriertree.space.polynomial import PolynomialSpace
from fouriertree.space.quadrature import QuadratureSpace

__all__ = ["EmpiricalSpace", "PolynomialSpace", "QuadratureSpace", "Scores", "Space"]
