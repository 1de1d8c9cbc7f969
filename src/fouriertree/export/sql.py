"""An SQL expression, or a query, in three dialects.

No dialect computes quite as IEEE says, so what has no finite value is NULL here, an infinity where the database
keeps one, and never another number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fouriertree.errors import shortened
from fouriertree.export.errors import ExportError
from fouriertree.export.language import (
    ARITHMETIC,
    BROKEN_POWER,
    WHOLE_POWER,
    Form,
    Language,
    calls,
    literals,
    written,
)
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model

#: brackets within each other: the parser of SQLite keeps 100 words, of which a bracket can need seven
DEEPEST_SQLITE, DEEPEST = 12, 100


def subquery(text: str, name: str, value: str) -> str:
    """`text`, in which `name` stands for `value`: SQL has no other way to compute a part once."""
    return f"(SELECT {text} FROM (SELECT {value} AS {name}) AS s_{name})"


COMMON = (
    ARITHMETIC
    | calls("abs tanh atan")
    | {
        "square": Form("power({a}, 2.0)"),
        "cube": Form("power({a}, 3.0)"),
        "pdiv": Form("CASE WHEN {b} = 0.0 THEN 1.0 ELSE {a} / {b} END", 0, (PRODUCT, UNARY)),
        "plog": Form("CASE WHEN {a} = 0.0 THEN 0.0 ELSE ln(abs({a})) END", 0),
    }
)
SQLITE = Language(
    "SQL (sqlite)",
    COMMON
    | calls("sin cos tan exp log=ln sqrt asin acos")
    | {
        "pow": Form("power({a}, {b})"),
        # With two arguments these are no aggregates, and NULL comes out if one is NULL.
        "min": Form("min({a}, {b})"),
        "max": Form("max({a}, {b})"),
    },
    literals("9e999", "NULL"),
    lines=False,
    let=subquery,
    deepest=DEEPEST_SQLITE,
)
#: outside of its domain a function stops the query, in PostgreSQL and in DuckDB before version 2
GUARDED = {
    **{
        name: Form(f"CASE WHEN abs({{a}}) < {{inf}} THEN {name}({{a}}) END", 0)
        for name in ("sin", "cos", "tan")
    },
    "log": Form("CASE WHEN {a} > 0.0 THEN ln({a}) END", 0),
    "sqrt": Form("CASE WHEN {a} >= 0.0 THEN sqrt({a}) END", 0),
    "asin": Form("CASE WHEN abs({a}) <= 1.0 THEN asin({a}) END", 0),
    "acos": Form("CASE WHEN abs({a}) <= 1.0 THEN acos({a}) END", 0),
    # least() leaves NULL out, and NaN counts as the greatest number.
    "min": Form(
        "CASE WHEN {a} <= {b} AND {b} <> {nan} THEN {a} WHEN {b} < {a} AND {a} <> {nan} THEN {b} END", 0
    ),
    "max": Form(
        "CASE WHEN {a} >= {b} AND {a} <> {nan} THEN {a} WHEN {b} > {a} AND {b} <> {nan} THEN {b} END", 0
    ),
}


def guarded(inf: str, nan: str) -> dict[str, Form]:
    return {
        name: replace(form, text=form.text.replace("{inf}", inf).replace("{nan}", nan))
        for name, form in GUARDED.items()
    }


def with_exponent(value: float) -> str:
    """A number that DuckDB takes for a double: without an exponent it would be a decimal."""
    return repr(value) if "e" in repr(value) else f"{value!r}e0"


DUCKDB = Language(
    "SQL (duckdb)",
    COMMON
    | guarded("CAST('inf' AS DOUBLE)", "CAST('nan' AS DOUBLE)")
    | calls("exp")
    | {"pow": Form("power({a}, {b})")},
    literals("CAST('inf' AS DOUBLE)", "CAST('nan' AS DOUBLE)", with_exponent),
    lines=False,
    let=subquery,
    deepest=DEEPEST,
)
POSTGRESQL = Language(
    "SQL (postgresql)",
    COMMON
    | guarded("CAST('Infinity' AS float8)", "CAST('NaN' AS float8)")
    | {
        "div": Form("{a} / NULLIF({b}, 0.0)", PRODUCT, (PRODUCT, 0)),
        "inv": Form("1.0 / NULLIF({a}, 0.0)", PRODUCT),
        "exp": Form("CASE WHEN {a} < -745.0 THEN 0.0 WHEN {a} < 709.0 THEN exp({a}) END", 0),
        WHOLE_POWER: Form("CASE WHEN {a} <> 0.0 OR {b} > 0.0 THEN power({a}, {b}) END", 0),
        BROKEN_POWER: Form("CASE WHEN {a} > 0.0 OR ({a} = 0.0 AND {b} > 0.0) THEN power({a}, {b}) END", 0),
        "pow": Form(
            "CASE WHEN ({a} > 0.0) OR ({a} = 0.0 AND {b} >= 0.0) OR ({a} < 0.0 AND {b} = floor({b}))"
            " THEN power({a}, {b}) END",
            0,
        ),
    },
    literals(
        "CAST('Infinity' AS float8)", "CAST('NaN' AS float8)", lambda value: f"CAST({value!r} AS float8)"
    ),
    lines=False,
    let=subquery,
    deepest=DEEPEST,
)


@dataclass(frozen=True)
class Dialect:
    language: Language
    quote: str
    column: str  #: a column as a double

    def quoted(self, name: str) -> str:
        """A name as an identifier, which ends where it should."""
        if "\0" in name or not name or any("\ud800" <= c <= "\udfff" for c in name):
            raise ExportError(f"{self.language.name} has no columns called {shortened(name)}; rename it")
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote


DIALECTS = {
    # If there is no such column, SQLite takes "speed" for a text, and a text for 0; `speed` is always a column.
    # A missing value is often an empty text there.
    "sqlite": Dialect(SQLITE, "`", "CAST(NULLIF({name}, '') AS REAL)"),
    "duckdb": Dialect(DUCKDB, '"', "CAST({name} AS DOUBLE)"),
    "postgresql": Dialect(POSTGRESQL, '"', "CAST({name} AS float8)"),
}


def write(model: Model, dialect: str, table: str | None = None) -> str:
    """The formula as an expression; or, with a table, as the query of its values."""
    chosen = DIALECTS[dialect]
    tree = whole_tree(model)
    columns = columns_of(model, tree)
    texts = {c.number: chosen.column.replace("{name}", chosen.quoted(c.name)) for c in columns}
    formula = written(tree, texts, chosen.language, {c.name.lower() for c in columns}).value
    return (
        f"{formula}\n" if table is None else f"SELECT {formula} AS prediction\nFROM {chosen.quoted(table)};\n"
    )
