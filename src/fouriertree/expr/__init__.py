"""Expressions and their operators."""

from fouriertree.expr.calculus import differentiate
from fouriertree.expr.expression import Expression
from fouriertree.expr.parse import ParseError, parse
from fouriertree.expr.primitives import Primitive, PrimitiveSet
from fouriertree.expr.programs import Programs

__all__ = ["Expression", "ParseError", "Primitive", "PrimitiveSet", "Programs", "differentiate", "parse"]
