"""From values in normal form back to tokens: with the allowed operators, and few of them."""

from collections.abc import Iterator

from fouriertree.expr.normal.functions import ODD
from fouriertree.expr.normal.powers import Piece, PowerWriter, joined
from fouriertree.expr.normal.values import Factors, Monomial, NoNormalForm, Sum, Value, scaled
from fouriertree.expr.opcodes import ABS, ADD, CUBE, DIV, EXP, INV, MUL, POW, SQRT, SQUARE, SUB, VAR

#: rounding error of a coefficient that was multiplied into a sum and factored out again
_ROUNDING = 4e-15
_UNARY_POWERS: dict[int | float, float] = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5}


class Writer(PowerWriter):
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
                todo += [inside for i in new for inside in self._inside(i)]
        for i in sorted(found):
            self.base(i)

    def _inside(self, i: int) -> tuple[Value, ...]:
        kind, part = self.algebra.kinds[i], self.algebra.parts[i]
        if kind == VAR:
            return ()
        return ((1.0, part),) if kind == ADD else (part,) if kind == MUL else part

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
                terms.append(self._group({k: total[k] for k in together}, abs(term[0])))
        if () in total:
            terms.remove(total[()])
            terms.append(total[()])
        # Without subtraction, a minus sign is moved to where it adds no token.
        if SUB not in self.allowed:
            terms = [self.negated_inside(*term) if term[0] < 0.0 else term for term in terms]
        return terms

    def _group(self, total: Sum, size: float) -> Monomial:
        """2·a + 2·b as 2·(a + b)."""
        if all(c < 0.0 for c, _ in total.values()):
            size = -size
        bare = {key: (c / size, f) for key, (c, f) in total.items()}
        return (size, ((self.algebra.new(ADD, bare), 1.0),))

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
        piece, negate = self._product(c, factors)
        return self.negative(piece) if negate else piece

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
                return (1.0 if c > 0.0 else -1.0, _exchanged(factors, k, found))
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
                    sign = 1.0 if r > 0.0 else -1.0
                    return algebra.new(ADD, {key: (sign * t, f) for key, (t, f) in original.items()})
                return algebra.new(ADD, {key: (t / size, f) for key, (t, f) in total.items()})
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
                inside = (coefficient, _exchanged(body, k, found))
                return algebra.new(algebra.kinds[i], (inside,) if is_abs else inside)
        return None

    def negated_inside(self, c: float, factors: Factors) -> Monomial:
        """The product with the minus sign moved inside: a difference, or an odd function of one, is negated.

        If c = −1, factors with a coefficient qualify, too.
        """
        for free in (False, True) if c == -1.0 else (False,):
            for k, (i, p) in enumerate(factors):
                if p % 2.0 == 1.0:
                    base = self._opposite(i, free)
                    if base is not None:
                        self.regrouped = True
                        return (-c, _exchanged(factors, k, base))
        return (c, factors)

    def _opposite(self, i: int, free: bool) -> int | None:
        """The base with the opposite sign, if that needs no minus sign."""
        algebra = self.algebra
        kind, part = algebra.kinds[i], algebra.parts[i]
        if kind != ADD and kind not in ODD:
            return None
        coefficient, body = (1.0, part) if kind == ADD else part[0]
        if isinstance(body, dict):
            wanted = any(
                term[0] < 0.0 or (free and (not key or term[0] != 1.0)) for key, term in body.items()
            )
            body = {key: (-c, f) for key, (c, f) in body.items()}
        else:
            wanted, coefficient = free and coefficient != 1.0, -coefficient
        if not wanted:
            return None
        return algebra.new(kind, body if kind == ADD else ((coefficient, body),))

    def fraction(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c·Π base^power; True if a minus sign is still missing, since there is no coefficient."""
        numerator: list[Piece] = []
        denominator: list[Piece] = []
        for piece, top in self.pieces(self._moved_exponential(c, factors)):
            (numerator if top else denominator).append(piece)
        negate = c == -1.0 and bool(numerator)
        if not numerator and c == 1.0:
            reciprocal = self._reciprocal(denominator)
            if reciprocal is not None:
                return reciprocal, False
        if abs(c) != 1.0 or not numerator:
            numerator.insert(0, [c])
        return self._quotient(joined(numerator), denominator), negate

    def _quotient(self, numerator: Piece, denominator: list[Piece]) -> Piece:
        if not denominator:
            return numerator
        if DIV in self.allowed:
            return [*numerator, *joined(denominator), DIV]
        if INV in self.allowed:
            return [*numerator, *joined(denominator), INV, MUL]
        raise NoNormalForm

    def _reciprocal(self, denominator: list[Piece]) -> Piece | None:
        """1/denominator where that is shorter than a quotient: inv(b), or pow(b, −2) for 1/b²."""
        if INV in self.allowed:
            return [*joined(denominator), INV]
        *base, last = denominator[0]
        power = _UNARY_POWERS.get(last) if isinstance(last, int) else None
        if POW in self.allowed and len(denominator) == 1 and power is not None:
            return [*base, -power, POW]
        return None

    def _moved_exponential(self, c: float, factors: Factors) -> Factors:
        """a·e^(−x)/b as a/(b·e^x), and so on, where that is shorter."""
        algebra = self.algebra
        if EXP not in self.allowed or DIV not in self.allowed:
            return factors
        for k, (i, p) in enumerate(factors):
            if algebra.kinds[i] == EXP:
                exponent = algebra.parts[i][0]
                opposite = algebra.expanded(scaled(exponent, -1.0))
                saved = self.complexity(self.value(exponent)) - self.complexity(self.value(opposite))
                if saved > self._division_complexity(c, factors):
                    return (*factors[:k], *factors[k + 1 :], (algebra.new(EXP, (opposite,)), -p))
        return factors

    def _division_complexity(self, c: float, factors: Factors) -> int:
        """The additional complexity of dividing by a factor instead of multiplying by it."""
        if any(p < 0.0 for _, p in factors):
            return 0
        alone = len(factors) == 1 and abs(c) == 1.0
        return self.complexities[DIV] + 1 if alone else self.complexities[DIV] - self.complexities[MUL]

    def base(self, i: int) -> Piece:
        found = self.written.get(i)
        if found is None:
            found = self.written[i] = list(self._write_base(i))
        return found

    def _write_base(self, i: int) -> Iterator[int | float]:
        kind, part = self.algebra.kinds[i], self.algebra.parts[i]
        if kind == VAR:
            yield ~part
        elif kind == ADD:
            yield from self._sum(part)
        elif kind == MUL:
            yield from self.value(part)
        else:
            for argument in part:
                yield from self.value(argument)
            yield kind


def _exchanged(factors: Factors, k: int, base: int) -> Factors:
    return (*factors[:k], (base, factors[k][1]), *factors[k + 1 :])
