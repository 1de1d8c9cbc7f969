"""Vectors of LLVM values with arithmetic operators.

The elementary functions are written once, over `Lanes`, and become explicit SIMD code for 8 float64 or 16
float32 at a time.  LLVM splits the vectors where the processor's registers are narrower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils

INT32 = ir.IntType(32)
INT64 = ir.IntType(64)


@dataclass(frozen=True)
class Format:
    """Layout of a floating-point number, and how many are in one vector of 512 bits."""

    scalar: ir.Type
    integer: ir.Type
    suffix: str
    lanes: int
    bytes: int
    mantissa_bits: int
    exponent_bias: int

    @property
    def vector(self) -> ir.Type:
        return ir.VectorType(self.scalar, self.lanes)

    @property
    def integers(self) -> ir.Type:
        return ir.VectorType(self.integer, self.lanes)


FLOAT64 = Format(ir.DoubleType(), INT64, "f64", 8, 8, 52, 1023)
FLOAT32 = Format(ir.FloatType(), INT32, "f32", 16, 4, 23, 127)


def instruction(name: str) -> Callable[..., Lanes]:
    """The method that emits an LLVM instruction on this vector and others."""
    return lambda x, *others: x.wrap(getattr(x.builder, name)(x.value, *map(x.coerce, others)))


def conversion(name: str, to: str) -> Callable[[Lanes], Lanes]:
    """The method that emits a conversion to `vector` or `integers`, the types of the format."""
    return lambda x: x.wrap(getattr(x.builder, name)(x.value, getattr(x.format, to)))


def intrinsic(name: str) -> Callable[..., Lanes]:
    """The method that calls the LLVM intrinsic `name` on this vector and others."""

    def call(x: Lanes, *others: Lanes | float) -> Lanes:
        args = [x.value, *map(x.coerce, others)]
        function_type = ir.FunctionType(x.format.vector, [x.format.vector] * len(args))
        full_name = f"llvm.{name}.v{x.format.lanes}{x.format.suffix}"
        function = cgutils.get_or_insert_function(x.builder.module, function_type, full_name)
        return x.wrap(x.builder.call(function, args))

    return call


@dataclass(frozen=True)
class Lanes:
    """One vector value (floating, integer or mask) and the builder that emits its operations."""

    builder: Any
    format: Format
    value: Any

    def wrap(self, value: Any) -> Lanes:
        return Lanes(self.builder, self.format, value)

    def coerce(self, other: Lanes | float) -> Any:
        """The value of `other`, or of a number in every lane."""
        if isinstance(other, Lanes):
            return other.value
        return ir.Constant(self.value.type, [other] * self.format.lanes)

    def like(self, constant: float) -> Lanes:
        """The floating-point constant in every lane."""
        return self.wrap(ir.Constant(self.format.vector, [constant] * self.format.lanes))

    # arithmetic -------------------------------------------------------------------------------------
    __add__ = __radd__ = instruction("fadd")
    __sub__ = instruction("fsub")
    __mul__ = __rmul__ = instruction("fmul")
    __truediv__ = instruction("fdiv")
    __neg__ = instruction("fneg")

    def __rsub__(self, other: float) -> Lanes:
        return self.wrap(self.coerce(other)) - self

    def __rtruediv__(self, other: float) -> Lanes:
        return self.wrap(self.coerce(other)) / self

    absolute = intrinsic("fabs")
    nearest = intrinsic("rint")
    sqrt = intrinsic("sqrt")
    minimum = intrinsic("minimum")
    maximum = intrinsic("maximum")
    with_sign_of = intrinsic("copysign")
    #: self·factor + addend, in one rounding where the processor has it
    fma = intrinsic("fmuladd")
    #: the same in one rounding on every processor, by a slow call where there is no instruction
    exact_fma = intrinsic("fma")

    def horner(self, coefficients: tuple[float, ...]) -> Lanes:
        """Σ coefficients[i]·self**i."""
        total = self.like(coefficients[-1])
        for c in coefficients[-2::-1]:
            total = total.fma(self, c)
        return total

    # comparison and choice --------------------------------------------------------------------------
    def compare(self, predicate: str, other: Lanes | float) -> Lanes:
        """Mask of an ordered comparison: false for NaN."""
        return self.wrap(self.builder.fcmp_ordered(predicate, self.value, self.coerce(other)))

    def is_nan(self) -> Lanes:
        return self.wrap(self.builder.fcmp_unordered("uno", self.value, self.value))

    #: for a mask: lanes of the first argument where true, of the second elsewhere
    where = instruction("select")

    def any(self) -> Any:
        """For a mask: one bit, true if any lane is."""
        bits = self.builder.bitcast(self.value, ir.IntType(self.format.lanes))
        return self.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    # bits -------------------------------------------------------------------------------------------
    bits = conversion("bitcast", "integers")
    from_bits = conversion("bitcast", "vector")
    to_integer = conversion("fptosi", "integers")
    to_float = conversion("sitofp", "vector")
    iadd = instruction("add")
    isub = instruction("sub")
    iand = instruction("and_")
    ixor = instruction("xor")
    shift_left = instruction("shl")
    shift_right = instruction("ashr")  #: arithmetic: the sign is kept

    def nonzero(self) -> Lanes:
        return self.wrap(self.builder.icmp_signed("!=", self.value, self.coerce(0)))


def horizontal_sum(builder: Any, fmt: Format, vector: Any) -> Any:
    """Sum of the lanes as a float64, by halves: a fixed order on every processor."""
    double, lanes = ir.DoubleType(), fmt.lanes
    vector = builder.fpext(vector, ir.VectorType(double, lanes))
    while lanes > 1:
        lanes //= 2
        halves = [
            ir.Constant(ir.VectorType(INT32, lanes), list(range(start, start + lanes)))
            for start in (0, lanes)
        ]
        undefined = ir.Constant(vector.type, ir.Undefined)
        vector = builder.fadd(*(builder.shuffle_vector(vector, undefined, half) for half in halves))
    return builder.extract_element(vector, ir.Constant(INT32, 0))
