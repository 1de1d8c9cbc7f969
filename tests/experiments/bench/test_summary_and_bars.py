"""Tables and goals follow from the records."""

import json
from pathlib import Path

import numpy as np
import pytest

from fouriertree.experiments.bench.bars import bars
from fouriertree.experiments.bench.report import write
from fouriertree.experiments.bench.summary import rows, solved, text_table

RESULTS = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "results.jsonl"


@pytest.fixture
def record(task):
    def make(**changes):
        plain = {"r2": 1.0, "size": 9, "truth_size": 9, "fit_seconds": 2.0, "exact": True, "equivalent": True}
        names = {name: changes.pop(name) for name in list(changes) if name in task().to_json()}
        return {**task(**names).to_json(), **plain, "symbolic": True, **changes}

    return make


def test_an_equivalent_model_counts_without_noise_unless_it_is_bloated(record):
    assert solved(record(symbolic=False))
    assert not solved(record(symbolic=False, size=29))
    assert not solved(record(symbolic=False, noise=0.01))
    assert not solved(record(symbolic=False, equivalent=False))
    assert solved(record(equivalent=False, size=500))


def test_a_row_counts_failures_as_unsolved(record):
    failed = {**record(system="ours", seed=1), "failed": "killed", "symbolic": False, "equivalent": False}
    (row,) = rows([record(system="ours"), failed])
    assert (row.cases, row.failed, row.solved) == (2, 1, 0.5)
    assert "50.0 %" in text_table([row])


def test_disguised_and_plain_results_have_separate_rows(record):
    plain, disguised = rows([record(), record(disguise=True, symbolic=False, equivalent=False)])
    assert (plain.disguise, plain.solved) == (False, 1.0)
    assert (disguised.disguise, disguised.solved) == (True, 0.0)


def test_structural_recovery_is_a_rate_over_the_records_that_have_it(record):
    old, right, wrong = record(), record(seed=1, structure=True), record(seed=2, structure=False)
    failed = {**record(seed=3), "failed": "killed"}
    assert rows([old, right, wrong])[0].structure == 0.5
    assert rows([right, failed])[0].structure == 0.5
    (row,) = rows([old])
    assert np.isnan(row.structure)
    assert "nan" not in text_table([row])


def test_published_results_without_structural_recovery_make_a_table():
    records = [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]
    table = rows(records)
    assert sum(row.cases for row in table) == len(records)
    assert "feynman" in text_table(table)


def met(records):
    return {bar.name: bar.ok for bar in bars(records)}


def test_recovery_rates_are_compared_with_goals_and_with_every_peer(record):
    ours = [record(system="ours", case="feynman_I_25_13"), record(system="ours", case="feynman_I_29_4")]
    peer = [record(system="operon", symbolic=False, equivalent=False)]
    assert met(ours) == {"feynman-noise-0-solved": True, "median-seconds-to-a-law": True}
    assert met(ours + peer)["feynman-noise-0-above-operon"]
    assert not met([*ours, record(system="operon")])["feynman-noise-0-above-operon"]


def test_a_law_that_the_operators_cannot_express_is_not_counted(record):
    impossible = record(system="ours", suite="classic", case="Keijzer-6", symbolic=False, equivalent=False)
    possible = record(system="ours", suite="classic", case="Koza-1")
    assert met([impossible, possible])["classic-noise-0-solved"]


def test_black_box_goals_compare_with_the_best_peer_and_with_the_linear_baseline(record):
    def box(system, case, r2, size):
        verdicts = dict.fromkeys(("symbolic", "equivalent", "exact"), False)
        return record(suite="blackbox", system=system, case=case, r2=r2, size=size, **verdicts)

    records = [
        box("ours", "a", 0.9, 10), box("ours", "b", 0.5, 10), box("operon", "a", 0.9, 30), box("operon", "b", 0.5, 30),
        box("gplearn", "a", 0.1, 4), box("gplearn", "b", 0.1, 4),
        box("linear", "a", 0.8, 5), box("linear", "b", 0.55, 5),
    ]  # fmt: skip
    assert met(records) == {
        "blackbox-r2-against-best-peer": True,
        "blackbox-size-against-best-peer": True,
        "blackbox-worst-r2": True,
        "blackbox-worst-against-linear": False,
    }


def test_a_case_without_a_known_law_is_marked_and_does_not_count(record, tmp_path):
    suite = {"suite": "first-principles", "system": "ours"}
    lawless = record(**suite, case="first_principles_absorption", symbolic=False, equivalent=False)
    records = [record(**suite, case="first_principles_kepler"), lawless]
    (row,) = rows(records)
    assert (row.cases, row.solved) == (2, 1.0)
    write(tmp_path / "page.md", records, [], "fouriertree bench")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| first_principles_absorption | 0 | – |" in text
    assert "| first_principles_kepler | 0 | ✓ |" in text


def test_a_report_has_tables_figures_and_goals(record, tmp_path):
    records = [
        record(system="ours"), record(system="operon", noise=0.01),
        record(system="ours", suite="blackbox", case="a"), record(system="linear", suite="blackbox", case="a", size=20),
    ]  # fmt: skip
    write(tmp_path / "docs" / "page.md", records, bars(records), "fouriertree bench")
    text = (tmp_path / "docs" / "page.md").read_text(encoding="utf-8")
    assert "| 0 | no | ours | 1 | 0 | 100.0 % |" in text
    assert "BAR feynman-noise-0-solved 100 75 ok" in text
    for picture in ("bench-solved.png", "bench-accuracy.png"):
        assert f"images/{picture}" in text
        assert (tmp_path / "docs" / "images" / picture).stat().st_size > 5000
