"""Typeset formulas say what the formula says: read back from the MathML, they have the same values."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

from fouriertree import Model, PrimitiveSet, parse
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.expression import Expression
from fouriertree.report.mathml import formula

FUNCTIONS = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "ln": np.log, "tanh": np.tanh, "arcsin": np.arcsin, "sgn": np.sign,
    "sinh": np.sinh, "cosh": np.cosh, "erf": erf,
    "arccos": np.arccos, "arctan": np.arctan, "min": np.minimum, "max": np.maximum, "absolute": np.abs, "root": np.sqrt,
}  # fmt: skip
SIGNS = {
    "{": "{",
    "|": "|",
    ">": ">",
    "−": "-",
    "+": "+",
    "⋅": "*",
    "·": "*",
    "\u2062": "*",
    "=": "==",
    "(": "(",
    ")": ")",
    ",": ",",
}


def read(element):
    """An element of MathML as an expression of Python."""
    parts = [read(child) for child in element]
    text = (element.text or "").replace("−", "-")
    match element.tag:
        case "mn":
            return f"({text})"
        case "mo":
            return SIGNS.get(element.text, element.text)
        case "mi" if text == "e" and element.get("mathvariant") == "normal":
            return f"({np.e!r})"
        case "mi":
            return text
        case "msub":
            return parts[0] + parts[1].strip("()")
        case "mfrac":
            return f"(({parts[0]})/({parts[1]}))"
        case "msup":
            return f"(({parts[0]})**({parts[1]}))"
        case "msqrt":
            return f"root({''.join(parts)})"
        case "mroot":
            return f"(({parts[0]})**(1/({parts[1]})))"
        case "mrow" if parts[0] == "{":
            return parts[1]
        case "mtable":
            (first, condition), (second, _) = [[read(cell) for cell in line] for line in element]
            return f"np.where({condition}, {first}, {second})"
        case "mtd":
            return "".join(parts)
        case "mtr" | "mtext":
            return ""
        case "mrow" if parts and parts[0] == "|" == parts[-1]:
            return f"(absolute({''.join(parts[1:-1])}))"
        case "mrow" if any(child.tag == "mo" and child.text in "−⋅·\u2062" for child in element):
            # What is a row of its own for the eye need not be one for the arithmetic, so no parentheses here.
            return "".join(parts)
        case "math" | "mrow":
            return "".join(parts)
    raise AssertionError(f"unexpected element {element.tag}")


def value_of(printed, X):
    pieces = [ElementTree.fromstring(part + "</math>") for part in printed.split("</math>") if part.strip()]
    code = "".join(read(piece) for piece in pieces[1:])
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    with np.errstate(all="ignore"):
        return eval(code, {"__builtins__": {}, "np": np} | FUNCTIONS | columns) * np.ones(len(X))


X = np.random.default_rng(0).uniform(0.3, 0.9, (30, 2))
LEAVES = st.sampled_from(["x0", "x1", "2", "0.5", "-1.25", "3e-9", "-7e12"])


def grown(children):
    binary = st.builds(lambda a, s, b: f"(({a}){s}({b}))", children, st.sampled_from("+-*/"), children)
    unary = st.builds(
        lambda f, a: f"{f}({a})",
        st.sampled_from(["sin", "exp", "sqrt", "abs", "log", "inv", "tanh", "square", "cube", "neg"]),
        children,
    )
    power = st.builds(lambda a, p: f"({a})^({p})", children, st.sampled_from(["0.5", "-2", "1.5", "x0"]))
    return st.one_of(binary, unary, power)


@given(st.recursive(LEAVES, grown, max_leaves=8))
@settings(deadline=None, max_examples=60)
def test_a_typeset_equation_has_the_values_of_the_expression(text):
    expression = parse(text)
    with np.errstate(all="ignore"):
        expected = expression.evaluate(X)
    if not np.isfinite(expected).all() or not 1e-6 < np.abs(expected).min() <= np.abs(expected).max() < 1e15:
        return
    found = value_of(formula(Model.from_expression(expression), "y"), X)
    # Six digits are printed, and differences of large numbers lose some of them.
    scale = np.abs(expected).max() + sum(abs(c) for c in expression.constants if np.isfinite(c))
    assert found == pytest.approx(expected, rel=1e-2, abs=1e-4 * scale)


@pytest.mark.parametrize(
    "text",
    ["0.05*x0 + 10.04*x1", "abs(2^x0)",
     "x0 - (x1 - 2)", "-(x0 + x1)*3", "2*(x0 - x1) - 3*(x0 + 1)", "x0/(x1/3)", "(-2.5*x0)^2", "-x0^2", "-(x0^2)/x1",
     "1e-7*x0", "min(x0, x1)", "asin(x0)", "sin(-2*x0)", "x0 - sin(-x1)", "(x0 + x1)^-1.5", "abs(x0 - x1)",
     "exp(-x0*x1)"],
)  # fmt: skip
def test_signs_parentheses_and_powers_are_where_they_belong(text):
    expression = parse(text)
    found = value_of(formula(Model.from_expression(expression), "y"), X)
    assert found == pytest.approx(expression.evaluate(X), rel=1e-6)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_operator_is_typeset_with_its_values(name):
    row = CATALOGUE[name]
    expression = Expression.apply(row, *map(Expression.variable, range(row.arity)))
    # In a product and in a sum, too, where brackets may be needed.
    for whole in (expression, expression * 2.5 * expression, 0.5 - (expression - 1.5)):
        found = value_of(formula(Model.from_expression(whole), "y"), X)
        assert found == pytest.approx(whole.evaluate(X), rel=1e-6)


def test_terms_keep_the_order_of_the_table():
    printed = formula(Model.from_expression(parse("x1 + 0.5*x0 - 3"), ("b", "a")), "y")
    assert printed.index(">a<") < printed.index(">b<") < printed.index(">3<")


def test_between_words_a_product_has_a_sign():
    product = parse("2*x0*x1")
    assert "⋅" in formula(Model.from_expression(product, ("angle", "speed")), "y")
    assert "⋅" not in formula(Model.from_expression(product), "y")


def test_protected_operators_are_typeset_as_cases_without_internal_names():
    printed = formula(Model.from_expression(parse("pdiv(x0*x1, x1) + plog(x0)"), ("a", "b")), "y")
    assert printed.count("otherwise") == 2
    assert "column" not in printed
    assert "piecewise" not in printed


@pytest.mark.parametrize(
    "name", ["<b>", '"', "&amp;", "a b", "日本", "e", "sin", "True", "columnaaaaaa", "x 1"]
)
def test_a_name_round_trips(name):
    printed = formula(Model.from_expression(parse("2*sin(x0)"), (name,)), name)
    texts = [
        element.text
        for part in printed.split("</math>")
        if part.strip()
        for element in ElementTree.fromstring(part + "</math>").iter()
    ]
    assert texts.count(name) == 2 + (name == "sin")


def test_a_user_defined_operator_is_typeset_as_a_function():
    operators = PrimitiveSet(["add"])
    operators.add("half", lambda a: 0.5 * a)
    operators.add("drag", lambda a: a * abs(a), forms={"latex": r"\frac{{a}}{{a}}"})
    assert "<mi>half</mi>" in formula(Model((1.0,), (parse("half(x0)", primitives=operators),)), "y")
    assert "<mfrac>" in formula(Model((1.0,), (parse("drag(x0)", primitives=operators),)), "y")


def test_a_formula_that_would_double_at_every_level_is_refused():
    tree = Expression.variable(0)
    for _ in range(60):
        tree = Expression.apply("pdiv", 1.0, tree + 2.0)
    with pytest.raises(ValueError, match="MathML takes formulas of"):
        formula(Model((1.0,), (tree,)), "y")


def test_a_sum_without_terms_is_zero():
    assert "<mn>0</mn>" in formula(Model((), ()), "y")
