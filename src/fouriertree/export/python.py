"""Python source that needs only NumPy."""

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model

PYTHON = Language("Python", "python", literals("np.inf", "np.nan"))


def write(model: Model, function: str = "predict") -> str:
    """A function of the features of the expression: scalars, or arrays of one shape."""
    columns, code = prepared(model, PYTHON)
    names = [column.identifier for column in columns]
    lines = [
        "import numpy as np",
        *code.helpers,
        "",
        "",
        f"def {checked_function(function)}({', '.join(names)}):",
        *comments("    #", columns),
        *(f"    {name} = np.asarray({name}, dtype=np.float64)" for name in names),
        '    with np.errstate(all="ignore"):',
        *(f"        {name} = {text}" for name, text in code.parts),
        f"        return {code.value}",
    ]
    return "\n".join(lines) + "\n"
