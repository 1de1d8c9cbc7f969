"""Names come from untrusted files: control characters in them are escaped on a terminal."""

import csv
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from fouriertree import SymbolicRegressor
from fouriertree.cli import app
from fouriertree.cli import show as shows
from fouriertree.io.terminal import is_printable, printable

NAMES = ("a\x1b[31mred\x07", "\r\u202eover\x9b2J")


@pytest.fixture(scope="module")
def table():
    x = np.linspace(1.0, 3.0, 12)
    return pd.DataFrame({NAMES[0]: x, NAMES[1]: 2.0 * x + 1.0})


@pytest.fixture(scope="module")
def fitted(table):
    return SymbolicRegressor(max_evaluations=300, random_state=0).fit(table[[NAMES[0]]], table[NAMES[1]])


def assert_harmless(text):
    assert not [c for c in text if not c.isprintable() and c not in "\n "], text


@given(st.text())
def test_escaped_text_is_printable_and_printable_text_is_unchanged(text):
    assert all(map(is_printable, printable(text)))
    assert printable(text) == text or not text.isprintable()


@pytest.mark.parametrize("text", ["größe 名前 μ", "a\xa0b", "👩\u200d🔬", ""])
def test_letters_of_every_script_are_unchanged(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    "character", ["\x1b", "\x07", "\r", "\b", "\x9b", "\u202e", "\u2028", "\ud800", "\0", "\x7f"]
)
def test_control_characters_are_escaped(character):
    assert printable(f"a{character}b") == f"a{ascii(character)[1:-1]}b"


def test_the_table_of_equations_escapes_names(fitted):
    assert NAMES[0] in fitted.get_best()["equation"]
    assert_harmless(str(fitted))
    assert r"\x1b[31m" in str(fitted)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_names_send_no_control_characters_to_a_terminal(fitted, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    shows.show(fitted, NAMES[1])
    assert "\x1b[31m" not in screen.getvalue()
    assert "\x07" not in screen.getvalue()
    assert "\x9b" not in screen.getvalue()
    assert "\u202e" not in screen.getvalue()


def test_the_command_escapes_names(tmp_path, table):
    path = tmp_path / "d.csv"
    table.to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    runner = CliRunner()
    common = ["--max-evaluations", "300", "--seed", "0"]
    good = runner.invoke(app, ["fit", str(path), "-t", NAMES[1], "-o", str(tmp_path / "m.json"), *common])
    assert good.exit_code == 0, good.stderr
    assert_harmless(good.stdout)
    bad = runner.invoke(app, ["fit", str(path), "-t", "none\x1b[2J", *common])
    assert bad.exit_code == 2
    assert_harmless(bad.stderr)
    assert bad.stderr.count("\n") == 1


def test_an_export_with_control_characters_goes_to_a_file_and_not_to_a_terminal(
    tmp_path, fitted, monkeypatch
):
    from fouriertree.cli import export
    from fouriertree.errors import InputError

    path, out = tmp_path / "m.json", tmp_path / "formula.sql"
    fitted.save(path, "y")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    with pytest.raises(InputError, match="control characters for a terminal; write it to a file with -o"):
        export.export(path, "sqlite", None, None)
    assert screen.getvalue() == ""
    export.export(path, "sqlite", None, out)
    assert NAMES[0] in out.read_text("utf-8")
    export.export(path, "c", None, None)
    assert "\x1b" not in screen.getvalue()


def test_bad_input_is_shortened_in_messages(tmp_path):
    result = CliRunner().invoke(app, ["fit", "d.csv", "-t", "y", "--operators", "a" * 50_000])
    assert result.exit_code == 2
    assert len(result.stderr) < 1200


# Tables -----------------------------------------------------------------------------------------------------
def fit(tmp_path, content):
    (tmp_path / "d.csv").write_bytes(content)
    return CliRunner().invoke(
        app, ["fit", str(tmp_path / "d.csv"), "-t", "y", "--max-evaluations", "100", "--seed", "0"]
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a" * 200_000 + b",y\n1,2\n3,4\n", "is not a CSV file: its header has a field larger than"),
        (b'"a\nb","a\nb",y\n1,2,3\n4,5,6\n', r"has more than one column called 'a\nb'"),
        (b"a,y\n" + b"9" * 400 + b",2\n3,4\n", "column 'a' of "),
        (b"a,y\n1\x00,2\n3,4\n", "has text in row 1"),
    ],
)
def test_a_hostile_table_is_refused_with_one_message(tmp_path, content, sentence):
    result = fit(tmp_path, content)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_header_that_a_spreadsheet_would_evaluate_is_unchanged(tmp_path):
    """`predict -o` adds a column and changes no cell; escaping for spreadsheets is left to the user."""
    x = np.linspace(1.0, 3.0, 12)
    pd.DataFrame({"=1+1": x, "y": 2.0 * x + 1.0}).to_csv(tmp_path / "d.csv", index=False)
    run = CliRunner()
    model, out = str(tmp_path / "m.json"), tmp_path / "out.csv"
    assert (
        run.invoke(
            app, ["fit", str(tmp_path / "d.csv"), "-t", "y", "-o", model, "--max-evaluations", "300"]
        ).exit_code
        == 0
    )
    assert run.invoke(app, ["predict", model, str(tmp_path / "d.csv"), "-o", str(out)]).exit_code == 0
    lines = out.read_text("utf-8").splitlines()
    assert lines[0] == "=1+1,y,prediction"
    assert [line.rpartition(",")[0] for line in lines] == (tmp_path / "d.csv").read_text("utf-8").splitlines()
