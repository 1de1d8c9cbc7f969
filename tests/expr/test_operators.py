"""The table of operators: every entry is complete, and everything else follows from it."""

import ast
import itertools
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from llvmlite import binding, ir

import fouriertree
from fouriertree.cli.completion import TARGETS
from fouriertree.engine.intrinsics import emit_loop
from fouriertree.engine.lanes import FLOAT32, FLOAT64, INT64
from fouriertree.expr import Expression, PrimitiveSet, differentiate, opcodes, parse
from fouriertree.expr.calculus import FINITE, derivative_template, filled_in
from fouriertree.expr.canonical import canonical
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.operators.entry import Primitive
from fouriertree.expr.operators.forms import LANGUAGES, PLACE, Absent, Form, Nodes
from tests.operators import EXACT, FUNCTIONS

SOURCE = Path(fouriertree.__file__).parent
#: folders that deal with operators
FOLDERS = ("expr", "engine", "uncertainty", "export", "report", "plotting", "cli", "selection", "search")
#: operators that came after the rules of algebra: the package must refer to them in their entries only
ADDED = [row for row in CATALOGUE.values() if not hasattr(opcodes, row.name.upper())]
X = np.array(
    [-np.inf, -1e300, -40.0, -2.0, -0.5, -1e-300, -0.0, 0.0, 5e-324, 0.3, 1.0, 7.0, 800.0, np.inf, np.nan]
)


def of_columns(row):
    return Expression.apply(row, *(Expression.variable(k) for k in range(row.arity)))


# completeness ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_every_operator_has_every_part_or_declares_its_absence(row):
    assert callable(row.reference)
    assert callable(row.kernel)
    assert callable(row.interval)
    assert row.derivative is not None
    assert len(row.derivative) == row.arity
    assert row.complexity >= 1
    assert row.fault
    assert set(LANGUAGES) <= set(row.forms) <= {*LANGUAGES, "mathml"}
    for language, form in row.forms.items():
        assert isinstance(form, Absent if isinstance(form, Absent) else Nodes if language == "onnx" else Form)


@pytest.mark.parametrize("table", [FUNCTIONS, EXACT], ids=["FUNCTIONS", "EXACT"])
def test_the_tests_have_every_operator_by_other_libraries(table):
    missing = sorted(set(CATALOGUE) - set(table))
    assert not missing, f"add {', '.join(missing)} to FUNCTIONS and EXACT in tests/operators.py"


def assembly(row, lanes):
    """The code of the loop over an operator, before it is compiled."""
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [INT64] * 6), "loop")
    builder = ir.IRBuilder(function.append_basic_block())
    emit_loop(builder, lanes, row, list(function.args))
    builder.ret_void()
    return str(module)


@pytest.mark.parametrize("lanes", [FLOAT64, FLOAT32], ids=lambda lanes: lanes.suffix)
@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_a_kernel_emits_valid_code_for_both_types(row, lanes):
    binding.parse_assembly(assembly(row, lanes)).verify()


def test_in_a_kernel_a_number_may_come_before_a_vector():
    before, after = (
        Primitive("own", 1, 63, np.positive, kernel=kernel)
        for kernel in (lambda m, x: 1.0 + 2.0 * x, lambda m, x: x * 2.0 + 1.0)
    )
    assert assembly(before, FLOAT64) == assembly(after, FLOAT64)


def test_the_languages_are_the_export_targets():
    assert set(LANGUAGES) == set(TARGETS) - {"json"}


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_the_templates_of_an_operator_have_exactly_its_arguments(row):
    for form in row.forms.values():
        for variant in (form, form.whole, form.broken) if isinstance(form, Form) else ():
            if variant is not None:
                assert set(PLACE.findall(variant.text)) == set("ab"[: row.arity])


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_the_templates_in_an_entry_are_expressions_of_its_arguments(row):
    arguments = [Expression.variable(k) for k in range(row.arity)]
    for text in row.derivative:
        assert derivative_template(text, row.arity, PrimitiveSet.catalogue()).size > 0
    for text in filter(None, (row.jump, row.pole and row.pole.zero)):
        assert set(filled_in(text, row, arguments).columns) <= set(range(row.arity))


def test_an_absence_has_a_reason_that_is_a_sentence():
    absences = [form for row in CATALOGUE.values() for form in row.forms.values() if isinstance(form, Absent)]
    assert absences
    assert all(len(form.reason.split()) >= 3 for form in absences)


# one place ---------------------------------------------------------------------------------------------------------
@cache
def named_in_sources():
    """Constants, as their repr, and names in every source that deals with operators."""
    found = {}
    for path in (path for folder in FOLDERS for path in SOURCE.glob(f"{folder}/**/*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        constants = {repr(node.value) for node in nodes if isinstance(node, ast.Constant)}
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        found[path.relative_to(SOURCE).as_posix()] = constants | names
    return found


@pytest.mark.parametrize("row", ADDED, ids=lambda row: row.name)
def test_a_later_operator_occurs_only_in_its_entry(row):
    """As a string or an opcode, wherever the package deals with operators; elsewhere, a step is another thing."""
    found = {path for path, names in named_in_sources().items() if names & {repr(row.name), row.name.upper()}}
    # The compiler of recipes recognises the difference in step(p − q); the search has sinh of products.
    uses = {
        "engine/tape.py",
        "expr/vocabulary.py",
        "search/hybrid/compositions.py",
        "search/hybrid/products.py",
    }
    assert {path for path in found - uses if not path.startswith("expr/operators/")} == set()


# meaning -----------------------------------------------------------------------------------------------------------
def test_values_at_zero_are_as_documented():
    values = {name: float(CATALOGUE[name].reference(np.zeros(1))[0]) for name in ("sign", "step", "relu")}
    assert values == {"sign": 0.0, "step": 0.0, "relu": 0.0}


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_the_value_of_nan_is_nan(row):
    assert np.isnan(row.reference(*[np.array([np.nan])] * row.arity)[0])


@pytest.mark.parametrize("row", [row for row in CATALOGUE.values() if row.parity], ids=lambda row: row.name)
def test_parity_holds_on_ordinary_and_on_edge_values(row):
    np.testing.assert_array_equal(row.reference(-X), row.parity * row.reference(X))


@pytest.mark.parametrize("row", [row for row in CATALOGUE.values() if row.zeros], ids=lambda row: row.name)
def test_an_operator_vanishes_where_the_declared_arguments_do_and_nowhere_else(row):
    finite = X[np.isfinite(X) & (np.abs(X) > 1e-100) & (np.abs(X) < 1e100)]
    for k in range(row.arity):
        arguments = [np.full(len(finite), 2.0) for _ in range(row.arity)]
        arguments[k] = finite
        assert not (row.reference(*arguments) == 0.0).any()
        arguments[k] = np.zeros(len(finite))
        if k in row.zeros:
            assert (row.reference(*arguments) == 0.0).all()


@pytest.mark.parametrize(
    "row", [row for row in CATALOGUE.values() if row.multiplicative], ids=lambda row: row.name
)
def test_multiplicative_operators_have_one_sign_for_arguments_of_one_sign(row):
    size = np.array([1e-3, 0.5, 1.0, 2.0, 30.0])
    for signs in itertools.product((-1.0, 1.0), repeat=row.arity):
        grid = [axis.ravel() for axis in np.meshgrid(*(sign * size for sign in signs))]
        values = row.reference(*grid)
        if row.name != "pow" or signs[0] > 0.0:
            assert len(set(np.sign(values[np.isfinite(values)]))) <= 1


@pytest.mark.parametrize("row", [row for row in CATALOGUE.values() if row.domain], ids=lambda row: row.name)
def test_outside_of_its_domain_an_operator_has_no_value(row):
    inside = X[(row.domain.lower <= X) & (row.domain.upper >= X) & np.isfinite(X) & (X != 0)]
    outside = X[(row.domain.lower > X) | (row.domain.upper < X)]
    outside = outside[np.isfinite(outside)]
    rest = [np.full(1, 0.5)] * (row.arity - 1)
    assert np.isfinite(row.reference(inside, *rest)).all()
    assert np.isnan(row.reference(outside, *rest)).all()


@pytest.mark.parametrize("row", [row for row in CATALOGUE.values() if row.pole], ids=lambda row: row.name)
def test_at_a_pole_values_are_infinite_unless_it_is_protected(row):
    if row.pole.argument is None:
        pytest.skip("no number is exactly there")
    at = [np.array([2.0]), np.array([-1.5])][: row.arity]
    at[row.pole.argument] = np.zeros(1)
    assert np.isfinite(row.reference(*at)[0]) == row.pole.protected
    at[row.pole.argument] = np.array([1e-300])
    assert np.abs(row.reference(*at)[0]) > 600.0


@pytest.mark.parametrize("row", [row for row in CATALOGUE.values() if row.jump], ids=lambda row: row.name)
def test_an_operator_jumps_where_declared(row):
    below, above = row.reference(np.array([-5e-324, 5e-324]))
    assert abs(above - below) >= 1.0


# derivatives -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", ADDED, ids=lambda row: row.name)
def test_a_derivative_is_the_difference_quotient(row):
    x = np.array([-3.0, -1.2, -0.4, 0.3, 0.9, 2.5])
    e, rows = of_columns(row), np.column_stack([x, x[::-1]])
    rows = rows[np.isfinite(e.evaluate(rows))]
    assert len(rows) > 0
    for k, step in enumerate(1e-6 * np.eye(2)[: row.arity]):
        quotient = (e.evaluate(rows + step) - e.evaluate(rows - step)) / 2e-6
        np.testing.assert_allclose(differentiate(e, k).evaluate(rows), quotient, rtol=1e-7, atol=1e-9)


def test_finite_is_allowed_in_derivatives_only():
    assert all(FINITE.opcode not in differentiate(of_columns(row), 0).op for row in CATALOGUE.values())
    with pytest.raises(ValueError, match="finite"):
        parse("finite(x0)")


# text and algebra --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_an_operator_is_read_back_as_it_is_printed(row):
    e = of_columns(row)
    assert parse(str(e)) == e
    assert parse(f"{row.name}({', '.join(f'x{k}' for k in range(row.arity))})") == e


@pytest.mark.parametrize("row", ADDED, ids=lambda row: row.name)
def test_the_algebra_takes_an_operator_as_an_opaque_function(row):
    first, second, number = (
        f"{row.name}({', '.join([argument, 'x1'][: row.arity])})" for argument in ("x0 + x1", "x1 + x0", "1")
    )
    e = parse(f"2*{first} + 3*{second} - {number}*x0/x0")
    settled = canonical(e)
    rows = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 2))
    np.testing.assert_allclose(settled.evaluate(rows), e.evaluate(rows), rtol=1e-13)
    assert settled.size < e.size


@pytest.mark.parametrize("row", [row for row in ADDED if row.parity], ids=lambda row: row.name)
def test_a_sign_is_moved_out_of_an_odd_or_even_function(row):
    sign = "-" if row.parity < 0 else ""
    assert canonical(parse(f"{row.name}(-x0)")) == parse(f"{sign}{row.name}(x0)")


# LaTeX and MathML --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_mathml_has_the_words_and_signs_of_latex(row):
    from fouriertree.export.mathml import MATHML, translated

    latex = row.forms["latex"]
    assert MATHML.declared(row).text == translated(row.forms.get("mathml", latex).text)
    element = ElementTree.fromstring(f"<math>{PLACE.sub('', translated(latex.text))}</math>")
    words = {part.text for part in element.iter("mi")}
    commands = re.findall(
        r"\\operatorname\{(\w+)\}|\\(?!frac|sqrt|left|right|cdot|operatorname)(\w+)", latex.text
    )
    assert words == {name or other for name, other in commands}
    numbers = {part.text for part in element.iter("mn")}
    assert numbers == set(re.findall(r"\d+", latex.text))


def test_other_latex_raises():
    from fouriertree.export.mathml import translated

    for text in (r"\frac{{a}", r"\left({a}", "{a} ~ {b}", "^{2}"):
        with pytest.raises((ValueError, IndexError)):
            translated(text)
