"""Column names, which may be any text, as identifiers and inside of comments."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fouriertree.export.errors import ExportError
from fouriertree.expr import Expression
from fouriertree.model import Model

#: MATLAB cuts names after 63 characters
LONGEST = 40
#: keywords, and names that generated code relies on, of all languages together
_WORDS = """
False None True and as assert async await break case class continue def del elif else except finally for from global
if import in is lambda match nonlocal not or pass raise return try type while with yield print
alignas alignof asm auto bool catch char char8_t char16_t char32_t compl concept const consteval constexpr constinit
const_cast decltype default delete do double dynamic_cast enum explicit export extern far float friend goto huge inline
int int8_t long mutable namespace near new noexcept nullptr operator private protected public register reinterpret_cast
requires restrict short signed sizeof static static_assert static_cast struct switch template this thread_local throw
typedef typeid typename typeof union unsigned using virtual void volatile wchar_t xor bitand bitor and_eq or_eq xor_eq
not_eq signgam linux unix i386 errno main std math
abstract arguments boolean byte debugger eval final function implements instanceof interface let native null package
super synchronized throws transient var NaN Infinity undefined Math Number Object exports module
begin baremodule end macro outer quote where elseif local missing nothing isa
otherwise parfor persistent spmd classdef methods properties events enumeration endfunction endif endwhile
unwind_protect until ans eps i j pi e inf nan isnan isinf isfinite signbit floor mod size zeros ones true false real
repeat next TRUE FALSE NULL NA NA_integer_ NA_real_ Inf T F c q t rep_len length suppressWarnings
sympy np numpy torch jax jnp X self parameters predict formula y result
add sub mul div pdiv sin cos tan exp log plog sqrt square cube inv neg abs fabs tanh asin acos atan pow min max
power minimum maximum ifelse pmin pmax
"""
RESERVED = frozenset(_WORDS.split())


#: names of parts and of functions in generated code
OURS = re.compile(r"t[0-9]+|\w+_(or|with)_nan")


@dataclass(frozen=True)
class Column:
    """A column that the formula mentions."""

    number: int  #: its place in the data
    name: str
    identifier: str  #: its name in generated code


def columns_of(model: Model, tree: Expression) -> list[Column]:
    """The columns of the tree in their order, each with an identifier of its own."""
    numbers = tree.columns
    if model.names is not None and numbers and numbers[-1] >= len(model.names):
        raise ExportError(f"the formula uses column x{numbers[-1]}, but has only {len(model.names)} name(s)")
    names = [f"x{number}" if model.names is None else str(model.names[number]) for number in numbers]
    identifiers = unique(
        identifier(name) or f"x{number}" for name, number in zip(names, numbers, strict=True)
    )
    return [Column(*fields) for fields in zip(numbers, names, identifiers, strict=True)]


def identifier(name: str) -> str:
    """Letters, digits and underscores of a name, with a letter first; empty if it has none.

    >>> [identifier(name) for name in ["top speed", "größe", "2nd", "while", "100 %", "μ"]]
    ['top_speed', 'gro_e', 'x_2nd', 'x_while', 'x_100', '']
    """
    word = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", without_marks(name))).strip("_")[:LONGEST]
    if not word:
        return ""
    # Words in capitals are macros in C more often than not.
    clear = word[0].isalpha() and word not in RESERVED and not (word.isupper() and len(word) > 1)
    return word if clear and not OURS.fullmatch(word) else f"x_{word}"


def without_marks(name: str) -> str:
    """é is e with a mark."""
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def unique(words: Iterable[str]) -> Iterator[str]:
    """The words, with a number where one has been there."""
    taken: set[str] = set()
    for word in words:
        free, count = word, 1
        while free in taken:
            count += 1
            free = f"{word}_{count}"
        taken.add(free)
        yield free


def shown(name: str) -> str:
    r"""The name in double quotes and on one line: it can neither end a comment line nor hide what it does.

    >>> print(shown('a "b"\n*/ c'))
    "a \"b\"\n* / c"
    """
    return "".join(
        c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(name, ensure_ascii=False)
    ).replace("*/", "* /")


def comments(prefix: str, columns: Iterable[Column]) -> list[str]:
    """One line of comment for every column, from its identifier to its name."""
    return [f"{prefix}   {column.identifier} = {shown(column.name)}" for column in columns]
