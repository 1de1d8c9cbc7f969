"""A JAX function of the constants and coefficients of a model, and of the data."""

from typing import Any

from fouriertree.export.errors import ExportError
from fouriertree.export.names import shown
from fouriertree.export.trainable import trainable
from fouriertree.model import Model


def write(model: Model) -> str:
    """Source of `predict(parameters, X)`, with the features X (…, n_features) of the fit, and of its `PARAMETERS`."""
    columns, code, numbers = trainable(model, "JAX", "jax", 'jnp.array(float("{value}"))')
    value = code.value if columns else f"jnp.broadcast_to({code.value}, X.shape[:-1])"
    lines = [
        "import jax.numpy as jnp",
        *code.helpers,
        "",
        f"PARAMETERS = {numbers!r}",
        "",
        "",
        "def predict(parameters, X):",
        "    c = parameters",
        *(f"    {column.identifier} = X[..., {column.number}]  # {shown(column.name)}" for column in columns),
        *(f"    {name} = {text}" for name, text in code.parts),
        f"    return {value}",
    ]
    return "\n".join(lines) + "\n"


def function(model: Model) -> tuple[Any, Any]:
    """(function of parameters and X, parameters).

    It is in double precision only after `jax.config.update("jax_enable_x64", True)`.
    """
    try:
        import jax.numpy as jnp
    except ImportError:
        raise ExportError("the target 'jax' needs a package: pip install 'fouriertree[jax]'") from None
    names: dict[str, Any] = {"__name__": "fouriertree_formula"}
    exec(compile(write(model), "<formula>", "exec"), names)
    return names["predict"], jnp.asarray(names["PARAMETERS"])
