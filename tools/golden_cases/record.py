"""What a case writes down: values, which must agree bit for bit, and words, which may be compared or not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

VALUES, WORDS = "values", "words"
#: keys of JSON documents and fields of objects that differ between two runs of the same code
VOLATILE = frozenset(
    ["at", "command", "created", "ended", "id", "path", "run", "run_dir", "seconds", "time", "versions"]
)
#: keys whose text is prose
PROSE = frozenset(["description", "error", "reason", "stop_reason", "text"])
#: an address of an object, which its repr shows
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")

#: in prose: what is announced while kernels are compiled, names of runs, dates, seconds in sentences and in tables
SCRUBBED = [
    (re.compile(r"^fouriertree: compiling .*\n?", re.MULTILINE), ""),
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d)?"), "DATE"),
    (re.compile(r"\b\d+(\.\d+)? ?(seconds|s)\b"), "TIME"),
    (re.compile(r"(?<=\d×)(\d+) +\d+(\.\d+)?( +)"), r"\1 TIME "),
    (re.compile(r"^( *seconds +)[\d. ]+$", re.MULTILINE), r"\1TIME"),
]

Case = Callable[["Record"], None]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Register a function as a case."""

    def register(function: Case) -> Case:
        if name in CASES:
            raise ValueError(f"there are two cases called {name!r}")
        CASES[name] = function
        return function

    return register


class Record:
    """The output of one case, with a folder of its own for files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sections: dict[str, list[str]] = {VALUES: [], WORDS: []}

    def value(self, name: str, value: Any) -> None:
        """Write down what must stay the same."""
        self._add(VALUES, name, value)

    def words(self, name: str, text: Any) -> None:
        """Write down prose: headings, reasons, messages."""
        self._add(WORDS, name, scrubbed(shown(text)))

    def document(self, name: str, content: Any) -> None:
        """Write down nested plain data, prose and values apart, without what is volatile."""
        for section, path, leaf in leaves(content, name):
            (self.words if section == WORDS else self.value)(path, leaf)

    def text(self) -> str:
        """Both sections."""
        return "\n".join(line for name, lines in self._sections.items() for line in [f"[{name}]", *lines, ""])

    def _add(self, section: str, name: str, value: Any) -> None:
        lines = shown(value).replace(str(self.folder), "FOLDER").splitlines() or [""]
        if len(lines) == 1:
            self._sections[section].append(f"{name} = {lines[0]}".rstrip())
        else:
            self._sections[section] += [f"{name}:", *(f"  {line}".rstrip() for line in lines)]


def scrubbed(text: str) -> str:
    """Prose without what differs from run to run."""
    for pattern, word in SCRUBBED:
        text = pattern.sub(word, text)
    return text


def leaves(content: Any, path: str) -> Iterable[tuple[str, str, Any]]:
    """(section, path, value) of everything in nested plain data, by the names of today."""
    from golden_cases.names import today

    if isinstance(content, Mapping) and content:
        for key, part in content.items():
            known = today(str(key))
            if known in PROSE and (part is None or isinstance(part, str)):
                yield WORDS, f"{path}.{known}", part
            elif known not in VOLATILE:
                yield from leaves(part, f"{path}.{known}")
    elif isinstance(content, list | tuple) and any(isinstance(part, Mapping | list) for part in content):
        for i, part in enumerate(content):
            yield from leaves(part, f"{path}[{i}]")
    else:
        yield VALUES, path, content


def shown(value: Any) -> str:
    """A value as text; floats by repr, so that every bit counts."""
    if isinstance(value, pd.DataFrame):
        return "\n".join(row_text(row) for row in value.to_dict("records"))
    if isinstance(value, np.ndarray):
        return shown_array(value)
    if isinstance(value, np.generic):
        return shown(value.item())
    if isinstance(value, str):
        return ADDRESS.sub("0x…", value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return shown({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return row_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value) if isinstance(value, PurePath) else ADDRESS.sub("0x…", repr(value))


def shown_array(array: np.ndarray[Any, Any]) -> str:
    rows = array if array.ndim > 1 else [array]
    return "\n".join(" ".join(shown(value) for value in np.ravel(row).tolist()) for row in rows)


def row_text(row: Mapping[Any, Any]) -> str:
    from golden_cases.names import today

    return "; ".join(f"{today(str(key))}={shown(value)}" for key, value in row.items())
