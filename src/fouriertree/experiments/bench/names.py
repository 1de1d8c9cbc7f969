"""Names of suites and cases, and their facts; imports nothing heavy, so that shell completion is fast."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

FEYNMAN, CLASSIC, STROGATZ, SRSD, EVERYDAY = "feynman", "classic", "strogatz", "srsd-easy", "everyday"
FEYNMAN_SOLVED, COMPOSITIONS = "feynman-solved", "compositions"
FIRST_PRINCIPLES, BLACKBOX, FOLDER = "first-principles", "blackbox", "folder"
SUITES = (
    FEYNMAN, CLASSIC, STROGATZ, SRSD, EVERYDAY, FEYNMAN_SOLVED, COMPOSITIONS, FIRST_PRINCIPLES, BLACKBOX,
)  # fmt: skip
#: suites with a generator of laws
GENERATED = (EVERYDAY, COMPOSITIONS)
#: number of compositions without `--generate`: the first ones of seed 0
N_COMPOSITIONS = 24
#: suites of measurements, which need a folder of data
MEASURED = (FIRST_PRINCIPLES, BLACKBOX)
#: suites without a known law
NOISY = (BLACKBOX, FOLDER)
#: distributions of the noise
GAUSSIAN, STUDENT = "gaussian", "student"
NOISE_KINDS = (GAUSSIAN, STUDENT)
#: suffixes of user tables
TABLES = (".csv", ".tsv", ".parquet", ".xlsx")


@cache
def facts(name: str) -> dict[str, Any]:
    text = files("fouriertree.experiments.bench").joinpath("facts", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def case_names(suite: str, folder: Path | None = None) -> list[str]:
    """Names of the cases of a suite; `folder` holds the tables of the suite "folder"."""
    if suite == FOLDER:
        files = [path for path in folder.iterdir() if path.is_file()] if folder else []
        return sorted(case_name(p) for p in files if p.name.lower().removesuffix(".gz").endswith(TABLES))
    if suite in MEASURED:
        return list(facts("tables")[suite]["cases"])
    if suite == STROGATZ:
        return [f"strogatz_{system}{k}" for system in facts("strogatz") for k in (1, 2)]
    if suite == COMPOSITIONS:
        return [generated_name(suite, 0, index) for index in range(N_COMPOSITIONS)]
    return list(facts(suite.replace("-", "_")))


def case_name(path: Path) -> str:
    """The case of a user table: the file name, without the suffix .csv.

    >>> case_name(Path("mine/line.csv")), case_name(Path("mine/line.parquet"))
    ('line', 'line.parquet')
    """
    return path.stem if path.suffix == ".csv" else path.name


def folder_table(folder: Path, case: str) -> Path:
    """The file of a case."""
    return folder / f"{case}.csv" if (folder / f"{case}.csv").exists() else folder / case


def quick_names(suite: str) -> list[str]:
    """The short list of a suite; empty where there is none."""
    return list(facts("quick").get(suite, []))


def generated_name(suite: str, seed: int, index: int) -> str:
    """The name of a generated law, which determines the law.

    >>> generated_name("everyday", 5, 3)
    'everyday_g5_03'
    """
    return f"{suite}_g{seed}_{index:02d}"


def generated_law(name: str) -> tuple[str, int, int] | None:
    """Suite, seed and index of a generated law; None for any other name.

    >>> generated_law("everyday_g5_03"), generated_law("everyday_06"), generated_law("everyday_g5_3")
    (('everyday', 5, 3), None, None)
    """
    found = re.fullmatch(rf"({'|'.join(GENERATED)})_g([0-9]+)_([0-9]+)", name)
    if found is None:
        return None
    law = found[1], int(found[2]), int(found[3])
    # Only the canonical name, so that no result is stored twice.
    return law if generated_name(*law) == name else None
