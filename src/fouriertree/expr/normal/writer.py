"""From values in normal form back to tokens: with the allowed operators, and few of them."""

from fouriertree.expr.normal.products import Piece, ProductWriter, exchanged
from fouriertree.expr.normal.values import Factors, Monomial, Sum, Value, divided, signed_size
from fouriertree.expr.opcodes import ABS, ADD, EXP, MUL, SUB

#: rounding error of a coefficient that was multiplied into a sum and factored out again
_ROUNDING = 4e-15


class Writer(ProductWriter):
    """Writes values of an algebra as tokens."""

    __slots__ = ()

    def value(self, v: Value) -> Piece:
        coefficient, body = self.algebra.expanded(v)
        return self._sum(body) if isinstance(body, dict) else self._signed(coefficient, body)

    def write_bases(self, v: Value) -> None:
        """Write all bases of a value, innermost first, so that recursion is not too deep."""
        found: set[int] = set()
        todo = [v]
        while todo:
            body = todo.pop()[1]
            for _, factors in body.values() if isinstance(body, dict) else ((1.0, body),):
                new = [i for i, _ in factors if i not in found]
                found.update(new)
                todo += [inside for i in new for inside in self.inside(i)]
        for i in sorted(found):
            self.base(i)

    # Sums.

    def _sum(self, total: Sum) -> Piece:
        """Terms in their order, but one without a minus sign first, and the constant last."""
        terms = self._terms(total)
        first, start = self._first(terms)
        piece = list(start)
        for k, term in enumerate(terms):
            if k != first:
                minus = term[0] < 0.0 and SUB in self.allowed
                piece += self._signed(-term[0] if minus else term[0], term[1])
                piece.append(SUB if minus else ADD)
        return piece

    def _terms(self, total: Sum) -> list[Monomial]:
        """Terms as they are written: grouped by the size of the coefficient, and the constant last."""
        groups: dict[float, list[Factors]] = {}
        for key, term in total.items():
            if key:
                groups.setdefault(abs(term[0]), []).append(key)
        terms: list[Monomial] = []
        for key, term in total.items():
            together = groups.get(abs(term[0]), [])
            if not key or len(together) < 2 or abs(term[0]) == 1.0:
                terms.append(term)
            elif key == together[0]:
                terms.append(self._group({k: total[k] for k in together}))
        if () in total:
            terms.remove(total[()])
            terms.append(total[()])
        # Without subtraction, a minus sign is moved to where it adds no token.
        if SUB not in self.allowed:
            terms = [self.negated_inside(*term) if term[0] < 0.0 else term for term in terms]
        return terms

    def _group(self, total: Sum) -> Monomial:
        """2·a + 2·b as 2·(a + b)."""
        size = signed_size(total)
        return (size, ((self.algebra.new(ADD, divided(total, size)), 1.0),))

    def _first(self, terms: list[Monomial]) -> tuple[int, Piece]:
        """The first term: a positive one, or one with a coefficient that can be negative."""
        for k, (c, factors) in enumerate(terms):
            if c > 0.0:
                return k, self._signed(c, factors)
        for k, (c, factors) in enumerate(terms):
            piece, negate = self._product(c, factors)
            if not negate:
                return k, piece
        return 0, self._signed(*terms[0])

    def _signed(self, c: float, factors: Factors) -> Piece:
        return self.with_sign(*self._product(c, factors))

    # Products.

    def _product(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c · Π base^power as one fraction, and whether a minus sign is still missing."""
        if not factors:
            return [c], False
        if c == 1.0 and len(factors) == 1:
            [(i, p)] = factors
            if p == 1.0 and self.algebra.kinds[i] != EXP:
                return list(self.base(i)), False
        if abs(c) != 1.0:
            c, factors = self._absorbed(c, factors)
        if c < 0.0:
            c, factors = self.negated_inside(c, factors)
        return self.fraction(c, factors)

    def _absorbed(self, c: float, factors: Factors) -> Monomial:
        """The product with its coefficient multiplied into a sum, if that makes a coefficient of the sum ±1."""
        algebra = self.algebra
        for k, (i, p) in enumerate(factors):
            kind = algebra.kinds[i]
            if kind == ADD:
                found = self._with_size(i, abs(c), p)
            elif kind in (MUL, ABS):
                found = self._with_size_inside(i, abs(c), p)
            else:
                continue
            if found is not None:
                return (1.0 if c > 0.0 else -1.0, exchanged(factors, k, found))
        return c, factors

    def _with_size(self, i: int, c: float, p: float) -> int | None:
        """Base i divided by the size s of one of its terms, if c·s^p = 1."""
        algebra = self.algebra
        total: Sum = algebra.parts[i]
        sizes = [abs(term[0]) for key, term in total.items() if key]
        for size in sizes:
            if size != 1.0 and abs(c * size**p - 1.0) <= _ROUNDING:
                r, original = algebra.originals.get(i, (0.0, total))
                if abs(abs(r) * size - 1.0) <= _ROUNDING:
                    return algebra.new(ADD, divided(original, 1.0 if r > 0.0 else -1.0))
                return algebra.new(ADD, divided(total, size))
        return None

    def _with_size_inside(self, i: int, c: float, p: float) -> int | None:
        """The same for a sum that is a factor inside a root or an absolute value."""
        algebra = self.algebra
        is_abs = algebra.kinds[i] == ABS
        coefficient, body = algebra.parts[i][0] if is_abs else algebra.parts[i]
        if isinstance(body, dict):
            return None
        for k, (j, q) in enumerate(body):
            found = self._with_size(j, c, p * q) if algebra.kinds[j] == ADD else None
            if found is not None:
                inside = (coefficient, exchanged(body, k, found))
                return algebra.new(algebra.kinds[i], (inside,) if is_abs else inside)
        return None
