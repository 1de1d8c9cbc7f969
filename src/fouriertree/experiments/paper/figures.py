"""Figures as PNG and SVG files, the same bytes for the same data."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from fouriertree.experiments.paper import facts

COLOURS = {
    facts.ONE_PLUS_ONE: "#8c6bb1",
    facts.ONE_PLUS_LAMBDA: "#e8837a",
    facts.CANONICAL: "#7f7f7f",
    facts.PUBLISHED_FTG: "#c00000",
    facts.ORTHONORMAL_FTG: "#1f5fa8",
}
LABELS = {
    facts.ONE_PLUS_LAMBDA: "(1+λ)-GP",
    facts.CANONICAL: "canonical GP",
    facts.PUBLISHED_FTG: "FTG",
    facts.ORTHONORMAL_FTG: "orthonormal FTG (ours)",
}


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write name.png and name.svg; the path of the first."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    # A fixed salt and no date make the files reproducible.
    with mpl.rc_context({"svg.hashsalt": "fouriertree"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=150)
    return folder / f"{name}.png"


def embedded(path: Path) -> str:
    """A PNG as the value of an <img> tag's src."""
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
