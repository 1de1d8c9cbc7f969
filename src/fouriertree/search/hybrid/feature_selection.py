"""Selection of features: a short search for sums of products among all of them, and a forest of random trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.intp]

#: features that are used, where there are more, and those at most that the short search selects
MAX_FEATURES, PURSUED = 12, 9
#: rows and trees of the forest, and features per split: so few that a wide table takes less than a second
FOREST_ROWS, MAX_TREES, MIN_TREES, SPLIT_FEATURES = 2000, 60, 20, 40
#: features of the forest, where there are more: the most correlated ones
FOREST_FEATURES = 300
#: rows of the short search, its terms, and functions of one feature that are factors
ROWS, TERMS, PARTNERS = 300, 12, 8
#: constants of waves, relative to the size of a feature, and of exponentials, relative to its range
WAVES, GROWTH = (1.0, 2.0, 3.5, 5.0, 7.0), (-4.0, -1.5, 1.5)
#: a product has to explain more than a function of one feature by this factor: there are many more of them
PRODUCT_RATIO = 1.2


def canonical_order(part: Floats) -> NDArray[np.intp]:
    """An order that depends on the values of the features only: by their quantiles."""
    quantiles = np.quantile(part, [0.5, 0.1, 0.9, 0.25, 0.75], axis=0)
    return np.lexsort(np.round(quantiles, 9)[::-1])


def useful_features(X: Floats, y: Floats, weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """The features that vary, and of many those of a short search, and those that a forest splits on most."""
    varying = np.flatnonzero((X.max(axis=0) > X.min(axis=0)) & np.isfinite(X).all(axis=0))
    if len(varying) <= MAX_FEATURES:
        return varying if len(varying) else np.zeros(0, np.intp)
    from sklearn.ensemble import ExtraTreesRegressor

    rows = rng.permutation(len(y))[:FOREST_ROWS]
    ranks = np.argsort(np.argsort(y[rows])) / len(rows)
    # Trees draw features by number; in the canonical order, the choice does not depend on the given one.
    standard = (X[rows] - X[rows].mean(axis=0)) / (X[rows].std(axis=0) + 1e-300)
    ordered = varying[canonical_order(standard[:, varying])]
    found = ordered[pursued(X[rows][:, ordered].T, y[rows], weights[rows])[:PURSUED]]
    if len(ordered) > FOREST_FEATURES:
        ordered = ordered[most_correlated(standard[:, ordered], (ranks, y[rows]), FOREST_FEATURES)]
    n = len(ordered)
    trees = min(MAX_TREES, max(MIN_TREES, MAX_TREES * SPLIT_FEATURES // n))
    importance = np.zeros(n)
    for target in (ranks, y[rows]):
        forest = ExtraTreesRegressor(
            trees, max_features=min(0.5, SPLIT_FEATURES / n), min_samples_leaf=3, random_state=0
        )
        importance += forest.fit(standard[:, ordered], target, weights[rows]).feature_importances_
    by_forest = ordered[np.argsort(-importance, kind="stable")]
    chosen = list(dict.fromkeys([*found.tolist(), *by_forest.tolist()]))
    return np.sort(np.array(chosen[:MAX_FEATURES], np.intp))


def most_correlated(standard: Floats, targets: Sequence[Floats], count: int) -> NDArray[np.intp]:
    """The features which, or whose squares, are most correlated with one of the targets, in the order they have.

    Of thousands of features, a tree would hardly ever split on the right one.
    """
    best = np.zeros(standard.shape[1])
    squares = np.square(standard)
    for columns in (standard, squares - squares.mean(axis=0)):
        lengths = np.linalg.norm(columns, axis=0) + 1e-300
        for target in targets:
            best = np.maximum(
                best, np.abs((target - target.mean()) @ columns) / lengths / (target.std() + 1e-300)
            )
    return np.sort(np.argsort(-best, kind="stable")[:count])


def pursued(V: Floats, y: Floats, weights: Floats) -> Indices:
    """Features in the order in which a sum of functions, and of products of two functions, takes them up.

    The sum grows by the term that explains most of what is left: a function of any feature, or a product of one with a
    function of a feature that the sum has already.  V is (n_features, n_rows).
    """
    rows = np.arange(len(y))[:ROWS]
    owners, values = _functions(V[:, rows])
    roots = np.sqrt(weights[rows] / np.mean(weights[rows]))
    if not len(owners):
        return np.zeros(0, np.intp)
    screen = _Screen(values * roots.astype(np.float32), roots)
    basis, target = roots[:, None], roots * y[rows]
    found: list[int] = []
    for _ in range(TERMS):
        basis = np.linalg.qr(basis)[0]
        residual = (target - basis @ (basis.T @ target)).astype(np.float32)
        partners = _partners(owners, found)
        factor: Singles = np.vstack([np.ones((1, len(rows)), np.float32), values[partners]])
        gains = screen.gains(residual, factor)
        gains[:, 1:] /= PRODUCT_RATIO
        term, partner = np.unravel_index(np.argmax(gains), gains.shape)
        basis = np.column_stack([basis, screen.weighted[term] * factor[partner]])
        found.append(int(owners[term]))
        if len(set(found)) >= PURSUED:
            break
    return np.array(list(dict.fromkeys(found)), np.intp)


def _functions(V: Floats) -> tuple[Indices, Singles]:
    """Functions of every feature of V (n_features, n_rows), of mean square 1, and the numbers of the features."""
    with np.errstate(all="ignore"):
        V = V / np.abs(V).max(axis=1, keepdims=True)
        low, spread = V.min(axis=1, keepdims=True), np.ptp(V, axis=1)[:, None]
        positive = np.where(low > 0.0, V, np.nan)
        waves = [wave(k * V) for k in WAVES for wave in (np.sin, np.cos)]
        growth = [np.exp(k * (V - low) / spread) for k in GROWTH]
        made = [V, V**2, 1.0 / positive, np.sqrt(positive), np.log(positive), *waves, *growth]
        values = np.concatenate(made)
        sizes = np.sqrt(np.mean(np.square(values), axis=1))
    kept = np.flatnonzero(np.isfinite(sizes) & (sizes > 0.0))
    owners = np.tile(np.arange(len(V)), len(made))
    return owners[kept], (values[kept] / sizes[kept, None]).astype(np.float32)


def _partners(owners: Indices, found: Sequence[int]) -> list[int]:
    """Some functions of the features that the sum has."""
    chosen: list[int] = []
    for feature in dict.fromkeys(found):
        own = np.flatnonzero(owners == feature)
        chosen += own[np.linspace(0, len(own) - 1, min(PARTNERS, len(own))).astype(int)].tolist()
    return chosen


class _Screen:
    """Functions times the roots of the weights (m, n), and their squares."""

    def __init__(self, weighted: Singles, roots: Floats) -> None:
        self.weighted, self.squares, self.roots = weighted, np.square(weighted), roots.astype(np.float32)

    def gains(self, residual: Singles, factors: Singles) -> Singles:
        """What products of functions and factors (k, n) explain of a residual (n,), beside a constant: (m, k)."""
        norms = self.squares @ np.square(factors).T
        means = self.weighted @ (self.roots * factors).T
        outside = norms - np.square(means) / len(residual)
        products: Singles = self.weighted @ (residual * factors).T
        return np.asarray(np.square(products) / np.maximum(outside, 1e-3 * norms), np.float32)
