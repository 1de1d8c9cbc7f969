"""Parts below the estimators: expressions, engines, spaces, generators, and searches in the one loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from golden_cases import tables as t
from golden_cases.fits import own_operators, small
from golden_cases.names import call, ft, get, today
from golden_cases.record import Record, case

TEXTS = [
    "x0", "-x0 + 0", "x0 - x0*1", "2*x0 + 3*x0", "x0*x0*x0", "x0/x1/x2", "(x0 + x1)*(x0 - x1)", "sin(x0)^2 + cos(x0)^2",
    "exp(log(x0))", "log(exp(x0 + 1))", "sqrt(square(x0))", "tanh(-x1)", "x0^0.5*x0^1.5", "1/(1 + exp(-x0))",
    "3*x1 - 2*x1*x0 + 1e-3", "abs(x0)*sqrt(abs(x1))", "min(x0, x1) + max(x0, x1)", "x0^x1", "pi*x0 + e",
    "inv(x0)*cube(x1)",
]  # fmt: skip


@case("parts-expressions")
def expressions(record: Record) -> None:
    """Text, simplification, derivatives, other notations."""
    for text in TEXTS:
        tree = attempt(ft.parse, text)
        record.value(f"parse {text}", tree)
        if isinstance(tree, str):
            continue
        record.value("  text", (tree.text(), tree.text(digits=3), tree.complexity, tree.columns))
        record.value("  simplified", ft.simplify(tree))
        record.value("  derivative", attempt(ft.differentiate, tree, 0))
        record.value("  latex", attempt(tree.latex))


def attempt(function: Any, *arguments: Any) -> Any:
    """What it returns, or the kind of its error."""
    try:
        return function(*arguments)
    except ValueError as error:
        return f"refused: {type(error).__mro__[-3].__name__}"


@case("parts-engines")
def engines(record: Record) -> None:
    """Values and inner products of the same trees by both engines, in both precisions."""
    X = t.uniform(17, 3)
    trees = [tree for tree in (attempt(ft.parse, text) for text in TEXTS) if not isinstance(tree, str)]
    for engine in ("compiled", "reference"):
        for dtype in (np.float64, np.float32):
            name = f"{engine}.{np.dtype(dtype).name}"
            record.value(f"{name}.evaluate", call(ft.evaluate, trees, X, engine=engine, dtype=dtype))
            found = call(ft.inner_products, trees, X, X[:, :2], engine=engine, dtype=dtype)
            record.value(f"{name}.inner_products", found)


@case("parts-generators")
def generators(record: Record) -> None:
    grammars = {
        "default": ft.Grammar(ft.PrimitiveSet.default(), 3),
        "paper": ft.Grammar(ft.PrimitiveSet.paper(), 1),
        "own": ft.Grammar(own_operators(), 2, 0.2),
    }
    for name, grammar in grammars.items():
        for generator in (ft.RampedHalfAndHalf(1, 5), ft.GenerateComposition()):
            drawn = generator.draw(grammar, 3, 0, 60)
            texts = "\n".join(drawn[i].text() for i in range(60))
            record.value(f"{name}.{type(generator).__name__}", texts)


@case("parts-models")
def models(record: Record) -> None:
    X = t.uniform(9, 3)
    model = ft.Model((0.5, -2.0), (ft.parse("x0*x2"), ft.parse("sin(x1)")), names=("a", "b b", "c"))
    record.value("text", (model.text(), model.text(3), model.complexity, model.n_terms))
    record.value("predict", model.predict(X))
    record.value("json", model.to_json())
    record.value("again", ft.Model.from_json(model.to_json()).text())
    record.value("of tree", ft.Model.from_expression(ft.parse("2*x0 - sin(x0)/4 + 3")).to_json())


# Searches in the one loop -------------------------------------------------------------------------------------
def empirical() -> Any:
    X, y = t.noisy(40)
    return ft.Problem(ft.EmpiricalSpace(X, y), ft.Grammar(ft.PrimitiveSet.default(), n_columns=2))


def weighted() -> Any:
    X, y = t.noisy(40)
    space = ft.EmpiricalSpace(X, y, np.linspace(0.1, 2.0, 40))
    return ft.Problem(space, ft.Grammar(ft.PrimitiveSet.default(), n_columns=2))


def polynomial() -> Any:
    space = ft.PolynomialSpace(-1, 1, ft.parse("x0^5 - 2*x0^3 + x0"))
    return ft.Problem(space, ft.Grammar(ft.PrimitiveSet.polynomial(), n_columns=1))


def quadrature() -> Any:
    space = ft.QuadratureSpace(-1.0, 2.0, 40, ft.parse("exp(x0)*sin(3*x0)"))
    return ft.Problem(space, ft.Grammar(ft.PrimitiveSet.paper(), n_columns=1))


RUNS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "ftg-empirical": (lambda: ft.FTG(generator=small()), empirical, {"max_traverses": 500}),
    "ftg-weighted": (lambda: ft.FTG(generator=small(), best_of=100), weighted, {"max_traverses": 5_000}),
    "ftg-polynomial": (lambda: ft.FTG(max_terms=6), polynomial, {"max_traverses": 2_000}),
    "ftg-gram-svd": (lambda: ft.FTG(projector=ft.GramSVD()), quadrature, {"max_traverses": 1_000}),
    "ftg-published-lsp": (lambda: ft.FTG.published_lsp(), polynomial, {"max_traverses": 1_000}),
    "hybrid": (lambda: ft.Hybrid(max_terms=4), empirical, {"max_candidates": 20_000}),
    "one-plus-lambda": (lambda: ft.OnePlusLambda(25), empirical, {"max_traverses": 5_000}),
    "canonical-gp": (lambda: ft.CanonicalGP(50), quadrature, {"max_traverses": 5_000}),
}


def write_run(record: Record, search: Any, problem: Any, budget: dict[str, Any]) -> None:
    """Every event but plain progress, and where the run ended."""

    def observe(event: Any) -> None:
        kind = today(type(event).__name__)
        if hasattr(event, "expressions"):
            terms = [expression.text() for expression in get(event, "expressions")]
            loss = getattr(event, "loss", None)
            record.value(kind, (get(event, "progress"), get(event, "coefficients"), terms, loss))
        elif kind == "Finished":
            record.value(kind, get(event, "progress"))
            record.words(kind, get(event, "reason"))

    found = ft.run(search, problem, call(ft.Budget, **budget), [observe], seed=4)
    record.value("state.progress", get(get(found, "state"), "progress"))
    record.words("reason", get(found, "reason"))


for _name, (_search, _problem, _budget) in RUNS.items():

    @case(f"run-{_name}")
    def _run(record: Record, search: Any = _search, problem: Any = _problem, budget: Any = _budget) -> None:
        write_run(record, search(), problem(), budget)
