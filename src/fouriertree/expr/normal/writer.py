"""From values in normal form back to tokens: with the allowed operators, and few of them."""

from collections.abc import Container, Iterator, Mapping
from math import log
from operator import itemgetter

from fouriertree.expr.expression import Piece
from fouriertree.expr.normal.algebra import ODD, Algebra
from fouriertree.expr.normal.values import (
    POSITIVE,
    Factors,
    Monomial,
    NoNormalForm,
    Sum,
    Value,
    divided,
    factored,
)
from fouriertree.expr.opcodes import ABS, ADD, CUBE, DIV, EXP, INV, LOG, MUL, NEG, POW, SQRT, SQUARE, SUB, VAR

#: (position among the factors, base, power)
Member = tuple[int, int, float]
#: (position, tokens, whether they belong to the numerator)
Placed = tuple[int, Piece, bool]

#: integer powers that take fewer tokens with pow than with squares and cubes
_BY_POW = frozenset(float(p) for p in range(5, 1000) if p not in (6, 8))
_LONGEST_PRODUCT = 16
#: roots of roots, down to this fraction, are written with sqrt
_FINEST = 64.0
#: rounding error of a coefficient that was multiplied into a sum and factored out again
_ROUNDING = 4e-15
#: bases that are sums or may contain one as a factor
_WITH_SUMS = frozenset((ADD, MUL, ABS))
_UNARY_POWERS: dict[int | float, float] = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5}


class Writer:
    """Writes values of an algebra as tokens."""

    __slots__ = (
        "algebra",
        "allowed",
        "complexities",
        "moves_exponentials",
        "products",
        "regrouped",
        "written",
    )

    def __init__(self, algebra: Algebra, allowed: Container[int], complexities: Mapping[int, int]) -> None:
        self.algebra = algebra
        self.allowed = allowed
        self.complexities = complexities
        self.moves_exponentials = EXP in allowed and DIV in allowed
        self.written: dict[int, Piece] = {}
        self.products: dict[Factors, Piece] = {}  # without their coefficients, which are written first
        # Whether roots were joined or differences negated: another pass may collect them with others.
        self.regrouped = False

    def complexity(self, piece: Piece) -> int:
        """Complexity of a piece."""
        complexities = self.complexities
        return sum([complexities[token] if isinstance(token, int) and token > VAR else 1 for token in piece])

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
                todo += [inside for i in new for inside in self.algebra.inside(i)]
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
        sizes = [abs(term[0]) for term in total.values()]
        terms = list(total.values()) if len(set(sizes)) == len(sizes) else self._grouped(total)
        if () in total and total[()] in terms:
            terms.remove(total[()])
            terms.append(total[()])
        # Without subtraction, a minus sign is moved to where it adds no token.
        if SUB not in self.allowed:
            terms = [self.negated_inside(*term) if term[0] < 0.0 else term for term in terms]
        return terms

    def _grouped(self, total: Sum) -> list[Monomial]:
        """2·a + 2·b as 2·(a + b), and 2 - 2·a as 2·(1 - a): a constant is not fitted twice."""
        groups: dict[float, list[Factors]] = {}
        for key, term in total.items():
            groups.setdefault(abs(term[0]), []).append(key)
        for keys in groups.values():
            if () in keys and (len(keys) != 2 or sum(total[key][0] for key in keys) != 0.0):
                keys.remove(())
        terms: list[Monomial] = []
        for key, term in total.items():
            together = groups[abs(term[0])]
            if key not in together or len(together) < 2 or abs(term[0]) == 1.0:
                terms.append(term)
            elif key == together[0]:
                size, bare = factored({k: total[k] for k in together})
                terms.append((size, ((self.algebra.new(ADD, bare), 1.0),)))
        return terms

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
        kinds = self.algebra.kinds
        for k, (i, p) in enumerate(factors):
            kind, found = kinds[i], None
            if kind in _WITH_SUMS:
                found = (self._with_size if kind == ADD else self._with_size_inside)(i, abs(c), p)
            if found is not None:
                return (1.0 if c > 0.0 else -1.0, exchanged(factors, k, found))
        return c, factors

    def _with_size(self, i: int, c: float, p: float) -> int | None:
        """Base i divided by the size s of one of its terms, if c·s^p = 1."""
        algebra = self.algebra
        total: Sum = algebra.parts[i]
        for size in [abs(term[0]) for key, term in total.items() if key]:
            # Logarithms, because the power may overflow.
            if size != 1.0 and abs(log(c) + p * log(size)) <= _ROUNDING:
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

    def with_sign(self, piece: Piece, negate: bool) -> Piece:
        if not negate:
            return piece
        return [*piece, NEG] if NEG in self.allowed else [-1.0, *piece, MUL]

    # Powers.

    def pieces(self, factors: Factors) -> list[tuple[Piece, bool]]:
        """Factors of the numerator (True) and the denominator (False); equal powers share one operator."""
        for _, p in factors:
            if p != 1.0 and p != -1.0:
                break
        else:
            return [(self.base(i), p > 0.0) for i, p in factors]
        whole: list[Member] = []
        roots: dict[float, list[Member]] = {}
        for position, (i, p) in enumerate(self._without_absolutes(factors)):
            whole_part, root = self._parts_of_power(i, p)
            if whole_part:
                whole.append((position, i, whole_part))
            if root:
                roots.setdefault(abs(root), []).append((position, i, root))
        placed = list(self._whole_powers(whole))
        placed += [self._root(power, members) for power, members in roots.items()]
        return [(piece, top) for _, piece, top in sorted(placed, key=itemgetter(0))]

    def _without_absolutes(self, factors: Factors) -> Factors:
        """|b|³ as b²·|b|, unless there is an operator for the power."""
        algebra, found = self.algebra, []
        for i, p in factors:
            inside: Factors = algebra.parts[i][0][1] if algebra.kinds[i] == ABS else ()
            has_operator = abs(p) == 3.0 and CUBE in self.allowed
            if abs(p) > 1.0 and p.is_integer() and len(inside) == 1 and not has_operator:
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
        groups: dict[tuple[int | float, ...], list[Member]] = {(SQUARE,): [], (CUBE,): []}
        for position, i, p in members:
            size = abs(p)
            if size == 1.0:
                yield position, self.base(i), p > 0.0
            elif size in _BY_POW and POW in self.allowed:
                groups.setdefault((size, POW), []).append((position, i, p / size))
            elif size % 3.0 == 0.0 and CUBE in self.allowed:
                groups[CUBE,].append((position, i, p / 3.0))
            elif SQUARE in self.allowed:
                groups[SQUARE,].append((position, i, float(int(p / 2.0))))
                if size % 2.0:
                    yield position, self.base(i), p > 0.0
            else:
                yield position, self._repeated(self.base(i), int(size)), p > 0.0
        yield from (self._raised(group, operator) for operator, group in groups.items() if group)

    def _raised(self, members: list[Member], operator: tuple[int | float, ...]) -> Placed:
        """One operator on a product; 1/b² has the square in the denominator and is not (1/b)²."""
        top = any(p > 0.0 for _, _, p in members)
        inside = tuple([(i, p if top else -p) for _, i, p in members])
        return _position_of(members, top), [*self.fraction(1.0, inside)[0], *operator], top

    def _repeated(self, base: Piece, size: int) -> Piece:
        """b·b·… or b³·…, or pow if that is shorter."""
        cubes = size // 3 if CUBE in self.allowed else 0
        product = joined([[*base, CUBE]] * cubes + [base] * (size - 3 * cubes))
        if POW in self.allowed and self.complexity(product) > self.complexity([*base, 1.0, POW]):
            return [*base, float(size), POW]
        if size > _LONGEST_PRODUCT:
            raise NoNormalForm
        return product

    def _root(self, power: float, members: list[Member]) -> Placed:
        """Π b^(±power) as one root of a product."""
        algebra = self.algebra
        top = any(p > 0.0 for _, _, p in members)
        coefficient, factors = 1.0, []
        for _, i, p in members:
            direction = 1.0 if (p > 0.0) == top else -1.0
            if algebra.kinds[i] == MUL:
                own, inside = algebra.parts[i]
                coefficient *= own**direction
                factors += [(j, q * direction) for j, q in inside]
            else:
                factors.append((i, direction))
        if len(members) > 1 and any(algebra.signs[i] != POSITIVE for _, i, _ in members):
            self.regrouped = True
        piece, denominator = self._root_of(self._radicand(coefficient, tuple(factors)), power, top)
        return _position_of(members, top), piece, not denominator

    def _radicand(self, coefficient: float, factors: Factors) -> Piece:
        if len({i for i, _ in factors}) < len(factors):
            return self.value(self.algebra.gathered(coefficient, factors))
        if coefficient == -1.0:
            coefficient, factors = self.negated_inside(coefficient, factors)
        return self.with_sign(*self.fraction(coefficient, factors))

    def _root_of(self, inside: Piece, power: float, top: bool) -> tuple[Piece, bool]:
        """inside^(±power), and whether it belongs to the denominator."""
        if power == 0.5 and SQRT in self.allowed and (top or POW not in self.allowed or DIV in self.allowed):
            return [*inside, SQRT], not top
        if POW in self.allowed:
            return [*inside, power if top else -power, POW], False
        if SQRT in self.allowed and power < 1.0 and (_FINEST * power).is_integer():
            # √(b^2p), where b^2p for p > ½ is b·b^(2p − 1).
            inner, _ = self._root_of(inside, 2.0 * power % 1.0, True)
            return [*inside, *inner, MUL, SQRT] if power > 0.5 else [*inner, SQRT], not top
        if EXP in self.allowed and LOG in self.allowed:
            return [power if top else -power, *inside, LOG, MUL, EXP], False
        raise NoNormalForm

    # Fractions and signs.

    def fraction(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        """c·Π base^power; True if a minus sign is still missing, since there is no coefficient."""
        if abs(c) == 1.0:
            return self._without_coefficient(c, factors)
        product = self.products.get(factors)
        if product is None:
            numerator, denominator = self._sides(c, factors)
            product = self._quotient(joined([[], *numerator]), denominator)
            self.products[factors] = product
        return [c, *product], False

    def _without_coefficient(self, c: float, factors: Factors) -> tuple[Piece, bool]:
        numerator, denominator = self._sides(c, factors)
        if numerator:
            return self._quotient(joined(numerator), denominator), c == -1.0
        if c == 1.0 and (reciprocal := self._reciprocal(denominator)):
            return reciprocal, False
        return self._quotient([c], denominator), False

    def _sides(self, c: float, factors: Factors) -> tuple[list[Piece], list[Piece]]:
        """The factors of the numerator and of the denominator."""
        numerator: list[Piece] = []
        denominator: list[Piece] = []
        if self.moves_exponentials:
            factors = self._moved_exponential(c, factors)
        for piece, top in self.pieces(factors):
            (numerator if top else denominator).append(piece)
        return numerator, denominator

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
        for k, (i, p) in enumerate(factors):
            if algebra.kinds[i] == EXP:
                opposite = algebra.opposite(algebra.parts[i][0])
                exponent = self.base(i)[:-1]
                saved = self.complexity(exponent) - self.complexity(self.value(opposite))
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
            kind = self.algebra.kinds[i]
            found = [~self.algebra.parts[i]] if kind == VAR else []
            for argument in self.algebra.inside(i):
                found += self.value(argument)
            if kind not in (VAR, ADD, MUL):
                found.append(kind)
            self.written[i] = found
        return found

    def negated_inside(self, c: float, factors: Factors) -> Monomial:
        """The product with the minus sign moved inside: a difference, or an odd function of one, is negated.

        If c = −1, factors with a coefficient qualify, too.
        """
        for free in (False, True) if c == -1.0 else (False,):
            for k, (i, p) in enumerate(factors):
                base = self._opposite(i, free) if p % 2.0 == 1.0 else None
                if base is not None:
                    self.regrouped = True
                    return (-c, exchanged(factors, k, base))
        return (c, factors)

    def _opposite(self, i: int, free: bool) -> int | None:
        """The base with the opposite sign, if that needs no minus sign."""
        algebra = self.algebra
        kind, part = algebra.kinds[i], algebra.parts[i]
        if kind != ADD and kind not in ODD:
            return None
        coefficient, body = (1.0, part) if kind == ADD else part[0]
        if isinstance(body, dict):
            wanted = any(c < 0.0 or (free and (not key or c != 1.0)) for key, (c, _) in body.items())
            body = divided(body, -1.0)
        else:
            wanted, coefficient = free and coefficient != 1.0, -coefficient
        if not wanted:
            return None
        return algebra.new(kind, body if kind == ADD else ((coefficient, body),))


def _position_of(members: list[Member], top: bool) -> int:
    """The position of the member that is written first."""
    return next(position for position, _, p in members if (p > 0.0) == top)


def joined(pieces: list[Piece]) -> Piece:
    """A product of pieces, from left to right."""
    if len(pieces) == 1:
        return pieces[0]
    product = list(pieces[0])
    for piece in pieces[1:]:
        product += piece
        product.append(MUL)
    return product


def exchanged(factors: Factors, k: int, base: int) -> Factors:
    return (*factors[:k], (base, factors[k][1]), *factors[k + 1 :])
