"""The header of a text table: separator and names.  Shell completion uses it, so pandas is not imported here."""

from __future__ import annotations

import csv
from io import StringIO
from unicodedata import normalize

from fouriertree.errors import InputError
from fouriertree.io.tables.source import Source, reading

SEPARATORS = ",;\t"
TAB_SUFFIXES = ("tsv", "tab")
#: maximum number of lines of a header, inside of quotes
MAX_LINES = 100


def composed(name: str) -> str:
    """The name in Unicode normal form C: macOS and Windows encode accented letters differently."""
    return normalize("NFC", name)


def read_header(source: Source) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    record = first_record(source)
    if not record:
        raise InputError(f"{source.name} is empty; it needs a header line with the names of the columns")
    try:
        names = {separator: names_in(record, separator) for separator in SEPARATORS}
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise InputError(f"{source.name} is not a CSV file: its header has a {error}") from None
    # The separator with most columns, preferably one that leaves no quote in a name; commas win ties.
    separator = max(
        SEPARATORS, key=lambda one: (len(names[one]) > 1 and is_clean(record, one), len(names[one]))
    )
    if source.suffix in TAB_SUFFIXES and len(names["\t"]) > 1:
        separator = "\t"
    return separator, [composed(name.strip()) for name in names[separator]]


def names_in(record: str, separator: str, strict: bool = False) -> list[str]:
    lines = StringIO(record, newline="")
    return next(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict))


def is_clean(record: str, separator: str) -> bool:
    """Whether every quoted name ends at a separator."""
    try:
        names_in(record, separator, strict=True)
    except csv.Error:
        return False
    return True


def first_record(source: Source) -> str:
    """The first line that is not blank, and the lines after it while a quote is open."""
    lines: list[str] = []
    with reading(source.name), source.lines() as text:
        for line in text:
            if lines or line.strip():
                lines.append(line)
            if lines and "".join(lines).count('"') % 2 == 0:
                return "".join(lines)
            if len(lines) == MAX_LINES:
                break
    # A quote that is never closed is part of a name, such as 5".
    return lines[0] if lines else ""
