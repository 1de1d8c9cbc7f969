"""The data of every case of the suites."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.bench import compositions, everyday, names
from fouriertree.experiments.bench.cases import Data, Disguise
from fouriertree.experiments.bench.formulas import Array, compiled, parse, variables
from fouriertree.experiments.bench.inverse import Inverse
from fouriertree.experiments.bench.names import facts
from fouriertree.experiments.bench.sampling import Range, box, by_spec, own_table, simulate, table

#: generators of laws by suite
GENERATORS: dict[str, Callable[[int, int], Any]] = {
    names.EVERYDAY: everyday.generate,
    names.COMPOSITIONS: compositions.generate,
}
#: fraction of the rows of a table in the training set
TRAIN_SHARE = 0.75


def load(
    suite: str,
    case: str,
    seed: int,
    rows: int,
    noise: float,
    disguise: bool,
    folder: Path | None,
    noise_kind: str = names.GAUSSIAN,
) -> Data:
    """The data of a case: drawn with `seed`, then disguised, then with noise.  `folder` holds tables."""
    stream = [seed, zlib.crc32(f"{suite}/{case}".encode())]
    rng = np.random.default_rng(stream)
    data = draw(suite, case, rows, rng, folder)
    if disguise:
        # A separate stream: the disguise depends on case and seed alone, and the noise does not depend on it.
        data = Disguise.draw(data.X.shape[1], np.random.default_rng([*stream, 1])).apply(data)
    return with_noise(data, noise, rng, noise_kind)


def with_noise(data: Data, noise: float, rng: np.random.Generator, kind: str = names.GAUSSIAN) -> Data:
    """The data with noise of standard deviation noise·rms(y) on the training target; the test target stays clean.

    Gaussian noise is SRBench's, Normal(0, noise·rms(y)); the kind `student` is noise·rms(y)·T/√3, where T has Student's
    t distribution with 3 degrees of freedom, whose variance is 3.
    """
    if noise == 0.0:
        return data
    scale = noise * float(np.sqrt(np.mean(data.y**2)))
    if kind == names.STUDENT:
        return replace(data, y=data.y + scale / np.sqrt(3.0) * rng.standard_t(3.0, len(data.y)))
    return replace(data, y=data.y + rng.normal(0.0, scale, len(data.y)))


def draw(suite: str, case: str, rows: int, rng: np.random.Generator, folder: Path | None) -> Data:
    if suite in GENERATORS and (law := names.generated_law(case)):
        return draw_law(GENERATORS[suite](*law[1:]).fact, rows, rng)
    if suite in (names.FEYNMAN, names.SRSD, names.EVERYDAY):
        return draw_law(facts(suite.replace("-", "_"))[case], rows, rng)
    if suite == names.FEYNMAN_SOLVED:
        return draw_solved(facts("feynman_solved")[case], rows, rng)
    if suite == names.CLASSIC:
        return draw_classic(facts("classic")[case], rng)
    if suite == names.STROGATZ:
        return draw_trajectories(case, rng, folder)
    return draw_table(suite, case, rng, folder)


def draw_law(fact: dict[str, Any], rows: int, rng: np.random.Generator) -> Data:
    ranges = [
        Range.read(law) if isinstance(law, str) else Range("uniform", float(law[0]), float(law[1]))
        for law in fact["ranges"].values()
    ]
    symbols = variables([law.smallest for law in ranges])
    truth = parse(fact["formula"], dict(zip(fact["ranges"], symbols, strict=True)))
    target = compiled(truth, symbols)
    return of_law(truth, symbols, *(box(ranges, rows, target, rng) for _ in range(2)))


def draw_solved(fact: dict[str, Any], rows: int, rng: np.random.Generator) -> Data:
    inverse = Inverse.of(fact)
    X, X_test = (inverse.draw(rows, rng) for _ in range(2))
    symbols = variables(np.vstack([X, X_test]).min(axis=0).tolist())
    truth = parse(inverse.formula, dict(zip(inverse.columns, symbols, strict=True)))
    return of_law(truth, symbols, X, X_test)


def draw_classic(fact: dict[str, Any], rng: np.random.Generator) -> Data:
    columns = fact.get("columns") or len({w for w in ("x1", "x2") if w in fact["formula"]})
    low = min(fact[part][kind][0] for part in ("train", "test") for kind in fact[part])
    symbols = variables([low] * columns)
    truth = parse(fact["formula"], {f"x{j + 1}": symbol for j, symbol in enumerate(symbols)})
    return of_law(truth, symbols, *(by_spec(fact[part], columns, rng) for part in ("train", "test")))


def of_law(truth: Any, symbols: list[Any], X: Array, X_test: Array) -> Data:
    target = compiled(truth, symbols)
    return Data(X, target(X), X_test, target(X_test), tuple(symbols), truth)


def draw_trajectories(case: str, rng: np.random.Generator, folder: Path | None) -> Data:
    """The recorded trajectories where the folder has them, else simulated ones."""
    system, k = case.removeprefix("strogatz_")[:-1], int(case[-1]) - 1
    fact = facts("strogatz")[system]
    plain = variables([-1.0, -1.0])
    slopes = [parse(formula, dict(zip("xy", plain, strict=True))) for formula in fact["formulas"]]
    if folder and (path := folder / "strogatz" / f"{case}.csv").exists():
        X, y = table(path)
    else:
        functions = [compiled(slope, plain) for slope in slopes]
        X = simulate(lambda X: np.column_stack([slope(X) for slope in functions]), fact["start"], rng)
        y = functions[k](X)
    symbols = variables(X.min(axis=0).tolist())
    truth = slopes[k].subs(dict(zip(plain, symbols, strict=True)), simultaneous=True)
    return split(X, y, rng, symbols, truth)


def draw_table(suite: str, case: str, rng: np.random.Generator, folder: Path | None) -> Data:
    assert folder is not None
    if suite == names.FOLDER:
        X, y = own_table(names.folder_table(folder, case))
    else:
        X, y = table(measured_path(suite, case, folder))
    symbols = variables(X.min(axis=0).tolist())
    if suite == names.FIRST_PRINCIPLES:
        # Six planets are too few for a test set; only the form of the law is checked.
        return Data(X, y, X, y, tuple(symbols), law=facts("tables")[suite]["laws"].get(case))
    return split(X, y, rng, symbols)


def measured_path(suite: str, case: str, folder: Path) -> Path:
    return folder / str(facts("tables")[suite]["folder"]) / f"{case}.csv"


def split(X: Array, y: Array, rng: np.random.Generator, symbols: list[Any], truth: Any = None) -> Data:
    """A random 75 % of the rows as training set, the others as test set, both in their order."""
    order = rng.permutation(len(y))
    cut = round(TRAIN_SHARE * len(y))
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    return Data(X[train], y[train], X[test], y[test], tuple(symbols), truth)
