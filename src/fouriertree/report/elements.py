"""Small pieces of HTML.  Whatever comes in as text goes out escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from fouriertree.plotting.canvas import writable_part

#: significant digits of numbers in tables
DIGITS = 5


def text(value: object) -> str:
    """Any value as text for HTML, inside of elements and of attributes.

    >>> text('<b>"1 & 2"</b>')
    '&lt;b&gt;&quot;1 &amp; 2&quot;&lt;/b&gt;'
    """
    return escape(writable_part(str(value)), quote=True)


def number(value: object) -> str:
    """A value as it stands in a cell: numbers short, with a real minus sign, and a dash for nothing.

    >>> number(-0.123456789), number(12), number(float("nan")), number(True), number("a")
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


def is_numeric(value: object) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool | np.bool_))


def section(key: str, heading: str, *parts: str) -> str:
    """A part of the page with its heading; the page's list of contents leads to it."""
    body = "\n".join(part for part in parts if part)
    return f'<section id="{key}" aria-labelledby="{key}-h">\n<h2 id="{key}-h">{text(heading)}</h2>\n{body}\n</section>'


def paragraph(words: str) -> str:
    return f"<p>{text(words)}</p>"


def scrolling(label: str, inside: str) -> str:
    """A box that scrolls by itself, so that the page need not; it can be reached with the keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}">{inside}</div>'


def table(frame: pd.DataFrame, caption: str) -> str:
    """A data frame; its index is shown unless it only counts."""
    shown = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    columns = [shown.iloc[:, i].tolist() for i in range(shown.shape[1])]
    right = [all(map(is_numeric, cells)) for cells in columns]
    heads = "".join(
        _cell("th", name, r, ' scope="col"') for name, r in zip(shown.columns, right, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell("td", number(v), r) for v, r in zip(row, right, strict=True)) + "</tr>\n"
        for row in zip(*columns, strict=True)
    )
    return scrolling(
        caption,
        f"<table><caption>{text(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>",
    )


def _cell(tag: str, value: object, right: bool, more: str = "") -> str:
    kind = ' class="n"' if right else ""
    return f"<{tag}{more}{kind}>{text(value)}</{tag}>"


def source(code: str, label: str, wrapped: bool = False) -> str:
    """Text to copy: the page's script adds the button, and without it the text can still be marked."""
    kind = "copy wrapped" if wrapped else "copy"
    return f'<pre class="{kind}" tabindex="0" aria-label="{text(label)}"><code>{text(code)}</code></pre>'


def details(summary: str, inside: str, opened: bool = False) -> str:
    """Something to unfold; `summary` and `inside` are HTML."""
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>\n{inside}</details>"


def facts(values: Mapping[str, object]) -> str:
    """Names and values beside each other; a mapping among the values becomes a list of its own."""
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{_fact(value)}</td></tr>\n'
        for name, value in values.items()
    )
    return scrolling("facts", f'<table class="facts"><tbody>\n{rows}</tbody></table>')


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = (f"<div><dt>{text(name)}</dt><dd>{text(inner)}</dd></div>" for name, inner in value.items())
        return "<dl>" + "".join(pairs) + "</dl>"
    return text(value)


def figure(pictures: Iterable[str], caption: str) -> str:
    """Pictures side by side where there is room, with one caption."""
    return f'<figure><div class="pictures">{"".join(pictures)}</div><figcaption>{text(caption)}</figcaption></figure>'


def tiles(values: Sequence[tuple[str, Any]]) -> str:
    """Few numbers that matter most, in large type."""
    pairs = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(number(value))}</dd></div>" for name, value in values
    )
    return f'<dl class="tiles">{pairs}</dl>'
