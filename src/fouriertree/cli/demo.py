"""`fouriertree demo`: a first look, with data that it makes itself."""

from __future__ import annotations

import math
import os
import random
import shutil
import sys
from pathlib import Path

from fouriertree.cli.errors import InputError, unreadable
from fouriertree.cli.files import check_writable
from fouriertree.cli.fit import fit_table
from fouriertree.cli.fitting.arguments import FitRequest
from fouriertree.cli.fitting.outcome import Files
from fouriertree.cli.help import examples
from fouriertree.cli.interrupts import handle_interrupts
from fouriertree.cli.output import say

EXAMPLE, PICTURE, REPORT = Path("example.csv"), Path("fit.png"), Path("report.html")
ROWS = 200
GRAVITY, LENGTH, FRICTION = 9.81, 0.5, 0.4
EXAMPLES = examples(("in a folder of its own", "mkdir demo && cd demo && fouriertree demo"))


def demo() -> None:
    """Fit a built-in example: the law of a damped pendulum.

    Writes example.csv, fit.png and report.html to the current folder and prints the table of formulas.
    """
    with handle_interrupts() as interrupts:
        from fouriertree.cli.fitting.columns import Choice

        for path in (PICTURE, REPORT, *([] if EXAMPLE.exists() else [EXAMPLE])):
            check_writable(path)
        write_example()
        say(f"{EXAMPLE}: {ROWS} states of a damped pendulum; which law gives its acceleration?\n")
        files = Files(plot=PICTURE, report=REPORT)
        fit_table(FitRequest(EXAMPLE, Choice("acceleration"), {"random_state": 0}, files), interrupts, {})
    say(
        f"\nNow your own data:\n  {program()} fit {EXAMPLE} --target acceleration -o model.json",
        f"  {program()} fit YOUR.csv --target COLUMN --time-limit 30 -o model.json",
    )


def write_example() -> None:
    """Write example.csv, unless there is one already; one with other content is not ours to use."""
    from fouriertree.cli.files import write_atomically

    content = pendulum().encode()
    if EXAMPLE.exists():
        try:
            found = EXAMPLE.read_bytes()
        except OSError as error:
            raise unreadable(EXAMPLE, error) from None
        if found != content:
            raise InputError(f"there is another {EXAMPLE} here; rename it, or run the demo in another folder")
        return
    write_atomically(EXAMPLE, content)


def pendulum() -> str:
    """angle'' = −g/L·sin(angle) − c·angle' at random states, in radians and seconds, as CSV."""
    draw = random.Random(0)
    lines = ["angle,velocity,acceleration"]
    for _ in range(ROWS):
        angle, velocity = round(draw.uniform(-3.0, 3.0), 3), round(draw.uniform(-4.0, 4.0), 3)
        acceleration = -GRAVITY / LENGTH * math.sin(angle) - FRICTION * velocity
        lines.append(f"{angle},{velocity},{acceleration!r}")
    return "\n".join(lines) + "\n"


def program() -> str:
    """How to call this command: by its name where the shell finds it, otherwise as it was called."""
    if shutil.which("fouriertree"):
        return "fouriertree"
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{Path(sys.executable).name} -m fouriertree"
    return os.path.relpath(called)
