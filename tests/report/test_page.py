"""The page of a report is complete and self-contained, and text never becomes markup."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from fouriertree import Model, parse
from fouriertree.report import html

from .samples import HOSTILE, bare, hostile, sample

VOID = {"meta", "br", "img", "hr", "input", "link"}
SECTIONS = [
    "equation", "fit", "front", "response", "tree", "uncertainty", "certificate", "stability", "provenance", "exports",
]  # fmt: skip
LOADING = ("src", "href", "xlink:href", "srcset", "poster", "data", "action", "background")


class Page(HTMLParser):
    """Elements with their attributes, texts, and elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.errors = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


@pytest.fixture(scope="module")
def ordinary():
    return html(sample())


@pytest.fixture(scope="module")
def attacked():
    return html(hostile())


@pytest.mark.parametrize("name", ["ordinary", "attacked"])
def test_the_page_requests_nothing(name, request):
    text = request.getfixturevalue(name)
    for _, attributes in Page(text).elements:
        for attribute in LOADING:
            assert attributes.get(attribute, "#").startswith(("#", "data:image/png;base64,"))
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", text))
    assert "@import" not in text
    assert not re.search(r"https?://", text)


@pytest.mark.parametrize("name", ["ordinary", "attacked"])
def test_elements_are_closed_ids_are_unique_and_links_have_targets(name, request):
    page = Page(request.getfixturevalue(name))
    assert (page.errors, page.open) == ([], [])
    assert len(page.ids) == len(set(page.ids))
    targets = [a["href"][1:] for _, a in page.elements if a.get("href", "").startswith("#")]
    named = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert set(targets + named) <= set(page.ids)


def test_every_part_has_a_section_and_a_heading(ordinary):
    page = Page(ordinary)
    assert [a["id"] for a in page.all("section")] == SECTIONS
    assert len(page.all("h1")) == 1
    assert [a["id"] for a in page.all("h2")] == [f"{key}-h" for key in SECTIONS]
    assert page.all("html") == [{"lang": "en"}]


def test_missing_parts_are_left_out():
    page = Page(html(bare()))
    assert [a["id"] for a in page.all("section")] == ["equation", "front", "tree"]
    assert (page.errors, page.open) == ([], [])


def test_a_constant_equation_without_a_validation_set_can_be_reported():
    full = sample()
    content = replace(full, chosen=0, equations=full.equations.assign(validation_loss=np.nan))
    page = Page(html(content))
    assert "response" not in [a["id"] for a in page.all("section")]


def test_guesses_are_marked_and_may_be_less_accurate(ordinary):
    full = sample()
    guesses = [None, "a*x", None, None]
    text = html(replace(full, equations=full.equations.assign(guess=pd.Series(guesses, dtype=object))))
    rows = re.findall(r'<tr[^>]*><th scope="row" class="n">\d+</th>.*?</tr>', text, re.DOTALL)
    assert [">guess</strong>" in row for row in rows] == [False, True, False, False]
    assert "simpler ones, except for those marked as guesses" in text
    assert "simpler ones. Open a row" in ordinary
    assert "guess" not in ordinary


def test_every_figure_has_an_accessible_name(ordinary):
    figures = Page(ordinary).all("svg")
    assert len(figures) == 2 + 1 + 2 + 1
    assert all(a["role"] == "img" and a["aria-label"] for a in figures)


def test_every_row_has_details_and_one_is_chosen(ordinary):
    page = Page(ordinary)
    rows = re.findall(r'<tr[^>]*><th scope="row" class="n">\d+</th>.*?</tr>', ordinary, re.DOTALL)
    assert len(rows) == 4
    assert all("<details>" in row and "<math" in row for row in rows)
    assert [i for i, row in enumerate(rows) if 'aria-current="true"' in row] == [2]
    assert len([a for a in page.all("tr") if a.get("aria-current")]) == 1


def test_names_are_escaped(attacked):
    page = Page(attacked)
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert not [name for _, a in page.elements for name in a if name.startswith("on")]
    texts = "".join(page.texts)
    assert all(texts.count(name) >= 5 for name in HOSTILE[:2])


def test_the_policy_allows_the_script_of_the_page_only(ordinary):
    policy = next(a["content"] for a in Page(ordinary).all("meta") if "http-equiv" in a)
    assert "default-src 'none'" in policy
    script = re.search("<script>(.*)</script>", ordinary, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_any_names_can_be_encoded(attacked):
    attacked.encode("utf-8")
    assert "\x00" not in attacked


@pytest.mark.parametrize(("level", "words"), [(0.95, "95 %"), (0.5, "50 %")])
def test_confidence_and_prediction_intervals_have_their_levels(level, words):
    text = html(replace(sample(), level=level))
    assert f"<caption>Parameters and their {words} confidence intervals</caption>" in text
    assert "about 90 % of new rows" in text


def test_source_code_is_shown_verbatim(ordinary):
    assert "print(1 &lt; 2)" in ordinary
    assert len(Page(ordinary).all("pre")) == 2 + 4 + 2


@pytest.mark.parametrize("n_rows", [2_000, 30_000])
def test_a_page_of_many_rows_and_features_stays_small(n_rows):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (n_rows, 12))
    text = "+".join(f"{i + 1}*sin(x{i})*x{(i + 1) % 12}" for i in range(12))
    model = Model.from_expression(parse(text), tuple(f"c{i}" for i in range(12)))
    full = sample()
    content = replace(
        full, names=model.names, models=[model] * 4, X=X, y=model.predict(X) + rng.normal(0, 1, n_rows)
    )
    page = html(content)
    assert len(page.encode()) <= 1_500_000
    assert ("data:image/png" in page) == (n_rows > 2_000)


def test_the_same_content_makes_the_same_page(ordinary):
    assert html(sample()) == ordinary
