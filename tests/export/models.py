"""Models and rows on which every export must agree with `Model.predict`."""

from dataclasses import dataclass

import numpy as np

from fouriertree import Model, PrimitiveSet, RampedHalfAndHalf, parse
from fouriertree.export.tree import whole_tree
from fouriertree.expr import Expression
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.generate import Grammar
from fouriertree.expr.opcodes import CONST, VAR
from tests.operators import CORRECTLY_ROUNDED

N_COLUMNS = 3
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan]
#: operators whose last digits may differ from one library to the next; the others are rounded exactly by all
INEXACT = set(CATALOGUE) - set(CORRECTLY_ROUNDED) | {"square", "cube"}


def rows(negative_zeros: bool = True) -> np.ndarray:
    """Ordinary rows, and pairs of edge values: (n_rows, 3)."""
    rng = np.random.default_rng(1)
    ordinary = np.concatenate([rng.uniform(0.1, 0.9, (20, 3)), rng.uniform(-4.0, 4.0, (40, 3))])
    pairs = [(a, b, EDGES[(i + j) % len(EDGES)]) for i, a in enumerate(EDGES) for j, b in enumerate(EDGES)]
    X = np.concatenate([ordinary, np.array(pairs)])
    return X if negative_zeros else X + 0.0


def every_operator() -> list[Model]:
    """One model for every operator: its values, with a factor, and a constant."""
    found = []
    for row in CATALOGUE.values():
        x, y = Expression.variable(0), Expression.variable(1)
        tree = Expression.apply(row, *(x, y)[: row.arity])
        found += [Model((1.0,), (tree,)), Model((-2.5, 1 / 3), (tree, Expression.constant(1.0)))]
        if row.arity == 2:
            found += [
                Model((1.0,), (Expression.apply(row, a, b),))
                for number in (-3.0, 0.0, 2.5, 1.0)
                for a, b in ((x, Expression.constant(number)), (Expression.constant(number), x))
            ]
    return found


#: expressions that are difficult to print
SHAPES = [
    "x0 - (x1 - x2)", "x0 - (x1 + x2)", "x0/(x1/x2)", "x0/(x1*x2)", "x0*(x1/x2)", "x0*(x1*x2)", "(x0 + x1)*x2",
    "-(x0 + x1)", "-(-x0)", "-(x0*x1)", "x0 - -x1", "x0 - -2.5", "x0*-2.5", "x0/-2.5", "x0 + -x1*x2", "(-x0)^2",
    "-x0^2", "(x0^2)^3", "(x0^x1)^x2", "x0^(x1^x2)", "x0^-x1", "x0^-2", "(-2)^x0", "x0^(x1 + 1)", "2^(x0*x1)",
    "(x0 + x1)^2", "(x0 + x1)^3", "(x0 + x1)^2.5", "(x0 - x1)^-1", "inv(x0 + x1)", "inv(x0*x1)*x2", "x2/inv(x0)",
    "pdiv(x0 + x1, x0 - x1)", "pdiv(pdiv(x0, x1), pdiv(x1, x0))", "plog(plog(x0))", "plog(x0 - 1)",
    "min(x0 + 1, max(x1, -x0))", "max(min(x0, x1), x2)", "min(x0, 0)", "max(-x0, x1*x2)", "min(sin(x0), log(x1))",
    "x0/x0", "x0 - x0", "x0*1e300*1e300", "x0*1e-300*1e-300", "exp(exp(x0))", "1/(1/x0)", "sqrt(x0)^2",
    "x0^2^0.5", "atan(1/x0)", "tanh(x0*1e300)", "log(log(x0))", "1/(x0 - inf)", "x0 + nan", "min(x0, -inf)",
    "relu(x0 - x1)^2", "-sign(x0*x1)", "step(x0 - 1)/2", "2*sign(x0)/3", "step(x0)*x1 + step(-x0)*x2",
    "sinh(x0)/cosh(x0)", "1/cosh(x0 + x1)", "relu(relu(x0) - 1)", "step(sign(x0 + x1))", "sign(x0)/sign(x1)",
    "exp(step(x0)/2)",
    "max(x0 + x1, inf)", "pow(x0, 2)", "pow(x0, nan)", "pow(x0 + x1, inf)", "pow(x0, -inf)",
]  # fmt: skip


def shapes() -> list[Model]:
    return [Model((1.0,), (parse(text),)) for text in SHAPES]


def random_models(n: int = 40) -> list[Model]:
    """Sums of one to three random trees of all operators."""
    grammar = Grammar(PrimitiveSet.catalogue(), N_COLUMNS, 0.3, (-3.0, 3.0))
    rng = np.random.default_rng(0)
    trees = iter(RampedHalfAndHalf(2, 5).draw(grammar, seed=3, first=0, n=3 * n))
    sizes = rng.integers(1, 4, n)
    return [
        Model(tuple(rng.normal(0.0, 3.0, size).tolist()), tuple(next(trees) for _ in range(size)))
        for size in sizes
    ]


def long_models() -> list[Model]:
    """Deeper and longer than some parsers allow, without a value that depends on the last digit."""
    deep = Expression.variable(0)
    nested = Expression.variable(1)
    for _ in range(60):
        deep = Expression.apply("atan", deep + 0.5)
        nested = Expression.apply("pdiv", nested, nested + 2.0) if nested.size < 300 else nested * 0.5
    terms = tuple(parse(f"sin(x{i % 3})*{i}") for i in range(120))
    return [Model((1.0,), (deep,)), Model((1.0,), (nested,)), Model((0.125,) * 120, terms)]


def small_models() -> list[Model]:
    return [
        Model((), ()),
        Model((2.5,), (parse("1"),)),
        Model((-0.1,), (parse("3"),)),
        Model((1.0,), (parse("x2"),)),
        Model((-1.0,), (parse("x1"),)),
        Model((1e-300, 1e300, 0.1 + 0.2), (parse("x0"), parse("x1"), parse("x2"))),
        Model((-1e-5, 123456789012345680.0, -5e-324), (parse("x0"), parse("1"), parse("x1"))),
    ]


@dataclass(frozen=True)
class Expected:
    """The values of `predict`, and the tolerances for other libraries."""

    values: np.ndarray
    tolerance: np.ndarray
    clear: np.ndarray  #: rows where the last digit of a part does not decide whether there is a finite value
    finite: np.ndarray  #: rows where all parts are finite
    moderate: np.ndarray  #: rows where all parts are so small that their products are finite
    normal: np.ndarray  #: rows where no part is so small that it has lost digits


def expected(model: Model, X: np.ndarray, waves: float = 0.0) -> Expected:
    """`waves` is an error of sine and cosine that does not get smaller with their values."""
    values = model.predict(X)
    tree = whole_tree(model)
    rng = np.random.default_rng(2)
    parts = evaluated(tree, X)
    noisy = np.array([evaluated(tree, X, rng, waves, snap)[-1] for snap in 8 * (False, True)])
    with np.errstate(all="ignore"):
        spread = np.abs(noisy - values).max(axis=0)
    same = np.array([np.isnan(v) == np.isnan(values) for v in noisy]).all(axis=0)
    same &= np.array([np.isfinite(values) | np.isnan(values) | (v == values) for v in noisy]).all(axis=0)
    same &= np.isfinite(noisy).all(axis=0) == np.isfinite(values)
    tolerance = 1e-12 * np.abs(values) + 40.0 * np.where(np.isfinite(spread), spread, 0.0)
    sizes = np.abs(parts)
    normal = ((sizes >= np.finfo(float).tiny) | (sizes == 0.0) | np.isnan(sizes)).all(axis=0)
    return Expected(
        values, tolerance, same, np.isfinite(parts).all(axis=0), (sizes < 1e100).all(axis=0), normal
    )


def evaluated(
    tree: Expression,
    X: np.ndarray,
    rng: np.random.Generator | None = None,
    waves: float = 0.0,
    snap: bool = False,
) -> np.ndarray:
    """Values of all parts, the whole tree last: (n_tokens, n_rows); with `rng`, last digits are drawn."""
    stack, parts = [], []
    for code, column, value in zip(tree.op.tolist(), tree.arg.tolist(), tree.const.tolist(), strict=True):
        if code == CONST:
            result = np.full(len(X), value)
        elif code == VAR:
            result = np.ascontiguousarray(X[:, column])
        else:
            row = tree.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            result = row.reference(*arguments)
            del stack[-row.arity :]
            if rng is not None and row.name in INEXACT:
                with np.errstate(all="ignore"):
                    result = result * (1.0 + rng.choice([-2.0, 0.0, 2.0], len(X)) * 2.0**-52)
                    if waves and row.name in ("sin", "cos", "tan"):
                        result = disturbed(row.name, arguments[0], rng, waves, snap)
        stack.append(result)
        parts.append(result)
    return np.array(parts)


def disturbed(name: str, a: np.ndarray, rng: np.random.Generator, waves: float, snap: bool) -> np.ndarray:
    """Sine, cosine, or their quotient, with an error that does not get smaller near their zeros."""
    if name == "tan":
        return disturbed("sin", a, rng, waves, snap) / disturbed("cos", a, rng, waves, snap)
    exact = CATALOGUE[name].reference(a)
    result = exact + rng.choice([-waves, waves], len(a))
    result[np.abs(result) < 2.0 * waves * snap] = 0.0
    return result
