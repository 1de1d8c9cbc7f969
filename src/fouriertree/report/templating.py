"""The Jinja2 environment of every HTML page: one set of templates, autoescaping, no undefined names."""

from __future__ import annotations

import base64
import hashlib
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fouriertree._version import __version__
from fouriertree.plotting.canvas import writable_part

#: significant digits of a float in a table
DIGITS = 5


def render(template: str, **context: Any) -> str:
    """The page that a template of `report/templates` makes of its context."""
    return ENVIRONMENT.get_template(template).render(version=__version__, **context)


def cell(value: object) -> str:
    """A value as a table shows it: a few significant digits, a true minus sign, a dash if it is missing.

    >>> cell(-0.123456789), cell(12), cell(float("nan")), cell(True), cell("a")
    ('−0.12346', '12', '–', 'yes', 'a')
    """
    if value is None or value is pd.NA or value is pd.NaT:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return str(int(value)).replace("-", "−")
    if isinstance(value, Real):
        return "–" if np.isnan(float(value)) else f"{float(value):.{DIGITS}g}".replace("-", "−")
    return str(value)


def parts_of(frame: pd.DataFrame) -> tuple[list[Any], list[list[Any]], list[int]]:
    """Headings, rows and left-aligned columns; an index other than a range becomes the first column."""
    shown = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    rows = [list(row) for row in shown.itertuples(index=False)]
    left = [i for i in range(shown.shape[1]) if not all(_is_numeric(row[i]) for row in rows)]
    return list(shown.columns), rows, left


def _is_numeric(value: object) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool | np.bool_))


def _encodable(value: object) -> object:
    """What is about to be escaped, without the characters that no page can hold."""
    return value if isinstance(value, Markup) else writable_part(str(value))


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


ENVIRONMENT = Environment(
    loader=PackageLoader("fouriertree.report"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_encodable,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {"cell": cell, "parts": parts_of, "sha256": _sha256}
