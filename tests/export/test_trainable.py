"""Modules for PyTorch and JAX: constants and coefficients are parameters, and gradients are those of the expression."""

import numpy as np
import pytest

from fouriertree import Model, parse
from fouriertree.export import ExportError, export, jax_function, torch_module
from fouriertree.export.tree import whole_tree

MODEL = Model((2.0, -0.5, 1.0), (parse("sin(1.5*x0)"), parse("1"), parse("pdiv(x0, x1)")), ("angle", "speed"))
X = np.array([[0.3, 0.0], [1.0, 2.0], [0.0, 0.0], [-1.0, 0.5]])


def gradient_by_differences(X):
    """Of the sum of all values, by the three parameters."""

    def total(a, b, c):
        return np.sum(a * np.sin(b * X[:, 0]) - c)

    step, at = 1e-6, np.array([2.0, 1.5, 0.5])
    moved = [(total(*(at + step * e)) - total(*(at - step * e))) / (2 * step) for e in np.eye(3)]
    return np.array(moved)


def test_every_constant_and_coefficient_is_a_parameter_in_torch():
    torch = pytest.importorskip("torch")
    module = export(MODEL, "torch")
    assert isinstance(module, torch.nn.Module)
    assert torch.cat([p.flatten() for p in module.parameters()]).tolist() == [2.0, 1.5, 0.5]
    assert list(whole_tree(MODEL).constants) == [2.0, 1.5, 0.5]


def test_the_gradient_in_torch_is_that_of_the_expression_also_at_protected_zeros():
    torch = pytest.importorskip("torch")
    module = torch_module(MODEL)
    rows = torch.tensor(X, requires_grad=True)
    module(rows).sum().backward()
    assert module.numbers.grad.numpy() == pytest.approx(gradient_by_differences(X), rel=1e-6)
    assert torch.isfinite(rows.grad).all()


def test_torch_recovers_the_parameters():
    torch = pytest.importorskip("torch")
    wanted = Model((3.0, 0.25), (parse("exp(-0.7*x0)"), parse("x1")))
    start = Model((2.0, 0.5), (parse("exp(-1.0*x0)"), parse("x1")))
    rows = torch.tensor(np.random.default_rng(0).uniform(0.0, 2.0, (60, 2)))
    y = torch.tensor(wanted.predict(rows.numpy()))
    module = torch_module(start)
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((module(rows) - y) ** 2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert module.numbers.tolist() == pytest.approx([3.0, -0.7, 0.25], rel=1e-3)


def test_a_torch_module_takes_batches_and_single_precision():
    torch = pytest.importorskip("torch")
    module = torch_module(MODEL)
    values = module(torch.tensor(X, dtype=torch.float32).reshape(2, 2, 2))
    assert values.dtype == torch.float32
    assert values.detach().numpy().ravel() == pytest.approx(MODEL.predict(X), rel=1e-5)
    constant = torch_module(Model((2.5,), (parse("1"),)))
    assert constant(torch.zeros(4, 3)).tolist() == [2.5] * 4


def test_every_constant_and_coefficient_is_a_parameter_in_jax():
    pytest.importorskip("jax")
    function, parameters = export(MODEL, "jax")
    assert parameters.tolist() == [2.0, 1.5, 0.5]
    assert np.asarray(function(parameters, X)) == pytest.approx(MODEL.predict(X), rel=1e-5)


def test_the_gradient_in_jax_is_that_of_the_expression_also_at_protected_zeros():
    jax = pytest.importorskip("jax")
    function, parameters = jax_function(MODEL)
    by_numbers, by_rows = jax.grad(lambda c, X: function(c, X).sum(), argnums=(0, 1))(
        parameters, jax.numpy.asarray(X)
    )
    assert np.asarray(by_numbers) == pytest.approx(gradient_by_differences(X), rel=1e-4)
    assert np.isfinite(np.asarray(by_rows)).all()
    assert np.asarray(jax.jit(function)(parameters, X)) == pytest.approx(MODEL.predict(X), rel=1e-5)


@pytest.mark.parametrize(("package", "target"), [("torch", "torch"), ("jax", "jax"), ("onnx", "onnx")])
def test_a_missing_package_raises_with_its_name(package, target, monkeypatch):
    import sys

    for name in [package, f"{package}.numpy"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ExportError, match=rf"pip install 'fouriertree\[{package}\]'"):
        export(MODEL, target)
