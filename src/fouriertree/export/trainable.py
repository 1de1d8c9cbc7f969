"""PyTorch modules and JAX functions, whose parameters are the constants and coefficients of a model."""

import math
from typing import Any

from fouriertree.export.errors import ExportError
from fouriertree.export.language import Language
from fouriertree.export.prepared import filled, prepared
from fouriertree.expr.opcodes import ATOM
from fouriertree.model import Model

TORCH_TEMPLATE = """\
import torch
$helper


class Formula(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers = torch.nn.Parameter(torch.tensor($numbers, dtype=torch.float64))

    def forward(self, X):
        c = self.numbers
        $column = X[..., $number]  # $name
        $part = $text
        return $value
"""
JAX_TEMPLATE = """\
import jax.numpy as jnp
$helper

PARAMETERS = $numbers


def predict(parameters, X):
    c = parameters
    $column = X[..., $number]  # $name
    $part = $text
    return $value
"""


def write_torch(model: Model) -> str:
    """Source of a module `Formula`: from the features X (…, n_features) of the fit to values (…)."""
    other, constant = 'X.new_tensor(float("{}"))', "({}).expand(X.shape[:-1])"
    return _written(model, "PyTorch", "torch", TORCH_TEMPLATE, other, constant)


def write_jax(model: Model) -> str:
    """Source of `predict(parameters, X)`, with the features X (…, n_features) of the fit, and of its `PARAMETERS`."""
    other, constant = 'jnp.array(float("{}"))', "jnp.broadcast_to({}, X.shape[:-1])"
    return _written(model, "JAX", "jax", JAX_TEMPLATE, other, constant)


def _written(model: Model, name: str, key: str, template: str, other: str, constant: str) -> str:
    """Source over parameters c[0], c[1], …; `other` writes infinities and NaN, `constant` a value without features."""
    numbers: list[float] = []

    def literal(value: float) -> tuple[str, float]:
        if not math.isfinite(value):
            return other.format(repr(value)), ATOM
        numbers.append(value)
        return f"c[{len(numbers) - 1}]", ATOM

    columns, code = prepared(model, Language(name, key, literal))
    value = code.value if columns else constant.format(code.value)
    return filled(template, columns, code, value=value, numbers=numbers)


def torch_module(model: Model) -> Any:
    """An instance of the module."""
    try:
        import torch  # noqa: F401 - the source needs it
    except ImportError:
        raise ExportError("the target 'torch' needs a package: pip install 'fouriertree[torch]'") from None
    return _executed(write_torch(model))["Formula"]()


def jax_function(model: Model) -> tuple[Any, Any]:
    """(function of parameters and X, parameters).

    It is in double precision only after `jax.config.update("jax_enable_x64", True)`.
    """
    try:
        import jax.numpy as jnp
    except ImportError:
        raise ExportError("the target 'jax' needs a package: pip install 'fouriertree[jax]'") from None
    names = _executed(write_jax(model))
    return names["predict"], jnp.asarray(names["PARAMETERS"])


def _executed(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "fouriertree_formula"}
    exec(compile(source, "<formula>", "exec"), names)
    return names
