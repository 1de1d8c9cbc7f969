"""Every operator by other libraries: a new operator needs a row in OPCODES, FUNCTIONS and EXACT.

One whose values are rounded correctly is in CORRECTLY_ROUNDED, too; others have limits in `engine/test_accuracy.py`.
"""

import mpmath
import numpy as np
import scipy.special

#: opcodes are part of checkpoints and never change
OPCODES = {
    "add": 2, "sub": 3, "mul": 4, "div": 5, "pdiv": 6, "sin": 7, "cos": 8, "tan": 9, "exp": 10, "log": 11, "plog": 12,
    "sqrt": 13, "square": 14, "cube": 15, "inv": 16, "neg": 17, "abs": 18, "tanh": 19, "asin": 20, "acos": 21,
    "atan": 22, "pow": 23, "min": 24, "max": 25, "erf": 26, "sinh": 27, "cosh": 28, "sign": 29, "step": 30,
    "relu": 31,
}  # fmt: skip
#: by NumPy, in extended precision for arrays of np.longdouble
FUNCTIONS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "square": np.square, "neg": np.negative,
    "abs": np.abs, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "pow": np.power,
    "min": np.minimum, "max": np.maximum, "inv": np.reciprocal, "cube": lambda a: a * a * a,
    "pdiv": lambda a, b: np.where(b == 0, np.longdouble(1), a / b),
    "plog": lambda a: np.where(a == 0, np.longdouble(0), np.log(np.abs(a))),
    # In double precision: enough to see where the result is well conditioned.
    "erf": lambda a: scipy.special.erf(a.astype(np.float64)).astype(np.longdouble),
    "sinh": np.sinh, "cosh": np.cosh, "sign": np.sign, "step": lambda a: np.heaviside(a, np.longdouble(0)),
    "relu": lambda a: np.maximum(a, np.longdouble(0)),
}  # fmt: skip
#: of finite numbers, by mpmath
EXACT = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pdiv": lambda a, b: a / b if b else mpmath.mpf(1), "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "exp": mpmath.exp, "log": mpmath.log, "plog": lambda a: mpmath.log(abs(a)) if a else mpmath.mpf(0),
    "sqrt": mpmath.sqrt, "square": lambda a: a * a, "cube": lambda a: a**3, "inv": lambda a: 1 / a,
    "neg": lambda a: -a, "abs": abs, "tanh": mpmath.tanh, "asin": mpmath.asin, "acos": mpmath.acos,
    "atan": mpmath.atan, "pow": mpmath.power, "min": min, "max": max, "erf": mpmath.erf, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "sign": mpmath.sign, "step": lambda a: mpmath.mpf(a > 0), "relu": lambda a: max(a, 0),
}  # fmt: skip
#: by the engines; other libraries may compute squares and cubes as powers
CORRECTLY_ROUNDED = (
    "add", "sub", "mul", "div", "pdiv", "sqrt", "square", "cube", "inv", "neg", "abs", "min", "max", "sign", "step",
    "relu",
)  # fmt: skip
