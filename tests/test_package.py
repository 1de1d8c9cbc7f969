"""Small honest checks on the package itself."""

import re
from pathlib import Path

import fouriertree

ROOT = Path(__file__).resolve().parents[1]


def test_changelog_starts_with_the_version_of_the_package():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == fouriertree.__version__


def test_citation_names_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {fouriertree.__version__}\n" in citation


def test_every_make_target_has_a_description():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    described = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))
    assert phony is not None
    assert set(phony[1].split()) == described


def test_the_package_declares_that_it_is_typed():
    assert (Path(fouriertree.__file__).parent / "py.typed").is_file()


def test_every_public_name_is_found_and_none_is_missing():
    estimators = {"SymbolicClassifier", "SymbolicRegressor", "SymbolicTransformer"}
    assert estimators < set(fouriertree.__all__)
    assert fouriertree.__all__ == sorted(fouriertree.__all__, key=lambda name: (not name.isupper(), name))
    for name in fouriertree.__all__:
        assert hasattr(fouriertree, name)
    assert dir(fouriertree) == sorted(fouriertree.__all__)
