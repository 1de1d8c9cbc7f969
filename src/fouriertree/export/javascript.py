"""JavaScript source, for browsers and for Node."""

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model

JAVASCRIPT = Language("JavaScript", "javascript", literals("Infinity", "NaN"))


def write(model: Model, function: str = "predict") -> str:
    """A function of scalars, one for every feature of the expression."""
    columns, code = prepared(model, JAVASCRIPT)
    name = checked_function(function)
    lines = [
        *code.helpers,
        *comments("//", columns),
        f"function {name}({', '.join(column.identifier for column in columns)}) {{",
        *(f"  const {part} = {text};" for part, text in code.parts),
        f"  return {code.value};",
        "}",
        f'if (typeof module !== "undefined") module.exports = {{ {name} }};',
    ]
    return "\n".join(lines) + "\n"
