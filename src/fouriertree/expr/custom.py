"""Custom operators: a Python function, tested on edge values and compiled by Numba where possible."""

import inspect
import itertools
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from fouriertree.expr.catalogue import FloatArray, Primitive, Reference, quiet
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.expr.operators.forms import AnyForm

Function = Callable[..., Any]

# Two different values per kind where possible: an `if` on an array of one value raises no error.
PROBES: dict[str, tuple[float, float]] = {
    "zeros": (0.0, -0.0),
    "ordinary values": (0.7, 3.2),
    "negative values": (-0.3, -2.5),
    "large values": (1e300, -1e300),
    "small values": (1e-300, -1e-300),
    "infinities": (np.inf, -np.inf),
    "NaN": (np.nan, np.nan),
}

_next_opcode = itertools.count(USER_OPCODE_START)
#: operators in use; weak, because rerunning a notebook cell makes new ones every time
_by_uid: WeakValueDictionary[str, Primitive] = WeakValueDictionary()
#: operators from pickles, which a worker process would compile again for every task
_restored: deque[Primitive] = deque(maxlen=100)


class _RaisedError(ValueError):
    """The function raised an exception; a wrong shape or type is a plain ValueError."""


class Definition(NamedTuple):
    """What a user gives of an operator, under the names of `Primitive`."""

    name: str
    python: Function
    arity: int
    derivative: tuple[str, ...] | None
    sympy: Function | None
    complexity: int
    interval: Function | None
    forms: Mapping[str, AnyForm]


def register(definition: Definition) -> Primitive:
    """The operator of a definition; equal definitions give the same operator in one process."""
    known = _known(definition)
    if known is not None:
        return known
    primitive = _create(definition, uid=uuid.uuid4().hex)
    if primitive.note:
        warnings.warn(primitive.note, UserWarning, stacklevel=3)
    return primitive


def restore(*pickled: Any) -> Primitive:
    """The operator of a pickle: the registered one with its uid or definition, else a new one."""
    *first, uid, interval, forms = (*pickled, None, None)[:9]
    definition = Definition._make([*first, interval, dict(forms or {})])
    known = _known(definition, uid)
    if known is None:
        known = _create(definition, uid)
        _restored.append(known)
    return known


def in_use() -> list[Primitive]:
    """The custom operators of this process."""
    return list(_by_uid.values())


def _known(definition: Definition, uid: str = "") -> Primitive | None:
    for p in _by_uid.values():
        if p.uid == uid or tuple(getattr(p, field) for field in Definition._fields) == definition:
            return p
    return None


def _create(definition: Definition, uid: str) -> Primitive:
    name, function, arity = definition[:3]
    _check_arity(name, function, arity)
    reference, scalar, reason = _interpret(name, function, arity)
    primitive = _by_uid[uid] = Primitive(
        **definition._asdict(),
        opcode=next(_next_opcode),
        reference=reference,
        fault="a value that is not finite" if definition.interval else "an operator with unknown bounds",
        compiled=scalar is not None,
        scalar=scalar,
        note=f"{name} runs as NumPy (Numba could not compile it: {reason})" if scalar is None else "",
        uid=uid,
    )
    return primitive


def _check_arity(name: str, function: Function, arity: int) -> None:
    if not callable(function):
        raise ValueError(f"operator {name!r} needs a function, got {type(function).__name__}")
    try:
        inspect.signature(function).bind(*range(arity))
    except TypeError:
        reason = f"has arity={arity}, but its function cannot be called with {arity} argument(s)"
        raise ValueError(f"operator {name!r} {reason}") from None
    except ValueError:  # Built-in functions may have no signature; `_probe` detects a wrong count.
        return


def _interpret(name: str, function: Function, arity: int) -> tuple[Reference, Any, str]:
    """(reference on arrays, Numba dispatcher on scalars or None, reason for None)."""
    scalar, reason = _compile(function, arity)
    try:
        reference = quiet(function)
        _probe(name, function, arity)
    except _RaisedError:
        if _always_raises(function, arity):
            raise
        # A function of scalars: `if x > 0`, math.sin. The compiled one has the arithmetic of the engine.
        if scalar is not None and not _disagreement(scalar, function, arity):
            reference = _loop(scalar, arity)
            _probe(name, reference, arity)
            return reference, scalar, ""
        elementwise = np.vectorize(function, otypes=[float])
        _probe(name, elementwise, arity)
        return quiet(elementwise), None, reason or "its compiled values differ"

    def at(*row: float) -> FloatArray:
        return reference(*(np.array([value]) for value in row))

    if scalar is not None and (where := _disagreement(scalar, at, arity)):
        return reference, None, f"its compiled values differ on {where}"
    return reference, scalar, reason


def _probes(arity: int) -> Iterator[tuple[str, tuple[FloatArray, ...]]]:
    """Every combination of kinds of values, as (name, one array per argument)."""
    for kinds in itertools.product(PROBES, repeat=arity):
        grid = np.meshgrid(*(np.array(PROBES[kind]) for kind in kinds), indexing="ij")
        yield " and ".join(kinds), tuple(axis.ravel() for axis in grid)


def _rows(arity: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The same as (name, one float per argument)."""
    for kind, arguments in _probes(arity):
        for row in zip(*arguments, strict=True):
            yield kind, tuple(map(float, row))


def _probe(name: str, function: Function, arity: int) -> None:
    """Raise ValueError unless `function` is an elementwise, deterministic function of float arrays."""
    probes = list(_probes(arity))
    values = [_call(name, function, arguments, kind) for kind, arguments in probes]
    for (kind, arguments), value in zip(probes, values, strict=True):
        if not np.array_equal(value, _call(name, function, arguments, kind), equal_nan=True):
            raise ValueError(f"operator {name!r} gives different values when called twice on {kind}")
    together = tuple(np.concatenate(column)[::-1] for column in zip(*(a for _, a in probes), strict=True))
    if not _close(_call(name, function, together, "all values together")[::-1], np.concatenate(values)):
        raise ValueError(f"operator {name!r} is not elementwise: a value depends on the other rows")


def _call(name: str, function: Function, arguments: tuple[FloatArray, ...], kind: str) -> FloatArray:
    copies = [argument.copy() for argument in arguments]
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(function(*copies))
    except Exception as error:
        reason = f"{type(error).__name__} on {kind}: {_first_line(error)}"
        raise _RaisedError(f"operator {name!r} raised {reason}") from error
    problem = ""
    if value.dtype.kind not in "fiub":
        problem = f"returned {value.dtype} values on {kind}; it must return floats"
    elif value.shape == ():
        problem = "returned a scalar for an array; it must return one value per row"
    elif value.shape != (shape := copies[0].shape):
        problem = f"returned shape {value.shape} on {kind} of shape {shape}; it must keep the shape"
    elif not all(np.array_equal(c, a, equal_nan=True) for c, a in zip(copies, arguments, strict=True)):
        problem = f"changes its argument in place on {kind}; it must return a new array"
    if problem:
        raise ValueError(f"operator {name!r} {problem}")
    return value.astype(np.float64)


def _compile(function: Function, arity: int) -> tuple[Any, str]:
    """(Numba dispatcher on scalars, "") or (None, reason)."""
    import numba

    source: Any = getattr(function, "py_func", function)
    if not isinstance(source, FunctionType):  # math.exp, np.hypot: known to Numba, but only inside a function
        source = (lambda a: function(a)) if arity == 1 else (lambda a, b: function(a, b))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # NumPy's division: 1/0 is inf instead of an exception.
            scalar = numba.njit(source, error_model="numpy")
            value = scalar(*[0.5] * arity)
    except Exception as error:
        return None, _first_line(error)
    if isinstance(value, bool | int | float):
        return scalar, ""
    return None, f"it returns {type(value).__name__}"


def _loop(scalar: Any, arity: int) -> Reference:
    """The elementwise reference of a compiled function of one or two scalars."""
    import numba

    def one(a: FloatArray) -> FloatArray:
        out = np.empty(a.size)
        for i in range(a.size):
            out[i] = scalar(a[i])
        return out

    def two(a: FloatArray, b: FloatArray) -> FloatArray:
        out = np.empty(a.size)
        for i in range(a.size):
            out[i] = scalar(a[i], b[i])
        return out

    return quiet(numba.njit(one if arity == 1 else two))


def _always_raises(function: Function, arity: int) -> bool:
    """Whether the function raises on scalars, too: its compiled form, where 1/0 is inf, does not raise."""
    for _, row in _rows(arity):
        with suppress(Exception), np.errstate(all="ignore"):
            function(*row)
            return False
    return True


def _disagreement(scalar: Any, function: Function, arity: int) -> str:
    """The first probe on which the compiled function differs from `function`, or ""."""
    for kind, row in _rows(arity):
        try:
            with np.errstate(all="ignore"):
                expected = function(*row)
        except Exception:
            # math.exp(1e300) raises in Python and is inf when compiled: there is no value to compare.
            continue
        same = False
        with suppress(Exception):
            same = _close(scalar(*row), expected)
        if not same:
            return kind
    return ""


def _close(found: Any, expected: Any) -> bool:
    # Compiled and NumPy functions may round differently, and expressions amplify that.
    with np.errstate(all="ignore"):
        return bool(np.allclose(found, expected, rtol=1e-8, atol=1e-12, equal_nan=True))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Numba's first line is the name of its internal step; the reason is on the next line.
    informative = [line for line in lines if not line.startswith("Failed in")]
    return next(iter(informative or lines), type(error).__name__)
