"""From values in normal form back to tokens: with the operators that are allowed, and few of them.

A piece of a program is a list: a float for a constant, ~i for column i, and an opcode for an operator.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from fouriertree.expr._algebra import ODD, Algebra
from fouriertree.expr._values import POSITIVE, Factors, Monomial, Sum, Unsettled, Value, scaled
from fouriertree.expr.opcodes import ABS, ADD, CUBE, DIV, EXP, INV, LOG, MUL, NEG, POW, SQRT, SQUARE, SUB, VAR

Piece = list[int | float]
#: (place among the factors, base, power)
Member = tuple[int, int, float]
#: (place, what is written there, whether it stands above the line)
Placed = tuple[int, Piece, bool]

#: a number that went into a sum and came out again may be off by this much
_ROUNDING = 4e-15
#: whole powers that pow writes with fewer tokens than squares and cubes do
_BY_POW = frozenset(float(p) for p in range(5, 1000) if p not in (6, 8))
_LONGEST_PRODUCT = 16
#: roots of roots, down to this fraction, are written with sqrt
_FINEST = 64.0
_UNARY_POWERS: dict[int | float, float] = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5}


class Writer:
    """Writes values over the bases of `algebra`."""

    __slots__ = ("algebra", "allowed", "costs", "regrouped", "written")

    def __init__(self, algebra: Algebra, allowed: Container[int], costs: Mapping[int, int]) -> None:
        self.algebra = algebra
        self.allowed = allowed
        self.costs = costs
        self.written: dict[int, Piece] = {}
        self.regrouped = False  # whether roots were joined that reading does not take apart again

    def cost(self, piece: Piece) -> int:
        """Complexity of a piece."""
        costs = self.costs
        return sum([costs[token] if isinstance(token, int) and token > VAR else 1 for token in piece])

    def value(self, v: Value) -> Piece:
        number, body = self.algebra.expanded(v)
        return self._sum(body) if isinstance(body, dict) else self._signed(number, body)

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
            terms = [self._turned(*term) if term[0] < 0.0 else term for term in terms]
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
        return self._negative(piece) if owed else piece

    def _negative(self, piece: Piece) -> Piece:
        return [*piece, NEG] if NEG in self.allowed else [-1.0, *piece, MUL]

    # Products.

    def _product(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c · Π base^power as one fraction, and whether a minus sign is still owed."""
        if not factors:
            return [c], False
        if abs(c) != 1.0:
            c, factors = self._absorbed(c, factors)
        if c < 0.0:
            c, factors = self._turned(c, factors)
        return self._fraction(c, factors)

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

    def _turned(self, c: float, factors: Factors) -> Monomial:
        """The product with a minus sign inside: a difference, or an odd function of one, turned round.

        If there is no number to carry the sign, other factors will do that have a number of their own.
        """
        for free in (False, True) if c == -1.0 else (False,):
            for k, (i, p) in enumerate(factors):
                if p % 2.0 == 1.0:
                    base = self._opposite(i, free)
                    if base is not None:
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

    def _fraction(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c·Π base^power; the sign of c is owed if there is no number to carry it."""
        above: list[Piece] = []
        below: list[Piece] = []
        for piece, up in self._pieces(self._exponentials_below(c, factors)):
            (above if up else below).append(piece)
        owed = c == -1.0 and bool(above)
        if not above and c == 1.0:
            reciprocal = self._reciprocal(below)
            if reciprocal is not None:
                return reciprocal, False
        if abs(c) != 1.0 or not above:
            above.insert(0, [c])
        return self._quotient(_joined(above), below), owed

    def _quotient(self, above: Piece, below: list[Piece]) -> Piece:
        if not below:
            return above
        if DIV in self.allowed:
            return [*above, *_joined(below), DIV]
        if INV in self.allowed:
            return [*above, *_joined(below), INV, MUL]
        raise Unsettled

    def _reciprocal(self, below: list[Piece]) -> Piece | None:
        """1/below where that is shorter than a quotient: inv(b), or pow(b, −2) for 1/b²."""
        if INV in self.allowed:
            return [*_joined(below), INV]
        *base, last = below[0]
        power = _UNARY_POWERS.get(last) if isinstance(last, int) else None
        if POW in self.allowed and len(below) == 1 and power is not None:
            return [*base, -power, POW]
        return None

    def _exponentials_below(self, c: float, factors: Factors) -> Factors:
        """a·e^(−x)/b as a/(b·e^x), and so on, where that is shorter."""
        algebra = self.algebra
        for k, (i, _) in enumerate(factors):
            if algebra.kinds[i] == EXP and DIV in self.allowed:
                exponent = algebra.parts[i][0]
                opposite = algebra.expanded(scaled(exponent, -1.0))
                saved = self.cost(self.value(exponent)) - self.cost(self.value(opposite))
                if saved > self._cost_of_line(c, factors):
                    return (*factors[:k], *factors[k + 1 :], (algebra.new(EXP, (opposite,)), -1.0))
        return factors

    def _cost_of_line(self, c: float, factors: Factors) -> int:
        """What it costs to divide by a factor instead of multiplying by it."""
        if any(p < 0.0 for _, p in factors):
            return 0
        alone = len(factors) == 1 and abs(c) == 1.0
        return self.costs[DIV] + 1 if alone else self.costs[DIV] - self.costs[MUL]

    def _base(self, i: int) -> Piece:
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

    # Powers.

    def _pieces(self, factors: Factors) -> list[tuple[Piece, bool]]:
        """What is multiplied by (True) and divided by (False); equal powers share one operator."""
        for _, p in factors:
            if p != 1.0 and p != -1.0:
                break
        else:
            return [(self._base(i), p > 0.0) for i, p in factors]
        whole: list[Member] = []
        roots: dict[float, list[Member]] = {}
        for place, (i, p) in enumerate(self._without_absolutes(factors)):
            whole_part, root = self._parts_of_power(i, p)
            if whole_part:
                whole.append((place, i, whole_part))
            if root:
                roots.setdefault(abs(root), []).append((place, i, root))
        placed = list(self._whole_powers(whole))
        placed += [self._root(power, members) for power, members in roots.items()]
        placed.sort(key=_place)
        return [(piece, up) for _, piece, up in placed]

    def _without_absolutes(self, factors: Factors) -> Factors:
        """|b|³ as b²·|b|, unless there is an operator for it."""
        algebra, found = self.algebra, []
        for i, p in factors:
            inside: Factors = algebra.parts[i][0][1] if algebra.kinds[i] == ABS else ()
            if (
                abs(p) > 1.0
                and p.is_integer()
                and len(inside) == 1
                and not (abs(p) == 3.0 and CUBE in self.allowed)
            ):
                found.append((inside[0][0], p - 1.0 if p > 0.0 else p + 1.0))
                p = 1.0 if p > 0.0 else -1.0
            found.append((i, p))
        return tuple(found)

    def _parts_of_power(self, i: int, p: float) -> tuple[float, float]:
        """Powers to write as a product and as a root: x^2.5 is x^2·sqrt(x), unless pow is shorter."""
        if p.is_integer() and (p > 0.0 or DIV in self.allowed or INV in self.allowed):
            return p, 0.0
        if SQRT not in self.allowed or not (_FINEST * p).is_integer():
            return 0.0, p
        if POW in self.allowed and (self.algebra.kinds[i] != VAR or abs(p) != 1.5):
            return 0.0, p
        whole = float(int(p))
        return whole, p - whole

    def _whole_powers(self, members: list[Member]) -> Iterator[Placed]:
        """Π b^p = Π_{odd p} b · (Π b^{p div 2})², and cubes and pow where they are shorter."""
        squared: list[Member] = []
        cubed: list[Member] = []
        powers: dict[float, list[Member]] = {}
        for place, i, p in members:
            size = abs(p)
            if size == 1.0:
                yield place, self._base(i), p > 0.0
            elif size in _BY_POW and POW in self.allowed:
                powers.setdefault(size, []).append((place, i, p / size))
            elif size % 3.0 == 0.0 and CUBE in self.allowed:
                cubed.append((place, i, p / 3.0))
            elif SQUARE in self.allowed:
                squared.append((place, i, float(int(p / 2.0))))
                if size % 2.0:
                    yield place, self._base(i), p > 0.0
            else:
                yield place, self._repeated(self._base(i), int(size)), p > 0.0
        if squared:
            yield self._raised(squared, [SQUARE])
        if cubed:
            yield self._raised(cubed, [CUBE])
        for size, group in powers.items():
            yield self._raised(group, [size, POW])

    def _raised(self, members: list[Member], operator: Piece) -> Placed:
        """One operator on a product; 1/b² is a square below the line and not (1/b)² above."""
        up = any(p > 0.0 for _, _, p in members)
        inside = tuple([(i, p if up else -p) for _, i, p in members])
        return _place_of(members, up), [*self._fraction(1.0, inside)[0], *operator], up

    def _repeated(self, base: Piece, size: int) -> Piece:
        """b·b·… or b³·…, or pow if that is shorter."""
        cubes = size // 3 if CUBE in self.allowed else 0
        product = _joined([[*base, CUBE]] * cubes + [base] * (size - 3 * cubes))
        if POW in self.allowed and self.cost(product) > self.cost([*base, 1.0, POW]):
            return [*base, float(size), POW]
        if size > _LONGEST_PRODUCT:
            raise Unsettled
        return product

    def _root(self, power: float, members: list[Member]) -> Placed:
        """Π b^(±power) as one root of a product."""
        algebra = self.algebra
        up = any(p > 0.0 for _, _, p in members)
        number, factors = 1.0, []
        for _, i, p in members:
            direction = 1.0 if (p > 0.0) == up else -1.0
            if algebra.kinds[i] == MUL:
                own, inside = algebra.parts[i]
                number *= own**direction
                factors += [(j, q * direction) for j, q in inside]
            else:
                factors.append((i, direction))
        if sum([algebra.signs[i] != POSITIVE for _, i, _ in members]) > 1:
            self.regrouped = True
        piece, below = self._root_of(self._radicand(number, tuple(factors)), power, up)
        return _place_of(members, up), piece, not below

    def _radicand(self, number: float, factors: Factors) -> Piece:
        if len({i for i, _ in factors}) < len(factors):
            return self.value(self.algebra.gathered(number, factors))
        if number == -1.0:
            number, factors = self._turned(number, factors)
        piece, owed = self._fraction(number, factors)
        return self._negative(piece) if owed else piece

    def _root_of(self, inside: Piece, power: float, up: bool) -> tuple[Piece, bool]:
        """inside^(±power), and whether it belongs below the line."""
        if power == 0.5 and SQRT in self.allowed and (up or POW not in self.allowed or DIV in self.allowed):
            return [*inside, SQRT], not up
        if POW in self.allowed:
            return [*inside, power if up else -power, POW], False
        if SQRT in self.allowed and power < 1.0 and (_FINEST * power).is_integer():
            # √(b^2p), where b^2p for p above a half is b·b^(2p − 1).
            inner, _ = self._root_of(inside, 2.0 * power % 1.0, True)
            return [*inside, *inner, MUL, SQRT] if power > 0.5 else [*inner, SQRT], not up
        if EXP in self.allowed and LOG in self.allowed:
            return [power if up else -power, *inside, LOG, MUL, EXP], False
        raise Unsettled


def _place(item: Placed) -> int:
    return item[0]


def _place_of(members: list[Member], up: bool) -> int:
    """The place of the member that is written first."""
    return next(place for place, _, p in members if (p > 0.0) == up)


def _joined(pieces: list[Piece]) -> Piece:
    """A product of pieces, from left to right."""
    if len(pieces) == 1:
        return pieces[0]
    whole = list(pieces[0])
    for piece in pieces[1:]:
        whole += piece
        whole.append(MUL)
    return whole


def _exchanged(factors: Factors, k: int, base: int) -> Factors:
    return (*factors[:k], (base, factors[k][1]), *factors[k + 1 :])
