"""Shared by all figures: figures without global state, names as plain text, and how many points are drawn."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: points in a scatter plot; more only make the file large and the cloud opaque
MAX_POINTS = 20_000
#: points that a vector format stores one by one; more are rasterized
MAX_VECTOR_POINTS = 2_000
#: characters that XML forbids, escaped or not
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, outside of pyplot: no window system, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def writable_part(text: str) -> str:
    """The text with U+FFFD for control characters and lone surrogates.

    >>> writable_part("a" + chr(0) + "b")
    'a�b'
    """
    return _UNWRITABLE.sub("\ufffd", text)


def readable(name: object, length: int = 32) -> str:
    """A name as a figure shows it: one line of at most `length` characters.

    >>> readable("the speed of the wind at noon", 12)
    'the speed o…'
    """
    line = " ".join(writable_part(str(name)).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def drawn_rows(n_rows: int, limit: int = MAX_POINTS) -> NDArray[np.int64]:
    """Indices of the rows to draw: all, or a random sample that is the same in every panel."""
    if n_rows <= limit:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, limit, replace=False)


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Ignore warnings about characters that the font lacks; they are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support")
        yield
