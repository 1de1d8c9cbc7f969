"""L2(a, b) by Gauss–Legendre quadrature: ⟨f, g⟩ = Σ w_i f(x_i) g(x_i) ≈ ∫ f g."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

from fouriertree.engine import Engine
from fouriertree.expr import Expression, parse
from fouriertree.expr.polynomial import Polynomial
from fouriertree.space.base import Vector
from fouriertree.space.empirical import WeightedPoints

Target = Expression | str | Polynomial | Callable[[Vector], Vector]


@lru_cache(maxsize=64)
def gauss_legendre(a: float, b: float, n: int) -> tuple[Vector, Vector]:
    """Nodes and weights on (a, b): (n,) each, read-only; exact for polynomials up to degree 2n − 1."""
    nodes, weights = standard_nodes(n)
    half, middle = np.longdouble(b - a) / 2, np.longdouble(a + b) / 2
    scaled = (middle + half * nodes).astype(np.float64), (half * weights).astype(np.float64)
    for array in scaled:
        array.flags.writeable = False
    return scaled


@lru_cache(maxsize=64)
def standard_nodes(n: int) -> tuple[NDArray[np.longdouble], NDArray[np.longdouble]]:
    """Nodes and weights on (−1, 1) in extended precision."""
    # SciPy's nodes have eleven correct digits at n = 500; two Newton steps give the rest.
    x: Any = roots_legendre(n)[0].astype(np.longdouble)
    for _ in range(2):
        value, derivative = legendre(n, x)
        x = x - value / derivative
    return x, 2 / ((1 - x) * (1 + x) * legendre(n, x)[1] ** 2)


def legendre(n: int, x: Any) -> tuple[Any, Any]:
    """P_n(x) and its derivative, by the three-term recurrence."""
    previous, value = np.ones_like(x), x.copy()
    for k in range(1, n):
        previous, value = value, ((2 * k + 1) * x * value - k * previous) / (k + 1)
    return value, n * (previous - x * value) / ((1 - x) * (1 + x))


class QuadratureSpace(WeightedPoints):
    """L2(a, b) by Gauss–Legendre quadrature: ⟨f, g⟩ = Σ w_i f(x_i) g(x_i) ≈ ∫ f g.

    Parameters
    ----------
    a, b : float
        The interval.
    n : int
        Number of nodes; polynomials are integrated exactly up to degree 2n − 1.
    target : Expression, str, Polynomial or callable, optional
        A callable maps the nodes (n,) to values (n,).
    engine : Engine, optional
        Evaluates expressions; `CompiledEngine()` by default.

    Examples
    --------
    >>> space = QuadratureSpace(-1, 1, 5, target="x0^4")
    >>> round(space.inner(parse("x0^2"), parse("x0^2")), 12), space.dimension
    (0.4, 5)
    """

    def __init__(
        self, a: float, b: float, n: int, target: Target | None = None, engine: Engine | None = None
    ) -> None:
        if not a < b:
            raise ValueError(f"the interval must have a < b; got a = {a}, b = {b}")
        if n < 1:
            raise ValueError(f"quadrature needs at least one node; got n = {n}")
        nodes, weights = gauss_legendre(float(a), float(b), n)
        super().__init__(nodes[:, None], weights, engine)
        self._target = None if target is None else self._roots * self._values(target)

    @property
    def target(self) -> Vector:
        if self._target is None:
            raise ValueError("this space has no target; pass one: QuadratureSpace(a, b, n, target=…)")
        return self._target

    def _values(self, target: Target) -> Vector:
        x = self.X[:, 0]
        if isinstance(target, str):
            target = parse(target)
        if isinstance(target, Expression):
            values = target.evaluate(self.X)
        elif isinstance(target, Polynomial):
            values = target.values(x)
        else:
            values = np.asarray(target(x), dtype=np.float64)
        if values.shape != x.shape or not np.isfinite(values).all():
            raise ValueError("the target must have a finite value at every node of the interval")
        return values
