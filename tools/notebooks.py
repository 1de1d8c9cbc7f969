"""Execute the notebooks in docs/examples and store their outputs in place: python tools/notebooks.py [NAME ...]"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "examples"
#: seconds that one cell may take
LONGEST_CELL = 300


def executed(path: Path) -> Any:
    """The notebook with new outputs; files that it writes go to a temporary folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    sources = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sources)), "PYTHONWARNINGS": "default"}
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=LONGEST_CELL,
            resources={"metadata": {"path": folder}},
            # The output of a cell is one text, in however many parts it arrives.
            coalesce_streams=True,
        )
        client.execute(env=env)
    return cleaned(notebook)


def cleaned(notebook: Any) -> Any:
    """The notebook without what differs between machines: times, versions, and stderr."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                # Figures are shown as pictures, and tables as text.
                output.get("data", {}).pop("text/html", None)
    return notebook


def main(names: list[str]) -> None:
    import nbformat

    for path in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(f"executed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
