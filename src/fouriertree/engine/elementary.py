"""Elementary functions on `Lanes`, eight or sixteen rows at a time, for the kernels of operators.

Each function reduces its argument to a short interval and evaluates one polynomial there.  Infinities,
NaN, zeros and subnormals are treated as in NumPy.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from . import coefficients as c
from .lanes import FLOAT64, INT32, Format, Lanes

# pi/2 = the sum of these parts.  With one rounding per fma, x − n·part is accurate to the last bit.
PI_2_PARTS = {
    "f64": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    "f32": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
}
# ln 2 in two parts, the first so short that its product with the (small) integer n is exact.
LN2_PARTS = {
    "f64": (0.6931471804855391, 7.440617110012397e-11),
    "f32": (0.693145751953125, 1.4286068203094173e-06),
}
# Beyond these limits, the reduction is inaccurate and the C library is used.
TRIG_LIMIT = {"f64": 1.0e9, "f32": 1.0e5}
TWO_OVER_PI = 0.6366197723675814
LOG2_E = 1.4426950408889634
PI_2_HIGH, PI_2_LOW, _ = PI_2_PARTS["f64"]


def polynomial(name: str, fmt: Format) -> tuple[float, ...]:
    coefficients: tuple[float, ...] = getattr(c, f"{name}{64 if fmt is FLOAT64 else 32}")
    return coefficients


def guarded(x: Lanes, fast: Callable[[Lanes], Lanes], symbol: str) -> Lanes:
    """fast(x), or the C library's `symbol` for the whole vector if any lane is beyond the limit of the reduction."""
    builder, size = x.builder, x.absolute()
    # Infinities and NaN need no C library: the polynomial gives NaN.
    finite = size.compare("<", float("inf"))
    outside = finite.iand(size.compare(">", TRIG_LIMIT[x.format.suffix]))
    with builder.if_else(outside.any(), likely=False) as (rare, common):
        with rare:
            slow = library(symbol, x).value
            rare_block = builder.block
        with common:
            quick = fast(x).value
            common_block = builder.block
    phi = builder.phi(x.format.vector)
    phi.add_incoming(slow, rare_block)
    phi.add_incoming(quick, common_block)
    return x.wrap(phi)


def reduce_quadrant(x: Lanes) -> tuple[Lanes, Lanes]:
    """(r, n) with x = r + n·pi/2 and |r| ≤ pi/4; n as an integer."""
    n = (x * TWO_OVER_PI).nearest()
    r = x
    for part in PI_2_PARTS[x.format.suffix]:
        r = n.exact_fma(-part, r)
    # −0 + 0·part is +0, but the sign of a zero must be kept.
    return x.compare("==", 0.0).where(x, r), n.to_integer()


def sin_cos_polynomials(r: Lanes) -> tuple[Lanes, Lanes]:
    z = r * r
    # For r = −0 the sum is +0 − 0, which loses the sign.
    sine = (z * r).fma(z.horner(polynomial("SIN", r.format)), r).with_sign_of(r)
    half = z * 0.5
    one = 1.0 - half
    lost = (1.0 - one) - half
    cosine = one + (z * z).fma(z.horner(polynomial("COS", r.format)), lost)
    return sine, cosine


def sine_shifted(x: Lanes, shift: Any) -> Lanes:
    """sin(x + shift·pi/2) for an integer shift, the same in all lanes."""
    r, n = reduce_quadrant(x)
    quadrant = n.iadd(shift)
    sine, cosine = sin_cos_polynomials(r)
    odd = quadrant.iand(1).nonzero()
    value = odd.where(cosine, sine)
    sign = quadrant.iand(2).shift_left(8 * x.format.bytes - 2)
    return value.bits().ixor(sign).from_bits()


def sin(x: Lanes) -> Lanes:
    return guarded(x, lambda v: sine_shifted(v, 0), "sin")


def cos(x: Lanes) -> Lanes:
    return guarded(x, lambda v: sine_shifted(v, 1), "cos")


def tan(x: Lanes) -> Lanes:
    return guarded(x, fast_tan, "tan")


def fast_tan(x: Lanes) -> Lanes:
    r, n = reduce_quadrant(x)
    sine, cosine = sin_cos_polynomials(r)
    odd = n.iand(1).nonzero()
    return odd.where(-cosine, sine) / odd.where(sine, cosine)


def power_of_two(n: Lanes) -> Lanes:
    """2**n for an integer n within the range of normal exponents."""
    return n.iadd(n.format.exponent_bias).shift_left(n.format.mantissa_bits).from_bits()


def exp(x: Lanes) -> Lanes:
    low, high = (-746.0, 710.0) if x.format is FLOAT64 else (-105.0, 89.0)
    bounded = x.maximum(low).minimum(high)
    n = (bounded * LOG2_E).nearest()
    r = bounded
    for part in LN2_PARTS[x.format.suffix]:
        r = n.fma(-part, r)
    growth = (r * r).fma(r.horner(polynomial("EXP", x.format)), r) + 1.0
    # Two factors, so that results beyond the normal range overflow or underflow in the last product.
    exponent = n.to_integer()
    half = exponent.shift_right(1)
    result = growth * power_of_two(half) * power_of_two(exponent.isub(half))
    return x.is_nan().where(x, result)


def split_mantissa(x: Lanes) -> tuple[Lanes, Lanes]:
    """(f, e) with x = (1 + f)·2**e and 1 + f in [√½, √2), for positive normal x; e as a float."""
    fmt = x.format
    bits = x.bits()
    sqrt_half_bits = 0x3FE6A09E667F3BCD if fmt is FLOAT64 else 0x3F3504F3
    one_bits = fmt.exponent_bias << fmt.mantissa_bits
    shifted = bits.iadd(one_bits - sqrt_half_bits)
    exponent = shifted.shift_right(fmt.mantissa_bits).isub(fmt.exponent_bias)
    mantissa = shifted.iand((1 << fmt.mantissa_bits) - 1).iadd(sqrt_half_bits)
    return mantissa.from_bits() - 1.0, exponent.to_float()


def log_positive(x: Lanes) -> Lanes:
    """ln x for x > 0, subnormals included; infinity maps to infinity."""
    fmt = x.format
    tiny, lift = (2.2250738585072014e-308, 54) if fmt is FLOAT64 else (1.1754943508222875e-38, 25)
    subnormal = x.compare("<", tiny)
    f, e = split_mantissa(subnormal.where(x * float(2**lift), x))
    e = subnormal.where(e - float(lift), e)
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    tail = z * z.horner(polynomial("LOG", fmt))
    ln2_high, ln2_low = LN2_PARTS[fmt.suffix]
    correction = s.fma(half_square + tail, e * ln2_low)
    value = e.fma(ln2_high, f - (half_square - correction))
    return x.compare("==", float("inf")).where(x, value)


def log(x: Lanes) -> Lanes:
    value = log_positive(x)
    value = x.compare("==", 0.0).where(x.like(-float("inf")), value)
    return x.compare(">=", 0.0).where(value, x.like(float("nan")))


def plog(x: Lanes) -> Lanes:
    size = x.absolute()
    value = size.compare("==", 0.0).where(x.like(0.0), log_positive(size))
    return x.is_nan().where(x, value)


def tanh(x: Lanes) -> Lanes:
    size = x.absolute()
    z = size * size
    small = (size * z).fma(z.horner(polynomial("TANH", x.format)), size)
    # 1 − 2/(e^2x + 1) is accurate for tanh x > 0.29; at x = 20 the quotient is below rounding.
    large = 1.0 - 2.0 / (exp(size.minimum(20.0) * 2.0) + 1.0)
    value = size.compare("<", 0.3).where(small, large)
    return x.is_nan().where(x, value.with_sign_of(x))


def atan_positive(x: Lanes) -> Lanes:
    """atan for x ≥ 0, by reflection at 1 and a shift by pi/4 above tan(pi/8)."""
    inverted = x.compare(">", 1.0)
    y = inverted.where(1.0 / x, x)
    shifted = y.compare(">", 0.41421356237309503)
    t = shifted.where((y - 1.0) / (y + 1.0), y)
    z = t * t
    tail = t * z * z.horner(polynomial("ATAN", x.format))
    low = shifted.where(x.like(PI_2_LOW / 2), x.like(0.0))
    inner = shifted.where(x.like(PI_2_HIGH / 2), x.like(0.0)) + (t + (tail + low))
    return inverted.where(x.like(PI_2_HIGH) - (inner - PI_2_LOW), inner)


def atan(x: Lanes) -> Lanes:
    return x.is_nan().where(x, atan_positive(x.absolute()).with_sign_of(x))


def asin_acos_parts(x: Lanes) -> tuple[Lanes, Lanes]:
    """(mask |x| > ½, asin of the reduced argument)."""
    size = x.absolute()
    large = size.compare(">", 0.5)
    z_large = (1.0 - size) * 0.5
    z = large.where(z_large, size * size)
    r = large.where(z_large.sqrt(), size)
    return large, (r * z).fma(z.horner(polynomial("ASIN", x.format)), r)


def asin(x: Lanes) -> Lanes:
    large, part = asin_acos_parts(x)
    value = large.where(x.like(PI_2_HIGH) - (part * 2.0 - PI_2_LOW), part)
    return value.with_sign_of(x)


def acos(x: Lanes) -> Lanes:
    large, part = asin_acos_parts(x)
    negative = x.compare("<", 0.0)
    twice = part * 2.0
    pi_high, pi_low = 2 * PI_2_HIGH, 2 * PI_2_LOW
    outer = negative.where(x.like(pi_high) - (twice - pi_low), twice)
    signed = part.with_sign_of(x)
    return large.where(outer, x.like(PI_2_HIGH) - (signed - PI_2_LOW))


def library(symbol: str, *arguments: Lanes) -> Lanes:
    """The C library's float64 function `symbol`, lane by lane: slow and accurate."""
    x, double = arguments[0], ir.DoubleType()
    builder = x.builder
    function_type = ir.FunctionType(double, [double] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, function_type, symbol)
    result = ir.Constant(x.format.vector, ir.Undefined)
    for i in range(x.format.lanes):
        index = ir.Constant(INT32, i)
        lanes = [builder.fpext(builder.extract_element(y.value, index), double) for y in arguments]
        value = builder.fptrunc(builder.call(function, lanes), x.format.scalar)
        result = builder.insert_element(result, value, index)
    return x.wrap(result)
