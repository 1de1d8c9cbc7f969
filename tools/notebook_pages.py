"""Notebooks as pages of the site, from their stored outputs: a hook of MkDocs.

Every docs/examples/NAME.ipynb becomes the page examples/NAME.md with its pictures beside it; links to the notebook lead
to that page, and the page links to the file.  The metadata of a cell that draws have the alternative text, as `alt`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LINK = re.compile(r"\]\(([^)\s#]*?)\.ipynb(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and pictures to the files of the site."""
    from mkdocs.structure.files import File

    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        stem = notebook.src_uri.removesuffix(".ipynb")
        text, pictures = page(json.loads(Path(notebook.abs_src_path).read_text("utf-8")), Path(stem).name)
        files.append(File.generated(config, f"{stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"{Path(stem).parent.as_posix()}/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace links to notebooks by links to their pages, and the mark in such a page by a link to the notebook."""
    markdown = LINK.sub(r"](\1.md\2)", markdown)
    return markdown.replace(DOWNLOAD, f"[the notebook]({Path(page.file.src_uri).stem}.ipynb)")


#: replaced by the link to the notebook itself
DOWNLOAD = "{{ notebook }}"


def page(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """The text of the page, and its pictures by file name."""
    pictures: dict[str, bytes] = {}
    parts = [part for cell in notebook["cells"] for part in cell_parts(cell, name, pictures)]
    parts.insert(1, f"This page is {DOWNLOAD}, with the outputs that are stored in it.")
    return "\n\n".join(parts) + "\n", pictures


def cell_parts(cell: dict[str, Any], name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    source = joined(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        if png := output.get("data", {}).get("image/png"):
            file = f"{name}-{len(pictures) + 1}.png"
            pictures[file] = base64.b64decode(joined(png))
            yield f"![{cell['metadata'].get('alt', '')}]({file})"
        else:
            text = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
            yield fenced(joined(text))


def fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
