"""An SQL expression, or a query, in three dialects.

No dialect follows IEEE arithmetic, so a value that is not finite is NULL, or infinite where the database has
infinities, and never another number.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fouriertree.errors import shortened
from fouriertree.export.errors import ExportError
from fouriertree.export.language import Language, literals, written
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.model import Model

#: nested parentheses: the parser stack of SQLite has 100 entries, of which a parenthesis can need seven
DEEPEST_SQLITE, DEEPEST = 12, 100


def subquery(text: str, name: str, value: str) -> str:
    """`text`, in which `name` is `value`: SQL has no other local variables."""
    return f"(SELECT {text} FROM (SELECT {value} AS {name}) AS s_{name})"


def with_exponent(value: float) -> str:
    """A literal of type double in DuckDB: without an exponent it would be a decimal."""
    return repr(value) if "e" in repr(value) else f"{value!r}e0"


@dataclass(frozen=True)
class Dialect(Language):
    lines: bool = False
    let: Callable[[str, str, str], str] | None = subquery
    deepest: int = DEEPEST
    quote: str = '"'
    column: str = "CAST({name} AS float8)"  #: as a double

    def quoted(self, name: str) -> str:
        """A name as a quoted identifier."""
        if "\0" in name or not name or any("\ud800" <= c <= "\udfff" for c in name):
            raise ExportError(f"{self.name} has no columns called {shortened(name)}; rename it")
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def write(self, model: Model, table: str | None = None) -> str:
        """An SQL expression; with a table, the query of its values."""
        tree = whole_tree(model)
        columns = columns_of(model, tree)
        texts = {c.number: self.column.replace("{name}", self.quoted(c.name)) for c in columns}
        formula = written(tree, texts, self, {c.name.lower() for c in columns}).value
        if table is None:
            return f"{formula}\n"
        return f"SELECT {formula} AS prediction\nFROM {self.quoted(table)};\n"


# If there is no such column, SQLite reads "speed" as a text, and a text as 0; `speed` is always a column.
# Missing values are often empty texts in SQLite.
SQLITE = Dialect(
    "SQL (sqlite)", "sqlite", literals("9e999", "NULL"), deepest=DEEPEST_SQLITE, quote="`",
    column="CAST(NULLIF({name}, '') AS REAL)",
)  # fmt: skip
DUCKDB = Dialect(
    "SQL (duckdb)", "duckdb", literals("CAST('inf' AS DOUBLE)", "CAST('nan' AS DOUBLE)", with_exponent),
    column="CAST({name} AS DOUBLE)",
)  # fmt: skip
_POSTGRESQL_LITERALS = literals(
    "CAST('Infinity' AS float8)", "CAST('NaN' AS float8)", lambda value: f"CAST({value!r} AS float8)"
)
POSTGRESQL = Dialect("SQL (postgresql)", "postgresql", _POSTGRESQL_LITERALS)
