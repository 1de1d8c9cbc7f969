"""The docstrings of this package as the reference shows them: an extension of Griffe, used by mkdocs.yml.

In the source they are plain text.  Here lines such as ``name: what it is`` become a list, examples become blocks of
code, and comments ``#: …`` beside attributes are shown, those of a dataclass as one list.
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
        if "dataclass" in cls.labels and cls.docstring is not None:
            cls.docstring.value = "\n\n".join([cls.docstring.value, *field_list(cls)])

    def on_function(self, *, func: Any, **_: Any) -> None:
        rewrite(func, {parameter.name for parameter in func.parameters})

    def on_module(self, *, mod: Any, **_: Any) -> None:
        rewrite(mod, set())

    def on_attribute(self, *, attr: Any, **_: Any) -> None:
        in_list = attr.parent.is_class and "dataclass" in attr.parent.labels
        if attr.docstring is None and not in_list and (text := comment_of(attr)):
            attr.docstring = griffe.Docstring(text, lineno=attr.lineno, parent=attr)


def field_list(cls: Any) -> list[str]:
    """The fields of a dataclass that have a comment, as one list or none."""
    fields = {name: comment_of(member) for name, member in cls.members.items() if member.is_attribute}
    lines = [f"- **{name}**: {text}" for name, text in fields.items() if text]
    return ["\n".join(lines)] if lines else []


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
        elif is_list(block, names):
            lines += [*map(entry, block), ""]
        else:
            lines += [*block, ""]
    return "\n".join(lines).strip()


def is_list(block: list[str], names: set[str]) -> bool:
    """Whether a paragraph describes parameters or attributes, or at least two words of its own."""
    found = ENTRY.match(block[0])
    known = found is not None and set(found["names"].split(", ")) <= names
    return known or (found is not None and sum(ENTRY.match(line) is not None for line in block) > 1)


def entry(line: str) -> str:
    """``name: text`` as an item of a list; other lines go on with the one above."""
    found = ENTRY.match(line)
    if found is None:
        return f"  {line}"
    return f"- {', '.join(f'**{name}**' for name in found['names'].split(', '))}: {found['text']}"


def comment_of(attribute: Any) -> str | None:
    """The comment ``#: …`` at the end of the line of an attribute, or on the line above it."""
    lines = attribute.parent.module.lines_collection[attribute.filepath] if attribute.lineno else []
    if not lines:
        return None
    own = COMMENT.search(lines[attribute.lineno - 1])
    above = lines[attribute.lineno - 2].strip() if attribute.lineno > 1 else ""
    found = own or (COMMENT.match(above) if above.startswith("#:") else None)
    return found["text"] if found else None
