"""Opcodes of tokens: two leaves, the built-in operators, and custom operators from 64 on; precedence of operators.

Opcodes are plain integers, which compiled kernels treat as constants.
"""

CONST, VAR = 0, 1
ADD, SUB, MUL, DIV, PDIV = 2, 3, 4, 5, 6
SIN, COS, TAN, EXP, LOG, PLOG = 7, 8, 9, 10, 11, 12
SQRT, SQUARE, CUBE, INV, NEG, ABS = 13, 14, 15, 16, 17, 18
TANH, ASIN, ACOS, ATAN, POW, MIN, MAX = 19, 20, 21, 22, 23, 24, 25
# Those from 26 on are in the entries of `expr/operators` only, since no other module refers to these operators.

USER_OPCODE_START = 64

# Precedence in formulas, lowest first. A negative constant has that of a unary minus.
SUM, PRODUCT, UNARY, POWER, ATOM = 1, 2, 3, 4, 5
#: in mathematics, a minus sign without parentheses is allowed before the first summand and the first factor only
NEGATIVE = SUM + 0.5
