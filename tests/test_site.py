"""The documentation site: complete, with working links, and independent of the network."""

import ast
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import fouriertree

ROOT = Path(__file__).resolve().parents[1]
#: attributes through which a page makes a browser fetch something, by tag; links in the text are not among them
FETCHED = {
    "audio": "src", "embed": "src", "iframe": "src", "img": "src", "link": "href", "object": "data", "script": "src",
    "source": "src", "video": "src",
}  # fmt: skip
#: kinds of <link> that fetch nothing
POINTERS = {"canonical", "next", "prev", "alternate"}


class Page(HTMLParser):
    """Anchors, links and fetched files of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in FETCHED and given.get(FETCHED[tag]) and given.get("rel") not in POINTERS:
            self.fetched.append(given[FETCHED[tag]])


def nav_pages():
    """Pages in the navigation, as mkdocs.yml writes them."""
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")[1]
    return re.findall(r"([\w/-]+\.md)", nav)


def test_every_page_is_in_the_navigation_once():
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    notebooks = {path.relative_to(docs).with_suffix(".md").as_posix() for path in docs.rglob("*.ipynb")}
    assert sorted(nav_pages()) == sorted(pages | notebooks | {"contributing.md"})


def test_the_reference_has_every_public_name():
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    described = {name.split(".")[-1] for name in re.findall(r"^::: (\S+)", text, re.MULTILINE)}
    assert set(fouriertree.__all__) - {"__version__"} <= described


def test_docstrings_are_numpydoc_without_an_extension():
    options = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "docstring_style: numpy" in options
    assert "extensions: [tools" not in options


NAMES = r"(?:\*{0,2}\w+)(?:, \*{0,2}\w+)*"
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+$|\Z)", re.MULTILINE | re.DOTALL)


def docstrings():
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield path.name, getattr(node, "name", ""), ast.get_docstring(node) or ""


def test_sections_of_parameters_hold_names_only():
    # The reference would take any other paragraph for a parameter that does not exist.
    for file, name, text in docstrings():
        for section in SECTION.findall(text):
            for line in re.findall(r"^\S.*", section, re.MULTILINE):
                assert re.fullmatch(rf"{NAMES}(?: : .+)?", line), f"{file}, {name}: {line}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_page_of_the_navigation_is_built(site):
    for page in nav_pages():
        assert (site / page).with_suffix(".html").is_file(), page


@pytest.mark.slow
def test_no_page_fetches_anything_from_elsewhere(site, pages):
    for path, page in pages.items():
        for address in page.fetched:
            assert not re.match(r"(https?:)?//", address), f"{path.name} fetches {address}"
            if not address.startswith("data:"):
                assert target(site, path, address).is_file(), f"{path.name} misses {address}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import\s*)[\"']?(https?:)?//", style.read_text("utf-8")), style.name


@pytest.mark.slow
def test_links_within_the_site_lead_to_pages_and_anchors(site, pages):
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme:
                continue
            there = target(site, path, link)
            assert there.is_file(), f"{path.name} links to {link}"
            anchor = unquote(urlsplit(link).fragment)
            if anchor and anchor != "__top" and there in pages:
                assert anchor in pages[there].anchors, f"{path.name} links to {link}"


@pytest.mark.slow
def test_the_reference_of_the_regressor_has_its_methods(site):
    page = (site / "api" / "regressor.html").read_text("utf-8")
    for method in ("fit", "predict", "certificate", "export", "report", "save", "load"):
        assert f'id="fouriertree.SymbolicRegressor.{method}"' in page


def target(site, path, link):
    """The file that a link on a page leads to."""
    address = unquote(urlsplit(link).path)
    if address.startswith("/"):
        return site / address.lstrip("/")
    there = (path.parent / address).resolve() if address else path
    return there / "index.html" if there.is_dir() else there
