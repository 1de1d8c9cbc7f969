"""Feature names, which may be any text, as identifiers and in comments."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fouriertree.export.errors import ExportError
from fouriertree.export.keywords import RESERVED
from fouriertree.expr import Expression
from fouriertree.model import Model

#: characters; MATLAB truncates identifiers after 63
LONGEST = 40
#: identifiers of variables and functions in generated code
OURS = re.compile(r"t[0-9]+|\w+_(or|with)_nan")


@dataclass(frozen=True)
class Column:
    """A feature of the expression."""

    number: int  #: its index in X
    name: str
    identifier: str  #: its name in generated code


def columns_of(model: Model, tree: Expression) -> list[Column]:
    """The features of the tree in order, with unique identifiers."""
    numbers = tree.columns
    if model.names is not None and numbers and numbers[-1] >= len(model.names):
        raise ExportError(
            f"the expression uses feature x{numbers[-1]}, but has only {len(model.names)} name(s)"
        )
    names = [f"x{number}" if model.names is None else str(model.names[number]) for number in numbers]
    words = [identifier(name) or f"x{number}" for name, number in zip(names, numbers, strict=True)]
    identifiers = unique(words)
    return [Column(*fields) for fields in zip(numbers, names, identifiers, strict=True)]


def identifier(name: str) -> str:
    """Letters, digits and underscores of a name, with a letter first; empty if it has none.

    >>> [identifier(name) for name in ["top speed", "größe", "2nd", "while", "100 %", "μ"]]
    ['top_speed', 'gro_e', 'x_2nd', 'x_while', 'x_100', '']
    """
    # Without diacritics: é becomes e.
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    word = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:LONGEST].strip("_")
    if not word:
        return ""
    # Names in capitals are often macros in C.
    clear = word[0].isalpha() and word not in RESERVED and not (word.isupper() and len(word) > 1)
    return word if clear and not OURS.fullmatch(word) else f"x_{word}"


def unique(words: Iterable[str]) -> Iterator[str]:
    """The words, with a number appended to repeated ones."""
    taken: set[str] = set()
    for word in words:
        free, count = word, 1
        while free in taken:
            count += 1
            free = f"{word}_{count}"
        taken.add(free)
        yield free


def shown(name: str) -> str:
    r"""The name in double quotes on one line, escaped so that it cannot end a comment or a script.

    >>> print(shown('a "b"\n*/ c'))
    "a \"b\"\n* / c"
    """
    return (
        "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(name, ensure_ascii=False))
        .replace("*/", "* /")
        .replace("</", "< /")
        .replace("<!--", "< !--")
    )
