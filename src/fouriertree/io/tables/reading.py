"""One reader for all tables; what is inside is told by the name of the file."""

from __future__ import annotations

from pathlib import Path

from fouriertree.errors import InputError
from fouriertree.io.tables import excel, parquet, text
from fouriertree.io.tables.source import source_of
from fouriertree.io.tables.table import Table

#: suffixes of files that may be tables
SUFFIXES = ("csv", "tsv", "tab", "txt", *parquet.SUFFIXES, *excel.SUFFIXES)


def read_table(path: Path, sheet: str | None = None) -> Table:
    """The table of a file, or of the standard input for `-`; `sheet` is one of an Excel workbook."""
    source = source_of(path)
    if source.suffix in excel.SUFFIXES:
        return excel.read(source, sheet)
    if sheet is not None:
        raise InputError(f"--sheet is about Excel workbooks (.xlsx), and {source.name} is none")
    if source.suffix == excel.OLD_SUFFIX:
        raise InputError(f"{source.name} is a workbook in an old format; save it as .xlsx or .csv")
    if source.suffix in parquet.SUFFIXES:
        return parquet.read(source)
    return text.read(source)
