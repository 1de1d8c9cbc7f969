"""Draw docs/images/fit.png from the fit in README.md: python tools/readme_picture.py"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fouriertree.plotting import plot_fit, plot_front
from fouriertree.plotting.canvas import new_figure

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "fit.png"


def readme_fit() -> dict[str, Any]:
    """The names that the first Python block of the README defines."""
    block = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    assert block is not None, "README.md has no Python block"
    exec(block[1], names)
    return names


def main() -> None:
    names = readme_fit()
    model, X, y = names["model"], names["X"], names["y"]
    figure = new_figure(12.0, 4.0)
    front, agreement, residuals = figure.subplots(1, 3)
    plot_front(model.equations_, model.best_index_, front)
    plot_fit(y, model.predict(X), "acceleration", (agreement, residuals))
    figure.suptitle(f"acceleration = {model.get_best()['equation']}")
    figure.savefig(PICTURE, dpi=110)
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
