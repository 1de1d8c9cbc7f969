"""The data of every case of the suites."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array, Data, with_noise
from fouriertree.experiments.bench.disguise import Disguise
from fouriertree.experiments.bench.everyday import generate
from fouriertree.experiments.bench.formulas import compiled, evaluate, parse, variables
from fouriertree.experiments.bench.names import (
    CLASSIC,
    EVERYDAY,
    FEYNMAN,
    FIRST_PRINCIPLES,
    FOLDER,
    SRSD,
    STROGATZ,
    facts,
    folder_table,
    generated_law,
)
from fouriertree.experiments.bench.sampling import Range, box, by_spec, own_table, split, table
from fouriertree.experiments.bench.trajectories import simulate


def load(
    suite: str, case: str, seed: int, rows: int, noise: float, disguise: bool, folder: Path | None
) -> Data:
    """The data of a case: drawn with `seed`, then disguised, then with noise.  `folder` holds tables."""
    stream = [seed, zlib.crc32(f"{suite}/{case}".encode())]
    rng = np.random.default_rng(stream)
    data = draw(suite, case, rows, rng, folder)
    if disguise:
        # A separate stream: the disguise depends on case and seed alone, and the noise does not depend on it.
        data = Disguise.draw(data.X.shape[1], np.random.default_rng([*stream, 1])).apply(data)
    return with_noise(data, noise, rng)


def draw(suite: str, case: str, rows: int, rng: np.random.Generator, folder: Path | None) -> Data:
    if suite == EVERYDAY and (number := generated_law(case)):
        return draw_law(generate(*number).fact, rows, rng)
    if suite in (FEYNMAN, SRSD, EVERYDAY):
        return draw_law(facts(suite.replace("-", "_"))[case], rows, rng)
    if suite == CLASSIC:
        return draw_classic(facts("classic")[case], rng)
    if suite == STROGATZ:
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
    X, X_test = box(ranges, rows, target, rng), box(ranges, rows, target, rng)
    return Data(X, target(X), X_test, target(X_test), tuple(symbols), truth)


def draw_classic(fact: dict[str, Any], rng: np.random.Generator) -> Data:
    columns = fact.get("columns") or len({w for w in ("x1", "x2") if w in fact["formula"]})
    low = min(fact[part][kind][0] for part in ("train", "test") for kind in fact[part])
    symbols = variables([low] * columns)
    truth = parse(fact["formula"], {f"x{j + 1}": symbol for j, symbol in enumerate(symbols)})
    X, X_test = by_spec(fact["train"], columns, rng), by_spec(fact["test"], columns, rng)
    target = compiled(truth, symbols)
    return Data(X, target(X), X_test, target(X_test), tuple(symbols), truth)


def draw_trajectories(case: str, rng: np.random.Generator, folder: Path | None) -> Data:
    """The recorded trajectories where the folder has them, else simulated ones."""
    system, k = case.removeprefix("strogatz_")[:-1], int(case[-1]) - 1
    fact = facts("strogatz")[system]
    path = folder / "strogatz" / f"{case}.csv" if folder else None
    plain = variables([-1.0, -1.0])
    slopes = [parse(formula, dict(zip("xy", plain, strict=True))) for formula in fact["formulas"]]
    if path is not None and path.exists():
        X, y = table(path)
    else:
        functions = [compiled(slope, plain) for slope in slopes]
        X = simulate(lambda X: np.column_stack([slope(X) for slope in functions]), fact["start"], rng)
        y = evaluate(slopes[k], plain, X)
    symbols = variables(X.min(axis=0).tolist())
    truth = slopes[k].subs(dict(zip(plain, symbols, strict=True)), simultaneous=True)
    return halves(X, y, rng, tuple(symbols), truth)


def draw_table(suite: str, case: str, rng: np.random.Generator, folder: Path | None) -> Data:
    assert folder is not None
    X, y = (
        own_table(folder_table(folder, case))
        if suite == FOLDER
        else table(measured_path(suite, case, folder))
    )
    symbols = tuple(variables(X.min(axis=0).tolist()))
    if suite == FIRST_PRINCIPLES:
        # Six planets are too few for a test set; only the form of the law is checked.
        return Data(X, y, X, y, symbols, law=facts("tables")[suite]["laws"].get(case))
    return halves(X, y, rng, symbols)


def measured_path(suite: str, case: str, folder: Path) -> Path:
    return folder / str(facts("tables")[suite]["folder"]) / f"{case}.csv"


def halves(X: Array, y: Array, rng: np.random.Generator, symbols: tuple[Any, ...], truth: Any = None) -> Data:
    train, test = split(len(y), rng)
    return Data(X[train], y[train], X[test], y[test], symbols, truth)
