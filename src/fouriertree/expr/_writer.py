"""From values in normal form back to tokens, with the operators that are allowed and as few of them as that takes.

A piece of a program is a list: a float for a constant, ~i for column i, and an opcode for an operator.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from fouriertree.expr._algebra import (
    EVEN,
    ODD,
    UNKNOWN,
    Algebra,
    Factors,
    Monomial,
    Sum,
    Unsettled,
    Value,
    checked,
    scale,
)
from fouriertree.expr.opcodes import ABS, ADD, CUBE, DIV, EXP, INV, LOG, MUL, NEG, POW, SQRT, SQUARE, SUB, VAR

Piece = list[int | float]
#: a factor of 1 may be off by this much where numbers went into a sum and out of it again
_ROUNDING = 1e-15


class Writer:
    """Writes values over the bases of `algebra`."""

    __slots__ = ("algebra", "allowed", "costs", "regrouped", "written")

    def __init__(self, algebra: Algebra, allowed: Container[int], costs: Mapping[int, int]) -> None:
        self.algebra = algebra
        self.allowed = allowed
        self.costs = costs
        self.written: dict[int, Piece] = {}
        self.regrouped = False  # roots were joined that reading does not take apart again

    def cost(self, piece: Piece) -> int:
        """Complexity of a piece; an operator that is not allowed has none."""
        costs = self.costs
        return sum([costs[token] if type(token) is int and token > 1 else 1 for token in piece])

    def value(self, v: Value) -> Piece:
        v = self.algebra.expanded(v)
        return self._sum(v) if type(v) is dict else self._signed(*v)

    # --- sums --------------------------------------------------------------------------------------------------

    def _sum(self, total: Sum) -> Piece:
        """Terms in their order, but a positive one first and the number last."""
        terms = list(total.values())
        if () in total:
            terms.remove(total[()])
            terms.append(total[()])
        first, piece = self._first(terms)
        for k, (c, factors) in enumerate(terms):
            if k == first:
                continue
            if c < 0.0 and SUB in self.allowed:
                piece = [*piece, *self._signed(-c, factors), SUB]
            else:
                piece = [*piece, *self._signed(c, factors), ADD]
        return piece

    def _first(self, terms: list[Monomial]) -> tuple[int, Piece]:
        """The term to start with: one that needs no minus sign of its own."""
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

    # --- products ----------------------------------------------------------------------------------------------

    def _product(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c · Π base^power as one fraction, and whether a minus sign is still owed."""
        if not factors:
            return [c], False
        if c < 0.0:
            flipped = self._without_sign(factors)
            if flipped is not None:
                c, factors = -c, flipped
        kinds = self.algebra.kinds
        if len(factors) > 1 or factors[0][1] != 1.0:
            for i, _ in factors:
                if kinds[i] == ADD:
                    c, factors = self._rescaled(c, factors)
                    break
        return self._fraction(c, factors)

    def _rescaled(self, c: float, factors: Factors) -> Monomial:
        """The same product with its number in front or inside its sums, wherever fewer numbers are left."""
        for k, (i, p) in enumerate(factors):
            if self.algebra.kinds[i] != ADD:
                continue
            total: Sum = self.algebra.parts[i]
            size = best_size(c, p, total)
            if size != 1.0:
                scaled = scale(total, 1.0 / size) if (1.0 / size) * size == 1.0 else _divided(total, size)
                assert type(scaled) is dict
                base = self.algebra.new(ADD, scaled, self.algebra.signs[i])
                c = near_one(checked(c * size**p))
                factors = (*factors[:k], (base, p), *factors[k + 1 :])
        return c, factors

    def _without_sign(self, factors: Factors) -> Factors | None:
        """Factors whose product is the opposite: a difference or an odd function of one is turned round."""
        algebra = self.algebra
        for k, (i, p) in enumerate(factors):
            kind, part = algebra.kinds[i], algebra.parts[i]
            if p % 2.0 != 1.0 or not (kind == ADD or kind in ODD):
                continue
            inside: Value = part if kind == ADD else part[0]
            if type(inside) is dict and any([term[0] < 0.0 for term in inside.values()]):
                turned = scale(inside, -1.0)
                base = algebra.new(kind, turned if kind == ADD else (turned,), UNKNOWN)
                return (*factors[:k], (base, p), *factors[k + 1 :])
        return None

    def _fraction(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c·Π base^power; the sign of c is owed if there is no number to carry it."""
        above: list[Piece] = []
        below: list[Piece] = []
        for piece, up in self._pieces(self._exponentials_below(factors)):
            (above if up else below).append(piece)
        owed = c == -1.0 and bool(above)
        if abs(c) != 1.0 or (not above and not (c == 1.0 and self._has_reciprocal(below))):
            above.insert(0, [c])
        if not below:
            return _joined(above), owed
        if not above:
            return self._reciprocal(below), owed
        if DIV in self.allowed:
            return [*_joined(above), *_joined(below), DIV], owed
        if INV in self.allowed:
            return [*_joined(above), *_joined(below), INV, MUL], owed
        raise Unsettled

    def _has_reciprocal(self, below: list[Piece]) -> bool:
        return INV in self.allowed or self._power_below(below) is not None

    def _reciprocal(self, below: list[Piece]) -> Piece:
        power = self._power_below(below)
        if power is not None and INV not in self.allowed:
            return power
        return [*_joined(below), INV]

    def _power_below(self, below: list[Piece]) -> Piece | None:
        """1/b^p as pow(b, −p): one token less than a quotient."""
        if POW not in self.allowed or len(below) != 1:
            return None
        *base, last = below[0]
        power = _POWERS.get(last) if type(last) is int else None
        return None if power is None else [*base, -power, POW]

    def _exponentials_below(self, factors: Factors) -> Factors:
        """a·e^(−x)/b as a/(b·e^x), which needs no minus sign."""
        if not any([p < 0.0 for _, p in factors]):
            return factors
        algebra = self.algebra
        for k, (i, p) in enumerate(factors):
            if algebra.kinds[i] == EXP and p == 1.0:
                opposite = scale(algebra.parts[i][0], -1.0)
                if self.cost(self.value(opposite)) < self.cost(self.value(algebra.parts[i][0])):
                    base = algebra.new(EXP, (opposite,), algebra.signs[i])
                    return (*factors[:k], *factors[k + 1 :], (base, -1.0))
        return factors

    def _base(self, i: int) -> Piece:
        found = self.written.get(i)
        if found is None:
            kind, part = self.algebra.kinds[i], self.algebra.parts[i]
            if kind == VAR:
                found = [~part]
            elif kind == ADD:
                found = self._sum(part)
            elif kind == MUL:
                found = self.value(part)
            else:
                found = []
                for argument in part:
                    found += self.value(argument)
                found.append(kind)
            self.written[i] = found
        return found

    # --- powers ------------------------------------------------------------------------------------------------

    def _pieces(self, factors: Factors) -> list[tuple[Piece, bool]]:
        """What is multiplied (True) and divided by (False); equal powers share one operator."""
        for _, p in factors:
            if p != 1.0 and p != -1.0:
                break
        else:
            return [(self._base(i), p > 0.0) for i, p in factors]
        placed: list[tuple[int, Piece, bool]] = []
        whole: list[tuple[int, int, float]] = []
        roots: dict[float, list[tuple[int, int, float]]] = {}
        for place, (i, p) in enumerate(factors):
            whole_part, root = self._parts_of_power(i, p)
            if whole_part:
                whole.append((place, i, whole_part))
            if root:
                roots.setdefault(abs(root), []).append((place, i, root))
        self._place_whole(whole, placed)
        for power, members in roots.items():
            self._place_root(power, members, placed)
        placed.sort(key=_place)
        return [(piece, up) for _, piece, up in placed]

    def _parts_of_power(self, i: int, p: float) -> tuple[float, float]:
        """Powers to write as a product and as a root: x^2.5 is x^2·sqrt(x) if that is not longer."""
        if p.is_integer():
            return p, 0.0
        if abs(p) < 1.0 or not (2.0 * p).is_integer() or SQRT not in self.allowed:
            return 0.0, p
        if POW in self.allowed and (self.algebra.kinds[i] != VAR or abs(p) != 1.5):
            return 0.0, p
        whole = float(int(p))
        return whole, p - whole

    def _place_whole(self, members: list[tuple[int, int, float]], placed: list[tuple[int, Piece, bool]]) -> None:
        """Whole powers: Π b^p = Π_{odd p} b · (Π b^{p div 2})²."""
        doubled: list[tuple[int, int, float]] = []
        groups: dict[float, list[tuple[int, int, float]]] = {}
        for place, i, p in members:
            size = abs(p)
            if size == 1.0:
                placed.append((place, self._base(i), p > 0.0))
            elif (size == 3.0 and CUBE in self.allowed) or (size in _BY_POW and POW in self.allowed):
                groups.setdefault(size, []).append((place, i, p))
            elif SQUARE in self.allowed:
                doubled.append((place, i, float(int(p / 2.0))))
                if size % 2.0:
                    placed.append((place, self._base(i), p > 0.0))
            else:
                placed.append((place, self._repeated(i, size), p > 0.0))
        if doubled:
            inside, up = self._inside([(i, p) for _, i, p in doubled])
            placed.append((doubled[0][0], [*inside, SQUARE], up))
        for size, group in groups.items():
            inside, up = self._inside([(i, p / size) for _, i, p in group])
            piece: Piece = [*inside, CUBE] if size == 3.0 and CUBE in self.allowed else [*inside, size, POW]
            placed.append((group[0][0], piece, up))

    def _repeated(self, i: int, size: float) -> Piece:
        """b·b·…"""
        if size > _LONGEST_PRODUCT:
            if POW in self.allowed:
                return [*self._base(i), size, POW]
            raise Unsettled
        return _joined([self._base(i)] * int(size))

    def _inside(self, factors: list[tuple[int, float]]) -> tuple[Piece, bool]:
        """A product to be raised, and whether it stands above: 1/b² is a square below and not (1/b)²."""
        up = any([p > 0.0 for _, p in factors])
        piece, _ = self._fraction(1.0, tuple(factors if up else [(i, -p) for i, p in factors]))
        return piece, up

    def _place_root(
        self, power: float, members: list[tuple[int, int, float]], placed: list[tuple[int, Piece, bool]]
    ) -> None:
        """Π b^(±power) as one root of a product."""
        algebra = self.algebra
        up = any([p > 0.0 for _, _, p in members])
        number, factors = 1.0, []
        for _, i, p in members:
            direction = 1.0 if (p > 0.0) == up else -1.0
            if algebra.kinds[i] == MUL:
                sign, inner = algebra.parts[i]
                number *= sign
                factors += [(j, q * direction) for j, q in inner]
            else:
                factors.append((i, direction))
        if len(members) > 1 and sum([algebra.signs[i] == UNKNOWN for _, i, _ in members]) > 1:
            self.regrouped = True
        inside = self._merged(number, factors)
        piece, below = self._root_of(inside, power, up)
        placed.append((members[0][0], piece, not below))

    def _merged(self, number: float, factors: list[tuple[int, float]]) -> Piece:
        if len({i for i, _ in factors}) < len(factors):
            return self.value(self.algebra.multiply((number, ()), self.algebra._gathered(1.0, tuple(factors))))
        if number < 0.0:
            flipped = self._without_sign(tuple(factors))
            if flipped is not None:
                number, factors = 1.0, list(flipped)
        piece, owed = self._fraction(number, tuple(factors))
        return self._negative(piece) if owed else piece

    def _root_of(self, inside: Piece, power: float, up: bool) -> tuple[Piece, bool]:
        """inside^(±power), and whether it belongs below the line."""
        if power == 0.5 and SQRT in self.allowed:
            return [*inside, SQRT], not up
        if POW in self.allowed:
            return [*inside, power if up else -power, POW], False
        if SQRT in self.allowed and power < 1.0 and (2.0 * power) % 0.5 == 0.0:
            piece, _ = self._root_of(inside, 2.0 * power, True) if power < 0.5 else (_sesqui(inside), False)
            return [*piece, SQRT], not up
        if EXP in self.allowed and LOG in self.allowed:
            return [power if up else -power, *inside, LOG, MUL, EXP], False
        raise Unsettled


_POWERS: dict[int | float, float] = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5}
#: whole powers that pow writes with fewer tokens than squares and cubes do
_BY_POW = frozenset(float(p) for p in range(5, 1000) if p not in (6, 8))
_LONGEST_PRODUCT = 16.0


def _place(item: tuple[int, Piece, bool]) -> int:
    return item[0]


def _joined(pieces: list[Piece]) -> Piece:
    whole = list(pieces[0])
    for piece in pieces[1:]:
        whole += piece
        whole.append(MUL)
    return whole


def _sesqui(inside: Piece) -> Piece:
    """b^1.5, for the root of it."""
    return [*inside, *inside, SQRT, MUL]


def _divided(total: Sum, size: float) -> Sum:
    return {key: (checked(c / size), f) for key, (c, f) in total.items()}


def near_one(c: float) -> float:
    return 1.0 if abs(c - 1.0) <= _ROUNDING else -1.0 if abs(c + 1.0) <= _ROUNDING else c


def best_size(c: float, p: float, total: Sum) -> float:
    """By what to divide a sum, so that c·size^p · (sum/size)^p has the fewest numbers.

    One term is bare after that: of several that would do, the first as it is written.
    """
    sizes = [abs(term[0]) for key, term in total.items() if key and term[0] > 0.0]
    sizes += [abs(term[0]) for key, term in total.items() if key and term[0] < 0.0]
    return min(sizes, key=lambda size: _numbers(c * size**p, sizes, size))


def _numbers(c: float, sizes: list[float], size: float) -> float:
    return (abs(near_one(abs(c))) != 1.0) + sum([s != size for s in sizes])
