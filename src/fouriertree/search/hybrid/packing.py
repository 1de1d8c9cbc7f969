"""Terms of a dictionary as token arrays: basis functions of one form share a template and differ in their constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import copied, ranges
from fouriertree.search.hybrid.atoms import Atom

Indices = NDArray[np.intp]
#: stand-ins for the inner constants while a template is made: values that no grid has
PLACES = (1.2345678901e-200, 2.3456789012e-200, 3.4567890123e-200, 4.5678901234e-200)
#: index of the template that is the operator of products alone
PRODUCT = 0


class PackedAtoms:
    """Token arrays of basis functions and of their products; templates are made when they are first used."""

    def __init__(
        self, atoms: tuple[Atom, ...], vocabulary: Vocabulary, variables: tuple[Expression, ...], target: int | None
    ) -> None:  # fmt: skip
        self.atoms, self.vocabulary, self.variables, self.target = atoms, vocabulary, variables, target
        self._constants = np.array([_constants(atom) for atom in atoms])
        self._is_one = np.array([not (any(a.powers) or a.function or a.times or a.below) for a in atoms])
        self._template_of = np.full(len(atoms), -1)
        self._numbers: dict[object, int] = {}
        self._expressions: list[Expression] = []
        if "mul" in vocabulary:
            product = vocabulary.apply("mul", Expression.constant(1.0), Expression.constant(1.0))
            self._expressions = [product.part(2, 3)]
        self._templates, self._roles = Programs.pack([]), np.zeros(0, np.intp)

    def terms(self, left: Indices, right: Indices | None = None) -> Programs:
        """Programs of the basis functions `left`, or of products with the basis functions `right`."""
        if right is None:
            n_parts, parts, owners = np.ones(len(left), np.int64), self._template(left), left
        else:
            swap = self._is_one[left]
            left, right = np.where(swap, right, left), np.where(swap, left, right)
            both = ~self._is_one[right]
            n_parts = np.where(both, 3, 1)
            at = np.cumsum(n_parts) - n_parts
            parts, owners = np.full(int(n_parts.sum()), PRODUCT), np.zeros(int(n_parts.sum()), np.intp)
            parts[at], owners[at] = self._template(left), left
            parts[at[both] + 1], owners[at[both] + 1] = self._template(right[both]), right[both]
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
            self._template_of[i] = self._number(self.atoms[i])
        if len(self._expressions) > known or not len(self._templates):
            self._templates = Programs.pack(self._expressions)
            self._roles = np.full(len(self._templates.op), -1)
            for role, place in enumerate(PLACES):
                self._roles[self._templates.const == place] = role
        return np.asarray(self._template_of[which])

    def _number(self, atom: Atom) -> int:
        # A constant of one is not written.
        key = (atom.form, atom.constant == 1.0, atom.times is not None and atom.times.constant == 1.0)
        if key not in self._numbers:
            self._numbers[key] = len(self._expressions)
            self._expressions.append(self._expression(_placed(atom)))
        return self._numbers[key]

    def _expression(self, atom: Atom) -> Expression:
        expression = atom.expression(self.vocabulary, self.variables)
        if atom.below and self.target is not None:
            expression = self.vocabulary.product([expression, Expression.variable(self.target)])
        return expression


def _constants(atom: Atom) -> tuple[float, float, float, float]:
    own, times = (atom.constant, atom.other), atom.times
    return (*own, 0.0, 0.0) if times is None else (*own, times.constant, times.other)


def _placed(atom: Atom, places: tuple[float, ...] = PLACES) -> Atom:
    """The basis function with stand-ins for its constants."""
    constant = 1.0 if atom.constant == 1.0 else places[0]
    times = None if atom.times is None else _placed(atom.times, places[2:])
    return replace(atom, constant=constant, other=places[1], times=times)
