"""The systems that are compared, one per file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from fouriertree.experiments.bench.cases import Array

#: (X, y, seconds, seed) -> a model over x0, x1, … as text, fitted by one thread
Fit = Callable[[Array, Array, float, int], str]

OURS, LINEAR = "ours", "linear"


@dataclass(frozen=True)
class System:
    """A system: the file here that runs it, the module that it needs, and how to install that."""

    name: str
    file: str
    module: str
    install: str

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def fit(self) -> Fit:
        fit: Fit = import_module(f"fouriertree.experiments.bench.systems.{self.file}").fit
        return fit


_ROWS = (
    System(OURS, "ours", "fouriertree", ""),
    System("operon", "operon", "pyoperon", "pip install pyoperon"),
    System(
        "rils-rols",
        "rils_rols",
        "rils_rols",
        "pip install pybind11 setuptools wheel, then pip install rils-rols --no-build-isolation",
    ),
    System("eggp", "eggp", "eggp", "pip install eggp"),
    System("gplearn", "gplearn", "gplearn", "pip install gplearn"),
    System(LINEAR, "linear", "numpy", ""),
)
SYSTEMS = {system.name: system for system in _ROWS}
PEERS = tuple(name for name in SYSTEMS if name not in (OURS, LINEAR))
