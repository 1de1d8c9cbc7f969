"""Run cases with the package on PYTHONPATH, and write a file for each: python -m golden_cases FOLDER NAME..."""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from golden_cases import answers, commands, fits, parts, resuming  # noqa: F401 - they register their cases
from golden_cases.names import today
from golden_cases.record import CASES, Record


def main(folder: str, *names: str) -> None:
    for name in names or CASES:
        began = time.monotonic()
        text = output(name)
        (Path(folder) / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{time.monotonic() - began:7.2f} {name}", flush=True)


def output(name: str) -> str:
    """What a case writes down; an exception that leaves it is a part of that."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        record = Record(Path(folder))
        try:
            CASES[name](record)
        except Exception as error:
            record.value("exception", type(error).__name__)
            record.words("exception", f"{error}\n{places(error)}")
        for warning in told:
            record.words(f"warning {today(warning.category.__name__)}", str(warning.message))
        return record.text()


def places(error: Exception) -> str:
    """Where it happened, by the names of the functions: files may have moved."""
    return " > ".join(frame.name for frame in traceback.extract_tb(error.__traceback__))


if __name__ == "__main__":
    logging.disable()
    main(*sys.argv[1:])
