"""Excel workbooks (.xlsx), by openpyxl."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from datetime import date, time, timedelta
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import pandas as pd

from fouriertree.errors import InputError, listed, suggestion
from fouriertree.io.tables.source import Source, optional_package, reading
from fouriertree.io.tables.table import Table, check_names, named

SUFFIXES = ("xlsx", "xlsm")
OLD_SUFFIX = "xls"


def read(source: Source, sheet: str | None) -> Table:
    """The sheet of that name, or the first; its first nonempty row has the names of the columns."""
    book = open_book(source)
    page = chosen(source.name, book.worksheets, sheet)
    numbered = enumerate(page.iter_rows(values_only=True), 1)
    rows = [(number, cells) for number, cells in numbered if not all(map(empty, cells))]
    if not rows:
        raise InputError(f"{source.name} is empty; it needs a header line with the names of the columns")
    (first, header), *below = rows
    check_merged(source.name, page, first)
    width = max(max(i for i, cell in enumerate(cells) if not empty(cell)) for _, cells in rows) + 1
    names = ["" if empty(cell) else str(cell).strip() for cell in header[:width]]
    check_names(source.name, names)
    cells = [[plain(cell) for cell in row[:width]] for _, row in below]
    notes, n = [], len(book.worksheets)
    if sheet is None and n > 1:
        notes = [f"{source.name} has {n} sheets; the first, {page.title!r}, is read; choose with --sheet"]
    return Table(source.name, pd.DataFrame(cells, columns=named(names)), notes=tuple(notes))


def open_book(source: Source) -> Any:
    package = optional_package("openpyxl", "Excel")
    try:
        # openpyxl warns about formatting, which is not read.
        with reading(source.name), source.open() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return package.load_workbook(BytesIO(file.read()), data_only=True)
    except (BadZipFile, KeyError, ValueError, TypeError, package.utils.exceptions.InvalidFileException):
        raise InputError(
            f"{source.name} is not an Excel workbook, or it is damaged or locked; save it again"
        ) from None


def chosen(name: str, sheets: Sequence[Any], wanted: str | None) -> Any:
    titles = [sheet.title for sheet in sheets]
    if not sheets:
        raise InputError(f"{name} has no sheet with cells")
    if wanted is None:
        return sheets[0]
    if wanted not in titles:
        hint = suggestion(wanted, titles) or ";"
        raise InputError(f"{name} has no sheet {wanted!r}{hint} its sheets are {listed(titles)}")
    return sheets[titles.index(wanted)]


def check_merged(name: str, page: Any, header: int) -> None:
    for span in page.merged_cells.ranges:
        if span.min_row <= header <= span.max_row and span.max_col > span.min_col:
            raise InputError(
                f"{name} has merged cells in its header ({span}); give every column its own name, in one row"
            )


def empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def plain(cell: Any) -> Any:
    """The cell, with dates and times as text and None for an empty cell."""
    if empty(cell):
        return None
    return str(cell) if isinstance(cell, date | time | timedelta) else cell


def write(cells: pd.DataFrame) -> bytes:
    book = optional_package("openpyxl", "Excel").Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(list(cells.columns))
    for row in cells.itertuples(index=False):
        sheet.append([None if missing(cell) else cell for cell in row])
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def missing(cell: Any) -> bool:
    """Whether the cell has no representation in a sheet."""
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))
