"""`Expression`: an immutable expression tree in postfix order, whose subtrees are slices."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Final, Never, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.expr import postfix
from fouriertree.expr.catalogue import FloatArray
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR
from fouriertree.expr.primitives import Primitive, PrimitiveSet
from fouriertree.expr.text import to_text

IntArray = NDArray[np.int32]

Operand: TypeAlias = "Expression | float"
#: a part of a program as one list: a float for a constant, ~i for feature i, and an opcode for an operator
Piece = list[int | float]

_CONSTANT = np.array([CONST], np.int32)
#: feature and constant of an operator's token
_NO_FEATURE, _NO_CONSTANT = np.zeros(1, np.int32), np.zeros(1)


def _methods(operator: str) -> tuple[Callable[[Operand, Operand], "Expression"], ...]:
    """The methods of ``self ∘ other`` and of ``other ∘ self``."""

    def build(a: Operand, b: Operand) -> Any:
        # Python raises a TypeError with both types if NotImplemented is returned.
        valid = isinstance(a, (Expression, Real)) and isinstance(b, (Expression, Real))
        return Expression.apply(operator, a, b) if valid else NotImplemented

    return build, lambda self, other: build(other, self)


class Expression:
    """An immutable expression tree, as arrays of tokens in postfix order.

    Expressions are built by `parse`, by `constant`, `variable` and `apply`, and by Python's arithmetic operators.

    Parameters
    ----------
    op, arg, const : array_like of shape (n_tokens,)
        Opcodes, indices of features (0 elsewhere), and values of constants (0 elsewhere).
    primitives : PrimitiveSet, optional
        The custom operators of the expression; built-in ones are always known.

    Examples
    --------
    >>> x = Expression.variable(0)
    >>> e = Expression.apply("sin", x**2) * 0.5 - 1
    >>> e
    Expression('sin(x0^2)*0.5 - 1.0')
    >>> e.size, e.depth, e.columns
    (7, 5, (0,))
    >>> e.evaluate([[0.0], [1.0]])
    array([-1.        , -0.57926451])
    """

    __slots__ = ("_bits", "_starts", "arg", "const", "op", "primitives")
    # Then `np.float64(2) * e` calls `__rmul__`.
    __array_ufunc__: Final = None

    op: IntArray
    arg: IntArray
    const: FloatArray
    primitives: PrimitiveSet
    _bits: tuple[bytes, bytes, bytes]  #: computed at the first comparison
    _starts: list[int]  #: computed at the first use

    def __init__(
        self, op: ArrayLike, arg: ArrayLike, const: ArrayLike, primitives: PrimitiveSet | None = None
    ) -> None:
        # Copies, because expressions are immutable.
        self._set(np.array(op, np.int32), np.array(arg, np.int32), np.array(const, np.float64), primitives)
        postfix.check(self.op, self.arg, self.const, self._arities())

    @classmethod
    def unchecked(
        cls, op: IntArray, arg: IntArray, const: FloatArray, primitives: PrimitiveSet | None = None
    ) -> "Expression":
        """An expression from arrays that are a valid program; they are not copied and become read-only."""
        new = cls.__new__(cls)
        new._set(op, arg, const, primitives)
        return new

    @classmethod
    def constant(cls, value: float) -> "Expression":
        """A constant."""
        return cls.unchecked(_CONSTANT, _NO_FEATURE, np.array([float(value)]))

    @classmethod
    def variable(cls, column: int) -> "Expression":
        """The feature with this index, from 0."""
        return cls([VAR], [column], [0.0])

    @classmethod
    def apply(cls, operator: str | Primitive, *arguments: Operand) -> "Expression":
        """The operator applied to arguments; custom operators are found by name in the arguments' sets."""
        trees = [tree if isinstance(tree, Expression) else cls.constant(tree) for tree in arguments]
        primitives = catalogue = PrimitiveSet.catalogue()
        for tree in trees:
            if tree.primitives is not catalogue:
                primitives = primitives.union(tree.primitives)
        row = primitives.find(operator) if isinstance(operator, str) else operator
        if len(trees) != row.arity:
            raise ValueError(f"{row.name} takes {row.arity} argument(s), got {len(trees)}")
        if row.opcode >= USER_OPCODE_START:
            primitives = primitives.union(PrimitiveSet([row]))
        return cls.unchecked(
            np.concatenate([*[tree.op for tree in trees], np.array([row.opcode], np.int32)]),
            np.concatenate([*[tree.arg for tree in trees], _NO_FEATURE]),
            np.concatenate([*[tree.const for tree in trees], _NO_CONSTANT]),
            primitives,
        )

    __add__, __radd__ = _methods("add")
    __sub__, __rsub__ = _methods("sub")
    __mul__, __rmul__ = _methods("mul")
    __truediv__, __rtruediv__ = _methods("div")
    _pow, __rpow__ = _methods("pow")

    def __pow__(self, other: Operand) -> "Expression":
        # As in `parse`: x^2 is square(x) and x^3 is cube(x).
        if isinstance(other, Real) and other in (2, 3):
            return self.apply("square" if other == 2 else "cube", self)
        return self._pow(other)

    def __neg__(self) -> "Expression":
        return self.apply("neg", self)

    def __len__(self) -> int:
        return len(self.op)

    @property
    def size(self) -> int:
        """Number of tokens."""
        return len(self.op)

    @property
    def depth(self) -> int:
        """Number of levels; 1 for a leaf."""
        return postfix.depth(self._arities())

    @property
    def complexity(self) -> int:
        """Sum of the operators' complexities, and 1 for every leaf."""
        leaves = (CONST, VAR)
        return sum(1 if i in leaves else self.primitives.by_opcode(i).complexity for i in self.op.tolist())

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices of the features that occur, in order."""
        return tuple(np.unique(self.arg[self.op == VAR]).tolist())

    @property
    def constants(self) -> tuple[float, ...]:
        """The values of the constants, in postfix order."""
        return tuple(self.const[self.op == CONST].tolist())

    def subtree_start(self, i: int) -> int:
        """First token of the subtree that ends at token i."""
        return self.starts()[self._index(i)]

    def subtree(self, i: int) -> "Expression":
        """The subtree that ends at token i.

        Examples
        --------
        >>> (Expression.variable(0) + Expression.variable(1) * 2).subtree(3)
        Expression('x1*2.0')
        """
        end = self._index(i)
        return self.part(self.starts()[end], end + 1)

    def part(self, start: int, end: int) -> "Expression":
        """The subtree with the tokens start, …, end − 1."""
        some = slice(start, end)
        return self.unchecked(self.op[some], self.arg[some], self.const[some], self.primitives)

    def starts(self) -> Sequence[int]:
        """First token of every token's subtree."""
        if not hasattr(self, "_starts"):
            object.__setattr__(self, "_starts", postfix.starts(self._arities()))
        return self._starts

    def children(self, i: int) -> tuple[int, ...]:
        """Last tokens of the arguments of token i, first argument first."""
        first, end = self.starts(), self._index(i)
        ends: list[int] = []
        start = end
        while start > first[end]:
            ends.append(start - 1)
            start = first[start - 1]
        return tuple(reversed(ends))

    def replace(self, i: int, other: "Expression") -> "Expression":
        """This expression with the subtree at token i replaced by `other`."""
        end = self._index(i) + 1
        start = self.starts()[end - 1]
        return self.unchecked(
            np.concatenate([self.op[:start], other.op, self.op[end:]]),
            np.concatenate([self.arg[:start], other.arg, self.arg[end:]]),
            np.concatenate([self.const[:start], other.const, self.const[end:]]),
            self.primitives.union(other.primitives),
        )

    def evaluate(self, X: ArrayLike) -> FloatArray:
        """Values (n_rows,) on the rows of X (n_rows, n_features), by NumPy."""
        rows, columns = np.asarray(X, dtype=np.float64), self.columns
        if rows.ndim != 2:
            hint = "; use X.reshape(-1, 1) for one feature" if rows.ndim == 1 else ""
            raise ValueError(f"X must have two dimensions (rows, features), got shape {rows.shape}{hint}")
        if columns and columns[-1] >= rows.shape[1]:
            raise ValueError(
                f"the expression uses feature x{columns[-1]}, but X has {rows.shape[1]} feature(s)"
            )

        def leaf(i: int) -> FloatArray:
            if self.op[i] == CONST:
                return np.full(len(rows), self.const[i])
            return np.ascontiguousarray(rows[:, self.arg[i]])

        values: FloatArray = postfix.fold(self, leaf, lambda row, *arguments: row.reference(*arguments))
        # A single feature must not be returned as a view of X.
        return values.copy() if self.size == 1 else values

    __call__ = evaluate

    def text(self, names: Sequence[str] | None = None, digits: int | None = None) -> str:
        """The expression as text, over x0, x1, … or feature `names`; `parse` inverts it unless `digits` rounds.

        Examples
        --------
        >>> (Expression.variable(0) / 3).text(names=["my column"], digits=3)
        '`my column`/3'
        """
        return to_text(self, names, digits)

    def sympy(self, names: Sequence[str] | None = None) -> Any:
        """The SymPy expression, with one symbol per feature."""
        from fouriertree.expr.symbolic import to_sympy  # importing SymPy is slow

        return to_sympy(self, names)

    def latex(self, names: Sequence[str] | None = None) -> str:
        """LaTeX, as SymPy prints it."""
        from fouriertree.expr.symbolic import to_latex  # importing SymPy is slow

        return to_latex(self, names)

    def to_json(self) -> dict[str, str]:
        """JSON data, which `from_json` inverts."""
        return {"text": self.text()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], primitives: PrimitiveSet | None = None) -> "Expression":
        """The expression of `to_json`; `primitives` has its custom operators."""
        from fouriertree.expr.parse import parse  # parse imports this module

        return parse(data["text"], primitives=primitives)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Expression({self.text()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.size == other.size and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, *_: object) -> Never:
        raise AttributeError("expressions are immutable; replace() and apply() make new ones")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[Callable[..., "Expression"], tuple[Any, ...]]:
        users = {code for code in self.op.tolist() if code >= USER_OPCODE_START}
        names = {code: self.primitives.by_opcode(code).name for code in users}
        return _restore, (self.op, self.arg, self.const, self.primitives, names)

    def _set(self, op: IntArray, arg: IntArray, const: FloatArray, primitives: PrimitiveSet | None) -> None:
        op.setflags(write=False)
        arg.setflags(write=False)
        const.setflags(write=False)
        put = object.__setattr__
        put(self, "op", op)
        put(self, "arg", arg)
        put(self, "const", const)
        put(self, "primitives", PrimitiveSet.catalogue() if primitives is None else primitives)

    def _arities(self) -> list[int]:
        return postfix.token_arities(self.op, self.primitives)

    def _index(self, i: int) -> int:
        size = len(self.op)
        if not -size <= i < size:
            raise IndexError(f"token {i} of an expression with {size} tokens")
        return i % size

    def _key(self) -> tuple[bytes, bytes, bytes]:
        # Bits: 0.0 and -0.0 differ (as 1/x does), and a NaN equals itself for any payload.
        if not hasattr(self, "_bits"):
            const = np.where(np.isnan(self.const), np.nan, self.const)
            object.__setattr__(self, "_bits", (self.op.tobytes(), self.arg.tobytes(), const.tobytes()))
        return self._bits


def _restore(
    op: IntArray, arg: IntArray, const: FloatArray, primitives: PrimitiveSet, names: Mapping[int, str]
) -> Expression:
    """A pickled expression: opcodes of built-in operators are fixed, custom operators are found by name."""
    codes = [primitives[names[code]].opcode if code in names else code for code in op.tolist()]
    return Expression(codes, arg, const, primitives)


def tokens_of(expression: Expression) -> Piece:
    op, arg, const = expression.op.tolist(), expression.arg.tolist(), expression.const.tolist()
    return [o if o > VAR else c if o == CONST else ~a for o, a, c in zip(op, arg, const, strict=True)]


def from_tokens(tokens: Piece, primitives: PrimitiveSet) -> Expression:
    """The expression of tokens that are a valid program."""
    op = [CONST if type(token) is float else VAR if token < 0 else token for token in tokens]
    arg = [~int(token) if o == VAR else 0 for o, token in zip(op, tokens, strict=True)]
    const = [token if o == CONST else 0.0 for o, token in zip(op, tokens, strict=True)]
    return Expression.unchecked(np.array(op, np.int32), np.array(arg, np.int32), np.array(const), primitives)
