"""Feature names may be any text: an export is the same expression and nothing else."""

import re
import sqlite3

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fouriertree import Model, parse
from fouriertree.export import TARGETS, ExportError, export
from fouriertree.export.keywords import RESERVED
from fouriertree.export.names import identifier, shown

from .runners import CODE, EXACT, identifiers, python, spreadsheet

NASTY = [
    "x1", "x0", "while", "np", "sin", "Math", "t1", "T1", "a b", "100 %", "größe", "μ", "", "2nd", "_", "__",
    'a"b', "a'b", "a`b", "*/ int main() {", "// x", "-- x", "; DROP TABLE data; --", '"; DROP TABLE data; --',
    "`; DROP TABLE data; --", "a\nimport os", "a\r\nb", "a\u2028b", "a\\", "a\\\n", "??/", "%{", "#=", "{a}", "{b}",
    "${x}", "=1+1", "=cmd|' /C calc'!A0", "\t=1+1", "$x$", "\\input{x}", "}", "^^M", "~", "&", "#", "\u202e",
    "I", "EOF", "M_PI", "predict", "X", "c", "power_or_nan", "tmax_with_nan", "NaN", "#{", '"""', "'''",
]  # fmt: skip
names = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
pairs = st.lists(names, min_size=2, max_size=2, unique=True).map(tuple)
TREE = parse("2.0*x0 - sin(x1)/pdiv(x0, x1 + 1) + min(x0, x1)^2.5")
X = np.random.default_rng(0).uniform(0.5, 2.0, (6, 2))


def model_with(names):
    return Model((1.0,), (TREE,), names)


def without_comments(text):
    """Without the lines that begin as that of the first feature does."""
    mark = re.search(r'^ *(\S+) +\w+ = "', text, re.MULTILINE)[1]
    return "\n".join(line for line in text.split("\n") if not line.strip().startswith(mark))


@given(pairs)
@example(("a b", "a_b"))
@example(("a\nb", "a_b"))
def test_python_values_do_not_depend_on_the_feature_names(names):
    model = model_with(names)
    (found,) = python([model], X, None)
    assert found == pytest.approx(model.predict(X), rel=1e-12)


@given(pairs)
@pytest.mark.parametrize("target", CODE)
def test_a_name_changes_identifiers_and_comments_and_nothing_else(target, names):
    """The code is that of the same expression with plain names."""
    model = model_with(names)
    words = dict(zip(("first", "second"), identifiers(model), strict=True))
    plain = without_comments(export(model_with(("first", "second")), target))
    renamed = re.sub(r"\b(first|second)\b", lambda match: words[match[1]], plain)
    assert without_comments(export(model, target)) == renamed


@given(pairs)
@pytest.mark.parametrize("target", [*CODE, "sympy"])
def test_what_a_name_adds_is_one_printable_line_each(target, names):
    text = export(model_with(names), target)
    lines = len(export(model_with(("first", "second")), target).splitlines())
    assert len(text.splitlines()) == lines
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("target", CODE)
def test_compilers_accept_every_hostile_name(target, tmp_path):
    models = [model_with((a, b)) for a, b in zip(NASTY, [*NASTY[1:], "z"], strict=True)]
    for model, found in zip(models, EXACT[target](models, X, tmp_path), strict=True):
        assert found == pytest.approx(model.predict(X), rel=1e-12)


@given(st.lists(names, min_size=1, max_size=6))
def test_identifiers_are_not_reserved_in_any_language(texts):
    for text in texts:
        word = identifier(text)
        assert word == "" or re.fullmatch("[A-Za-z][A-Za-z0-9_]*", word)
        assert word not in RESERVED
        assert "__" not in word


@settings(max_examples=40)
@given(pairs)
def test_databases_find_the_column_and_nothing_else(names):
    for dialect in ("sqlite", "duckdb"):
        check_database(dialect, names)


def check_database(dialect, names):
    try:
        query = export(model_with(names), dialect, table=TABLE)
    except ExportError:
        assert any(not name or "\0" in name or not encodable(name) for name in names)
        return
    if len({name.lower() for name in names}) < 2:
        return  # Two such columns cannot be in one table.
    connection = connect(dialect)
    first, second, table = (quoted(dialect, name) for name in (*names, TABLE))
    kind = "REAL" if dialect == "sqlite" else "DOUBLE"
    connection.execute(f"CREATE TABLE {table} ({first} {kind}, {second} {kind})")
    connection.execute(f"INSERT INTO {table} VALUES (?, ?)", [0.75, 1.5])
    ((value,),) = connection.execute(query).fetchall()
    connection.close()
    assert value == pytest.approx(model_with(names).predict([[0.75, 1.5]])[0], rel=1e-12)


TABLE = 'da"t`a'


def connect(dialect):
    return sqlite3.connect(":memory:") if dialect == "sqlite" else pytest.importorskip("duckdb").connect()


def quoted(dialect, name):
    quote = "`" if dialect == "sqlite" else '"'
    return quote + name.replace(quote, quote + quote) + quote


def encodable(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_a_missing_column_is_an_error_in_sqlite_and_not_the_number_zero():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (other REAL)")
    connection.execute("INSERT INTO data VALUES (1.0)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(export(Model((1.0,), (parse("x0"),), ("speed",)), "sqlite", table="data"))


def test_an_empty_text_is_no_zero_in_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (speed)")
    connection.executemany("INSERT INTO data VALUES (?)", [("",), ("1.5",), (3,), (None,)])
    query = export(Model((2.0,), (parse("1/x0"),), ("speed",)), "sqlite", table="data")
    assert [value for (value,) in connection.execute(query)] == [
        None,
        pytest.approx(4 / 3),
        pytest.approx(2 / 3),
        None,
    ]


def test_an_empty_cell_is_no_zero_in_a_spreadsheet():
    text = export(Model((1.0,), (parse("x0 + x1"),)), "excel")
    assert np.isnan(spreadsheet(text, [0, 1], np.array([[1.0, np.nan]]))).all()
    assert spreadsheet(text, [0, 1], np.array([[1.0, 2.0]])) == [3.0]


@given(pairs)
def test_a_spreadsheet_gets_one_formula_and_texts(names):
    lines = export(model_with(names), "excel").split("\n")
    plain = export(model_with(None), "excel").split("\n")
    assert lines[0] == plain[0]
    assert len(lines) == len(plain)
    assert all(re.match(r'[AB]2: ".*"$', line) and line.isprintable() for line in lines[1:-1])


@given(pairs)
def test_latex_reads_a_name_as_text(names):
    text = export(model_with(names), "latex")
    assert "\n" not in text.split("% pdiv(a, b) is a/b, and 1 where b = 0\n")[1].rstrip("\n")
    # Without what is escaped, braces are in pairs, and what is left of the names has no other special characters.
    bare = re.sub(r"\\(textbackslash|textasciicircum|textasciitilde)\{\}|\\[%&#$_{}]", "", text)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    for inside in re.findall(r"\\text\{([^{}]*)\}", bare):
        assert not set(inside) & set("\\%&#$_^~{}")


def test_matplotlib_renders_the_latex():
    from matplotlib.mathtext import MathTextParser

    for names in [("mass", "top speed"), ("x0", "alpha"), ("a_b", "m")]:
        text = export(model_with(names), "latex").splitlines()[-1]
        MathTextParser("path").parse(f"${text}$")


@given(st.text())
def test_a_shown_name_is_one_printable_line_that_ends_no_comment(name):
    text = shown(name)
    assert text.isprintable()
    assert text.startswith('"')
    assert text.endswith('"')
    assert "*/" not in text


def test_every_target_takes_a_model_without_names():
    for target in TARGETS:
        if TARGETS[target].extra is None:
            assert export(model_with(None), target)


def test_an_expression_with_more_features_than_names_raises():
    with pytest.raises(ExportError, match="uses feature x1, but has only 1 name"):
        export(model_with(("a",)), "c")
