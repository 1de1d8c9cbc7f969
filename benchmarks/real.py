"""Measured sets against their textbook law: `make bench-real`.

R² and size of the chosen equation against those of the law, on the scale of the law's fit; and whether a row of the
table that is no longer than the model has the residual sum of squares that NIST certifies.  All rows are training data.
Where the law was fitted to a logarithm, `target_transform="log"` is set if the regressor has that option.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from fits import fitted, parser_of, performed

from fouriertree import SymbolicRegressor
from fouriertree.experiments.bars import report
from fouriertree.experiments.bench.real import RealSet, Verdict, bars, real_sets, verdict


def outcome(case: RealSet, seed: int, seconds: float) -> Verdict:
    has_transform = "target_transform" in SymbolicRegressor().get_params()
    options = {"target_transform": "log"} if case.logarithmic and has_transform else {}
    return verdict(case, fitted(case.X, case.y, seconds, seed, **options))


def main() -> int:
    parser = parser_of(__doc__, seconds=20.0, seeds=1)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data/real"), help="folder with manifest.json"
    )
    parser.add_argument("--case", action="append", help="only this set; may be repeated")
    options = parser.parse_args()
    if not (options.data / "manifest.json").is_file():
        parser.error(f"there is no {options.data / 'manifest.json'}; name a folder with --data")
    cases = [case for case in real_sets(options.data) if not options.case or case.name in options.case]
    found = []
    for seed in range(options.seeds):
        for one in performed(partial(outcome, seed=seed, seconds=options.seconds), cases, options.jobs):
            print(one.line(), flush=True)
            found.append(one)
    return report(bars(found))


if __name__ == "__main__":
    sys.exit(main())
