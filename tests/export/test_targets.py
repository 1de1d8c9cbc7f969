"""Properties of all targets, and of SymPy, JSON and literals."""

import json
import re

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import Model, PrimitiveSet, parse
from fouriertree.export import TARGETS, ExportError, export
from fouriertree.export.excel import literal as excel_literal
from fouriertree.export.functions import r_number
from fouriertree.export.latex import literal as latex_literal
from fouriertree.export.tree import whole_tree
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import PRODUCT, UNARY
from fouriertree.expr.operators.forms import Form

from .models import evaluated, every_operator, expected, random_models, rows, shapes
from .runners import CODE, numbers, python, sqlite
from .test_contract import agrees, is_absent

TEXT = [name for name, target in TARGETS.items() if target.extra is None]
MODEL = Model((2.0, -0.5), (parse("sin(x0)"), parse("x1^2")), ("angle", "speed"))


def own_operator():
    operators = PrimitiveSet(["add"])
    operators.add("half", lambda a: 0.5 * a)
    return Model((1.0,), (parse("half(x0)", primitives=operators),)), operators


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "json"])
def test_an_operator_without_a_form_raises_with_its_name(target):
    if TARGETS[target].extra:
        pytest.importorskip(TARGETS[target].extra)
    with pytest.raises(ExportError, match=r"has no half, a custom operator; .* JSON"):
        export(own_operator()[0], target)


def test_a_custom_operator_is_written_by_its_declared_form():
    operators = PrimitiveSet(["add"])
    operators.add(
        "half", lambda a: 0.5 * a, forms={"python": "half({a})", "c": Form("{a} / 2.0", PRODUCT, (UNARY, 0))}
    )
    model = Model((1.0,), (parse("half(x0 + 1)", primitives=operators),))
    assert "return half(x0 + 1.0)" in export(model, "python")
    assert "return (x0 + 1.0) / 2.0;" in export(model, "c")
    with pytest.raises(ExportError, match="Julia has no half, a custom operator"):
        export(model, "julia")


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        ({"cobol": "half({a})"}, "not a language"),
        ({"c": "half(x)"}, r"must contain \{a\}"),
        ({"c": "f({a}, {b})"}, "must contain"),
    ],
)
def test_an_invalid_form_raises(forms, message):
    with pytest.raises(ValueError, match=message):
        PrimitiveSet(["add"]).add("half", lambda a: 0.5 * a, forms=forms)


def test_json_stores_custom_operators_by_name():
    model, operators = own_operator()
    back = Model.from_json(json.loads(export(model, "json")), operators)
    assert back.expressions == model.expressions


@pytest.mark.parametrize("model", [*random_models(10), MODEL])
def test_json_round_trips_bit_for_bit(model):
    back = Model.from_json(json.loads(export(model, "json")))
    assert (back.names, back.coefficients) == (model.names, model.coefficients)
    assert back.expressions == model.expressions


def test_json_raises_for_a_coefficient_that_is_not_finite():
    with pytest.raises(ExportError, match="JSON has no infinities"):
        export(Model((np.inf,), (parse("x0"),)), "json")


def test_an_unknown_target_raises_with_a_suggestion():
    with pytest.raises(ExportError, match="no target 'sql'; did you mean 'sqlite'"):
        export(MODEL, "sql")
    with pytest.raises(ExportError, match="no target 'cobol'; choose one of python, sympy"):
        export(MODEL, "cobol")


def test_an_unknown_option_raises():
    with pytest.raises(ExportError, match="'latex' has no option 'table'"):
        export(MODEL, "latex", table="data")
    with pytest.raises(ExportError, match="'sqlite' has no option 'dialect'"):
        export(MODEL, "sqlite", dialect="duckdb")


@pytest.mark.parametrize("name", ["", "a b", "1a", "while", "f()", "f\n"])
@pytest.mark.parametrize("target", CODE)
def test_a_function_name_is_an_identifier(target, name):
    with pytest.raises(ExportError, match="cannot be called"):
        export(MODEL, target, function=name)
    assert "velocity_2(" in export(MODEL, target, function="velocity_2") or target == "r"


@pytest.mark.parametrize("target", TEXT)
def test_every_target_has_every_operator_or_a_reason_for_its_absence(target):
    for model in every_operator():
        if is_absent(target, model) and target != "json":
            with pytest.raises(ExportError, match=r"has no \w+: .* has no .*; choose an equation without it"):
                export(model, target)
        else:
            assert isinstance(export(model, target), str)


def test_targets_have_descriptions():
    for name, target in TARGETS.items():
        assert name == target.name
        assert target.suffix.startswith(".")
        assert target.description


def test_the_printed_dialect_of_postgresql_never_divides_by_zero_or_leaves_a_domain():
    text = export(Model((1.0,), (parse("log(x0)/x1"),), ("a", 'b"')), "postgresql", table="data")
    guarded = """(CASE WHEN CAST("a" AS float8) > 0.0 THEN ln(CAST("a" AS float8)) END)"""
    assert text == f'SELECT {guarded} / NULLIF(CAST("b""" AS float8), 0.0) AS prediction\nFROM "data";\n'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_constants_round_trip_exactly(value):
    assert eval_excel(excel_literal(value)[0]) == value
    text = r_number(value)
    assert (float.fromhex(text) if "x" in text else float(text)) == value
    latex = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", latex_literal(value)[0])
    assert float(latex) == value
    model = Model((value,), (parse("x0"),))
    for target in set(TEXT) - {"r", "excel", "latex"}:
        text = export(model, target)
        if value not in (0.0, 1.0, -1.0):
            assert any(number(word) == value for word in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", text)), text


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


def eval_excel(text):
    """A constant as a spreadsheet reads it: 15 digits."""
    parts = re.findall(r"[-+]?[\d.]+(?:E[-+]?\d+)?", text.strip("()"))
    assert all(len(re.sub(r"E.*|[-+.]", "", part).lstrip("0")) <= 15 for part in parts)
    return sum(map(float, parts))


def test_the_tree_of_an_export_has_the_values_of_the_model():
    X = rows()
    for model in random_models(20):
        wanted = expected(model, X)
        assert (agrees(whole_tree(model).evaluate(X), wanted) | ~wanted.clear).all()


def test_sympy_source_builds_the_same_expression():
    """On ordinary rows, where all parts are finite: SymPy does algebra and no arithmetic, x/x is 1 there."""
    X = rows()[:60]
    moderate = [model for model in shapes() if "300" not in str(model)]  # 1e300*1e300 is a number in SymPy
    for model in [*every_operator(), *moderate, *random_models(15)]:
        formula, symbols = built(export(model, "sympy"))
        wanted = expected(model, X)
        if formula.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            assert not (wanted.clear & wanted.finite).any()
            continue
        found = symbolic_values(formula, symbols, X[:, numbers(model)])
        with np.errstate(all="ignore"):
            sizes = np.abs(evaluated(whole_tree(model), X)).max(axis=0)
            close = np.abs(found - wanted.values) <= 1e-12 * sizes + 10.0 * wanted.tolerance
        assert (close | ~wanted.clear | ~wanted.finite).all(), str(model)


def built(source):
    names = {}
    exec(source, names)
    formula = names.pop("formula")
    return formula, [value for value in names.values() if isinstance(value, sympy.Symbol)]


def symbolic_values(formula, symbols, columns):
    function = sympy.lambdify(symbols, formula, ["scipy", "numpy"])
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(function(*columns.T), dtype=float), len(columns))


def test_sympy_symbols_have_the_names_of_the_features():
    formula, _ = built(export(Model((2.0,), (parse("x0*x1"),), ("top speed", 'a"\n')), "sympy"))
    assert {symbol.name for symbol in formula.free_symbols} == {"top speed", 'a"\n'}


def test_repeated_subtrees_are_computed_once():
    """Otherwise n nested protected divisions would have 2^n subtrees."""
    tree = Expression.variable(0)
    for _ in range(40):
        tree = Expression.apply("pdiv", 1.0, tree + 2.0)
    model = Model((1.0,), (tree,))
    for target in (*CODE, "sympy", "duckdb", "torch", "jax"):
        assert len(TARGETS[target].write(model)) < 20_000
    with pytest.raises(ExportError, match="Excel takes formulas of 8192 characters"):
        export(model, "excel")
    (found,) = python([model], np.array([[1.0]]), None)
    assert found == pytest.approx(model.predict([[1.0]]))


def test_an_expression_too_deep_for_a_parser_raises():
    tree = Expression.variable(0)
    for _ in range(100):
        tree = Expression.apply("sin", tree + 2.0)
    model = Model((1.0,), (tree,))
    with pytest.raises(ExportError, match=r"SQL \(sqlite\) takes formulas of 12 levels"):
        export(model, "sqlite")
    with pytest.raises(ExportError, match="Excel takes 64 nested parentheses"):
        export(model, "excel")
    long = Model((1.5,) * 1000, (parse("sin(x0)"),) * 1000)
    with pytest.raises(ExportError, match="Excel takes formulas of 8192 characters"):
        export(long, "excel")


@pytest.mark.parametrize(
    "pattern", ["sin({} + 2)", "2 + 3*({})", "pdiv(1, 2 + 3*({}))", "plog(1 - {})", "-({} - 1)"]
)
def test_expressions_within_the_depth_limit_are_parsed_by_sqlite(pattern, tmp_path):
    text, refused = "x0", False
    for _ in range(30):
        text = pattern.format(text)
        model = Model((0.5, 1.5), (parse("x0"), parse(text)))
        try:
            export(model, "sqlite")
        except ExportError:
            refused = True
            break
        assert len(sqlite([model], np.array([[0.5]]), tmp_path)) == 1
    assert refused
