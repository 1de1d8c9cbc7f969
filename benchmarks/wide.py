"""Laws of three variables among many columns: `make bench-wide`.

Ten laws made from `--generator-seed`, in tables of 50, 200 and 1,000 columns: 500 rows, all columns uniform in
[0.5, 4], 1 % noise.  The structure of the chosen equation should be right for eight of ten laws at each width.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from fits import fitted, parser_of, performed

from fouriertree.experiments.bars import Bar, report
from fouriertree.experiments.bench.formulas import parse
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.wide import draw, generate

ROWS, NOISE = 500, 0.01
COLUMNS = (50, 200, 1000)
#: percentage of laws at each width
LEAST_RIGHT = 80.0


@dataclass(frozen=True)
class Run:
    columns: int
    index: int
    seed: int
    generator_seed: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    columns: int
    right: bool
    text: str


def outcome(run: Run) -> Outcome:
    rng = np.random.default_rng([run.generator_seed, run.index, run.columns, run.seed])
    data = draw(generate(run.generator_seed, run.index), run.columns, ROWS, NOISE, rng)
    formula = str(fitted(data.X, data.y, run.seconds, run.seed).model_)
    right = structure_right(parse(formula, {str(symbol): symbol for symbol in data.symbols}), data)
    text = f"{run.columns} columns, {data.truth}: {'ok' if right else 'another structure'}: {formula}"
    return Outcome(run.columns, right, text)


def main() -> int:
    parser = parser_of(__doc__, seconds=20.0, seeds=1)
    parser.add_argument("--laws", type=int, default=10, help="number of laws")
    parser.add_argument("--columns", type=int, nargs="+", default=list(COLUMNS), help="numbers of columns")
    parser.add_argument("--generator-seed", type=int, default=0, help="seed of the generated laws")
    options = parser.parse_args()
    print(f"laws of generator seed {options.generator_seed}", flush=True)
    runs = [
        Run(columns, index, seed, options.generator_seed, options.seconds)
        for columns in options.columns
        for index in range(options.laws)
        for seed in range(options.seeds)
    ]
    found = []
    for one in performed(outcome, runs, options.jobs):
        print(one.text, flush=True)
        found.append(one)
    return report(
        Bar(f"wide-{columns}-percent-structure-right",
            100.0 * float(np.mean([one.right for one in found if one.columns == columns])), LEAST_RIGHT)
        for columns in options.columns
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
