"""The example notebooks: their stored outputs are what they compute."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(path):
    return json.loads(path.read_text("utf-8"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts(notebook):
    """The printed output of every code cell."""
    return [
        "".join("".join(output.get("text", "")) for output in cell["outputs"])
        for cell in code_cells(notebook)
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_executed_from_top_to_bottom(path):
    cells = code_cells(stored(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell["outputs"] for cell in cells)
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert kinds <= {"stream", "execute_result", "display_data"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_traces_of_the_machine(path):
    notebook = stored(path)
    assert set(notebook["metadata"]["language_info"]) == {"name"}
    for text in texts(notebook):
        assert not re.search(r"/(home|root|tmp|usr|Users)/|[A-Z]:\\\\|0x[0-9a-f]{6}", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_shows_every_cell_and_every_output(path):
    notebook = stored(path)
    page, pictures = tool("notebook_pages").page(notebook, path.stem)
    for cell in notebook["cells"]:
        assert "".join(cell["source"]) in page
    for text in texts(notebook):
        assert text.rstrip() in page
    assert all(f"]({name})" in page for name in pictures)
    shown = [o for cell in code_cells(notebook) for o in cell["outputs"] if "image/png" in o.get("data", {})]
    assert len(pictures) == len(shown) > 0
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # those of the packages that start another process
def test_executing_a_notebook_again_prints_what_is_stored(path):
    pytest.importorskip("nbclient")
    again = tool("notebooks").executed(path)
    assert texts(again) == texts(stored(path))
