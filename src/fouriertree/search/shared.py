"""What tasks send to other processes, and how: functions of notebooks and scripts by value, large objects once."""

from __future__ import annotations

import pickle
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

from fouriertree.expr import custom

T = TypeVar("T")

#: so many objects are kept that other processes have sent
KEPT = 4
#: pickles of so many bytes are sent as files
LARGE = 2**20

#: objects of this process that were sent or received, by digest
_known: weakref.WeakValueDictionary[str, Shared] = weakref.WeakValueDictionary()
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

    An object that comes back to the process that sent it is the object itself.  Within `same_computer`, a large one is
    sent as the name of a temporary file, which is removed with the object.  Subclasses have no `__slots__`.
    """

    _pickled: tuple[str, bytes]  #: digest and pickle, made when it is first sent
    _path: str  #: of the file

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if "_pickled" not in vars(self):
            data = dumps(super().__reduce_ex__(protocol))
            _remember(self, blake2b(data, digest_size=16).hexdigest(), data)
        digest, data = self._pickled
        if len(data) < LARGE or not getattr(_here, "is_same_computer", False):
            return _load, (digest, data)
        if "_path" not in vars(self):
            vars(self)["_path"] = _written(self, data)
        return _load_file, (digest, self._path)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_pickled", "_path")}


@contextmanager
def same_computer() -> Iterator[None]:
    """What this thread pickles in this context is read on this computer."""
    _here.is_same_computer = True
    try:
        yield
    finally:
        _here.is_same_computer = False


_here = threading.local()


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


def _load_file(digest: str, path: str) -> Shared:
    return _load(digest, b"" if digest in _known else Path(path).read_bytes())


def _remember(shared: Shared, digest: str, data: bytes) -> None:
    # Frozen dataclasses have no assignment.
    vars(shared)["_pickled"] = digest, data
    _known[digest] = shared


def _written(shared: Shared, data: bytes) -> str:
    from joblib.externals.loky.backend import resource_tracker

    handle, path = tempfile.mkstemp(prefix="fouriertree-")
    # The tracker is a process of its own, which removes the file also if this process is killed.
    resource_tracker.register(path, "file")
    weakref.finalize(shared, resource_tracker.maybe_unlink, path, "file")
    with open(handle, "wb") as file:
        file.write(data)
    return path
