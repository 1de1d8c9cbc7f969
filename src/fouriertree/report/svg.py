"""Figures as SVG inside of a page: text stays text, colours are the page's, and nothing meets its neighbours' names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from fouriertree.plotting import palette
from fouriertree.plotting.canvas import without_glyph_warnings, writable_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: colours of the pictures, and what the page calls them
COLOURS = {
    palette.INK: "var(--ink)",
    "#000000": "var(--ink)",
    palette.FAINT: "var(--faint)",
    palette.POINTS: "var(--points)",
    palette.VALIDATION: "var(--validation)",
    palette.CHOSEN: "var(--chosen)",
    palette.CURVES: "var(--curves)",
    palette.OPERATOR: "var(--operator)",
    palette.COLUMN: "var(--column)",
    palette.NUMBER: "var(--number)",
}
#: points that an image has per inch where a picture carries one
DPI = 160
#: CSS pixels per point
PIXELS = 96.0 / 72.0
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
_CLEAR = ("figure.facecolor", "axes.facecolor", "savefig.facecolor", "savefig.edgecolor")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"#([\w.-]+)")
_FONT = re.compile(r"font: (?:\w+ )*?([\d.]+px) [^;]*")
_FAMILY = re.compile(r"font-family: [^;]*; ")


@contextmanager
def page_style() -> Iterator[None]:
    """Matplotlib as it comes, whatever the reader has set, with the page's ink on no ground; draw and save inside."""
    import matplotlib
    from matplotlib import style

    settings = dict.fromkeys(_INKED, palette.INK) | dict.fromkeys(_CLEAR, "none")
    # A fixed salt makes equal pictures equal files.
    salted = matplotlib.rc_context({"svg.hashsalt": "fouriertree"})
    with style.context(["default", settings | {"svg.fonttype": "none"}]), salted:
        yield


def svg(figure: Figure, key: str, description: str) -> str:
    """The figure as an `svg` element; `key` begins all names in it, and `description` is read to those who cannot see.

    It is as wide as its place, but no wider than drawn.
    """
    file = BytesIO()
    with without_glyph_warnings():
        figure.savefig(file, format="svg", dpi=DPI, metadata={"Date": None})
    tree = ElementTree.fromstring(file.getvalue())
    _strip(tree)
    _rename(tree, key)
    for element in tree.iter():
        _restyle(element)
    _hoist(tree)
    _describe(tree, key, description)
    return ElementTree.tostring(tree, encoding="unicode")


def _strip(tree: Element) -> None:
    """No namespaces, which HTML does without; no metadata; no style sheet, which would hold for the whole page."""
    for parent in tree.iter():
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
        parent.tag = _local(parent.tag)
        attributes = {_local(name): value for name, value in parent.attrib.items()}
        parent.attrib.clear()
        parent.attrib.update(attributes)
        parent.text = parent.text if (parent.text or "").strip() else None
        parent.tail = None


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _rename(tree: Element, key: str) -> None:
    """Only what is referred to keeps a name: the picture's own, and a number."""
    referring = [(e, name) for e in tree.iter() for name in ("href", "clip-path") if name in e.attrib]
    referring = [(e, name) for e, name in referring if not e.attrib[name].startswith("data:")]
    wanted = dict.fromkeys(found for e, name in referring for found in _REFERENCE.findall(e.attrib[name]))
    short = {name: f"{key}-{i}" for i, name in enumerate(wanted)}
    for element in tree.iter():
        if (name := element.attrib.pop("id", "")) in short:
            element.set("id", short[name])
    for element, name in referring:
        element.set(name, _REFERENCE.sub(lambda found: "#" + short[found[1]], element.attrib[name]))


def _restyle(element: Element) -> None:
    """Colours and fonts of the page, and no more decimals than can be seen."""
    if "style" in element.attrib:
        rules = _FAMILY.sub("", _FONT.sub(r"font-size: \1", element.attrib["style"]))
        for colour, name in COLOURS.items():
            rules = rules.replace(colour, name)
        element.set("style", rules)
    for name in ("d", "x", "y"):
        if name in element.attrib:
            element.set(name, " ".join(_DECIMALS.sub(r"\1", element.attrib[name]).split()))


def _hoist(tree: Element) -> None:
    """One group and one style for many points that look the same."""
    for parent in list(tree.iter("g")):
        groups = [child for child in parent if child.tag != "defs"]
        points = [point for child in groups if (point := _point(child)) is not None]
        looks = {(clip, use.get("style", "")) for clip, use in points}
        if len(points) < 2 or len(points) != len(groups) or len(looks) != 1:
            continue
        clip, style = looks.pop()
        together = Element(
            "g", {name: value for name, value in (("clip-path", clip), ("style", style)) if value}
        )
        for child, (_, use) in zip(groups, points, strict=True):
            parent.remove(child)
            use.attrib.pop("style", None)
            together.append(use)
        parent.append(together)


def _point(element: Element) -> tuple[str, Element] | None:
    """(clipping, `use`) of a point in a group of its own."""
    if element.tag == "g" and len(element) == 1 and element[0].tag == "use":
        return element.get("clip-path", ""), element[0]
    return None


def _describe(tree: Element, key: str, description: str) -> None:
    width = float(tree.attrib.pop("width").removesuffix("pt")) * PIXELS
    tree.attrib.pop("height")
    tree.attrib.pop("version", None)
    tree.attrib.update(
        {"role": "img", "aria-labelledby": f"{key}-title", "style": f"--natural: {width:.0f}px"}
    )
    title = Element("title", {"id": f"{key}-title"})
    title.text = writable_part(description)
    tree.insert(0, title)
