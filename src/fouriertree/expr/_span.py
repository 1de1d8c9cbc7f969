"""Compiled degree and number of terms of trees that are polynomials, with coefficients modulo a prime.

A nonzero coefficient vanishes modulo the prime 2³¹ − 1 with a probability of about 5e-10; exact arithmetic
(`fouriertree.expr.polynomial`) is the reference in the tests.
"""

from typing import Any

import numpy as np
from numba import njit

from fouriertree.compiling import kernel
from fouriertree.expr.opcodes import CONST, MUL, SUB, VAR

PRIME = 2**31 - 1
_P = np.uint64(PRIME)
#: above this degree the number of terms is not counted
LARGEST_DEGREE = 20_000


@njit(inline="always", error_model="numpy")
def combined_degree(op: Any, a: Any, b: Any) -> Any:
    """Degree of a product, sum or difference; clipped, since degrees double with every level."""
    return min(a + b, 2 * LARGEST_DEGREE) if op == MUL else max(a, b)


@kernel
def degree_of(op: Any, first: int, last: int, stack: Any) -> int:
    """Degree of a tree of + − * over x and constants, without cancellation; `stack` is a buffer."""
    top = -1
    for t in range(first, last):
        o = op[t]
        if o <= VAR:  # a leaf
            top += 1
            stack[top] = o == VAR
        else:
            top -= 1
            stack[top] = combined_degree(o, stack[top], stack[top + 1])
    return int(stack[0])


@kernel
def span_size(op: Any, const: Any, first: int, last: int, height: int) -> int:
    """Number of powers of x with a nonzero coefficient; −1 above the largest degree."""
    degrees = np.zeros(height + 1, np.int64)
    degree = degree_of(op, first, last, degrees)
    if degree > LARGEST_DEGREE:
        return -1
    stack = np.zeros((height + 1, degree + 1), np.uint64)
    product = np.zeros(degree + 1, np.uint64)
    top = -1
    for t in range(first, last):
        o = op[t]
        if o <= VAR:  # a leaf
            top += 1
            stack[top, 0] = np.uint64(np.int64(const[t]) % PRIME) if o == CONST else np.uint64(0)
            degrees[top] = 0
            if o == VAR:
                degrees[top] = 1
                stack[top, 1] = np.uint64(1)
            continue
        top -= 1
        a, b = stack[top], stack[top + 1]
        m, n = degrees[top], degrees[top + 1]
        if o == MUL:
            multiply(a, m, b, n, product)
            degrees[top] = m + n
        else:
            add(a, m, b, n, o == SUB)
            degrees[top] = max(m, n)
    terms = 0
    for i in range(degrees[0] + 1):
        terms += stack[0, i] != np.uint64(0)
    return terms


@kernel
def multiply(a: Any, m: int, b: Any, n: int, product: Any) -> None:
    """a ← a·b modulo the prime, for degrees m and n."""
    product[: m + n + 1] = np.uint64(0)
    for i in range(m + 1):
        if a[i] != np.uint64(0):
            for j in range(n + 1):
                product[i + j] = (product[i + j] + a[i] * b[j]) % _P
    a[: m + n + 1] = product[: m + n + 1]


@kernel
def add(a: Any, m: int, b: Any, n: int, subtract: bool) -> None:
    """a ← a ± b modulo the prime; coefficients of a above its degree m are stale."""
    for i in range(m + 1, n + 1):
        a[i] = np.uint64(0)
    for i in range(n + 1):
        a[i] = (a[i] + (_P - b[i] if subtract else b[i])) % _P
