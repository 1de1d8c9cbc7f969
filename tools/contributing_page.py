"""CONTRIBUTING.md as a page of the site: a hook of MkDocs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SOURCE, PAGE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md", "contributing.md"


def on_files(files: Any, config: Any) -> Any:
    """Add the page; its links into docs/ become links between pages."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=SOURCE.read_text("utf-8").replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to the file, which work in the repository, lead to the page."""
    return markdown.replace("](../CONTRIBUTING.md", f"]({PAGE}")
