"""Figures as PNG and SVG files, the same bytes for the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write name.png and name.svg; the path of the first."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    # A fixed salt and no date make the files reproducible.
    with mpl.rc_context({"svg.hashsalt": "fouriertree"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=150)
    return folder / f"{name}.png"
