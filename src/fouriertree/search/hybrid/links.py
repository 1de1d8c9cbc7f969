"""Links: images g(t) of the target in which a law may be a plain sum, t = g⁻¹(Σ c·e)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import Vocabulary

Floats = NDArray[np.float64]

#: weights in the image differ by no more than this factor from their median, either way
SPREAD = 1e3


@dataclass(frozen=True)
class Link:
    """g with its slope, where it is defined, and how its inverse is written."""

    name: str
    needs: tuple[str, ...]  #: operators that the inverse is written with
    image: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    one_sign: bool  #: g needs t of one sign, and works on |t|
    inverse: Callable[[Vocabulary, Expression], Expression]
    power: float | None = None  #: the inverse is this power

    def __reduce__(self) -> tuple[Callable[[str], Link], tuple[str]]:
        # Functions without names cannot be pickled; the table of links knows them.
        return link_named, (self.name,)

    def allowed(self, vocabulary: Vocabulary) -> bool:
        raised = self.power is None or vocabulary.can_raise(self.power)
        return raised and all(role in vocabulary for role in self.needs)

    def apply(self, t: Floats, weights: Floats) -> tuple[Floats, Floats, float] | None:
        """g(|t|), weights under which errors of g count like errors of t, and the sign of t; None if undefined."""
        sign = 1.0
        if self.one_sign:
            if (t < 0.0).all():
                sign = -1.0
            elif not (t > 0.0).all():
                return None
        with np.errstate(all="ignore"):
            image, slope = self.image(sign * t), self.slope(sign * t)
            weight = weights / np.square(slope)
        if not (np.isfinite(image).all() and np.isfinite(weight).all()):
            return None
        middle = float(np.median(weight))
        return image, np.clip(weight, middle / SPREAD, middle * SPREAD), sign


def _power(name: str, p: float) -> Link:
    """g(t) = t^p, so t = g^(1/p)."""
    return Link(
        name, (), lambda t: t**p, lambda t: p * t ** (p - 1.0), True,
        lambda v, e: v.power(e, 1.0 / p), 1.0 / p,
    )  # fmt: skip


def _exponential(k: float) -> Link:
    """g(t) = exp(k·t), so t = log(g)/k."""
    return Link(
        f"exp {k:g}t", ("log",), lambda t: np.exp(k * t), lambda t: k * np.exp(k * t), False,
        lambda v, e: v.apply("log", e),
    )  # fmt: skip


IDENTITY = Link("t", (), lambda t: t, np.ones_like, False, lambda v, e: e)
LINKS = (
    IDENTITY,
    Link("log t", ("exp",), np.log, lambda t: 1.0 / t, True, lambda v, e: v.apply("exp", e)),
    Link("1/t", (), lambda t: 1.0 / t, lambda t: -1.0 / (t * t), False, lambda v, e: v.power(e, -1.0), -1.0),
    _power("t^2", 2.0),
    _power("1/t^2", -2.0),
    _power("sqrt t", 0.5),
    _power("1/sqrt t", -0.5),
    # The law is log(Σ)/k: neither unit of t is the natural one, and k comes out of the fit in the end.
    _exponential(1.0),
    _exponential(3.0),
)


def link_named(name: str) -> Link:
    return next(link for link in LINKS if link.name == name)
