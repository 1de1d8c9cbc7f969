"""The docstrings of this package as the reference shows them: an extension of Griffe, used by mkdocs.yml.

In the source they are plain text.  Here lines such as ``name: what it is``, for parameters or attributes of that name,
become a list; examples become blocks of code; and a comment ``#: …`` behind an attribute becomes its docstring.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"^(?P<names>[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*): (?P<text>.+)$")
COMMENT = re.compile(r"#: (?P<text>.+)$")


class HouseDocstrings(griffe.Extension):
    """Rewrites docstrings while the source is read."""

    def on_class(self, *, cls: Any, **_: Any) -> None:
        names = set(cls.members)
        if "__init__" in cls.members:
            names |= {parameter.name for parameter in cls.members["__init__"].parameters}
        rewrite(cls, names)

    def on_function(self, *, func: Any, **_: Any) -> None:
        rewrite(func, {parameter.name for parameter in func.parameters})

    def on_module(self, *, mod: Any, **_: Any) -> None:
        rewrite(mod, set())

    def on_attribute(self, *, attr: Any, **_: Any) -> None:
        if attr.docstring is None and (text := comment_of(attr)):
            attr.docstring = griffe.Docstring(text, lineno=attr.lineno, parent=attr)


def rewrite(thing: Any, names: set[str]) -> None:
    if thing.docstring is not None:
        thing.docstring.value = as_markdown(thing.docstring.value, names)


def as_markdown(text: str, names: set[str]) -> str:
    """The docstring with a list of what is described, and its examples as code."""
    lines: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        block = paragraph.split("\n")
        if block[0].lstrip().startswith(">>>"):
            lines += ["```pycon", *block, "```", ""]
        elif described(block[0], names):
            lines += [*entries(block, names), ""]
        else:
            lines += [*block, ""]
    return "\n".join(lines).strip()


def described(line: str, names: set[str]) -> bool:
    found = ENTRY.match(line)
    return found is not None and set(found["names"].split(", ")) <= names


def entries(block: list[str], names: set[str]) -> list[str]:
    """A paragraph of ``name: text`` lines as a list."""
    return [
        "- {}: {}".format(", ".join(f"**{name}**" for name in found["names"].split(", ")), found["text"])
        if described(line, names) and (found := ENTRY.match(line))
        else line
        for line in block
    ]


def comment_of(attribute: Any) -> str | None:
    """The comment ``#: …`` at the end of the line of an attribute, or on the line above it."""
    lines = attribute.parent.module.lines_collection[attribute.filepath] if attribute.lineno else []
    if not lines:
        return None
    own = COMMENT.search(lines[attribute.lineno - 1])
    above = lines[attribute.lineno - 2].strip() if attribute.lineno > 1 else ""
    found = own or (COMMENT.match(above) if above.startswith("#:") else None)
    return found["text"] if found else None
