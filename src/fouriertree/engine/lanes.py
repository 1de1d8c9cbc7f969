"""Vectors of LLVM values with arithmetic operators.

The elementary functions are written once, over `Lanes`, and become explicit SIMD code for 8 float64 or 16
float32 at a time.  LLVM splits the vectors where the processor's registers are narrower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir

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


@dataclass(frozen=True)
class Lanes:
    """One vector value (floating, integer or mask) and the builder that emits its operations."""

    builder: Any
    format: Format
    value: Any

    def _wrap(self, value: Any) -> Lanes:
        return Lanes(self.builder, self.format, value)

    def _coerce(self, other: Lanes | float) -> Any:
        if isinstance(other, Lanes):
            return other.value
        kind = self.value.type
        return ir.Constant(kind, [other] * self.format.lanes)

    def like(self, constant: float) -> Lanes:
        """The floating-point constant in every lane."""
        return self._wrap(ir.Constant(self.format.vector, [constant] * self.format.lanes))

    # arithmetic -------------------------------------------------------------------------------------
    def __add__(self, other: Lanes | float) -> Lanes:
        return self._wrap(self.builder.fadd(self.value, self._coerce(other)))

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._wrap(self.builder.fsub(self.value, self._coerce(other)))

    def __rsub__(self, other: float) -> Lanes:
        return self._wrap(self.builder.fsub(self._coerce(other), self.value))

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._wrap(self.builder.fmul(self.value, self._coerce(other)))

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._wrap(self.builder.fdiv(self.value, self._coerce(other)))

    def __rtruediv__(self, other: float) -> Lanes:
        return self._wrap(self.builder.fdiv(self._coerce(other), self.value))

    def __neg__(self) -> Lanes:
        return self._wrap(self.builder.fneg(self.value))

    def fma(self, factor: Lanes | float, addend: Lanes | float) -> Lanes:
        """self·factor + addend, in one rounding where the processor has it."""
        return self._call("fmuladd", self.value, self._coerce(factor), self._coerce(addend))

    def exact_fma(self, factor: Lanes | float, addend: Lanes | float) -> Lanes:
        """self·factor + addend in one rounding on every processor, by a slow call where there is no instruction."""
        return self._call("fma", self.value, self._coerce(factor), self._coerce(addend))

    def horner(self, coefficients: tuple[float, ...]) -> Lanes:
        """Σ coefficients[i]·self**i."""
        total = self.like(coefficients[-1])
        for c in coefficients[-2::-1]:
            total = total.fma(self, c)
        return total

    def _call(self, intrinsic: str, *args: Any) -> Lanes:
        return self._wrap(call_intrinsic(self.builder, self.format, intrinsic, *args))

    def absolute(self) -> Lanes:
        return self._call("fabs", self.value)

    def nearest(self) -> Lanes:
        return self._call("rint", self.value)

    def sqrt(self) -> Lanes:
        return self._call("sqrt", self.value)

    def minimum(self, other: Lanes | float) -> Lanes:
        return self._call("minimum", self.value, self._coerce(other))

    def maximum(self, other: Lanes | float) -> Lanes:
        return self._call("maximum", self.value, self._coerce(other))

    def with_sign_of(self, other: Lanes) -> Lanes:
        return self._call("copysign", self.value, other.value)

    # comparison and choice --------------------------------------------------------------------------
    def compare(self, predicate: str, other: Lanes | float) -> Lanes:
        """Mask of an ordered comparison: false for NaN."""
        return self._wrap(self.builder.fcmp_ordered(predicate, self.value, self._coerce(other)))

    def is_nan(self) -> Lanes:
        return self._wrap(self.builder.fcmp_unordered("uno", self.value, self.value))

    def where(self, yes: Lanes, no: Lanes) -> Lanes:
        """For a mask: lanes of `yes` where true, of `no` elsewhere."""
        return self._wrap(self.builder.select(self.value, yes.value, no.value))

    def any(self) -> Any:
        """For a mask: one bit, true if any lane is."""
        bits = self.builder.bitcast(self.value, ir.IntType(self.format.lanes))
        return self.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    # bits -------------------------------------------------------------------------------------------
    def bits(self) -> Lanes:
        return self._wrap(self.builder.bitcast(self.value, self.format.integers))

    def from_bits(self) -> Lanes:
        return self._wrap(self.builder.bitcast(self.value, self.format.vector))

    def to_integer(self) -> Lanes:
        return self._wrap(self.builder.fptosi(self.value, self.format.integers))

    def to_float(self) -> Lanes:
        return self._wrap(self.builder.sitofp(self.value, self.format.vector))

    def iadd(self, other: Lanes | int) -> Lanes:
        return self._wrap(self.builder.add(self.value, self._coerce(other)))

    def isub(self, other: Lanes | int) -> Lanes:
        return self._wrap(self.builder.sub(self.value, self._coerce(other)))

    def iand(self, mask: Lanes | int) -> Lanes:
        return self._wrap(self.builder.and_(self.value, self._coerce(mask)))

    def ixor(self, mask: Lanes | int) -> Lanes:
        return self._wrap(self.builder.xor(self.value, self._coerce(mask)))

    def shift_left(self, count: int) -> Lanes:
        return self._wrap(self.builder.shl(self.value, self._coerce(count)))

    def shift_right(self, count: int) -> Lanes:
        """Arithmetic shift: the sign is kept."""
        return self._wrap(self.builder.ashr(self.value, self._coerce(count)))

    def nonzero(self) -> Lanes:
        return self._wrap(self.builder.icmp_signed("!=", self.value, self._coerce(0)))


def call_intrinsic(builder: Any, fmt: Format, name: str, *args: Any) -> Any:
    """Call the LLVM intrinsic `name` on vectors of this format."""
    kind = fmt.vector
    function_type = ir.FunctionType(kind, [kind] * len(args))
    full_name = f"llvm.{name}.v{fmt.lanes}{fmt.suffix}"
    function = builder.module.globals.get(full_name)
    if function is None:
        function = ir.Function(builder.module, function_type, full_name)
    return builder.call(function, args)


def call_scalar(builder: Any, fmt: Format, symbol: str, vectors: list[Any]) -> Any:
    """Call the C library's float64 function `symbol` lane by lane."""
    double = ir.DoubleType()
    function_type = ir.FunctionType(double, [double] * len(vectors))
    function = builder.module.globals.get(symbol)
    if function is None:
        function = ir.Function(builder.module, function_type, symbol)
    result = ir.Constant(fmt.vector, ir.Undefined)
    for i in range(fmt.lanes):
        index = ir.Constant(INT32, i)
        args = [builder.extract_element(v, index) for v in vectors]
        if fmt.scalar != double:
            args = [builder.fpext(a, double) for a in args]
        scalar = builder.call(function, args)
        if fmt.scalar != double:
            scalar = builder.fptrunc(scalar, fmt.scalar)
        result = builder.insert_element(result, scalar, index)
    return result


def horizontal_sum(builder: Any, fmt: Format, vector: Any) -> Any:
    """Sum of the lanes as a float64, by halves: a fixed order on every processor."""
    double = ir.DoubleType()
    lanes = fmt.lanes
    if fmt.scalar != double:
        vector = builder.fpext(vector, ir.VectorType(double, lanes))
    while lanes > 1:
        lanes //= 2
        low = ir.Constant(ir.VectorType(INT32, lanes), list(range(lanes)))
        high = ir.Constant(ir.VectorType(INT32, lanes), list(range(lanes, 2 * lanes)))
        undefined = ir.Constant(vector.type, ir.Undefined)
        vector = builder.fadd(
            builder.shuffle_vector(vector, undefined, low), builder.shuffle_vector(vector, undefined, high)
        )
    return builder.extract_element(vector, ir.Constant(INT32, 0))
