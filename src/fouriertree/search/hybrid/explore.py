"""Sums of atoms and of products of two atoms in one image of the target, from what screening of all pairs shows."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.variable import FitData, fit_constants
from fouriertree.search.hybrid.assemble import uses
from fouriertree.search.hybrid.atoms import Atoms
from fouriertree.search.hybrid.screening import Pairs, best_products, best_sums

Floats = NDArray[np.float64]
Shape = frozenset[tuple[bytes, bytes]]
#: work that stops now and then, so that a run can be ended, and has sums to return
Sums = Generator[None, None, "list[Sum]"]

#: a squared error this small, relative to the target, is an exact law
EXACT = 1e-19
#: nats that one unit of complexity costs
NATS_PER_UNIT = 1.5
#: steps of variable projection for all that screening proposes, and for the best of them; how many the best are
QUICK, THOROUGH, FINALISTS = 4, 25, 24
#: and where rows are few, which makes fits cheap and more candidates look alike
FEW_ROWS, QUICK_OF_FEW, FINALISTS_OF_FEW = 100, 8, 32
#: other starts for the inner constants of the best, or of all where rows are few
RESTARTS, RESTARTS_OF_FEW = 3, 5
#: pairs that are looked at for every one that is fitted
MANY_PAIRS = 16
#: models that are fitted before a run may be ended
PIECE = 100
#: terms of a denominator at most: with more, Σ c·b ≈ 1 and z = z·Σ c·b is almost an identity
MOST_BELOW = 2
#: bytes that tell shapes apart
DIGEST = 16


@dataclass(frozen=True)
class Sum:
    """Σ coefficients·expressions with its squared error relative to the target's."""

    expressions: tuple[Expression, ...] = ()
    coefficients: tuple[float, ...] = ()
    loss: float = 1.0

    @cached_property
    def shape(self) -> Shape:
        """What is left of it when constants are forgotten."""
        return frozenset((e.op.tobytes(), e.arg.tobytes()) for e in self.expressions)

    @cached_property
    def digest(self) -> bytes:
        """DIGEST bytes that stand for the shape."""
        parts = sorted(op + arg for op, arg in self.shape)
        lengths = b"".join(len(part).to_bytes(4, "little") for part in parts)
        return blake2b(lengths + b"".join(parts), digest_size=DIGEST).digest()

    @cached_property
    def complexity(self) -> int:
        return sum(2 + e.complexity for e in self.expressions)

    def score(self, n: int) -> float:
        """Description length in nats, up to a constant."""
        return 0.5 * n * float(np.log(max(self.loss, EXACT))) + NATS_PER_UNIT * self.complexity


class Image:
    """One image z of the target over some variables, z ≈ Σ c·e, with weights and the atoms to build from.

    With `target`, the column that holds z, terms z·e make a denominator: z ≈ Σ c·e / (1 − Σ d·e).
    """

    def __init__(
        self, atoms: Atoms, z: Floats, weights: Floats, variables: Sequence[Expression], X: Floats,
        vocabulary: Vocabulary, target: int | None = None, n_jobs: int = 1,
    ) -> None:  # fmt: skip
        self.X, self.variables, self.vocabulary, self.n_jobs = X, tuple(variables), vocabulary, n_jobs
        self.atoms, self.z, self.roots, self.target = atoms, z, np.sqrt(weights), target
        self.coordinates = self.roots * z
        self.length2 = float(self.coordinates @ self.coordinates) or 1.0
        self.data = FitData.prepare(X, z, weights)
        weighted = atoms.values * self.roots
        self.units = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
        numbers: dict[object, int] = {}
        #: the number of every atom's form
        self.forms = np.array([numbers.setdefault(atom.form, len(numbers)) for atom in atoms.atoms])
        self.factors = np.array([i for i, atom in enumerate(atoms.atoms) if not atom.below])
        plain = atoms.values[self.factors]
        plain = plain / np.sqrt(np.mean(plain**2, axis=1, keepdims=True))
        self.plain32, self.weighted32 = plain.astype(np.float32), self.units[self.factors].astype(np.float32)
        self.rng = np.random.default_rng(len(z))
        self.screened = 0
        self.traverses = 0  #: passes over the rows: an inner product is one
        self._expressions: dict[int, Expression] = {}

    @property
    def n_rows(self) -> int:
        return len(self.z)

    def atom(self, i: int) -> Expression:
        if i not in self._expressions:
            atom = self.atoms.atoms[i]
            expression = atom.expression(self.vocabulary, self.variables)
            if atom.below and self.target is not None:
                expression = self.vocabulary.product([expression, Expression.variable(self.target)])
            self._expressions[i] = expression
        return self._expressions[i]

    # Growing --------------------------------------------------------------------------------------------
    def grow(self, start: Sum, singles: int, sums: int, products: int) -> Sums:
        """The most promising sums with one or two terms more than `start`, polished, best first."""
        basis, residual = self._project(start)
        length = float(np.linalg.norm(residual))
        if length == 0.0:
            return []
        outside = self.units - (self.units @ basis) @ basis.T
        novelty = np.linalg.norm(outside, axis=1)
        fresh = np.flatnonzero(novelty > 1e-3)
        screened, traverses = 0, len(self.units) * (basis.shape[1] + 1)
        r32, q32 = (residual / length).astype(np.float32), basis.T.astype(np.float32)
        additions: list[tuple[Expression, ...]] = []
        if len(fresh):
            directions = (outside[fresh] / novelty[fresh, None]).astype(np.float32)
            cosines = np.abs(directions @ r32)
            additions += [(self.atom(int(fresh[i])),) for i in np.argsort(-cosines, kind="stable")[:singles]]
            if sums and "add" in self.vocabulary:
                pairs = self._varied(best_sums(directions, r32, MANY_PAIRS * sums, self.n_jobs), fresh, sums)
                screened += len(fresh) * (len(fresh) - 1) // 2
                traverses += len(fresh) * (len(fresh) - 1) // 2
                additions += [(self.atom(i), self.atom(j)) for i, j in pairs]
        if products and "mul" in self.vocabulary and self.target is None:
            pairs_seen = len(self.factors) * (len(self.factors) + 1) // 2
            screened += pairs_seen
            traverses += pairs_seen * (2 + len(q32))
            additions += self._products(r32, q32, products)
        yield
        best = yield from self.polish([(*start.expressions, *new) for new in additions])
        # Counted when the best have been fitted, too: a budget of candidates does not end between the two.
        self.screened += screened
        self.traverses += traverses
        return best

    def _varied(self, pairs: Pairs, atoms: NDArray[np.intp], count: int) -> list[tuple[int, int]]:
        """The best pairs, but only one of every form: its constants will be fitted anyway."""
        left, right = atoms[pairs.left], atoms[pairs.right]
        a, b = self.forms[left], self.forms[right]
        both = np.minimum(a, b) * len(self.forms) + np.maximum(a, b)
        first = np.sort(np.unique(both, return_index=True)[1])[:count]
        return list(zip(left[first].tolist(), right[first].tolist(), strict=True))

    def _project(self, start: Sum) -> tuple[Floats, Floats]:
        """An orthonormal basis of the terms so far (n, k), and what is left of the target."""
        if not start.expressions:
            return np.zeros((self.n_rows, 0)), self.coordinates
        columns = self._columns(start.expressions)
        basis = np.linalg.qr(columns / np.linalg.norm(columns, axis=0))[0]
        residual = self.coordinates - basis @ (basis.T @ self.coordinates)
        return basis, residual - basis @ (basis.T @ residual)

    def _columns(self, expressions: Sequence[Expression]) -> Floats:
        columns: Floats = np.stack([e.evaluate(self.X) for e in expressions], axis=1) * self.roots[:, None]
        return columns

    def _products(
        self, r32: NDArray[np.float32], q32: NDArray[np.float32], count: int
    ) -> list[tuple[Expression, ...]]:
        pairs = best_products(self.plain32, self.weighted32, r32, q32, MANY_PAIRS * count, self.n_jobs)
        varied = self._varied(pairs, self.factors, count)
        return [(self.vocabulary.product([self.atom(i), self.atom(j)]),) for i, j in varied]

    # Fitting --------------------------------------------------------------------------------------------
    def polish(self, models: Iterable[Sequence[Expression]]) -> Sums:
        """Constants and coefficients fitted, quickly for all and thoroughly for the best; best first."""
        few = self.n_rows <= FEW_ROWS
        shapes: dict[Shape, Sum] = {}
        for found in (yield from self.fitted_in_pieces(models, QUICK_OF_FEW if few else QUICK)):
            shapes.setdefault(found.shape, found)
        finalists = list(shapes.values())[: FINALISTS_OF_FEW if few else FINALISTS]
        if self.target is not None:
            return finalists
        again = list(shapes.values()) if few else finalists
        quick = QUICK_OF_FEW if few else QUICK
        for found in (yield from self.fitted_in_pieces(self._restarts(again), quick)):
            if found.loss < shapes[found.shape].loss:
                shapes[found.shape] = found
        ranked = sorted((shapes[s.shape] for s in again), key=lambda s: s.score(self.n_rows))
        best = ranked[: FINALISTS_OF_FEW if few else FINALISTS]
        return (yield from self.fitted_in_pieces([s.expressions for s in best], THOROUGH))

    def _restarts(self, sums: Sequence[Sum]) -> Iterator[tuple[Expression, ...]]:
        """The same forms with other inner constants to start from: valleys are many, and narrow."""
        few = self.n_rows <= FEW_ROWS
        for s in sums:
            numbers = sum(int(np.count_nonzero(free_numbers(e))) for e in s.expressions)
            if numbers >= 2 or (numbers and few):
                restarts = RESTARTS_OF_FEW if few else RESTARTS
                yield from (tuple(map(self._shaken, s.expressions)) for _ in range(restarts))

    def _shaken(self, e: Expression) -> Expression:
        free = free_numbers(e)
        if not free.any():
            return e
        const = e.const.copy()
        const[free] *= np.exp(self.rng.normal(0.0, 0.8, int(free.sum())))
        return Expression.unchecked(e.op, e.arg, const, e.primitives)

    def fitted_in_pieces(self, models: Iterable[Sequence[Expression]], iterations: int) -> Sums:
        """As `fitted`, with a stop after every piece."""
        sums: list[Sum] = []
        models = iter(models)
        while piece := list(islice(models, PIECE)):
            sums += self.fitted(piece, iterations)
            yield
        return sorted(sums, key=lambda s: s.score(self.n_rows))

    def fitted(self, models: Iterable[Sequence[Expression]], iterations: int) -> list[Sum]:
        """Best first by description length; those that are not finite are left out."""
        unique = list({tuple(model): None for model in models})
        self.screened += len(unique)
        if self.target is None:
            fits = fit_constants(
                unique, self.data, iterations=iterations, fixed=structural(unique), n_jobs=self.n_jobs
            )
            self.traverses += sum(
                (len(m) + 1) * (f.iterations + 1) for m, f in zip(unique, fits, strict=True)
            )
            sums = [Sum(f.expressions, tuple(f.coefficients.tolist()), f.loss / self.length2) for f in fits]
        else:
            self.traverses += sum(len(m) + 1 for m in unique)
            sums = [s for s in map(self._fraction, unique) if s is not None]
        return sorted((s for s in sums if np.isfinite(s.loss)), key=lambda s: s.score(self.n_rows))

    def _fraction(self, terms: tuple[Expression, ...]) -> Sum | None:
        """The sum with coefficients of z = Σ c·e + Σ d·z·b, and the error of Σ c·e / (1 − Σ d·b)."""
        assert self.target is not None
        below = np.array([uses(e, self.target) for e in terms])
        if below.all() or np.count_nonzero(below) > MOST_BELOW:
            return None
        columns = self._columns(terms)
        lengths = np.linalg.norm(columns, axis=0)
        coefficients = np.linalg.lstsq(columns / lengths, self.coordinates, rcond=None)[0] / lengths
        parts = columns * coefficients
        with np.errstate(all="ignore"):
            under = 1.0 - (parts[:, below].sum(axis=1) / self.coordinates if below.any() else 0.0)
            error = self.coordinates - parts[:, ~below].sum(axis=1) / under
            loss = float(error @ error) / self.length2
        return Sum(terms, tuple(coefficients.tolist()), loss if np.isfinite(loss) else np.inf)

    def pruned(self, full: Sum) -> list[Sum]:
        """The sum without its least useful term, without its least two, ...; the sum itself first."""
        path = [full]
        while len(path[-1].expressions) > 1:
            terms = path[-1].expressions
            fewer = self.fitted([terms[:i] + terms[i + 1 :] for i in range(len(terms))], THOROUGH)
            if not fewer:
                break
            path.append(min(fewer, key=lambda s: s.loss))
        return path


def free_numbers(e: Expression) -> NDArray[np.bool_]:
    """Which tokens are numbers to be fitted."""
    free: NDArray[np.bool_] = (e.op == CONST) & (e.const != 1.0)
    return free


def structural(models: Sequence[Sequence[Expression]]) -> list[list[NDArray[np.bool_]]]:
    """Which tokens are not to be fitted: a constant of exactly one belongs to the form, as in 1/x."""
    return [[e.const == 1.0 for e in model] for model in models]
