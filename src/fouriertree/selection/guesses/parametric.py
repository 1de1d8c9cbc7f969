"""Formulas as sums Σ c_j·e_j(x; θ), in which one parameter may occur several times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import e, pi

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import ADD, CONST, COS, DIV, MUL, NEG, POW, SIN, SUB, USER_OPCODE_START, VAR
from fouriertree.expr.postfix import fold
from fouriertree.expr.simplify import LARGEST_SIZE
from fouriertree.expr.vocabulary import ONE
from fouriertree.model import addends, leading_constant, leading_factor, scaled

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: constants that belong to the form
FORM = (0.0, 1.0, pi, e)


@dataclass(frozen=True, eq=False)
class ParametricSum:
    """Σ c_j·e_j(x; θ) with free coefficients c and parameters θ."""

    terms: tuple[Expression, ...]  #: e_j, with constants in the places of the parameters
    places: tuple[Integers, ...]  #: the parameter of every token of every term; −1 for other tokens
    given: Floats  #: (n_parameters,) initial values; NaN where they are unknown

    @classmethod
    def of(cls, tree: Expression, n_features: int) -> ParametricSum:
        """The sum of a formula in which the variables from `n_features` on are parameters.

        Constants are parameters, too, with their values as initial values, but for 0, 1, π and e, and for whole
        exponents, which belong to the form.  The constant factors of addends are absorbed by the coefficients.

        >>> from fouriertree.expr import parse
        >>> found = ParametricSum.of(parse("a*exp(-0.5*x0^2/b)", names=("x0", "a", "b")), 1)
        >>> [str(term) for term in found.terms], found.given.tolist()
        (['exp(-0.5*x0^2/1.0)'], [nan, -0.5])
        """
        parts = (without_constant_factors(part, n_features) for _, part in addends(tree))
        terms = list(dict.fromkeys(parts))
        names = sorted({column for term in terms for column in term.columns if column >= n_features})
        given, all_places, constants = [np.nan] * len(names), [], []
        for term in terms:
            places = np.full(term.size, -1, np.intp)
            for i in np.flatnonzero((term.op == VAR) & (term.arg >= n_features)):
                places[i] = names.index(int(term.arg[i]))
            for i in np.flatnonzero((term.op == CONST) & ~belongs_to_form(term)):
                places[i] = len(given)
                given.append(float(term.const[i]))
            all_places.append(places)
            constants.append(_with_constants(term, places))
        return cls(tuple(constants), tuple(all_places), np.array(given))

    @property
    def n_parameters(self) -> int:
        return len(self.given)

    @property
    def named(self) -> Mask:
        """Parameters without initial values: (n_parameters,)."""
        return np.isnan(self.given)

    @cached_property
    def repeated(self) -> Mask:
        """Parameters that occur more than once: (n_parameters,)."""
        used = np.concatenate([np.zeros(0, np.intp), *(places[places >= 0] for places in self.places)])
        return np.bincount(used, minlength=self.n_parameters) > 1

    @property
    def has_user_operators(self) -> bool:
        """Whether there are custom operators, which have no compiled derivatives."""
        return any((term.op >= USER_OPCODE_START).any() for term in self.terms)

    @cached_property
    def phases(self) -> list[int]:
        """Parameters that are added to the argument of a sine or cosine, and occur only there."""
        found = []
        for term, places in zip(self.terms, self.places, strict=True):
            for wave in np.flatnonzero(np.isin(term.op, (SIN, COS))):
                if term.op[wave - 1] in (ADD, SUB):
                    found += [int(places[i]) for i in term.children(int(wave) - 1) if places[i] >= 0]
        return [i for i in found if not self.repeated[i]]

    def with_reduced_phases(self, theta: Floats) -> Floats:
        """The parameters of the same function with phases from −π to π."""
        theta = theta.copy()
        theta[self.phases] = np.remainder(theta[self.phases] + pi, 2.0 * pi) - pi
        return theta

    def with_values(self, theta: Floats) -> tuple[Expression, ...]:
        """The terms with these values of the parameters (n_parameters,)."""
        return tuple(
            Expression.unchecked(term.op, term.arg, filled(term, places, theta), term.primitives)
            for term, places in zip(self.terms, self.places, strict=True)
        )


def filled(term: Expression, places: Integers, theta: Floats) -> Floats:
    """The constants of a term with these values of the parameters: (n_tokens,)."""
    const = term.const.copy()
    const[places >= 0] = theta[places[places >= 0]]
    return const


def _with_constants(term: Expression, places: Integers) -> Expression:
    """With a constant for every variable that is a parameter."""
    free = (places >= 0) & (term.op == VAR)
    return Expression(
        np.where(free, CONST, term.op),
        np.where(free, 0, term.arg),
        np.where(free, 1.0, term.const),
        term.primitives,
    )


def belongs_to_form(term: Expression) -> Mask:
    """Which tokens are constants that are never fitted: (n_tokens,)."""
    fixed = np.isin(term.const, FORM) | ~np.isfinite(term.const)
    for i in np.flatnonzero(term.op == POW):
        exponent = int(i) - 1
        fixed[exponent] |= bool(term.op[exponent] == CONST and term.const[exponent] % 1.0 == 0.0)
    return np.asarray(fixed & (term.op == CONST))


def without_constant_factors(part: Expression, n_features: int) -> Expression:
    """The factors of a product that depend on the features; 1 if there are none.

    >>> from fouriertree.expr import parse
    >>> str(without_constant_factors(parse("-(a/2)*x0/(b*x1)", names=("x0", "x1", "a", "b")), 2))
    'x0/x1'
    """
    if part.size > LARGEST_SIZE:
        return part
    varies = (part.op == VAR) & (part.arg < n_features)
    return _varying_factors(part, varies) or ONE


def _varying_factors(part: Expression, varies: Mask) -> Expression | None:
    """The product of the factors with tokens that vary; None if there are none."""
    if not varies.any():
        return None
    code = int(part.op[-1])
    if code not in (NEG, MUL, DIV):
        return part
    starts = part.starts()
    spans = [slice(starts[i], i + 1) for i in part.children(part.size - 1)]
    factors = [_varying_factors(part.part(span.start, span.stop), varies[span]) for span in spans]
    if code == NEG or factors[1] is None:
        return factors[0]
    if factors[0] is None:
        return factors[1] if code == MUL else 1.0 / factors[1]
    return factors[0] * factors[1] if code == MUL else factors[0] / factors[1]


# Values in place of the parameters --------------------------------------------------------------------------------
def _is_zero(expression: Expression) -> bool:
    return expression.size == 1 and bool(expression.op[0] == CONST and expression.const[0] == 0.0)


def tidied(expression: Expression) -> Expression:
    """The same form with constant subtrees evaluated, x in place of x + 0, and x − 2 in place of x + (−2).

    >>> from fouriertree.expr import parse
    >>> print(tidied(Expression.constant(2.0) ** 2 - -Expression.constant(3.0) * parse("x0")))
    4.0 + 3.0*x0
    """
    if expression.size > LARGEST_SIZE:
        return expression

    def apply(row: Primitive, *arguments: Expression) -> Expression:
        last, whole = arguments[-1], Expression.apply(row, *arguments)
        if all(argument.op[-1] == CONST for argument in arguments):
            value = float(row.reference(*(argument.const for argument in arguments))[0])
            return Expression.constant(value) if np.isfinite(value) else whole
        if row.opcode in (ADD, SUB) and _is_zero(last):
            return arguments[0]
        if row.opcode == ADD and _is_zero(arguments[0]):
            return last
        has_number = last.op[leading_factor(last)] == CONST
        if row.opcode == NEG and has_number:
            return scaled(-1.0, last)
        if row.opcode in (ADD, SUB) and has_number and leading_constant(last) < 0.0:
            return Expression.apply("sub" if row.opcode == ADD else "add", arguments[0], scaled(-1.0, last))
        return whole

    return fold(expression, expression.subtree, apply)
