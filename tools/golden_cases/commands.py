"""The command: documents as values, what is printed for people as words."""

from __future__ import annotations

import re
from pathlib import Path

from golden_cases import tables as t
from golden_cases.command import TextOf, ask
from golden_cases.record import Record, case, scrubbed

NAMES = ["mass", "top speed", "c%"]
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
#: rows of the report's table of provenance that differ from run to run, each followed by its value
VOLATILE_ROWS = re.compile(r"^(seconds|version of .*)$")
LIMITS = ["--max-evaluations", "100000", "--seed", "0"]


def fit(record: Record, *options: str, table: t.Table | None = None) -> None:
    """Write a table, and a model of it."""
    t.write_csv(record.folder / "data.csv", t.exact() if table is None else table, NAMES)
    ask(record, "fit", "fit", "data.csv", "--target", "y", *LIMITS, "-o", "model.json", "--json", *options)


@case("command-fit")
def fit_plain(record: Record) -> None:
    fit(record)
    ask(record, "text", "fit", "data.csv", "-t", "y", *LIMITS, "--no-run")


@case("command-fit-options")
def fit_options(record: Record) -> None:
    fit(
        record, "--no-run", "--loss", "huber", "--max-terms", "3", "--max-size", "15", "--ignore", "c%",
        "--operators", "+,*,sin,square", "--model-selection", "accuracy", "--validation", "0.2",
        "--guess", "a*sin(mass)",
    )  # fmt: skip


@case("command-fit-searches")
def fit_searches(record: Record) -> None:
    t.write_csv(record.folder / "data.csv", t.exact(), NAMES)
    for name, more in {
        "ftg": ["--max-terms", "3"],
        "ftg --projector gram-svd": ["--max-terms", "4"],
        "one-plus-lambda": [],
        "gp": [],
    }.items():
        words = ["fit", "data.csv", "-t", "y", "--search", *name.split(), *more, *LIMITS, "--no-run"]
        ask(record, name, *words, "--json")


@case("command-fit-weights")
def fit_weights(record: Record) -> None:
    fit(
        record, "--no-run", "--weights", "c%", "--validation", "0.25", "--validation-last", table=t.quotient()
    )


@case("command-predict")
def predict(record: Record) -> None:
    fit(record, "--no-run")
    ask(record, "json", "predict", "model.json", "data.csv", "--json")
    ask(record, "row", "predict", "model.json", "data.csv", "--row", "1", "--json")
    ask(record, "file", "predict", "model.json", "data.csv", "-o", "out.csv")
    record.value("out.csv", (record.folder / "out.csv").read_text("utf-8"))


@case("command-export")
def export(record: Record) -> None:
    fit(record, "--no-run")
    listed = ask(record, "targets", "export", "model.json", "--json").document
    for target in listed["targets"]:
        if not target["binary"]:
            found = ask(record, target["name"], "export", "model.json", "--to", target["name"], "--json")
            record.value(f"{target['name']} as text", found.document["text"])


@case("command-report")
def report(record: Record) -> None:
    fit(record, "--no-run", table=t.hard())
    ask(record, "report", "report", "model.json", "--data", "data.csv", "--refits", "2", "--json")
    page = (record.folder / "report.html").read_text("utf-8")
    lines = without_volatile(TextOf(page).lines)
    record.words("page", "\n".join(lines))
    # Sentences may change while what they say must not.
    record.value("numbers", "\n".join(number for line in lines for number in NUMBER.findall(line)))
    record.value("pictures", page.count("<svg") + page.count("<img"))


def without_volatile(lines: list[str]) -> list[str]:
    kept = []
    for before, line in zip(["", *lines], lines, strict=False):
        # The fingerprint of a version is in the line after its name.
        kept.append("VOLATILE" if VOLATILE_ROWS.match(before) else scrubbed(line))
    return [re.sub(r"fouriertree \d\S*", "fouriertree VERSION", line) for line in kept]


@case("command-runs")
def runs(record: Record) -> None:
    fit(record)
    ask(record, "second", "fit", "data.csv", "-t", "y", "--max-evaluations", "1000", "--seed", "1", "--json")
    listed = ask(record, "runs", "runs", "--json").document
    ask(record, "show", "runs", "show", "last")
    shown = ask(record, "show as JSON", "runs", "show", "last", "--json").document
    names = [run["id"] for run in listed["runs"]]
    ask(record, "compare", "runs", "compare", *names, "--json")
    ask(record, "finished", "runs", "resume", "last", "--json")
    ask(record, "resume", "runs", "resume", Path(shown["path"]).name, "--max-evaluations", "200000", "--json")
    ask(record, "rm", "runs", "rm", names[0], "--yes")
    ask(record, "left", "runs", "--json")


@case("command-refusals")
def refusals(record: Record) -> None:
    """Statuses are values, sentences are words."""
    t.write_csv(record.folder / "data.csv", t.exact(), NAMES)
    (record.folder / "text.csv").write_text("a,y\n1,2\nthree,4\n", encoding="utf-8")
    tries = {
        "no table": ["fit", "nothing.csv", "-t", "y"],
        "no target": ["fit", "data.csv"],
        "no such target": ["fit", "data.csv", "-t", "z"],
        "text in a cell": ["fit", "text.csv", "-t", "y"],
        "no such option": ["fit", "data.csv", "-t", "y", "--sed", "1"],
        "no such operator": ["fit", "data.csv", "-t", "y", "--operators", "sine"],
        "no model": ["predict", "data.csv", "data.csv"],
        "no runs": ["runs", "show", "last"],
        "no such command": ["fits"],
    }
    for name, words in tries.items():
        ask(record, name, *words)


@case("command-help")
def help_texts(record: Record) -> None:
    for words in ([], ["fit"], ["predict"], ["export"], ["report"], ["runs"], ["problems"]):
        ask(record, " ".join(["help", *words]), *words, "--help")
    ask(record, "problems", "problems", "--json")
