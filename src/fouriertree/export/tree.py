"""The model as one tree for printing, with the values of `Model.predict`, bit for bit."""

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.model import Model, sum_of_terms

Token = tuple[int, int, float]


def whole_tree(model: Model) -> Expression:
    """Σ coefficient · expression, in the order of `predict`; constant subtrees are evaluated.

    `Model.expression` is easier to read, since it multiplies the first factor by the coefficient.  But (c·a)·b may
    overflow where c·(a·b) does not, and exported code must agree on such rows, too.

    >>> from fouriertree.expr import parse
    >>> print(whole_tree(Model((2.0, -1.0, -3.0), (parse("x0*x1"), parse("sin(x0)"), parse("1")))))
    2.0*(x0*x1) - sin(x0) - 3.0
    """
    return folded(sum_of_terms(model.coefficients, map(folded, model.expressions), term, constant_or_one))


def constant_or_one(expression: Expression) -> float:
    return expression.constants[0] if expression.op[-1] == CONST else 1.0


def term(coefficient: float, expression: Expression) -> Expression:
    if coefficient == 1.0:
        return expression
    return -expression if coefficient == -1.0 else folded(coefficient * expression)


def folded(expression: Expression) -> Expression:
    """The expression with constant subtrees evaluated, so that no compiler divides 1 by 0.

    >>> from fouriertree.expr import parse
    >>> folded(parse("x0 + exp(0)/2"))
    Expression('x0 + 0.5')
    """
    tokens = zip(expression.op.tolist(), expression.arg.tolist(), expression.const.tolist(), strict=True)
    stack: list[list[Token]] = []
    for token in tokens:
        if token[0] in (CONST, VAR):
            stack.append([token])
            continue
        row = expression.primitives.by_opcode(token[0])
        arguments = stack[-row.arity :]
        if all(argument[-1][0] == CONST for argument in arguments):
            value = float(row.reference(*(np.array([argument[-1][2]]) for argument in arguments))[0])
            result = [(CONST, 0, value)]
        else:
            # The list is extended in place, so that a deep tree is not copied at every level.
            result = arguments[0]
            for more in (*arguments[1:], [token]):
                result.extend(more)
        stack[-row.arity :] = [result]
    op, arg, const = zip(*stack[0], strict=True)
    return Expression(op, arg, const, expression.primitives)
