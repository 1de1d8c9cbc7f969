"""The list of public names is current, and a name that disappears is in the table of renamed names."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CURRENT = ROOT / "tests" / "public_names.txt"
FIRST = ROOT / "tests" / "fixtures" / "version-0.1" / "public_names.txt"
#: the rows below the heading "Renamed": a name before, and what to use instead
SECTION = re.compile(r"^### Renamed\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([^`]+)` \| .*\S.* \|$", re.MULTILINE)


def renamed(changelog):
    """Names in the first column of every table of renamed names."""
    return [name for section in SECTION.findall(changelog) for name in ROW.findall(section)]


def is_covered(name, table):
    """Whether a row has this name, or what it belongs to: the class of a method, the command of an option."""
    return any(name == row or re.match(re.escape(row) + r"[^\w-]", name) for row in table)


def test_the_list_of_public_names_is_current():
    spec = importlib.util.spec_from_file_location("public_names", ROOT / "tools" / "public_names.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    listed = CURRENT.read_text("utf-8").splitlines()
    assert tool.public_names() == listed, "run: python tools/public_names.py --write"


def test_every_name_that_is_gone_is_in_the_table_of_renamed_names():
    before, now = (set(path.read_text("utf-8").splitlines()) for path in (FIRST, CURRENT))
    table = renamed((ROOT / "CHANGELOG.md").read_text("utf-8"))
    missing = sorted(name for name in before - now if not is_covered(name, table))
    assert not missing, "add a row to the table Renamed of CHANGELOG.md"


def test_names_in_the_table_of_renamed_names_were_public():
    names = FIRST.read_text("utf-8").splitlines()
    for row in renamed((ROOT / "CHANGELOG.md").read_text("utf-8")):
        assert any(is_covered(name, [row]) for name in names), f"{row} was no public name"


def test_the_table_of_renamed_names_is_read_row_by_row():
    table = "| before | now |\n|---|---|\n| `old` | `new` |\n| `A.b(c)` | removed |\n"
    assert renamed(f"### Renamed\n{table}\n### Fixed\n| `x` | y |\n") == ["old", "A.b(c)"]


@pytest.mark.parametrize(
    ("name", "row", "covered"),
    [
        ("Hybrid", "Hybrid", True),
        ("Hybrid(rounds)", "Hybrid", True),
        ("Hybrid.step(budget)", "Hybrid.step", True),
        ("fouriertree fit --search gp", "fouriertree fit --search", True),
        ("HybridState", "Hybrid", False),
        ("fouriertree fit --max-size", "fouriertree fit --max", False),
        ("Hybrid", "Hybrid(rounds)", False),
    ],
)
def test_a_row_also_stands_for_what_is_below_its_name(name, row, covered):
    assert is_covered(name, [row]) is covered
