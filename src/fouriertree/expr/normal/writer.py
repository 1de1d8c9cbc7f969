"""From values in normal form back to tokens: with the operators that are allowed, and few of them."""

from __future__ import annotations

from collections.abc import Iterator

from fouriertree.expr.normal.functions import ODD
from fouriertree.expr.normal.powers import Piece, PowerWriter, joined
from fouriertree.expr.normal.values import Factors, Monomial, Sum, Unsettled, Value, scaled
from fouriertree.expr.opcodes import ABS, ADD, CUBE, DIV, EXP, INV, MUL, POW, SQRT, SQUARE, SUB, VAR

#: a number that went into a sum and came out again may be off by this much
_ROUNDING = 4e-15
_UNARY_POWERS: dict[int | float, float] = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5}


class Writer(PowerWriter):
    """Writes values over the bases of an algebra."""

    __slots__ = ()

    def value(self, v: Value) -> Piece:
        number, body = self.algebra.expanded(v)
        return self._sum(body) if isinstance(body, dict) else self._signed(number, body)

    def write_bases(self, v: Value) -> None:
        """All bases of a value, from the inside out: then no formula is too deep for the stack."""
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
        """Terms in their order, but one without a minus sign first, and the number last."""
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
        """Terms as they are written: those of one size together, and the number last."""
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
        # Without subtraction a minus sign goes where it costs nothing.
        if SUB not in self.allowed:
            terms = [self.turned(*term) if term[0] < 0.0 else term for term in terms]
        return terms

    def _group(self, total: Sum, size: float) -> Monomial:
        """2·a + 2·b as 2·(a + b)."""
        if all(c < 0.0 for c, _ in total.values()):
            size = -size
        bare = {key: (c / size, f) for key, (c, f) in total.items()}
        return (size, ((self.algebra.new(ADD, bare), 1.0),))

    def _first(self, terms: list[Monomial]) -> tuple[int, Piece]:
        """The term to start with: a positive one, or one with a number that can be negative."""
        for k, (c, factors) in enumerate(terms):
            if c > 0.0:
                return k, self._signed(c, factors)
        for k, (c, factors) in enumerate(terms):
            piece, owed = self._product(c, factors)
            if not owed:
                return k, piece
        return 0, self._signed(*terms[0])

    def _signed(self, c: float, factors: Factors) -> Piece:
        piece, owed = self._product(c, factors)
        return self.negative(piece) if owed else piece

    # Products.

    def _product(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c · Π base^power as one fraction, and whether a minus sign is still owed."""
        if not factors:
            return [c], False
        if c == 1.0 and len(factors) == 1:
            [(i, p)] = factors
            if p == 1.0 and self.algebra.kinds[i] != EXP:
                return list(self.base(i)), False
        if abs(c) != 1.0:
            c, factors = self._absorbed(c, factors)
        if c < 0.0:
            c, factors = self.turned(c, factors)
        return self.fraction(c, factors)

    def _absorbed(self, c: float, factors: Factors) -> Monomial:
        """The product without its number, if a sum can take it: another of its terms is bare then."""
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
        number, body = algebra.parts[i][0] if is_abs else algebra.parts[i]
        if isinstance(body, dict):
            return None
        for k, (j, q) in enumerate(body):
            found = self._with_size(j, c, p * q) if algebra.kinds[j] == ADD else None
            if found is not None:
                inside = (number, _exchanged(body, k, found))
                return algebra.new(algebra.kinds[i], (inside,) if is_abs else inside)
        return None

    def turned(self, c: float, factors: Factors) -> Monomial:
        """The product with a minus sign inside: a difference, or an odd function of one, turned round.

        If there is no number to carry the sign, other factors will do that have a number of their own.
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
        """The base with the other sign, if that needs no minus sign of its own."""
        algebra = self.algebra
        kind, part = algebra.kinds[i], algebra.parts[i]
        if kind != ADD and kind not in ODD:
            return None
        number, body = (1.0, part) if kind == ADD else part[0]
        if isinstance(body, dict):
            wanted = any(
                term[0] < 0.0 or (free and (not key or term[0] != 1.0)) for key, term in body.items()
            )
            body = {key: (-c, f) for key, (c, f) in body.items()}
        else:
            wanted, number = free and number != 1.0, -number
        if not wanted:
            return None
        return algebra.new(kind, body if kind == ADD else ((number, body),))

    def fraction(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c·Π base^power; the sign of c is owed if there is no number to carry it."""
        above: list[Piece] = []
        below: list[Piece] = []
        for piece, up in self.pieces(self._exponentials_below(c, factors)):
            (above if up else below).append(piece)
        owed = c == -1.0 and bool(above)
        if not above and c == 1.0:
            reciprocal = self._reciprocal(below)
            if reciprocal is not None:
                return reciprocal, False
        if abs(c) != 1.0 or not above:
            above.insert(0, [c])
        return self._quotient(joined(above), below), owed

    def _quotient(self, above: Piece, below: list[Piece]) -> Piece:
        if not below:
            return above
        if DIV in self.allowed:
            return [*above, *joined(below), DIV]
        if INV in self.allowed:
            return [*above, *joined(below), INV, MUL]
        raise Unsettled

    def _reciprocal(self, below: list[Piece]) -> Piece | None:
        """1/below where that is shorter than a quotient: inv(b), or pow(b, −2) for 1/b²."""
        if INV in self.allowed:
            return [*joined(below), INV]
        *base, last = below[0]
        power = _UNARY_POWERS.get(last) if isinstance(last, int) else None
        if POW in self.allowed and len(below) == 1 and power is not None:
            return [*base, -power, POW]
        return None

    def _exponentials_below(self, c: float, factors: Factors) -> Factors:
        """a·e^(−x)/b as a/(b·e^x), and so on, where that is shorter."""
        algebra = self.algebra
        if EXP not in self.allowed or DIV not in self.allowed:
            return factors
        for k, (i, p) in enumerate(factors):
            if algebra.kinds[i] == EXP:
                exponent = algebra.parts[i][0]
                opposite = algebra.expanded(scaled(exponent, -1.0))
                saved = self.cost(self.value(exponent)) - self.cost(self.value(opposite))
                if saved > self._cost_of_line(c, factors):
                    return (*factors[:k], *factors[k + 1 :], (algebra.new(EXP, (opposite,)), -p))
        return factors

    def _cost_of_line(self, c: float, factors: Factors) -> int:
        """What it costs to divide by a factor instead of multiplying by it."""
        if any(p < 0.0 for _, p in factors):
            return 0
        alone = len(factors) == 1 and abs(c) == 1.0
        return self.costs[DIV] + 1 if alone else self.costs[DIV] - self.costs[MUL]

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
