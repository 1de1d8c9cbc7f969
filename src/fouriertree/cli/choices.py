"""Words that options take, for help texts and completion, which import nothing heavy; a test compares them."""

from __future__ import annotations

OPERATORS = (
    "+", "-", "*", "/", "^", "pdiv", "sin", "cos", "tan", "exp", "log", "plog", "sqrt", "square", "cube", "inv", "neg",
    "abs", "tanh", "asin", "acos", "atan", "min", "max",
)  # fmt: skip
#: targets of `export`
TARGETS = (
    "python", "sympy", "latex", "c", "cpp", "julia", "matlab", "r", "javascript", "sqlite", "duckdb", "postgresql",
    "excel", "onnx", "torch", "jax", "json",
)  # fmt: skip
SUITES = ("feynman", "classic", "strogatz", "srsd-easy", "everyday", "first-principles", "blackbox")
SYSTEMS = ("ours", "operon", "rils-rols", "eggp", "gplearn", "linear")
