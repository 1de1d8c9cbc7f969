"""The reader of all table files; the suffix gives the format."""

from __future__ import annotations

from pathlib import Path

from fouriertree.errors import InputError
from fouriertree.io.tables import excel, parquet, text
from fouriertree.io.tables.source import source_of
from fouriertree.io.tables.table import Table


def read_table(path: Path, sheet: str | None = None) -> Table:
    """The table in a file, or in the standard input for `-`; `sheet` selects a sheet of an Excel workbook."""
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
