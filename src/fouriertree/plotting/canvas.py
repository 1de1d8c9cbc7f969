"""What all pictures share: figures without global state, names that stay text, and how many points are drawn."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: more points only make the file large and the cloud opaque
MOST_POINTS = 20_000
#: above this, a file of lines and shapes carries the points as an image
MOST_SHAPES = 2_000
#: what XML cannot hold at all, escaped or not
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, with a canvas of its own: no window system, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    return new_figure(width, height).subplots() if ax is None else ax


def writable_part(text: str) -> str:
    """The text without control characters and halves of characters.

    >>> writable_part("a" + chr(0) + "b")
    'a�b'
    """
    return _UNWRITABLE.sub("\ufffd", text)


def readable(name: object, length: int = 32) -> str:
    """A name as it is written in a picture: one line of at most `length` characters.

    >>> readable("the speed of the wind at noon", 12)
    'the speed o…'
    """
    line = " ".join(writable_part(str(name)).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def drawn_rows(n_rows: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """The rows that become points: all, or the same random ones in every panel."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, most, replace=False)


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """A letter that the font lacks becomes a box, which everybody can see without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support")
        yield
