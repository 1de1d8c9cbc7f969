"""The engine's numbers for tokens: two leaves, the built-in operators, then user operators from 64 upward.

Plain integers, so that compiled kernels read them as constants; nothing is imported here.
"""

CONST = 0
VAR = 1
ADD = 2
SUB = 3
MUL = 4
DIV = 5
PDIV = 6
SIN = 7
COS = 8
TAN = 9
EXP = 10
LOG = 11
PLOG = 12
SQRT = 13
SQUARE = 14
CUBE = 15
INV = 16
NEG = 17
ABS = 18
TANH = 19
ASIN = 20
ACOS = 21
ATAN = 22
POW = 23
MIN = 24
MAX = 25

USER_OPCODE_START = 64
