"""`fouriertree demo`: a fit to data that it generates."""

from __future__ import annotations

import math
import os
import random
import shutil
import sys
from pathlib import Path

from fouriertree.cli.files import check_writable, write_atomically
from fouriertree.cli.fit import fit_table
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.cli.help import examples
from fouriertree.cli.interrupts import handle_interrupts
from fouriertree.cli.output import say
from fouriertree.errors import InputError, unreadable

EXAMPLE, PLOT, REPORT = Path("example.csv"), Path("fit.png"), Path("report.html")
ROWS = 200
GRAVITY, LENGTH, FRICTION = 9.81, 0.5, 0.4
EXAMPLES = examples(("in a new folder", "mkdir demo && cd demo && fouriertree demo"))


def demo() -> None:
    """Fit a built-in example: the equation of motion of a damped pendulum.

    Writes example.csv, fit.png and report.html to the current folder and prints the table of equations.
    """
    with handle_interrupts() as interrupts:
        for path in (PLOT, REPORT, *([] if EXAMPLE.exists() else [EXAMPLE])):
            check_writable(path)
        write_example()
        say(f"{EXAMPLE}: {ROWS} states of a damped pendulum; which law gives its acceleration?\n")
        arguments = FitArguments(data=EXAMPLE, target="acceleration", seed=0, plot=PLOT)
        fit_table(arguments, interrupts, {}, report=REPORT)
    say(
        f"\nNow with your data:\n  {program()} fit {EXAMPLE} --target acceleration -o model.json",
        f"  {program()} fit YOUR.csv --target COLUMN --time-limit 30 -o model.json",
    )


def write_example() -> None:
    """Write example.csv; one that exists with other content is not overwritten."""
    content = pendulum().encode()
    if not EXAMPLE.exists():
        write_atomically(EXAMPLE, content)
        return
    try:
        found = EXAMPLE.read_bytes()
    except OSError as error:
        raise unreadable(EXAMPLE, error) from None
    if found != content:
        raise InputError(f"there is another {EXAMPLE} here; rename it, or run the demo in another folder")


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
    """The words that start this command: its name where the shell finds it, otherwise those that started it."""
    if shutil.which("fouriertree"):
        return "fouriertree"
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{Path(sys.executable).name} -m fouriertree"
    return os.path.relpath(called)
