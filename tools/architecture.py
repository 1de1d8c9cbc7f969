"""Draw the layers of the package and one fit as SVG, and list the folders in docs/architecture.md.

The layers come from the import contract in pyproject.toml, the role of a folder from the first sentence of its
docstring.  Run after changing either: python tools/architecture.py
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "fouriertree"
PAGE = ROOT / "docs" / "architecture.md"
LAYERS, FLOW = ROOT / "docs" / "images" / "layers.svg", ROOT / "docs" / "images" / "one-fit.svg"
#: the generated table stands between these lines of the page
BEGIN, END = "<!-- folders: begin -->", "<!-- folders: end -->"
#: stages of a fit: (what flows, the folder that makes it)
STAGES = (
    ("X, y", ""),
    ("TrainingData", "data"),
    ("Problem", "problems"),
    ("Search", "search"),
    ("Candidates", "criteria"),
    ("finalize", "selection"),
    ("Equations", "selection"),
    ("EquationTable", "selection"),
    ("Model", "model"),
)
WIDTH, ROW, BOX, GAP = 760, 46, 32, 10
INK, EDGE, FILL, PAPER = "#24292f", "#8c959f", "#dbe7f6", "#ffffff"


def layers() -> list[list[str]]:
    """The folders of every layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    contract = next(c for c in contracts if c["type"] == "layers")
    return [re.split(r"\s*[|:]\s*", layer) for layer in contract["layers"]]


def role(folder: str) -> str:
    """The first sentence of the docstring of a folder or module."""
    module = PACKAGE / folder / "__init__.py"
    source = (module if module.is_file() else PACKAGE / f"{folder}.py").read_text("utf-8")
    text = " ".join((ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", text)[0]


def table() -> str:
    """Every folder with its layer, counted from the top, and its role."""
    rows = [
        f"| {level} | `{folder}` | {role(folder)} |"
        for level, folders in enumerate(layers(), 1)
        for folder in folders
    ]
    return "\n".join(["| layer | folder | role |", "|--:|---|---|", *rows])


def layers_svg() -> str:
    """One row of boxes per layer, and an arrow that shows the direction of imports."""
    shapes, top = [arrow(24, 14, 24, ROW * len(layers()) - 4)], 0
    for folders in layers():
        width = (WIDTH - 60 - GAP * (len(folders) - 1)) / len(folders)
        shapes += [
            box(50 + i * (width + GAP), top + (ROW - BOX) / 2, width, folder)
            for i, folder in enumerate(folders)
        ]
        top += ROW
    return svg(WIDTH, top, shapes, "Layers of the package; a folder imports only from lower layers")


def flow_svg() -> str:
    """The stages of one fit, three in a row, in reading order."""
    shapes, width, step = [], 200.0, 84
    for i, (stage, folder) in enumerate(STAGES):
        x, y = 20 + (i % 3) * 260, 14 + (i // 3) * step
        shapes.append(box(x, y, width, stage, folder))
        if i % 3 < 2:
            shapes.append(arrow(x + width + 6, y + 22, x + 254, y + 22))
        elif i + 1 < len(STAGES):
            shapes.append(path([(x + 100, y + 50), (x + 100, y + 66), (120, y + 66), (120, y + step - 6)]))
    height = 14 + (len(STAGES) - 1) // 3 * step + 60
    return svg(WIDTH, height, shapes, "One fit as data: " + " → ".join(stage for stage, _ in STAGES))


def box(x: float, y: float, width: float, name: str, folder: str = "") -> str:
    height = 44 if folder or name == STAGES[0][0] else BOX
    lines = [(y + height / 2 + (-3 if folder else 5), 14, INK, name)]
    if folder:
        lines.append(
            (y + height / 2 + 14, 11, "#57606a", f"{folder}/" if (PACKAGE / folder).is_dir() else folder)
        )
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" rx="5" fill="{FILL}" stroke="{EDGE}"/>'
        + "".join(
            f'<text x="{x + width / 2:g}" y="{at:g}" font-size="{size}" fill="{colour}">{text}</text>'
            for at, size, colour, text in lines
        )
    )


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return path([(x1, y1), (x2, y2)])


def path(points: Sequence[tuple[float, float]]) -> str:
    course = " L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{course}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#tip)"/>'


def svg(width: int, height: float, shapes: Sequence[str], title: str) -> str:
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        'font-family="sans-serif" text-anchor="middle" role="img">',
        f"<title>{title}</title>",
        f'<defs>{tip}<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>',
        f'<rect width="{width}" height="{height:g}" fill="{PAPER}"/>',
        *shapes,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with the table of folders put between its two marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def files() -> dict[Path, str]:
    """Everything that is generated, by path."""
    return {LAYERS: layers_svg(), FLOW: flow_svg(), PAGE: page(PAGE.read_text("utf-8"))}


if __name__ == "__main__":
    for path_, content in files().items():
        path_.write_text(content, encoding="utf-8")
        print(f"wrote {path_.relative_to(ROOT)}")
