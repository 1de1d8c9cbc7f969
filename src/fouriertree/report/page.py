"""The page around the sections."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from fouriertree._version import __version__
from fouriertree.report.content import ReportContent
from fouriertree.report.elements import text
from fouriertree.report.sections import SECTIONS


def html(content: ReportContent) -> str:
    """The report as one page that works offline: styles, script and pictures are inside, and it asks for nothing."""
    script = _packaged("copy.js")
    written = [(key, name, write(content)) for key, name, write in SECTIONS]
    written = [(key, name, part) for key, name, part in written if part]
    return Template(_packaged("page.html")).substitute(
        policy=_policy(script),
        title=text(content.title),
        style=_packaged("style.css"),
        contents="\n".join(f'<li><a href="#{key}">{text(name)}</a></li>' for key, name, _ in written),
        sections="\n".join(part for _, _, part in written),
        version=text(__version__),
        script=script,
    )


def _packaged(name: str) -> str:
    return files("fouriertree.report").joinpath(name).read_text("utf-8")


def _policy(script: str) -> str:
    """What the page may do: run this very script, show the images that it carries, and fetch nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
