"""What tasks send to other processes, and how: functions of notebooks and scripts by value, large objects once."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from fouriertree.expr import custom

T = TypeVar("T")

#: so many objects are kept that other processes have sent
KEPT = 4

#: objects of this process that were sent or received, by digest
_known: WeakValueDictionary[str, Shared] = WeakValueDictionary()
_kept: OrderedDict[str, Shared] = OrderedDict()


@dataclass(frozen=True)
class Packed(Generic[T]):
    """A value that is pickled by `dumps`, whichever way an executor pickles its tasks and results."""

    value: T

    def __reduce__(self) -> tuple[Callable[[bytes], Packed[T]], tuple[bytes]]:
        return _unpack, (dumps(self.value),)


def _unpack(data: bytes) -> Packed[Any]:
    return Packed(pickle.loads(data))


def dumps(value: Any) -> bytes:
    """A pickle that has functions by value if they cannot be imported, as those of notebooks.

    Raises
    ------
    ValueError
        If that is impossible; the message names the custom operator that is the reason.
    """
    from joblib.externals.loky.backend.reduction import dumps

    try:
        return bytes(dumps(value))
    except Exception as error:
        reason = f"cannot be sent to another process ({type(error).__name__}: {error})"
        for operator in custom.in_use():
            try:
                dumps(operator)
            except Exception:
                raise ValueError(
                    f"operator {operator.name!r} {reason}; define its function in a module that workers can import, "
                    "or use n_jobs=1"
                ) from error
        raise ValueError(f"a task {reason}") from error


class Shared:
    """Base class of immutable objects: pickled once, and unpickled at most once in a process.

    An object that comes back to the process that sent it is the object itself.  Subclasses have no `__slots__`.
    """

    _pickled: tuple[str, bytes]

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[str, bytes]]:
        if "_pickled" not in vars(self):
            data = dumps(super().__reduce_ex__(protocol))
            _remember(self, blake2b(data, digest_size=16).hexdigest(), data)
        return _load, self._pickled

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pickled"}


def _load(digest: str, data: bytes) -> Shared:
    found = _known.get(digest)
    if found is None:
        make, arguments, state, *_ = pickle.loads(data)
        found = make(*arguments)
        vars(found).update(state)
        _remember(found, digest, data)
        _kept[digest] = found
    if digest in _kept:
        _kept.move_to_end(digest)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    return found


def _remember(shared: Shared, digest: str, data: bytes) -> None:
    # Frozen dataclasses have no assignment.
    vars(shared)["_pickled"] = digest, data
    _known[digest] = shared
