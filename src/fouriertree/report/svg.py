"""Matplotlib figures as SVG elements of a page: text stays text, and colours are variables of the page's style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markupsafe import Markup

from fouriertree.plotting import palette
from fouriertree.plotting.canvas import without_glyph_warnings, writable_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: colours of the figures, and their variables in style.css
COLOURS = {"#000000": "var(--ink)"} | {
    colour: f"var(--{name.lower()})" for name, colour in vars(palette).items() if name.isupper()
}
#: resolution of a rasterized part
DPI = 160
#: CSS pixels per point
PIXELS = 96.0 / 72.0
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
_CLEAR = ("figure.facecolor", "axes.facecolor", "savefig.facecolor", "savefig.edgecolor")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"#([\w.-]+)")


@contextmanager
def page_style() -> Iterator[None]:
    """Matplotlib's default style, whatever the user's, in the page's ink on a transparent background."""
    from matplotlib import style

    settings = dict.fromkeys(_INKED, palette.INK) | dict.fromkeys(_CLEAR, "none")
    with style.context(["default", settings | {"svg.fonttype": "none"}]):
        yield


def svg(figure: Figure, key: str, description: str) -> Markup:
    """The figure as an `svg` element, at most as wide as drawn, with an accessible name.

    `key`, unique on the page, salts the ids of the element.
    """
    import matplotlib

    file = BytesIO()
    without_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.hashsalt": key}), without_glyph_warnings():
        figure.savefig(file, format="svg", dpi=DPI, metadata=without_metadata)
    tree = ElementTree.fromstring(file.getvalue())
    links = [value for e in tree.iter() for name, value in e.items() if name.endswith(("href", "clip-path"))]
    referenced = {identifier for link in links for identifier in _REFERENCE.findall(link)}
    for element in tree.iter():
        _clean(element, referenced)
    for group in list(tree.iter("g")):
        _share_style(group)
    width = float(tree.get("width", "0pt").removesuffix("pt")) * PIXELS
    tree.attrib = {"viewBox": tree.get("viewBox", ""), "role": "img", "style": f"--natural: {width:.0f}px"}
    tree.set("aria-label", writable_part(description))
    return Markup(ElementTree.tostring(tree, encoding="unicode"))


def _clean(element: Element, referenced: set[str]) -> None:
    """Drop namespaces, unused ids, white space and invisible decimals; colours become variables of the page."""
    element.tag = element.tag.rpartition("}")[2]
    element.attrib = {name.rpartition("}")[2]: value for name, value in element.items()}
    element.text = element.text if (element.text or "").strip() else None
    element.tail = None
    if element.get("id") not in referenced:
        element.attrib.pop("id", None)
    for name in {"d", "x", "y"} & element.attrib.keys():
        element.set(name, " ".join(_DECIMALS.sub(r"\1", element.attrib[name]).split()))
    for colour, variable in COLOURS.items():
        if colour in element.get("style", ""):
            element.set("style", element.attrib["style"].replace(colour, variable))


def _share_style(group: Element) -> None:
    """Points that look alike, each in a `g` with a clip path and a style, take both from one `g`."""
    points = [child for child in group if child.tag != "defs"]
    if any(point.tag != "g" or [child.tag for child in point] != ["use"] for point in points):
        return
    looks = {(point.get("clip-path", ""), point[0].get("style", "")) for point in points}
    if len(points) > 1 and len(looks) == 1:
        clip, style = looks.pop()
        shared = ElementTree.SubElement(group, "g", {"clip-path": clip, "style": style})
        for point in points:
            group.remove(point)
            point[0].attrib.pop("style", None)
            shared.append(point[0])
