"""The page of the reproduction, without any run."""

import re

from fouriertree.experiments.paper.experiment import Experiment
from fouriertree.experiments.paper.report import page


def test_a_page_without_results_shows_the_setup_only(tmp_path):
    shown = page(Experiment(tmp_path, parts=(), runs=3), {})
    assert re.findall(r'<section id="(\w+)"', shown) == ["setting"]
    assert "3 runs per cell with seeds 0 to" in shown
    assert "no LSP." in shown


def test_texts_are_escaped(tmp_path):
    attack = "<script>alert(1)</script>"
    shown = page(Experiment(tmp_path, parts=(), command=attack), {"differences": [attack]})
    assert "<script" not in shown
    # The command twice, the second time with the option --clean, and the sentence.
    assert shown.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
