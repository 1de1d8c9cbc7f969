"""The field's terms: words of a private dialect that must not come back, with the terms to use instead."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: (pattern, the term to use); patterns ignore case, and a space in them matches a line break, too
WORDS = (
    (r"\b(held|holds?|holding) back\b", "validation set"),
    (r"\bheld-back\b", "validation"),
    (
        r"\brows (that )?(the )?(search|fit) (saw|sees|did not see|does not see|never sees|never saw)\b",
        "training set, test set",
    ),
    (r"\b(un)?seen rows?\b|\brows? (un)?seen\b", "validation set, training set"),
    (r"\bkept aside\b|\bkeeps? rows aside\b", "test set"),
    (r"\bbelow (a|the) line\b", "worse than the linear baseline"),
    (r"\blines? through (all|the|many|of)\b", "linear model, full OLS"),
    (r"\bwish(es|ed)?\b", "option, FitConfig"),
    (r"\bwild rows?\b", "outliers"),
    (r"\bcrews?\b", "process pool"),
    (r"\bhir(e|es|ed|ing)\b", "executor"),
    (r"\b(the|a|its) helpers?\b", "process"),
    (r"\b(code|column|feature|term)? ?prices?\b", "code length"),
    (r"\bdear(er|est)?\b", "longer code"),
    (r"\bluck(y|ily)?\b", "significance"),
    (
        r"\bby chance\b|\bmore than chance\b|\bchance (explains|would|gives|alone)\b",
        "tolerance, significance",
    ),
    (r"\bof (your|one's|our) own\b", "custom, user-defined"),
    (r"\byour own (operator|function|loss|complexity|search|engine|part)", "custom"),
    (r"\b(go|goes|going|went|gone) on\b", "resume, continue"),
    (r"\bwhere it stood\b|\bwhere (it|the \w+) stands\b", "state"),
    (r"\bnumbers? to be fitted\b", "free parameter"),
    (r"\bnumbers? inside\b|\bfitted numbers?\b|\bshort(er)? numbers?\b", "constant"),
    (r"\bhurr(y|ies|ied)\b", "out of time"),
    (r"\bsharp(er|en|ened|ness)\b", "calibration"),
    (r"\bwhat it takes to (describe|write)\b", "description length"),
    (r"\b(shortest|fewest) words\b", "description length"),
    (r"\bhouse\b|\bfloors\b|\b(a|the|its|one|same|own) floor\b", "architecture, layer"),
    (r"\b(nobody|somebody)\b", "plain statement"),
    (r"\bnews\b", "event"),
    (r"\bhad its turn\b|\bhave had their turn\b", "all search strategies have run"),
    (r"\bways? to look for\b", "search strategy"),
    (r"\bcontent with\b", "target loss"),
    (r"\bon the wall\b", "wall time"),
    (r"\bspeaks? against\b|\bhas a say\b|\bhave a say\b|\bthe most say\b", "plain statement"),
    (r"\bprove[sd]? (itself|themselves)\b", "evidence"),
    (r"\bowes? nothing\b", "plain statement"),
    (
        r"\b(tell|tells|told) (us|something|anything|nothing|most|so|once)\b|\b(is|are) told\b",
        "report, give, receive",
    ),
    (r"\btables? of formulas\b", "table of equations, Pareto front"),
    (r"\bimages? of (the target|y)\b", "transformed target"),
    (r"\brun(s|ning)? away\b", "pole, diverge"),
    (r"\bcome(s)? to the same end\b", "resume bit-identically"),
    (r"\bteach(es)?\b", "plain statement"),
    (r"\bnice numbers?\b|\bround numbers?\b", "short constant"),
    (r"\bfinished (formula|equation|sum|candidate|table|row)s?\b", "finalized"),
    (r"\bdescribed (formula|equation|sum|candidate)s?\b", "finalized"),
    (
        r"\bformulas? (that was|that were|it has|so far) found\b|\bwhat (was|it has|has been|they) found\b",
        "candidates",
    ),
)
#: legitimate uses: (pattern of words, pattern of paths, pattern of lines)
ALLOWED = (
    # names of columns and products in data
    (r"price|house", r"^(tests|docs)/", r"[\"'`][\w ]*(price|house)"),
)
TEXT = (".py", ".md", ".ipynb", ".html", ".js", ".css")


def scopes():
    """Files by scope: every folder of the package and of the tests, the documentation, the pages of the root."""
    package, tests, docs = ROOT / "src" / "fouriertree", ROOT / "tests", ROOT / "docs"
    found = {
        "pages of the root": sorted(ROOT.glob("*.md")),
        "docs": [path for path in files(docs) if path.name not in GENERATED],
        "generated docs": [docs / name for name in sorted(GENERATED) if (docs / name).is_file()],
        "src/fouriertree": sorted(package.glob("*.py")),
        "tests": [path for path in sorted(tests.glob("*.py")) if path != Path(__file__).resolve()],
    }
    for base in (package, tests):
        for folder in sorted(path for path in base.iterdir() if path.is_dir() and path.name != "__pycache__"):
            found[folder.relative_to(ROOT).as_posix()] = files(folder)
    return found


#: pages that are written from docstrings and help texts
GENERATED = {"cli.md", "options.md"}
TABLE = re.compile("<!-- folders: begin -->.*<!-- folders: end -->", re.DOTALL)


def files(folder):
    return sorted(
        path for path in folder.rglob("*") if path.suffix in TEXT and "__pycache__" not in path.parts
    )


def text_of(path):
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    # The table of folders is made of docstrings, which are checked where they are.
    return TABLE.sub(lambda match: "\n" * match[0].count("\n"), text)


def uses(path):
    """Lines of a file with a word to avoid, and the term to use."""
    text, name = text_of(path), path.relative_to(ROOT).as_posix()
    lines = text.splitlines()
    for pattern, term in WORDS:
        for match in re.finditer(pattern.replace(" ", r"\s+(?:#\s+)?"), text, re.IGNORECASE):
            number = text.count("\n", 0, match.start())
            allowed = any(
                re.search(word, match[0], re.IGNORECASE)
                and re.search(paths, name)
                and re.search(line, lines[number])
                for word, paths, line in ALLOWED
            )
            if not allowed:
                yield f"{name}:{number + 1}: {' '.join(match[0].split())!r}; say: {term}"


@pytest.mark.parametrize("scope", scopes())
def test_texts_use_the_terms_of_the_field(scope):
    found = [use for path in scopes()[scope] for use in uses(path)]
    assert not found, f"{len(found)} in {scope}\n" + "\n".join(found)


def test_every_pattern_is_a_valid_regular_expression_and_matches_no_empty_text():
    assert not any(re.search(pattern, "") for pattern, _ in WORDS)
    assert len({pattern for pattern, _ in WORDS}) == len(WORDS)
