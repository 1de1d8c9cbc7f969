"""A PyTorch module whose parameters are the constants and coefficients of a model."""

from typing import Any

from fouriertree.export.errors import ExportError
from fouriertree.export.names import shown
from fouriertree.export.trainable import trainable
from fouriertree.model import Model


def write(model: Model) -> str:
    """Source of a module `Formula`: from the features X (…, n_features) of the fit to values (…)."""
    columns, code, numbers = trainable(model, "PyTorch", "torch", 'X.new_tensor(float("{value}"))')
    value = code.value if columns else f"({code.value}).expand(X.shape[:-1])"
    lines = [
        "import torch",
        *code.helpers,
        "",
        "",
        "class Formula(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        f"        self.numbers = torch.nn.Parameter(torch.tensor({numbers!r}, dtype=torch.float64))",
        "",
        "    def forward(self, X):",
        "        c = self.numbers",
        *(
            f"        {column.identifier} = X[..., {column.number}]  # {shown(column.name)}"
            for column in columns
        ),
        *(f"        {name} = {text}" for name, text in code.parts),
        f"        return {value}",
    ]
    return "\n".join(lines) + "\n"


def module(model: Model) -> Any:
    """An instance of the module."""
    try:
        import torch  # noqa: F401 - the source needs it
    except ImportError:
        raise ExportError("the target 'torch' needs a package: pip install 'fouriertree[torch]'") from None
    names: dict[str, Any] = {"__name__": "fouriertree_formula"}
    exec(compile(write(model), "<formula>", "exec"), names)
    return names["Formula"]()
