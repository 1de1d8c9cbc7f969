"""An SQL expression, or a query, in three dialects.

No dialect computes quite as IEEE says, so what has no finite value is NULL here, an infinity where the database
keeps one, and never another number.
"""

from __future__ import annotations

from dataclasses import dataclass

from fouriertree.errors import shortened
from fouriertree.export.errors import ExportError
from fouriertree.export.language import Language, literals, written
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.model import Model

#: brackets within each other: the parser of SQLite keeps 100 words, of which a bracket can need seven
DEEPEST_SQLITE, DEEPEST = 12, 100


def subquery(text: str, name: str, value: str) -> str:
    """`text`, in which `name` stands for `value`: SQL has no other way to compute a part once."""
    return f"(SELECT {text} FROM (SELECT {value} AS {name}) AS s_{name})"


def with_exponent(value: float) -> str:
    """A number that DuckDB takes for a double: without an exponent it would be a decimal."""
    return repr(value) if "e" in repr(value) else f"{value!r}e0"


SQLITE = Language(
    "SQL (sqlite)",
    "sqlite",
    literals("9e999", "NULL"),
    lines=False,
    let=subquery,
    deepest=DEEPEST_SQLITE,
)
DUCKDB = Language(
    "SQL (duckdb)",
    "duckdb",
    literals("CAST('inf' AS DOUBLE)", "CAST('nan' AS DOUBLE)", with_exponent),
    lines=False,
    let=subquery,
    deepest=DEEPEST,
)
POSTGRESQL = Language(
    "SQL (postgresql)",
    "postgresql",
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
