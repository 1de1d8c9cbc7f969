"""Dictionaries: basis functions evaluated as one matrix, and their terms as token arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs
from fouriertree.expr.programs import ranges
from fouriertree.expr.vocabulary import NotAllowedError, Vocabulary
from fouriertree.projection.batches import copied, joined_programs
from fouriertree.search.hybrid.functions import (
    BasisFunction,
    Floats,
    Ranked,
    arguments,
    log_functions,
    monomials,
    nonlinear_functions,
    other_functions,
    power_values,
    powers_of_sums,
    single,
    waves_of_sums,
)
from fouriertree.search.hybrid.modulation import modulators
from fouriertree.search.hybrid.transforms import transform_named

Indices = NDArray[np.intp]
#: periods of waves over the range of their argument at most: with one variable, and with several
PERIODS_OF_ONE, PERIODS = 10, 5
#: a dictionary with fewer basis functions is small
SMALL = 100
RECIPROCAL = transform_named("1/t")


@dataclass(frozen=True)
class Breadth:
    """How many candidates of each kind screening passes on to be fitted."""

    singles: int = 16
    sums: int = 120
    products: int = 240

    def of_small_dictionary(self) -> Breadth:
        """Screening of few pairs need not pass on many."""
        return Breadth(min(self.singles, 12), min(self.sums, 60), min(self.products, 60))


@dataclass(frozen=True)
class DictionarySpec:
    """Which basis functions a dictionary has, and how a beam uses them."""

    name: str
    n_monomials: int
    functions: bool  #: also nonlinear functions of monomials
    max_size: int
    whole_powers: bool = False
    breadth: Breadth = field(default_factory=Breadth)
    modulated: bool = False  #: also monomials times functions of one variable
    ratio: bool = False  #: also terms of a denominator
    first_steps: int = 2  #: of a beam in its first task
    steps: int = 2  #: of a beam in later tasks: a step with a large dictionary takes longer
    linear_starts: bool = False  #: a beam also starts from a constant and one variable
    max_factors: int = 0  #: functions of one variable each, of which products of so many are screened
    rare_factors: bool = False  #: those that laws seldom have, too
    noise_floor: float = 0.0  #: added to all losses, relative to the target, when sums are ranked


#: dictionaries of factors: how many a product has, and the noise floor at which sums are ranked; without it, long sums
#: that approximate the target crowd out short ones whose constants are not right yet
SEPARABLE = {
    "pairs of factors": (2, 1e-2), "factors at 1e-4": (3, 1e-4), "factors at 1e-2": (3, 1e-2), "factors": (3, 0.0)
}  # fmt: skip
SPECS = {
    spec.name: spec
    for spec in (
        DictionarySpec("powers", 1000, False, 1200, first_steps=4, steps=3),
        DictionarySpec(
            "ratio", 200, False, 400, True, Breadth(products=0), ratio=True, first_steps=6, steps=6
        ),
        DictionarySpec(
            "modulated", 150, False, 1500, False, Breadth(products=0), modulated=True, first_steps=3, steps=4
        ),
        DictionarySpec(
            "modulated ratio", 60, False, 700, False, Breadth(products=0), True, True, first_steps=4, steps=6
        ),
        DictionarySpec("functions", 300, True, 1500),
        DictionarySpec(
            "plain functions",
            300,
            True,
            1500,
            breadth=Breadth(products=800),
            first_steps=4,
            steps=1,
            linear_starts=True,
        ),
        DictionarySpec("many", 800, True, 3000, steps=1),
        *(
            DictionarySpec(
                name,
                0,
                False,
                3000,
                first_steps=4 if most == 2 else 2,
                steps=4 - most,
                max_factors=most,
                rare_factors=most > 2,
                noise_floor=floor,
            )
            for name, (most, floor) in SEPARABLE.items()
        ),
    )
}


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Basis functions and their values: (n_functions, n_rows)."""

    functions: tuple[BasisFunction, ...]
    values: Floats

    def __len__(self) -> int:
        return len(self.functions)


def basis_functions(V: Floats, v: Vocabulary, spec: DictionarySpec) -> Dictionary:
    """Basis functions of the variables V (d, n) that do not depend on a target, simple ones first; not all distinct."""
    d, n = V.shape
    bare = monomials(V, v, spec.n_monomials, spec.whole_powers)
    others = _nonlinear(V, v, periods_of(V)) if spec.functions else _logarithms(V, v)
    others.sort(key=lambda entry: entry[0])
    functions = (
        BasisFunction((0.0,) * d),
        *map(BasisFunction, bare),
        *(function for _, function, _ in others),
    )
    values = [np.ones((1, n)), power_values(V, bare), *(column[None] for _, _, column in others)]
    return Dictionary(functions, np.concatenate(values))


def make_dictionary(
    basis: Dictionary, V: Floats, z: Floats, roots: Floats, v: Vocabulary, spec: DictionarySpec, max_size: int
) -> Dictionary:
    """Distinct basis functions for a transformed target z (n,) with weights roots².

    `basis` are the basis functions of the variables V, to which those are added that depend on the target.
    """
    bare = [f.powers for f in basis.functions if any(f.powers) and not f.name]
    n_bare = 1 + len(bare)
    functions, values = list(basis.functions[:n_bare]), [basis.values[:n_bare]]
    if spec.ratio:
        below = bare[: spec.n_monomials // 3]
        functions += [BasisFunction(powers, below=True) for powers in below]
        values.append(basis.values[1 : 1 + len(below)] * z)
    for modulator, wave in _modulators(V, z, roots, v, spec):
        functions += [modulator, *(BasisFunction(powers, times=modulator) for powers in bare)]
        values += [wave[None], basis.values[1:n_bare] * wave]
    functions += basis.functions[n_bare:]
    values.append(basis.values[n_bare:])
    found = distinct(functions, np.concatenate(values), roots)
    if not v.complete:
        found = writable(found, v)
    size = min(spec.max_size, max_size)
    return Dictionary(found.functions[:size], found.values[:size])


def periods_of(V: Floats) -> int:
    """Periods of waves over the range of their argument at most."""
    return PERIODS_OF_ONE if len(V) == 1 else PERIODS


def _logarithms(V: Floats, v: Vocabulary) -> list[Ranked]:
    if "log" not in v:
        return []
    return [
        (0, BasisFunction(single(len(V), i, 1.0), "log"), np.log(u)) for i, u in enumerate(V) if u.min() > 0.0
    ]


def _nonlinear(V: Floats, v: Vocabulary, periods: int) -> list[Ranked]:
    args = arguments(V, v, 40)
    found = [*nonlinear_functions(V, v, args, periods), *log_functions(V, v), *other_functions(V, v, args)]
    if "add" in v and "mul" in v:
        found += waves_of_sums(V, v, periods)
        found += powers_of_sums(V, v, args[: 12 if len(V) <= 3 else 8])
    return found


def _modulators(
    V: Floats, z: Floats, roots: Floats, v: Vocabulary, spec: DictionarySpec
) -> Sequence[tuple[BasisFunction, Floats]]:
    """Of the target; of its reciprocal if they are to be in a denominator."""
    if not spec.modulated:
        return ()
    if spec.ratio:
        applied = RECIPROCAL.apply(z, roots**2)
        if applied is None:
            return ()
        z, roots = applied[0], np.sqrt(applied[1])
    return modulators(V, z, roots, v, periods_of(V), 1)


def writable(found: Dictionary, v: Vocabulary) -> Dictionary:
    """Those that the operators suffice for."""
    variables = [Expression.variable(i) for i in range(len(found.functions[0].powers))]

    def can_be_written(function: BasisFunction) -> bool:
        try:
            function.expression(v, variables)
        except NotAllowedError:
            return False
        return True

    kept = [i for i, function in enumerate(found.functions) if can_be_written(function)]
    return Dictionary(tuple(found.functions[i] for i in kept), found.values[kept])


def distinct(functions: Sequence[BasisFunction], values: Floats, roots: Floats) -> Dictionary:
    """Without functions that are not finite, constant zero, or equal to an earlier one up to a factor."""
    with np.errstate(all="ignore"):
        weighted = values * roots
        lengths = np.linalg.norm(weighted, axis=1)
    good = np.isfinite(lengths) & (lengths > 0.0)
    unit = weighted[good] / lengths[good, None]
    probe = unit @ _probe(unit.shape[1])
    sign = np.where(probe[:, :1] < 0.0, -1.0, 1.0)
    keys = np.round(probe * sign, 9)
    _, first = np.unique(keys, axis=0, return_index=True)
    kept = np.flatnonzero(good)[np.sort(first)]
    return Dictionary(tuple(functions[i] for i in kept), values[kept])


def _probe(n: int) -> Floats:
    return np.random.default_rng(0).standard_normal((n, 3))


# Terms as token arrays ----------------------------------------------------------------------------------------
#: stand-ins for the inner constants while a template is made: values that no grid has
PLACES = (1.2345678901e-200, 2.3456789012e-200, 3.4567890123e-200, 4.5678901234e-200)
#: index of the template that is the operator of products alone
PRODUCT = 0


class TermPacker:
    """Token arrays of basis functions and of their products; templates are made when they are first used."""

    def __init__(
        self, functions: tuple[BasisFunction, ...], vocabulary: Vocabulary, variables: tuple[Expression, ...],
        target: int | None, known: dict[object, Expression],
    ) -> None:  # fmt: skip
        self.functions, self.vocabulary, self.variables, self.target = (
            functions,
            vocabulary,
            variables,
            target,
        )
        self._constants = np.array([_constants(f) for f in functions])
        self._is_one = np.array([not (any(a.powers) or a.name or a.times or a.below) for a in functions])
        self._template_of = np.full(len(functions), -1)
        self._numbers: dict[object, int] = {}
        self._known = known  # templates of other dictionaries over the same variables
        self._expressions: list[Expression] = []
        if "mul" in vocabulary:
            product = vocabulary.apply("mul", Expression.constant(1.0), Expression.constant(1.0))
            self._expressions = [product.part(2, 3)]
        self._templates = Programs.pack(self._expressions)
        self._roles = np.full(len(self._templates.op), -1)
        self._lock = Lock()

    def terms(self, left: Indices, right: Indices | None = None) -> Programs:
        """Programs of the basis functions `left`, or of products with the basis functions `right`."""
        with self._lock:
            return self._terms(left, right)

    def _terms(self, left: Indices, right: Indices | None) -> Programs:
        if right is not None:
            swap = self._is_one[left]
            left, right = np.where(swap, right, left), np.where(swap, left, right)
            right = np.where(self._is_one[right], -1, right)
        return self._products(np.stack([left] if right is None else [left, right], axis=1))

    def products(self, factors: Indices) -> Programs:
        """Programs of products of basis functions (n_products, k), where −1 stands for no factor."""
        with self._lock:
            return self._products(factors)

    def _products(self, factors: Indices) -> Programs:
        # Of three factors: a, b, product, c, product.
        n_parts = 2 * np.count_nonzero(factors >= 0, axis=1) - 1
        at = np.cumsum(n_parts) - n_parts
        parts, owners = np.full(int(n_parts.sum()), PRODUCT), np.zeros(int(n_parts.sum()), np.intp)
        for k, column in enumerate(factors.T):
            used = column >= 0
            where = at[used] + max(2 * k - 1, 0)
            parts[where], owners[where] = self._template(column[used]), column[used]
        return self._joined(parts, owners, n_parts)

    def _joined(self, parts: Indices, owners: Indices, n_parts: NDArray[np.int64]) -> Programs:
        """Programs that consist of templates one after the other, with the constants of the owners."""
        pieces = copied(self._templates, parts)
        roles = self._roles[ranges(self._templates.start[parts], pieces.count)]
        filled = roles >= 0
        owner = np.repeat(owners, pieces.count)
        pieces.const[filled] = self._constants[owner[filled], roles[filled]]
        count = np.add.reduceat(pieces.count, np.cumsum(n_parts) - n_parts) if len(n_parts) else n_parts
        # While the right factor of a product is computed, the left one is on the stack.
        return replace(pieces, start=np.cumsum(count) - count, count=count, height=pieces.height + 1)

    def _template(self, which: Indices) -> Indices:
        """Numbers of the templates of basis functions; new ones are made."""
        missing = np.unique(which[self._template_of[which] < 0])
        known = len(self._expressions)
        for i in missing.tolist():
            self._template_of[i] = self._number(self.functions[i])
        if len(self._expressions) > known:
            new = Programs.pack(self._expressions[known:])
            roles = np.full(len(new.op), -1)
            for role, place in enumerate(PLACES):
                roles[new.const == place] = role
            self._templates = joined_programs([self._templates, new])
            self._roles = np.concatenate([self._roles, roles])
        return np.asarray(self._template_of[which])

    def _number(self, function: BasisFunction) -> int:
        # A constant of one is not written.
        key = (
            function.form,
            function.constant == 1.0,
            function.times is not None and function.times.constant == 1.0,
        )
        if key not in self._numbers:
            self._numbers[key] = len(self._expressions)
            if key not in self._known:
                self._known[key] = self._expression(_placed(function))
            self._expressions.append(self._known[key])
        return self._numbers[key]

    def _expression(self, function: BasisFunction) -> Expression:
        expression = function.expression(self.vocabulary, self.variables)
        if function.below and self.target is not None:
            expression = self.vocabulary.product([expression, Expression.variable(self.target)])
        return expression


def _constants(function: BasisFunction) -> tuple[float, float, float, float]:
    own, times = (function.constant, function.other), function.times
    return (*own, 0.0, 0.0) if times is None else (*own, times.constant, times.other)


def _placed(function: BasisFunction, places: tuple[float, ...] = PLACES) -> BasisFunction:
    """The basis function with stand-ins for its constants."""
    constant = 1.0 if function.constant == 1.0 else places[0]
    times = None if function.times is None else _placed(function.times, places[2:])
    return replace(function, constant=constant, other=places[1], times=times)
