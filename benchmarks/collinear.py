"""Laws that nearly collinear terms approximate: `make bench-collinear`.

2.5*T*exp(-0.8*f) + 1.3*l*sin(2.1*T) and ten laws like it, made anew from `--generator-seed`: 500 rows uniform in
[0.5, 4], 1 % noise, ten seeds each.  The structure of the chosen equation should be right, and no equation has a
coefficient whose standard error exceeds its value, or two terms that cancel.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from fits import fitted, parser_of, performed

from fouriertree.experiments.bars import Bar, report
from fouriertree.experiments.bench.collinear import EXAMPLE, degenerate_terms, generate
from fouriertree.experiments.bench.everyday import Law
from fouriertree.experiments.bench.formulas import parse
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.suites import draw_law, with_noise

ROWS, NOISE = 500, 0.01
#: percentages of runs
LEAST_RIGHT, LEAST_SOUND = 90.0, 100.0


@dataclass(frozen=True)
class Outcome:
    law: str
    seed: int
    right: bool
    degenerate: list[str]
    formula: str

    def line(self) -> str:
        marks = [*([] if self.right else ["another structure"]), *self.degenerate]
        return f"{self.law}, seed {self.seed}: {'; '.join(marks) or 'ok'}: {self.formula}"


def outcome(run: tuple[Law, int], seconds: float) -> Outcome:
    law, seed = run
    rng = np.random.default_rng([seed, 0])
    data = with_noise(draw_law(law.fact, ROWS, rng), NOISE, rng)
    model = fitted(data.X, data.y, seconds, seed).model_
    formula = str(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = structure_right(parse(formula, {str(symbol): symbol for symbol in data.symbols}), data)
    return Outcome(law.formula, seed, right, degenerate_terms(model, data.X, data.y), formula)


def main() -> int:
    parser = parser_of(__doc__, seconds=20.0, seeds=10)
    parser.add_argument("--laws", type=int, default=10, help="number of generated laws")
    parser.add_argument("--generator-seed", type=int, default=0, help="seed of the generated laws")
    options = parser.parse_args()
    print(f"laws of generator seed {options.generator_seed}", flush=True)
    laws = [EXAMPLE, *(generate(options.generator_seed, index) for index in range(options.laws))]
    runs = [(law, seed) for law in laws for seed in range(options.seeds)]
    found = []
    for one in performed(partial(outcome, seconds=options.seconds), runs, options.jobs):
        print(one.line(), flush=True)
        found.append(one)
    right = 100.0 * float(np.mean([one.right for one in found]))
    sound = 100.0 * float(np.mean([not one.degenerate for one in found]))
    return report([
        Bar("collinear-percent-structure-right", right, LEAST_RIGHT),
        Bar("collinear-percent-without-degenerate-terms", sound, LEAST_SOUND),
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
