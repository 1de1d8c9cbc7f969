"""fouriertree finds formulas in data.

>>> import numpy as np
>>> from fouriertree import SymbolicRegressor
>>> X = np.random.default_rng(0).uniform(-3, 3, (200, 2))
>>> y = 2.5 * X[:, 0] ** 2 + 3 * np.sin(X[:, 1])
>>> model = SymbolicRegressor(random_state=0).fit(X, y)
>>> round(model.score(X, y), 6)
1.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fouriertree._version import __version__
from fouriertree.collector import long_lived_objects

if TYPE_CHECKING:
    from fouriertree.engine import CompiledEngine, ReferenceEngine, evaluate, inner_products
    from fouriertree.estimators.classifier import SymbolicClassifier
    from fouriertree.estimators.regressor import SymbolicRegressor
    from fouriertree.estimators.transformer import SymbolicTransformer
    from fouriertree.expr import Expression, PrimitiveSet, differentiate, parse
    from fouriertree.expr.canonical import simplify
    from fouriertree.expr.generate import GenerateComposition, Grammar, RampedHalfAndHalf
    from fouriertree.model import Model
    from fouriertree.problems import Problem
    from fouriertree.projection import GramSVD, IncrementalQR
    from fouriertree.search import (
        FTG,
        AbsoluteProduct,
        Budget,
        CanonicalGP,
        Cosine,
        Hybrid,
        OnePlusLambda,
        run,
    )
    from fouriertree.space import EmpiricalSpace, PolynomialSpace, QuadratureSpace

# Imported when first asked for: scikit-learn and Numba take a second that `fouriertree --help` need not wait.
_HOMES = {
    "estimators.classifier": ("SymbolicClassifier",),
    "engine": ("CompiledEngine", "ReferenceEngine", "evaluate", "inner_products"),
    "estimators.regressor": ("SymbolicRegressor",),
    "expr": ("Expression", "PrimitiveSet", "differentiate", "parse"),
    "expr.canonical": ("simplify",),
    "expr.generate": ("GenerateComposition", "Grammar", "RampedHalfAndHalf"),
    "model": ("Model",),
    "problems": ("Problem",),
    "projection": ("GramSVD", "IncrementalQR"),
    "search": ("FTG", "AbsoluteProduct", "Budget", "CanonicalGP", "Cosine", "Hybrid", "OnePlusLambda", "run"),
    "space": ("EmpiricalSpace", "PolynomialSpace", "QuadratureSpace"),
    "estimators.transformer": ("SymbolicTransformer",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "FTG", "AbsoluteProduct", "Budget", "CanonicalGP", "CompiledEngine", "Cosine", "EmpiricalSpace",
    "Expression", "GenerateComposition", "GramSVD", "Grammar", "Hybrid", "IncrementalQR", "Model",
    "OnePlusLambda", "PolynomialSpace", "PrimitiveSet", "Problem", "QuadratureSpace", "RampedHalfAndHalf",
    "ReferenceEngine", "SymbolicClassifier", "SymbolicRegressor", "SymbolicTransformer", "__version__",
    "differentiate", "evaluate", "inner_products", "parse", "run", "simplify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'fouriertree' has no attribute {name!r}")
    with long_lived_objects():
        value = getattr(import_module(f"fouriertree.{_HOME_OF[name]}"), name)
    # Python does not ask again for a name that the module has.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
