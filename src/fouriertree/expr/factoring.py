"""Shorter forms of sums and fractions: common factors, perfect squares, no fractions inside of denominators.

The canonical form leaves x·y + 2·x·z as it is, and 1/(1/x + 1) as well.  Here every such step is tried, and kept if the
expression gets less complex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isclose, isfinite, sqrt

from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import ADD, CONST, CUBE, DIV, INV, MUL, NEG, SQUARE, SUB, VAR
from fouriertree.expr.vocabulary import LARGEST_POWER, ONE, NotAllowedError, Vocabulary

Cost = Callable[[Expression], int]
#: a base and its power
Powers = dict[Expression, int]

#: tokens of an expression, and addends of a sum, beyond which it stays as it is
LARGEST_SIZE, MOST_ADDENDS = 80, 8
#: share of its complexity that a form must not exceed if a variable is taken out of some addends only
SHARE_FOR_PARTIAL_FACTORS = 0.75
#: addends of a sum that is multiplied out at most, and bases that a denominator is multiplied by
MOST_MULTIPLIED, MOST_BELOW = 50, 3
#: why a form cannot be written: operators are missing, or numbers overflow
UNWRITABLE = (NotAllowedError, OverflowError, ZeroDivisionError)
#: relative difference up to which the discriminant of a perfect square is zero
EQUAL = 1e-10
_EXPONENTS = {SQUARE: 2, CUBE: 3, INV: -1}


@dataclass(frozen=True)
class Term:
    """number · Π base^power"""

    number: float
    powers: tuple[tuple[Expression, int], ...]

    @classmethod
    def of(cls, number: float, powers: Powers) -> Term:
        if not (isfinite(number) and number):
            raise OverflowError
        return cls(number, tuple((base, p) for base, p in powers.items() if p))


#: the terms that stay, and a factor with the sum that it is multiplied by
Split = tuple[list[Term], tuple[Term, list[Term]]]


def shorter(expression: Expression, vocabulary: Vocabulary, cost: Cost) -> Expression:
    """An equal expression that costs less, or the same one.

    >>> from fouriertree.expr import PrimitiveSet, parse
    >>> from fouriertree.expr.complexity import Complexity
    >>> v, cost = Vocabulary(PrimitiveSet.default()), Complexity()
    >>> for text in ("2*x0*exp(x1) + 3*exp(x1)", "x0^2/x2 - 2*x0*x1/x2 + x1^2/x2", "3/(2/x0 + 5)"):
    ...     print(shorter(parse(text), v, cost))
    (2.0*x0 + 3.0)*exp(x1)
    (x0 - x1)^2/x2
    x0/(1.6666666666666667*x0 + 0.6666666666666666)
    """
    if expression.size > LARGEST_SIZE:
        return expression
    try:
        found, partial = (_Shortener(vocabulary, cost, only).whole(expression) for only in (True, False))
    except UNWRITABLE:
        return expression
    found = partial if cost(partial) < SHARE_FOR_PARTIAL_FACTORS * cost(found) else found
    return found if cost(found) < cost(expression) else expression


def expanded(expression: Expression, vocabulary: Vocabulary) -> Expression:
    """The sum with factors that are sums multiplied out, but not those with a constant, such as x − 2010.

    >>> from fouriertree.expr import PrimitiveSet, parse
    >>> print(expanded(parse("x0*(2*x1 - x2)/x3 + 1"), Vocabulary(PrimitiveSet.default())))
    2.0*(x0*x1)/x3 + 1.0 - x0*x2/x3
    """
    if expression.size > LARGEST_SIZE:
        return expression
    try:
        return _Shortener(vocabulary, len).written(_multiplied_out(expression))
    except UNWRITABLE:
        return expression


def _multiplied_out(expression: Expression) -> list[Term]:
    found, waiting = [], [_term(number, part) for number, part in _addends(expression)]
    while waiting:
        term = waiting.pop(0)
        total = next((base for base, p in term.powers if p == 1 and _is_sum_of_variables(base)), None)
        if total is None:
            found.append(term)
            continue
        if len(found) + len(waiting) > MOST_MULTIPLIED:
            raise NotAllowedError
        rest = _times(term, {total: -1})
        inside = [_term(number, part) for number, part in _addends(total)]
        waiting += [
            Term.of(rest.number * t.number, _product(dict(rest.powers), dict(t.powers))) for t in inside
        ]
    return found


@dataclass(frozen=True)
class _Shortener:
    vocabulary: Vocabulary
    cost: Cost
    #: whether of some addends only functions are taken out: 3·x² + x·sin(y) − z stays
    whole_only: bool = False
    texts: dict[Expression, str] = field(default_factory=dict)

    def whole(self, e: Expression) -> Expression:
        """The shortest form that is found, from the innermost sums on."""
        top = int(e.op[-1])
        if top <= VAR:
            return e
        if top in (ADD, SUB):
            return self.sum([_term(number, self.whole(part)) for number, part in _addends(e)])
        row = e.primitives.by_opcode(top)
        parts = [self.whole(e.subtree(int(child))) for child in e.children(e.size - 1)]
        same = Expression.apply(row, *parts)
        if top in (DIV, INV):
            return min([same, *self._without_inner_fractions(parts)], key=self.cost)
        return same

    def _without_inner_fractions(self, parts: Sequence[Expression]) -> Iterator[Expression]:
        """a/(b + c/d) as a·d/(b·d + c)."""
        numerator, denominator = (ONE, *parts)[-2:]
        terms = [_term(number, part) for number, part in _addends(denominator)]
        if not 2 <= len(terms) <= MOST_ADDENDS:
            return
        below: Powers = {}
        for base, p in (pair for term in terms for pair in term.powers if pair[1] < 0):
            below[base] = max(below.get(base, 0), -p)
        if len(below) > MOST_BELOW:
            return
        for factor in (below, *({base: p} for base, p in below.items())):
            above = _times(_term(1.0, numerator), factor)
            others = [_times(term, factor) for term in terms]
            for size in dict.fromkeys((1.0, above.number)):
                top = self.written([_divided(above, size)])
                yield self.vocabulary.quotient(top, self.sum([_divided(term, size) for term in others]))

    def sum(self, terms: Sequence[Term]) -> Expression:
        """The sum, with a square or a common factor taken out as long as that makes it shorter."""
        best, least = None, self.cost(self.written(terms))
        for changed, inside in (*self._squares(terms), *self._common_factors(terms)):
            found = self.cost(self.written([*changed, self._with_sum(*inside)]))
            if found < least:
                best, least = (changed, inside), found
        if best is None:
            return self.written(terms)
        rest, (factor, addends) = best
        return self.sum([*rest, _product_with(factor, self.sum(addends))])

    def _with_sum(self, factor: Term, addends: Sequence[Term]) -> Term:
        return _product_with(factor, self.written(addends))

    def _common_factors(self, terms: Sequence[Term]) -> Iterator[Split]:
        """The terms without a base, and its power with the sum that it is a factor of."""
        if not 2 <= len(terms) <= MOST_ADDENDS:
            return
        bases = {(base, p > 0) for term in terms for base, p in term.powers}
        for base, above in sorted(bases, key=lambda pair: (self.text(pair[0]), pair[1])):
            powers = [next((p for other, p in term.powers if other == base), 0) for term in terms]
            having = [i for i, p in enumerate(powers) if p and (p > 0) == above]
            if len(having) < 2:
                continue
            p = min((powers[i] for i in having), key=abs)
            inside = [_times(terms[i], {base: -p}) for i in having]
            rest = [term for i, term in enumerate(terms) if i not in having]
            plain = base.op[-1] == VAR
            # A polynomial stays.
            again = any(other == base for term in inside for other, _ in term.powers)
            if plain and ((rest and self.whole_only) or (again and len(terms) > 2)):
                continue
            yield rest, (Term.of(1.0, {base: p}), inside)

    def _squares(self, terms: Sequence[Term]) -> Iterator[Split]:
        """a·u² + b·v² + c·u·v with c² = 4·a·b as a·(u ± √(b/a)·v)²: the other terms, and a power of a sum."""
        if not 3 <= len(terms) <= MOST_ADDENDS:
            return
        for i, j in combinations(range(len(terms)), 2):
            a, b = terms[i], terms[j]
            u, v = _root(a), _root(b)
            if u is None or v is None or not a.number * b.number > 0.0:
                continue
            both = _product(dict(u.powers), dict(v.powers))
            for k, c in enumerate(terms):
                same = k not in (i, j) and dict(c.powers) == both
                if same and isclose(c.number**2, 4.0 * a.number * b.number, rel_tol=EQUAL):
                    root = sqrt(b.number / a.number) * (1.0 if c.number * a.number > 0.0 else -1.0)
                    inside = self.written([u, Term(_rounded(root), v.powers)])
                    rest = [t for m, t in enumerate(terms) if m not in (i, j, k)]
                    yield rest, (Term.of(a.number, {inside: 2}), [Term(1.0, ())])

    def text(self, base: Expression) -> str:
        if base not in self.texts:
            self.texts[base] = str(base)
        return self.texts[base]

    def text_of(self, term: Term) -> str:
        """Sums of variables come before those of functions, and constants last."""
        return " ".join(sorted(f"{self.text(base)}^{p}" for base, p in term.powers)) or "~"

    def written(self, terms: Sequence[Term]) -> Expression:
        """The sum as an expression, a positive term first."""
        v = self.vocabulary
        total: Expression | None = None
        # In an order that does not depend on how the terms were found.
        for term in sorted(terms, key=lambda term: (term.number < 0.0, self.text_of(term))):
            number = term.number
            if any(abs(p) > LARGEST_POWER for _, p in term.powers):
                raise NotAllowedError
            minus = total is not None and number < 0.0 and "sub" in v
            part = v.monomial([base for base, _ in term.powers], [float(p) for _, p in term.powers])
            size = -number if minus else number
            if part == ONE:
                part = Expression.constant(size)
            elif size != 1.0:
                part = _scaled(v, size, part)
            total = part if total is None else v.apply("sub" if minus else "add", total, part)
            if total.size > LARGEST_SIZE:
                raise NotAllowedError
        return Expression.constant(0.0) if total is None else total


def _scaled(v: Vocabulary, number: float, part: Expression) -> Expression:
    """number·part; of a quotient, number times the numerator."""
    if part.op[-1] == DIV and "div" in v:
        above, below = (part.subtree(int(child)) for child in part.children(part.size - 1))
        scaled = (
            Expression.constant(number)
            if above == ONE
            else v.apply("mul", Expression.constant(number), above)
        )
        return v.apply("div", scaled, below)
    return v.apply("mul", Expression.constant(number), part)


def _addends(e: Expression) -> list[tuple[float, Expression]]:
    """(number, part) with e = Σ number·part; multiples of sums are expanded."""
    found, waiting = [], [(1.0, e)]
    while waiting:
        number, part = waiting.pop()
        code = int(part.op[-1])
        children = [part.subtree(int(child)) for child in part.children(part.size - 1)]
        if code in (ADD, SUB):
            a, b = children
            waiting += [(-number if code == SUB else number, b), (number, a)]
        elif code == MUL and children[0].op[-1] == CONST and children[1].op[-1] in (ADD, SUB):
            waiting.append((number * float(children[0].const[-1]), children[1]))
        else:
            found.append((number, part))
    return found


def _term(number: float, part: Expression) -> Term:
    """A product with its numbers collected, and equal factors as powers."""
    powers: Powers = {}
    waiting = [(part, 1)]
    while waiting:
        e, p = waiting.pop()
        code = int(e.op[-1])
        children = [e.subtree(int(child)) for child in e.children(e.size - 1)]
        if code == CONST:
            number *= float(e.const[-1]) ** p
        elif code == MUL:
            waiting += [(children[1], p), (children[0], p)]
        elif code == DIV:
            waiting += [(children[1], -p), (children[0], p)]
        elif code == NEG:
            number, waiting = number * (-1.0) ** p, [*waiting, (children[0], p)]
        elif code in _EXPONENTS:
            waiting.append((children[0], p * _EXPONENTS[code]))
        else:
            powers[e] = powers.get(e, 0) + p
    return Term.of(number, powers)


def _times(term: Term, factor: Powers) -> Term:
    return Term.of(term.number, _product(dict(term.powers), factor))


def _product(a: Powers, b: Powers) -> Powers:
    both = dict(a)
    for base, p in b.items():
        both[base] = both.get(base, 0) + p
    return {base: p for base, p in both.items() if p}


def _root(term: Term) -> Term | None:
    """u with term = number·u²; None if a power is odd."""
    if any(p % 2 for _, p in term.powers):
        return None
    return Term(1.0, tuple((base, p // 2) for base, p in term.powers))


def _divided(term: Term, number: float) -> Term:
    return Term(_rounded(term.number / number), term.powers)


def _rounded(number: float) -> float:
    """±1 in the place of what differs from it by rounding."""
    return round(number) * 1.0 if isclose(abs(number), 1.0, rel_tol=EQUAL) else number


def _product_with(factor: Term, total: Expression) -> Term:
    """A factor times a sum, which may have become a product."""
    inner = _term(1.0, total)
    # Variables come before the sum, functions after it: x·(y + 1), but (y + 1)·exp(x).
    parts = dict(factor.powers), dict(inner.powers)
    first, second = parts if all(base.op[-1] == VAR for base in parts[0]) else parts[::-1]
    return Term.of(factor.number * inner.number, _product(first, second))


def _is_sum_of_variables(e: Expression) -> bool:
    return e.op[-1] in (ADD, SUB) and all(part.columns for _, part in _addends(e))
