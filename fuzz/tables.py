"""CSV files: the values are those of a reference reader, and `predict -o` changes no cell."""

from __future__ import annotations

import csv
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from fouriertree.cli import LONGEST_SENTENCE
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.cli.fitting.columns import training_sample
from fouriertree.cli.predict import write_with_rows
from fouriertree.cli.show import shortened
from fouriertree.errors import InputError
from fouriertree.io.tables.reading import read_table
from fouriertree.io.tables.table import Table

from .cases import check_sentence, scratch

TABLES = [
    b"a,b,y\n1,2,3\n2,3,5\n3,5,9\n", b"a;b;y\n1,5;2;3\n2,5;-3e2;5\n", b"a\tb\ty\n1\t2\t3\n4\t5\t6\n",
    b'"a ""q""","b\nc",y\r\n"1","2",3\r\n4,5,6\r\n', b"\xef\xbb\xbfa,y\n1,2\n3,4\n", b"a,,y\n1,2,3\n4,5,6\n",
    b"a,y\n1e5,.5\n-2.,+3\n\n  \n7,8\n", b"a,y\nTrue,1\nFalse,2\n", b"a,y\n1,2\n,4\n", b"a,y\n1,2,3\n",
    b"a,a,y\n1,2,3\n",
    b"a,y\n1\x00,2\n3,4\n", b'a,y\n"1,2\n3,4\n', b"1,2\n3,4\n5,6\n", "größe,y\nnan,2\n3,4\n".encode(),
    b"a,y\n1,1e999\n2,3\n",
    b"a,y\n99999999999999999999,1\n9007199254740993,2\n", b"\x1b[31m,y\n1,2\n2,3\n", b"=1+1,y\n1,2\n2,3\n",
]  # fmt: skip


def check_table(data: bytes) -> None:
    path = scratch("table.csv", data)
    try:
        table = read_table(path)
    except InputError as error:
        check_sentence(as_printed(error))
        return
    check_written(path, table)
    if not table.names:
        return
    try:
        with redirect_stderr(io.StringIO()):
            sample = training_sample(table, FitArguments(target=table.names[-1]))
    except InputError as error:
        check_sentence(as_printed(error))
        return
    X, y = sample.X, sample.y
    values = np.column_stack([X.to_numpy(), y.to_numpy()])
    assert np.isfinite(values).all()
    check_values(path, table, [*X.columns, y.name], values)


def as_printed(error: InputError) -> str:
    """The message as the command prints it, with long names shortened."""
    return shortened(str(error), LONGEST_SENTENCE)


def check_written(path: Path, table: Table) -> None:
    """The file with predictions has the same cells and one more column."""
    assert table.notation is not None
    separator, decimal = table.notation.separator, table.notation.decimal
    out = path.with_name("out.csv")
    out.unlink(missing_ok=True)
    predicted = np.linspace(0.1, 1.0, len(table))
    try:
        with redirect_stdout(io.StringIO()):
            write_with_rows(out, table, predicted)
    except InputError as error:
        check_sentence(as_printed(error))
        return
    before, after = rows_of(path, separator), rows_of(out, separator)
    assert [row[-1] for row in after[1:]] == [
        repr(value).replace(".", decimal) for value in predicted.tolist()
    ]
    # pandas skips some rows of separators alone.
    assert [cells for row in after if (cells := trimmed(row[:-1]))] == [
        cells for row in before if (cells := trimmed(row))
    ]


def check_values(path: Path, table: Table, names: list[str], values: np.ndarray) -> None:
    assert table.notation is not None
    _, *rows = rows_of(path, table.notation.separator)
    places = [table.names.index(name) for name in names]
    slow = [[number(row[place], table.notation.decimal) for place in places] for row in rows]
    np.testing.assert_array_equal(values, np.array(slow))


def rows_of(path: Path, separator: str) -> list[list[str]]:
    """The cells, by the csv module; blank lines are no rows."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=separator, skipinitialspace=True))
    csv.field_size_limit(131072)
    kept = [row for row in rows if trimmed(row) or len(row) > 1]
    if kept and kept[0]:
        # pandas removes some of several byte-order marks, also below blank lines.
        kept[0][0] = kept[0][0].lstrip("\ufeff")
    return kept


def trimmed(row: list[str]) -> list[str]:
    """Without trailing empty cells, which are optional."""
    cells = list(row)
    while cells and not cells[-1].strip(" \t"):
        cells.pop()
    return cells


def number(cell: str, decimal: str) -> float:
    words = {"true": 1.0, "false": 0.0}
    text = cell.strip().lower()
    return words[text] if text in words else float(text.replace(decimal, "."))
