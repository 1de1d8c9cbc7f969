"""Write docs/options.md and the parameter list of `SymbolicRegressor` from `fouriertree.fit.options`.

Run: python tools/option_docs.py
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from pathlib import Path

from fouriertree.fit.options import EQUATIONS, OPTIONS, OUTPUT, SEARCH, Option

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "options.md"
SOURCE = ROOT / "src" / "fouriertree" / "estimators" / "regressor.py"
#: the parameter list in the docstring of the class, up to the next section
SECTION = re.compile(r"    Parameters\n    -{10}\n(?:    .*\n)+")
ONLY_TRANSFORMER = "n_features"
INTRODUCTION = """\
# Options

The parameters of the estimators and their command-line forms, written by `python tools/option_docs.py` from one table.
`SymbolicRegressor` has all of them but `n_features`, which is a parameter of `SymbolicTransformer`; the classifier and
the transformer have those that apply to them. A value that is not valid raises `ValueError` when `fit` is called.
[The command](cli.md) has more options, such as those for columns and files.
"""


def page() -> str:
    """The content of docs/options.md."""
    order = (SEARCH, EQUATIONS, OUTPUT).index
    parts = [INTRODUCTION]
    for heading, options in groupby(sorted(OPTIONS, key=lambda o: order(o.heading)), lambda o: o.heading):
        rows = ["| parameter | default | meaning | command line |", "|---|---|---|---|", *map(row, options)]
        parts.append("\n".join([f"## {heading}", *rows]) + "\n")
    return "\n".join(parts)


def row(option: Option) -> str:
    flag = "" if option.flag is None else f"`--{option.key.replace('_', '-')}`"
    help = option.help.replace("``", "`").replace("|", "\\|")
    return f"| `{option.name}` | `{option.default!r}` | {help} | {flag} |"


def parameters() -> str:
    """The numpydoc section of the regressor's parameters, as it is in the source."""
    lines = ["Parameters", "-" * 10]
    for option in OPTIONS:
        if option.name != ONLY_TRANSFORMER:
            types = f"{option.kind.type} or None" if option.accepts_none else option.kind.type
            lines.append(f"{option.name} : {types}, default={option.default!r}")
            indent = {"initial_indent": "    ", "subsequent_indent": "    "}
            lines += textwrap.wrap(option.help, 116, break_on_hyphens=False, **indent)
    return textwrap.indent("\n".join(lines), "    ") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    source = SOURCE.read_text(encoding="utf-8")
    SOURCE.write_text(SECTION.sub(lambda _: parameters(), source, count=1), encoding="utf-8")
    print(f"wrote {PAGE.name} and the parameters in {SOURCE.name}")
