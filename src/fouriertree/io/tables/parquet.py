"""Parquet files, by pyarrow."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd

from fouriertree.errors import InputError
from fouriertree.io.tables.source import Source, optional_package, reading
from fouriertree.io.tables.table import Table, check_names, named

SUFFIXES = ("parquet", "pq")


def read(source: Source) -> Table:
    arrow = optional_package("pyarrow.parquet", "Parquet")
    try:
        with reading(source.name), source.open() as file:
            table = arrow.parquet.ParquetFile(file).read()
    except (arrow.ArrowException, ValueError):
        raise InputError(f"{source.name} is not a Parquet file, or it is damaged") from None
    names = list(table.column_names)
    if not names:
        raise InputError(f"{source.name} is empty; it needs columns with names")
    check_names(source.name, names)
    columns = dict(zip(named(names), (plain(arrow, column) for column in table.columns), strict=True))
    return Table(source.name, pd.DataFrame(columns))


def plain(arrow: Any, column: Any) -> pd.Series:
    """Numeric columns as numbers, others as text: a date must not be read as a number of nanoseconds."""
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kinds.is_boolean(column.type):
        column = column.cast(arrow.int8())
    if kinds.is_decimal(column.type) or kinds.is_null(column.type):
        column = column.cast(arrow.float64())
    if kinds.is_integer(column.type) or kinds.is_floating(column.type):
        return pd.Series(column.to_pandas())
    return pd.Series([None if cell is None else str(cell) for cell in column.to_pylist()], dtype=object)


def write(cells: pd.DataFrame) -> bytes:
    arrow = optional_package("pyarrow.parquet", "Parquet")
    file = BytesIO()
    arrow.parquet.write_table(arrow.Table.from_pandas(cells, preserve_index=False), file)
    return file.getvalue()
