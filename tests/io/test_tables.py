"""One reader for all formats: equal values from each of them, and equal messages about invalid cells."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fouriertree.errors import InputError
from fouriertree.io.tables.header import read_header
from fouriertree.io.tables.reading import read_table
from fouriertree.io.tables.source import DASH, Source
from fouriertree.io.tables.table import check_names
from fouriertree.io.tables.writing import with_columns

pytest.importorskip("pyarrow")
openpyxl = pytest.importorskip("openpyxl")

HOSTILE = ["a b", "100 %", 'say "x"', "two\nlines", "Größe", "a,b;c\td", "[bold]", "-x", "'", "{0}"]
FRAME = pd.DataFrame(
    np.random.default_rng(0).normal(size=(5, len(HOSTILE))) * 10.0 ** np.arange(-5, 5), columns=HOSTILE
)


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        separator = {".tsv": "\t", ".txt": ";"}.get(path.suffix, ",")
        frame.to_csv(path, index=False, sep=separator)
    return path


FORMATS = ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.parquet", "t.xlsx"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_values_under_the_same_names(tmp_path, name):
    table = read_table(write(FRAME, tmp_path / name))
    assert table.names == HOSTILE
    found = table.numbers(HOSTILE, "")
    # A workbook keeps 15 to 17 digits, as whoever wrote it pleases.
    np.testing.assert_allclose(found, FRAME.to_numpy(), rtol=1e-14 if name.endswith("xlsx") else 0.0)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([1.0, None], "column 'a' of .* has no value in row 2"),
        ([1.0, "oops"], "column 'a' of .* has text in row 2: 'oops'; advice"),
        ([1.0, "1,5"], "column 'a' of .* has text in row 2: '1,5'; advice"),
        (["2024-01-01", "2024-01-02"], "column 'a' of .* has text in row 1: '2024-01-01'; advice"),
    ],
)
def test_invalid_cells_have_the_same_message_in_every_format(tmp_path, name, cells, sentence):
    if name == "t.txt" and "1,5" in cells:
        pytest.skip("between semicolons, that is a decimal comma")
    frame = pd.DataFrame({"a": cells, "b": [1.0, 2.0]})
    if name.endswith("parquet"):
        frame["a"] = frame["a"].map(lambda cell: None if pd.isna(cell) else str(cell))
    with pytest.raises(InputError, match=sentence):
        read_table(write(frame, tmp_path / name)).numbers(["a"], "; advice")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_infinite_cells_are_rejected(tmp_path, name):
    path = write(pd.DataFrame({"a": [1.0, np.inf]}), tmp_path / name)
    with pytest.raises(InputError, match=r"column 'a' of .* has an infinite value in row 2"):
        read_table(path).numbers(["a"], "")


@example(names=["0", ","], separator=";")
@example(names=["0", ",,"], separator=";")
@given(
    names=st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8
        )
        .map(str.strip)
        .filter(bool),
        min_size=2,
        max_size=5,
        unique=True,
    ),
    separator=st.sampled_from(",;\t"),
)
@settings(max_examples=60, deadline=None)
def test_the_separator_of_a_quoted_header_is_inferred_for_any_names(names, separator):
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    source = Source("t", content=(separator.join(quoted) + "\n1" + separator + "2\n").encode())
    found, read = read_header(source)
    assert found == separator
    assert len(read) == len(names)


def test_a_quote_inside_a_name_is_part_of_it():
    source = Source("t", content=b'5" pipe,y\n' + b"1,2\n" * 300)
    assert read_header(source) == (",", ['5" pipe', "y"])


def test_a_tsv_file_is_separated_by_tabs_however_many_commas_it_has(tmp_path):
    (tmp_path / "t.tsv").write_text("a, b, c, d\ty\n1\t2\n", "utf-8")
    assert read_table(tmp_path / "t.tsv").names == ["a, b, c, d", "y"]


def test_parquet_has_nulls_dates_booleans_and_an_index(tmp_path):
    frame = pd.DataFrame(
        {"whole": [1, None], "when": pd.to_datetime(["2024-01-01", None]), "flag": [True, False]},
        index=[5, 7],
    ).astype({"whole": "Int64"})
    frame["kind"] = pd.Categorical([1.5, 2.5])
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.nameless == ["__index_level_0__"]
    assert table.numbers(["flag", "kind"], "").tolist() == [[1.0, 1.5], [0.0, 2.5]]
    with pytest.raises(InputError, match=r"'whole' of .* has no value in row 2"):
        table.numbers(["whole"], "")
    with pytest.raises(InputError, match=r"'when' of .* has text in row 1: '2024-01-01 00:00:00'"):
        table.numbers(["when"], "")


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "t.csv.gz"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1xxxx", b"PK\x03\x04", b"\x1f\x8b\x08"])
def test_a_file_of_another_format_than_its_suffix_has_a_clear_message(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    if name == "t.csv.gz" and content.isascii() and content:
        # Text that is not compressed is text all the same.
        assert read_table(path).names
        return
    with pytest.raises(InputError, match=r"is not|is empty|is compressed and damaged"):
        read_table(path)


def test_a_truncated_compressed_file_is_reported_as_damaged(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1.5,2.5\n" * 5000)
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="is compressed and damaged"):
        read_table(tmp_path / "t.csv.gz")


def test_the_error_about_an_old_workbook_names_the_next_step(tmp_path):
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(InputError, match=r"old format; save it as .xlsx or .csv"):
        read_table(tmp_path / "t.xls")


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.parquet", "pyarrow.parquet", "parquet"), ("t.xlsx", "openpyxl", "excel")],
)
def test_the_error_about_a_missing_package_names_its_extra(tmp_path, monkeypatch, name, package, extra):
    path = write(FRAME, tmp_path / name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"need a package: pip install 'fouriertree\[{extra}\]'"):
        read_table(path)


def workbook(path, *rows, merged=(), more=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for span in merged:
        book.active.merge_cells(span)
    for title in more:
        book.create_sheet(title)
    book.save(path)
    return path


def test_empty_rows_and_columns_of_a_sheet_are_ignored(tmp_path):
    path = workbook(
        tmp_path / "t.xlsx", [], ["a", " b ", None, None], [], [1, 2, None, None], ["", " "], [3, 4]
    )
    table = read_table(path)
    assert table.names == ["a", "b"]
    assert table.numbers(["a", "b"], "").tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_the_error_about_a_merged_header_names_its_cells(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ["title", None], ["a", "b"], [1, 2], merged=["A1:B1"])
    with pytest.raises(
        InputError, match=r"merged cells in its header \(A1:B1\); give every column its own name"
    ):
        read_table(path)


def test_sheets_are_chosen_by_name_and_several_are_noted(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ["a"], [1], more=["Run 7"])
    assert "has 2 sheets; the first, 'Sheet', is read" in read_table(path).notes[0]
    assert read_table(path, "Sheet").notes == ()
    with pytest.raises(InputError, match="has no sheet 'run7'; did you mean 'Run 7'"):
        read_table(path, "run7")
    with pytest.raises(InputError, match="is empty"):
        read_table(path, "Run 7")
    with pytest.raises(InputError, match="--sheet is about Excel workbooks"):
        read_table(write(FRAME, tmp_path / "t.csv"), "Run 7")


def test_a_sheet_with_a_date_or_an_error_in_it_has_text_there(tmp_path):
    date = pd.Timestamp("2024-05-01").to_pydatetime()
    table = read_table(workbook(tmp_path / "t.xlsx", ["a", "b"], [1, date], ["#DIV/0!", date]))
    with pytest.raises(InputError, match="has text in row 2: '#DIV/0!'"):
        table.numbers(["a"], "")
    with pytest.raises(InputError, match="has text in row 1: '2024-05-01 00:00:00'"):
        table.numbers(["b"], "")


def test_names_are_compared_in_unicode_normal_form(tmp_path):
    with pytest.raises(InputError, match="more than one column called 'é'"):
        check_names("t", ["é", "e\u0301"])
    path = workbook(tmp_path / "t.xlsx", ["a", "a"], [1, 2])
    with pytest.raises(InputError, match="more than one column called 'a'"):
        read_table(path)


class Stdin:
    closed = False

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_standard_input_is_read_once_and_compressed_or_not(monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", Stdin(pack(b"\xef\xbb\xbfa\tb\n1\t2\n")))
    table = read_table(DASH)
    assert table.numbers(["a", "b"], "").tolist() == [[1.0, 2.0]]
    assert with_columns(table, {"c": np.array([0.1])}, DASH) == b"a\tb\tc\n1\t2\t0.1\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the standard input is empty"),
        ("Größe,y\n1,2\n".encode("latin-1"), "the standard input is not text in UTF-8"),
        (b"PAR1\x00\xff", "the standard input is not text in UTF-8"),
        (b"a,b\n1,2,3\n", "the standard input is not a CSV file: row 1 has 3 cells"),
    ],
)
def test_errors_about_the_standard_input_name_it(monkeypatch, content, sentence):
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    with pytest.raises(InputError, match=sentence):
        read_table(DASH)


def test_a_closed_standard_input_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="the standard input is closed"):
        read_table(DASH)


@pytest.mark.parametrize("out", FORMATS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_table_with_an_added_column_round_trips_in_every_format(tmp_path, name, out):
    table = read_table(write(FRAME, tmp_path / name))
    more = np.array([0.1, 1e300, -2.5, 1 / 3, 7.0])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / out).write_bytes(with_columns(table, {"more": more}, tmp_path / "out" / out))
    again = read_table(tmp_path / "out" / out)
    assert again.names == [*HOSTILE, "more"]
    np.testing.assert_allclose(again.numbers(HOSTILE, ""), FRAME.to_numpy(), rtol=1e-14)
    np.testing.assert_allclose(again.numbers(["more"], "")[:, 0], more, rtol=1e-14)


def test_a_value_that_is_not_finite_is_an_empty_cell_of_a_sheet(tmp_path):
    table = read_table(write(FRAME[["a b"]].head(2), tmp_path / "t.csv"))
    (tmp_path / "o.xlsx").write_bytes(
        with_columns(table, {"p": np.array([np.inf, 1.0])}, tmp_path / "o.xlsx")
    )
    assert np.isnan(read_table(tmp_path / "o.xlsx").cells["p"][0])
