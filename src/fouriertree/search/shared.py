"""`Shared`: large objects that many tasks refer to, sent as bytes that are made once and read once per process."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

#: so many objects are kept that other processes have sent
KEPT = 4

#: objects of this process that were sent or received, by digest
_known: WeakValueDictionary[str, Shared] = WeakValueDictionary()
_kept: OrderedDict[str, Shared] = OrderedDict()


class Shared:
    """Base class of immutable objects: pickled once, and unpickled at most once in a process.

    An object that comes back to the process that sent it is the object itself.  Subclasses have no `__slots__`.
    """

    _pickled: tuple[str, bytes]

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[str, bytes]]:
        if "_pickled" not in vars(self):
            from joblib.externals.loky.backend.reduction import dumps

            # By value where a function cannot be imported, as those of notebooks.
            data = bytes(dumps(super().__reduce_ex__(protocol)))
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
