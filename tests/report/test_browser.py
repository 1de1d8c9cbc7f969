"""The page in a headless browser: no console message, no request, no horizontal scrolling, no foreign script."""

import base64

import pytest

from fouriertree.report import html

from .chromium import EXECUTABLE, Browser
from .samples import hostile, sample

pytestmark = pytest.mark.skipif(
    EXECUTABLE is None, reason="needs a headless Chromium: apt-get install chromium"
)


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module", params=["ordinary", "hostile"])
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    content = sample() if request.param == "ordinary" else hostile(n_rows=3_000)
    path.write_text(html(content), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_window_and_the_console_is_empty(browser, page, width, scheme):
    browser.show(page, width, scheme=scheme)
    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    # Equations in opened details must fit, too.
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.messages == []
    assert {address for address in browser.requests if not address.startswith("data:")} == {page}


def test_equations_and_figures_are_drawn(browser, page):
    browser.show(page, 1280)
    assert browser.evaluate("document.querySelector('#equation math').getBoundingClientRect().height") > 10
    shown = "[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height > 50)"
    assert browser.evaluate(shown)
    assert browser.evaluate("document.querySelectorAll('svg use, svg path').length") > 100
    assert browser.evaluate("document.querySelectorAll('pre.copy').length") == browser.evaluate(
        "document.querySelectorAll('.copying > button').length"
    )


def test_no_name_becomes_an_element_or_a_script(browser, page):
    browser.show(page, 1280)
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1


def test_the_dark_scheme_changes_the_background(browser, page):
    shades = {}
    for scheme in ("light", "dark"):
        browser.show(page, 600, scheme=scheme)
        shades[scheme] = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shades["light"] != shades["dark"]
    screenshot = base64.b64decode(browser.call("Page.captureScreenshot")["data"])
    assert screenshot[:8] == b"\x89PNG\r\n\x1a\n"
