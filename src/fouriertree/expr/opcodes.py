"""Opcodes of tokens: two leaves, the built-in operators, and custom operators from 64 on.

They are plain integers, which compiled kernels treat as constants.
"""

CONST, VAR = 0, 1
ADD, SUB, MUL, DIV, PDIV = 2, 3, 4, 5, 6
SIN, COS, TAN, EXP, LOG, PLOG = 7, 8, 9, 10, 11, 12
SQRT, SQUARE, CUBE, INV, NEG, ABS = 13, 14, 15, 16, 17, 18
TANH, ASIN, ACOS, ATAN, POW, MIN, MAX = 19, 20, 21, 22, 23, 24, 25

USER_OPCODE_START = 64
