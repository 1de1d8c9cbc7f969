"""The header of a table in text: its separator and its names.  Imports nothing heavy, for completion in a shell."""

from __future__ import annotations

import csv
from io import StringIO
from unicodedata import normalize

from fouriertree.errors import InputError
from fouriertree.io.tables.source import Source, reading

SEPARATORS = ",;\t"
TAB_SUFFIXES = ("tsv", "tab")
#: lines that a header may have, inside of quotes
MOST_LINES = 100


def composed(name: str) -> str:
    """Letters with their accents in one piece (NFC), since macOS and Windows type the same letter differently."""
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
    # The first of those that make most columns, so that commas win a tie; rather one that leaves no quote in a name.
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
    """The first line that is not blank, with those that follow it as long as a quote is open."""
    lines: list[str] = []
    with reading(source.name), source.lines() as text:
        for line in text:
            if lines or line.strip():
                lines.append(line)
            if lines and "".join(lines).count('"') % 2 == 0:
                return "".join(lines)
            if len(lines) == MOST_LINES:
                break
    # A quote that stays open is part of a name, such as 5".
    return lines[0] if lines else ""
