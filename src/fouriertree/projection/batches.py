"""Batches of sums of expressions in one set of arrays: thousands are built, fitted and compared without objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet, Programs
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START
from fouriertree.expr.programs import ranges

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
PLAIN = Complexity()


@dataclass(frozen=True, eq=False)
class SumBatch:
    """Sums of terms: sum i has the `n_terms[i]` programs from `first[i]` on, whose tokens follow one another.

    >>> from fouriertree.expr import parse
    >>> batch = SumBatch.pack([(parse("x0"), parse("sin(2*x0)")), (parse("x1"),)])
    >>> len(batch), batch.complexities().tolist(), [str(e) for e in batch.take([1, 0]).expressions(1)]
    (2, [7, 1], ['x0', 'sin(2.0*x0)'])
    """

    programs: Programs
    n_terms: Integers

    @classmethod
    def pack(cls, sums: Sequence[Sequence[Expression]]) -> SumBatch:
        n_terms = np.array([len(terms) for terms in sums], np.int64)
        return cls(Programs.pack(list(chain.from_iterable(sums))), n_terms)

    def __len__(self) -> int:
        return len(self.n_terms)

    @cached_property
    def first(self) -> Integers:
        return np.cumsum(self.n_terms) - self.n_terms

    @property
    def last(self) -> Integers:
        return self.first + self.n_terms

    def take(self, which: Any) -> SumBatch:
        """The sums with these indices, which may repeat."""
        chosen = np.arange(len(self))[which]
        n_terms = self.n_terms[chosen]
        return SumBatch(copied(self.programs, ranges(self.first[chosen], n_terms)), n_terms)

    def with_constants(self, const: Floats) -> SumBatch:
        return replace(self, programs=replace(self.programs, const=const))

    def expressions(self, i: int) -> tuple[Expression, ...]:
        """The terms of a sum."""
        return tuple(self.programs[j] for j in range(self.first[i], self.last[i]))

    @cached_property
    def owner(self) -> Integers:
        """The sum of every token: (n_tokens,)."""
        of_terms = np.repeat(np.arange(len(self)), self.n_terms)
        return np.repeat(of_terms, self.programs.count)

    @property
    def free(self) -> Mask:
        """Tokens that are constants to fit: a constant of exactly one belongs to the form, as in 1/x."""
        programs = self.programs
        return np.asarray((programs.op == CONST) & (programs.const != 1.0))

    @property
    def n_free(self) -> Integers:
        """The number of constants to fit of every sum."""
        return np.bincount(self.owner[self.free], minlength=len(self))

    def complexities(self, complexity: Complexity = PLAIN) -> Integers:
        """The complexities of the terms of every sum, added up."""
        tokens = complexity.of_tokens(self.programs.op, self.programs.primitives)
        return np.bincount(self.owner, tokens, len(self)).astype(np.int64)

    @property
    def shapes(self) -> Hashes:
        """Hashes of the forms: equal for sums that differ in their constants, or in the order of their terms, only.

        That of a sum without terms is zero.
        """
        programs, hashes = self.programs, np.zeros(len(self), np.uint64)
        if not len(programs):
            return hashes
        place = np.arange(len(programs.op)) - np.repeat(programs.start, programs.count)
        key = (_codes(programs) << 40) ^ (programs.arg.astype(np.int64) << 16) ^ place
        of_terms = _mixed(np.add.reduceat(_mixed(key.astype(np.uint64)), programs.start))
        has_terms = self.n_terms > 0
        hashes[has_terms] = np.add.reduceat(of_terms, self.first[has_terms])
        return hashes

    @property
    def without_user_operators(self) -> Mask:
        """Sums whose constants can be fitted: custom operators have no compiled derivatives."""
        custom = self.programs.op >= USER_OPCODE_START
        return np.asarray(np.bincount(self.owner[custom], minlength=len(self)) == 0)


def _codes(programs: Programs) -> Integers:
    """Numbers of the operators that are the same in all processes, also of custom operators."""
    codes = programs.op.astype(np.int64)
    for code in np.unique(codes[codes >= USER_OPCODE_START]).tolist():
        name = programs.primitives.by_opcode(code).name
        codes[programs.op == code] = USER_OPCODE_START + crc32(name.encode()) % 2**20
    return codes


def copied(source: Programs, which: Integers) -> Programs:
    """Copies of programs of a source, whose tokens follow one another."""
    count = source.count[which]
    tokens = ranges(source.start[which], count)
    return replace(
        source, op=source.op[tokens], arg=source.arg[tokens], const=source.const[tokens],
        start=np.cumsum(count) - count, count=count,
    )  # fmt: skip


def joined_programs(batches: Sequence[Programs]) -> Programs:
    """The programs of several batches, whose tokens follow one another."""
    count = np.concatenate([batch.count for batch in batches])
    op, arg, const = (
        np.concatenate([getattr(batch, name) for batch in batches]) for name in ("op", "arg", "const")
    )
    sets = {id(batch.primitives): batch.primitives for batch in batches}
    return Programs(
        op, arg, const, np.cumsum(count) - count, count, max(batch.height for batch in batches),
        max(batch.n_columns for batch in batches), reduce(PrimitiveSet.union, sets.values()),
    )  # fmt: skip


def _mixed(keys: Hashes) -> Hashes:
    """A step of splitmix64: every bit of a key changes half of the bits."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
