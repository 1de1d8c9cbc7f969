"""Sums of atoms and of products of two atoms in one image of the target, from what screening of all pairs shows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.compiled import CompiledEngine
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import VAR
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import SumBatch, copied, joined_programs, ranges
from fouriertree.projection.variable import FitData, FittedBatch, fit_batch
from fouriertree.search.hybrid.atoms import Atoms
from fouriertree.search.hybrid.packing import PackedAtoms
from fouriertree.search.hybrid.screening import Pairs, best_products, best_sums

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
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


@dataclass(frozen=True, eq=False)
class Fits:
    """Fitted sums in arrays, with their losses relative to the target's and their complexities."""

    batch: SumBatch
    coefficients: Floats  #: (n_terms,)
    losses: Floats  #: (n_sums,)
    complexities: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, which: Any) -> Fits:
        chosen = np.arange(len(self))[which]
        terms = ranges(self.batch.first[chosen], self.batch.n_terms[chosen])
        return Fits(
            self.batch.take(chosen), self.coefficients[terms], self.losses[chosen], self.complexities[chosen]
        )

    def joined(self, other: Fits) -> Fits:
        programs = joined_programs([self.batch.programs, other.batch.programs])
        batch = SumBatch(programs, np.concatenate([self.batch.n_terms, other.batch.n_terms]))
        return Fits(
            batch,
            np.concatenate([self.coefficients, other.coefficients]),
            np.concatenate([self.losses, other.losses]),
            np.concatenate([self.complexities, other.complexities]),
        )

    def order(self, n: int) -> Indices:
        """By description length, the shortest first."""
        scores = 0.5 * n * np.log(np.maximum(self.losses, EXACT)) + NATS_PER_UNIT * self.complexities
        return np.argsort(scores, kind="stable")

    def best_first(self, n: int) -> Fits:
        return self.take(self.order(n))

    def best_of_shapes(self, n: int) -> Fits:
        """The best of every shape, best first."""
        order = self.order(n)
        first = np.unique(self.batch.shapes[order], return_index=True)[1]
        return self.take(order[np.sort(first)])

    def sums(self, most: int | None = None) -> list[Sum]:
        found = []
        for i in range(len(self))[:most]:
            terms = slice(self.batch.first[i], self.batch.last[i])
            coefficients = tuple(self.coefficients[terms].tolist())
            found.append(Sum(self.batch.expressions(i), coefficients, float(self.losses[i])))
        return found


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
        self._engine = CompiledEngine()
        self._rows = self._engine.prepare(X)
        self.rng = np.random.default_rng(len(z))
        self.screened = 0
        self.traverses = 0  #: passes over the rows: an inner product is one
        self._packed = PackedAtoms(atoms.atoms, vocabulary, self.variables, target)

    @property
    def n_rows(self) -> int:
        return len(self.z)

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
        additions: list[Programs] = []
        n_new: list[int] = []  # terms that each of them adds
        if len(fresh):
            directions = (outside[fresh] / novelty[fresh, None]).astype(np.float32)
            cosines = np.abs(directions @ r32)
            chosen = fresh[np.argsort(-cosines, kind="stable")[:singles]]
            additions.append(self._packed.terms(chosen))
            n_new += [1] * len(chosen)
            if sums and "add" in self.vocabulary:
                left, right = self._varied(best_sums(directions, r32, MANY_PAIRS * sums), fresh, sums)
                screened += len(fresh) * (len(fresh) - 1) // 2
                traverses += len(fresh) * (len(fresh) - 1) // 2
                additions.append(self._packed.terms(np.stack([left, right], axis=1).ravel()))
                n_new += [2] * len(left)
        if products and "mul" in self.vocabulary and self.target is None:
            pairs_seen = len(self.factors) * (len(self.factors) + 1) // 2
            screened += pairs_seen
            traverses += pairs_seen * (2 + len(q32))
            pairs = best_products(self.plain32, self.weighted32, r32, q32, MANY_PAIRS * products)
            left, right = self._varied(pairs, self.factors, products)
            additions.append(self._packed.terms(left, right))
            n_new += [1] * len(left)
        yield
        models = extended(start.expressions, additions, np.array(n_new, np.int64))
        best = self.polish(models)
        yield
        # Counted when the best have been fitted, too: a budget of candidates does not end between the two.
        self.screened += screened
        self.traverses += traverses
        return best

    def _varied(self, pairs: Pairs, atoms: Indices, count: int) -> tuple[Indices, Indices]:
        """The best pairs, but only one of every form: its constants will be fitted anyway."""
        left, right = atoms[pairs.left], atoms[pairs.right]
        a, b = self.forms[left], self.forms[right]
        both = np.minimum(a, b) * len(self.forms) + np.maximum(a, b)
        first = np.sort(np.unique(both, return_index=True)[1])[:count]
        return left[first], right[first]

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

    # Fitting --------------------------------------------------------------------------------------------
    def polish(self, models: SumBatch) -> list[Sum]:
        """Constants and coefficients fitted, quickly for all and thoroughly for the best; best first."""
        if not len(models):
            return []
        few = self.n_rows <= FEW_ROWS
        quick, n_finalists = (QUICK_OF_FEW, FINALISTS_OF_FEW) if few else (QUICK, FINALISTS)
        fits = self._fits(models, quick).best_of_shapes(self.n_rows)
        if self.target is not None:
            return fits.sums(n_finalists)
        again = fits if few else fits.take(np.arange(min(n_finalists, len(fits))))
        restarted = again.joined(self._fits(self._restarts(again.batch, few), quick))
        best = restarted.best_of_shapes(self.n_rows).take(slice(n_finalists))
        return self._fits(best.batch, THOROUGH).best_first(self.n_rows).sums()

    def _restarts(self, sums: SumBatch, few: bool) -> SumBatch:
        """The same forms with other inner constants to start from: valleys are many, and narrow."""
        which = np.flatnonzero(sums.n_free >= (1 if few else 2))
        copies = sums.take(np.repeat(which, RESTARTS_OF_FEW if few else RESTARTS))
        const, free = copies.programs.const.copy(), copies.free
        const[free] *= np.exp(self.rng.normal(0.0, 0.8, int(free.sum())))
        return copies.with_constants(const)

    def _fits(self, models: SumBatch, iterations: int) -> Fits:
        """Models with fitted constants, without those that are not finite."""
        self.screened += len(models)
        fitted = fit_batch(models, self.data, iterations if self.target is None else 0, n_jobs=self.n_jobs)
        self.traverses += int(np.sum((models.n_terms + 1) * (fitted.steps + 1)))
        losses = fitted.losses / self.length2
        if self.target is not None:
            losses = self._losses_of_fractions(fitted)
        complexities = fitted.batch.complexities() + 2 * models.n_terms
        found = Fits(fitted.batch, fitted.coefficients, losses, complexities)
        finite = np.isfinite(losses)
        return found if finite.all() else found.take(np.flatnonzero(finite))

    def fitted(self, models: Sequence[Sequence[Expression]], iterations: int) -> list[Sum]:
        """Best first by description length; those that are not finite are left out."""
        if not models:
            return []
        return self._fits(SumBatch.pack(models), iterations).best_first(self.n_rows).sums()

    def _losses_of_fractions(self, fitted: FittedBatch) -> Floats:
        """Errors of Σ c·e / (1 − Σ d·b) with the coefficients of z = Σ c·e + Σ d·z·b; infinite where it is none."""
        batch, programs = fitted.batch, fitted.batch.programs
        uses_z = (programs.op == VAR) & (programs.arg == self.target)
        below = np.logical_or.reduceat(uses_z, programs.start)
        n_below = np.add.reduceat(below.astype(np.int64), batch.first)
        with np.errstate(all="ignore"):
            parts = fitted.coefficients[:, None] * self._engine_values(programs) * self.roots
            above = np.add.reduceat(np.where(below[:, None], 0.0, parts), batch.first)
            under = np.add.reduceat(np.where(below[:, None], parts, 0.0), batch.first)
            errors = self.coordinates - above / (1.0 - under / self.coordinates)
            losses = np.square(errors).sum(axis=1) / self.length2
        proper = (n_below < batch.n_terms) & (n_below <= MOST_BELOW) & np.isfinite(losses)
        return np.where(proper, losses, np.inf)

    def _engine_values(self, programs: Programs) -> Floats:
        return np.asarray(self._engine.evaluate(programs, self._rows), np.float64)

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


def extended(
    start: Sequence[Expression], additions: Sequence[Programs], n_new: NDArray[np.int64]
) -> SumBatch:
    """Sums of the terms of a start and of one or more new ones, which follow one another in the additions."""
    if not len(n_new):
        return SumBatch.pack([])
    source, k = joined_programs([Programs.pack(list(start)), *additions]), len(start)
    which = np.zeros((len(n_new), k + 2), np.int64)
    which[:, :k] = np.arange(k)
    at = k + np.cumsum(n_new) - n_new
    which[:, k], which[:, k + 1] = at, at + 1
    used = np.arange(k + 2) < (k + n_new)[:, None]
    return SumBatch(copied(source, which[used]), k + n_new)


def structural(models: Sequence[Sequence[Expression]]) -> list[list[NDArray[np.bool_]]]:
    """Which tokens are not to be fitted: a constant of exactly one belongs to the form, as in 1/x."""
    return [[e.const == 1.0 for e in model] for model in models]
