"""`fouriertree fit` and `fouriertree predict`: from a CSV to an equation to predictions."""

import csv
import io
import json
import os
import re
import signal
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fouriertree
from fouriertree import SymbolicRegressor
from fouriertree.cli.fitting.columns import HoldoutScores, Score
from fouriertree.io.tables.text import EXACT

MAIN = "from fouriertree.cli import main; main()"
LAW = "-0.4*velocity - 19.62*sin(angle)"
CERTAIN = "the law is certain: exact on all rows"


def predictions(text):
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["prediction"]
    return np.array([float(value) for (value,) in rows[1:]])


def test_fit_prints_the_table_the_equation_the_stop_reason_and_the_seed(run, pendulum):
    result = run("fit", pendulum, "--target", "acceleration", "--seed", 0)
    assert result.exit_code == 0
    assert result.stderr == ""
    marked = [line for line in result.stdout.splitlines() if line.startswith(">>>")]
    assert len(marked) == 1
    assert marked[0].endswith(LAW)
    assert f"acceleration = {LAW}" in result.stdout
    assert f"stopped: {CERTAIN}; " in result.stdout
    assert "seed 0" in result.stdout


def test_a_fit_without_a_seed_names_the_seed_that_repeats_it(run, pendulum):
    arguments = ("fit", pendulum, "-t", "acceleration", "--operators", "+,-,*", "--max-evaluations", 300)
    first = run(*arguments).stdout
    seed = first.rsplit("seed ", 1)[1].strip()
    assert run(*arguments, "--seed", seed).stdout == first


def test_predict_repeats_the_predictions_of_the_regressor_to_the_last_bit(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json").exit_code == 0
    table = pd.read_csv(pendulum, **EXACT)
    X, y = table[["angle", "velocity"]], table["acceleration"]
    expected = SymbolicRegressor(random_state=0).fit(X, y).predict(X)
    found = predictions(run("predict", "model.json", pendulum).stdout)
    assert (found == expected).all()


def test_a_model_file_has_its_format_version_and_provenance(run, pendulum):
    run("fit", pendulum, "-t", "acceleration", "--seed", 5, "-o", "model.json")
    data = json.loads(Path("model.json").read_text(encoding="utf-8"))
    assert (data["format"], data["version"]) == ("fouriertree-model", 2)
    assert data["versions"]["fouriertree"] == fouriertree.__version__
    assert (data["target"], data["names"]) == ("acceleration", ["angle", "velocity"])
    assert len(data["rows"]) > data["chosen"]
    assert (data["history"]["seed"], data["history"]["stop_reason"]) == (5, CERTAIN)


def test_predict_matches_columns_by_name_and_needs_only_those_of_the_equation(run, tmp_path):
    rows = [f"{i},{i * i % 7},note {i},{3 * (i * i % 7)}" for i in range(30)]
    (tmp_path / "old.csv").write_text("\n".join(["unused,my x,note,y", *rows]), encoding="utf-8")
    fit = run("fit", "old.csv", "-t", "y", "--ignore", "note", "--seed", 0, "-o", "model.json")
    assert "y = 3*`my x`" in fit.stdout
    (tmp_path / "new.csv").write_text("label,my x\na,2\nb,4\n", encoding="utf-8")
    assert predictions(run("predict", "model.json", "new.csv").stdout) == pytest.approx([6.0, 12.0])


def test_predict_with_output_keeps_every_cell_and_adds_a_column(run, tmp_path, pendulum):
    run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json")
    (tmp_path / "new.csv").write_text('id,angle,velocity\n007,0.50,0\n"a, b",1e0,2\n', "utf-8")
    result = run("predict", "model.json", "new.csv", "-o", "out.csv")
    assert result.exit_code == 0
    rows = list(csv.reader(Path("out.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["id", "angle", "velocity", "prediction"]
    assert [row[:3] for row in rows[1:]] == [["007", "0.50", "0"], ["a, b", "1e0", "2"]]
    assert float(rows[1][3]) == pytest.approx(-19.62 * np.sin(0.5))


def test_predictions_that_are_not_finite_are_counted_on_stderr(run, tmp_path):
    x = np.linspace(1, 9, 40)
    pd.DataFrame({"x": x, "y": np.log(x)}).to_csv("old.csv", index=False)
    run("fit", "old.csv", "-t", "y", "--operators", "log", "--seed", 0, "-o", "model.json")
    (tmp_path / "new.csv").write_text("x\n-1\n1\n", encoding="utf-8")
    result = run("predict", "model.json", "new.csv")
    assert result.exit_code == 0
    outside = (
        "rows lie outside of the range of the training data (x from 1 to 9), where the equation extrapolates"
    )
    warning = "warning: the equation has no finite value on 1 of 2 rows"
    assert result.stderr.splitlines() == [f"note: 1 of 2 {outside}", warning]
    assert np.isnan(predictions(result.stdout)[0])


def test_a_model_without_feature_names_predicts_columns_x0_x1_and_so_on(run):
    X = np.column_stack([np.arange(20.0) % 7, np.arange(20.0)])
    SymbolicRegressor(max_evaluations=1000, random_state=0).fit(X, 2 * X[:, 1]).save("model.json")
    Path("new.csv").write_text("x1,x0\n4,0\n30,0\n", encoding="utf-8")
    result = run("predict", "model.json", "new.csv")
    assert predictions(result.stdout) == pytest.approx([8.0, 60.0])
    assert result.stderr.startswith(
        "note: 1 of 2 rows lie outside of the range of the training data (x1 from 0 to 19)"
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_semicolons_and_tabs_separate_cells_too(run, tmp_path, separator):
    rows = [separator.join([str(i), str(i % 5), str(2 * i)]) for i in range(20)]
    text = "\ufeff" + "\r\n".join([separator.join(["a", "b", "y"]), *rows])
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert "\ny = 2*a\n" in run("fit", "data.csv", "-t", "y", "--seed", 0).stdout


def test_decimal_commas_are_read_and_written_where_semicolons_separate(run, tmp_path):
    rows = [f"{i},5;{2 * i + 1}" for i in range(20)]
    (tmp_path / "data.csv").write_text("\n".join(["a;y", *rows]), encoding="utf-8")
    assert "\ny = 2*a\n" in run("fit", "data.csv", "-t", "y", "--seed", 0, "-o", "m.json").stdout
    assert run("predict", "m.json", "data.csv", "-o", "out.csv").exit_code == 0
    lines = Path("out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["a;y;prediction", "0,5;1;1,0"]


def test_a_column_without_a_name_is_left_out_with_a_note_and_kept_by_predict(run, tmp_path):
    table = pd.DataFrame({"a": np.arange(20.0) % 7, "y": 2 * (np.arange(20.0) % 7)})
    table.to_csv("data.csv")
    result = run("fit", "data.csv", "-t", "y", "--seed", 0, "-o", "m.json")
    sentence = "column 1 has no name, an index probably: left out; name it to use it"
    assert result.stderr == f"note: {sentence}\n"
    assert json.loads(Path("m.json").read_text(encoding="utf-8"))["names"] == ["a"]
    run("predict", "m.json", "data.csv", "-o", "out.csv")
    assert Path("out.csv").read_text(encoding="utf-8").splitlines()[0] == ",a,y,prediction"
    assert run("fit", "data.csv", "-t", "Unnamed: 0", "--max-evaluations", 1).stderr == ""
    assert run("fit", "data.csv", "-t", "y", "--ignore", "Unnamed: 0", "--seed", 0).stderr == ""


def test_a_header_of_numbers_is_noted(run, tmp_path):
    (tmp_path / "data.csv").write_text(
        "1,2\n" + "".join(f"{i},{2 * i}\n" for i in range(2, 12)), encoding="utf-8"
    )
    result = run("fit", "data.csv", "-t", "2", "--seed", 0)
    assert result.exit_code == 0
    assert result.stderr == "note: the first line of data.csv looks like data, not names\n"


def test_names_match_however_their_accents_are_typed(run, tmp_path):
    typed, decomposed = "Größe", unicodedata.normalize("NFD", "Größe")
    text = f"{decomposed},y\n" + "".join(f"{i},{2 * i}\n" for i in range(9))
    (tmp_path / "old.csv").write_text(text, encoding="utf-8")
    (tmp_path / "new.csv").write_text(text.replace(decomposed, typed), encoding="utf-8")
    assert run("fit", "old.csv", "-t", typed, "--seed", 0).exit_code == 0
    assert run("fit", "new.csv", "-t", decomposed, "--seed", 0).exit_code == 0
    assert run("fit", "old.csv", "-t", "y", "--seed", 0, "-o", "m.json").exit_code == 0
    for name in ("old.csv", "new.csv"):
        assert predictions(run("predict", "m.json", name).stdout)[1] == pytest.approx(2.0)


def test_predict_uses_the_requested_row(run, pendulum):
    run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json")
    chosen = json.loads(Path("model.json").read_text(encoding="utf-8"))["chosen"]
    default = run("predict", "model.json", pendulum).stdout
    assert run("predict", "model.json", pendulum, "--row", chosen).stdout == default
    constant = predictions(run("predict", "model.json", pendulum, "--row", 0).stdout)
    assert len(set(constant)) == 1


def test_noise_is_fitted_by_its_mean_with_a_note(run, noise):
    result = run("fit", "data.csv", "-t", "y", "--max-evaluations", 50_000, "--seed", 0)
    assert result.stdout.splitlines()[1].startswith(">>>    0")
    assert "\nno equation has a smaller description length than a constant\n" in result.stdout
    assert "-0.000000" not in result.stdout


@pytest.fixture
def on_terminal(monkeypatch):
    """Print a table of two rows, the second of them chosen, on a terminal of some width; the text without styles."""
    from fouriertree.cli import show

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def shown(equation, width, holdout=None):
        rows = [(1, 1, 0.5, 0.5, -1e-17, "0.25"), (2, 9, 0.1, np.nan, 0.9, equation)]
        columns = ["n_terms", "complexity", "loss", "validation_loss", "r2", "equation"]
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        monkeypatch.setenv("COLUMNS", str(width))
        show.show_on_terminal(show.lines(pd.DataFrame(rows, columns=columns), 1, holdout), 1)
        return re.sub(r"\x1b\[\d*m", "", terminal.getvalue())

    return shown


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("scores", [None, HoldoutScores(9, [Score(-0.123456, 0.000123)] * 2)])
def test_a_terminal_of_any_width_shows_whole_equations_and_whole_headings(on_terminal, width, scores):
    equation = "0.25*velocity_of_the_water*sqrt(diameter) - 12.5*log(reynolds + 3500)/velocity_of_the_water^2"
    lines = on_terminal(equation, width, scores).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert "complexity" in words
    assert words.count("hold-out") == (0 if scores is None else 2)
    start = next(i for i, line in enumerate(lines) if "0.25*" in line)
    place = lines[start].index("0.25*")
    parts = [line[place:].strip() for line in lines[start:]]
    assert " ".join(parts) == equation
    assert all(len(part) > 15 for part in parts[:-1])


def test_a_table_that_fits_into_a_terminal_has_its_equations_in_the_last_column(on_terminal):
    assert on_terminal("2*a", 80).splitlines()[-1].rstrip().endswith("0.900000  2*a")


@pytest.mark.parametrize("search", ["gp", "one-plus-lambda"])
def test_genetic_programming_fits_one_tree_and_ends(run, pendulum, search):
    result = run("fit", pendulum, "-t", "acceleration", "--search", search, "--seed", 0, "-o", "model.json")
    assert result.exit_code == 0
    assert "stopped: traverses used up; 100," in result.stdout
    assert run("predict", "model.json", pendulum).exit_code == 0


def test_a_constant_target_has_a_constant_equation(run, tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,4\n2,4\n3,4\n", encoding="utf-8")
    result = run("fit", "data.csv", "-t", "y", "-o", "m.json", "--max-evaluations", 1000)
    assert result.exit_code == 0
    assert "\ny = 4\n" in result.stdout
    assert predictions(run("predict", "m.json", "data.csv").stdout) == pytest.approx(4.0)


def test_a_fit_without_time_says_that_it_has_not_searched(run, pendulum):
    result = run("fit", pendulum, "-t", "acceleration", "--time-limit", 0)
    assert result.exit_code == 0
    assert "\nthe search had no time: no equation was evaluated\n" in result.stdout
    assert "description length" not in result.stdout


def test_gram_svd_is_announced_as_the_published_algorithm(run, pendulum):
    result = run(
        "fit",
        pendulum,
        "-t",
        "acceleration",
        "--search",
        "ftg",
        "--projector",
        "gram-svd",
        "--max-terms",
        4,
        "--seed",
        0,
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("FTG as published")
    assert "stopped: all terms used" in result.stdout


def test_the_plot_is_a_png_file(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "--plot", "fit.png").exit_code == 0
    assert Path("fit.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_in_a_pipe_equations_are_never_shortened(process, tmp_path):
    names = [f"{letter} with a name that is longer than most names of columns" for letter in "abc"]
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=names)
    table.assign(y=table @ [1.25, -2.5, 3.75]).to_csv(tmp_path / "data.csv", index=False)
    result = process("fit", "data.csv", "-t", "y", "--seed", 0, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    equation = result.stdout.split("\ny = ")[1].splitlines()[0]
    assert len(equation) > 160
    assert all(name in equation for name in names)
    assert next(line for line in lines if line.startswith(">>>")).endswith(equation)


# Sends a signal at a call, late enough after an earlier one that it counts as a second signal.
INTERRUPTED = """
import os, signal, time
from fouriertree.fit import pipeline as fitting
from fouriertree.io import files
from fouriertree.search import Hybrid
from fouriertree.fit.stopping import SAME_SIGNAL_SECONDS

def first(call, number, times=1):
    calls = []
    def interrupted(*arguments, **options):
        calls.append(0)
        if len(calls) == times:
            time.sleep(2 * SAME_SIGNAL_SECONDS)
            os.kill(os.getpid(), number)
        return call(*arguments, **options)
    return interrupted

"""
IN_A_STEP = "Hybrid.step = first(Hybrid.step, signal.{name}, 4)\n"
FINALIZING = "fitting.FitPipeline.table = first(fitting.FitPipeline.table, signal.SIGINT)\n"
WRITING = "files.replace_atomically = first(files.replace_atomically, signal.SIGINT)\n"

needs_signals = pytest.mark.skipif(os.name == "nt", reason="sends a signal")


@pytest.fixture
def noise(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "y"]).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


@needs_signals
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_the_search_and_the_equations_are_written(run, forked, noise, name, status):
    arguments = ("fit", "data.csv", "-t", "y", "-o", "model.json")
    code = INTERRUPTED + IN_A_STEP.format(name=name) + MAIN
    result = forked(*arguments, code=code, cwd=noise)
    first, second = result.stderr.splitlines()
    assert first == "stopping, writing the equations found so far…"
    assert second.startswith("note: to resume it: fouriertree runs resume ")
    assert result.returncode == status
    assert "stopped: interrupted" in result.stdout
    assert result.stdout.endswith("model written to model.json\n")
    assert run("predict", "model.json", "data.csv").exit_code == 0


@needs_signals
@pytest.mark.parametrize("moment", [FINALIZING, WRITING])
def test_ctrl_c_after_the_search_loses_nothing(forked, noise, moment):
    arguments = ("fit", "data.csv", "-t", "y", "--max-evaluations", 1000, "-o", "model.json", "--no-run")
    result = forked(*arguments, code=INTERRUPTED + moment + MAIN, cwd=noise)
    assert result.returncode == 130
    assert "stopped: evaluations used up" in result.stdout
    assert (noise / "model.json").exists()


@needs_signals
def test_a_second_ctrl_c_exits_at_once_without_temporary_files(forked, noise):
    code = INTERRUPTED + IN_A_STEP.format(name="SIGINT") + WRITING + MAIN
    arguments = ("fit", "data.csv", "-t", "y", "-o", "model.json", "--no-run")
    result = forked(*arguments, code=code, cwd=noise)
    assert result.returncode == 130
    assert result.stderr.endswith("interrupted again; exited without finishing\n")
    assert os.listdir(noise) == ["data.csv"]


@needs_signals
def test_ctrl_c_before_the_search_reports_that_there_are_no_equations(forked, noise):
    early = "import os, signal\nfrom fouriertree.cli.fitting import columns\n"
    early += "columns.samples = lambda *a: os.kill(os.getpid(), signal.SIGINT)\n"
    result = forked("fit", "data.csv", "-t", "y", "-o", "model.json", code=early + MAIN, cwd=noise)
    assert result.returncode == 130
    assert result.stderr == "interrupted before the search; there are no equations yet\n"
    assert result.stdout == ""
    assert not (noise / "model.json").exists()


def test_signal_handlers_are_restored_after_a_fit(run, pendulum):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0).exit_code == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_stdout_loses_the_table_but_not_the_files(forked, pendulum, tmp_path):
    sentence = "error: cannot write to the standard output: no space left on device\n"
    fit = ("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "m.json", "--plot", "p.png")
    for arguments in (fit, ("predict", "m.json", pendulum), ("--version",)):
        result = forked(*arguments, cwd=tmp_path, stdout="/dev/full")
        assert (result.returncode, result.stderr) == (2, sentence)
    assert (tmp_path / "m.json").exists()
    assert (tmp_path / "p.png").exists()


@needs_signals
def test_a_closed_pipe_ends_the_command_without_an_error(process, noise):
    reading, writing = os.pipe()
    os.close(reading)
    arguments = ("fit", "data.csv", "-t", "y", "--max-evaluations", 1000, "-o", "model.json")
    with os.fdopen(writing, "w") as closed:
        result = process(*arguments, cwd=noise, stdout=closed)
    assert (result.returncode, result.stderr) == (128 + signal.SIGPIPE, "")
    assert (noise / "model.json").exists()


def test_bugs_have_their_traceback(forked, tmp_path, pendulum):
    broken = (
        "import fouriertree.search as s\ndef step(*a): raise RuntimeError('a bug')\ns.Hybrid.step = step\n"
    )
    result = forked("fit", pendulum, "-t", "acceleration", code=broken + MAIN)
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "a bug" in result.stderr


def test_guesses_are_marked_in_the_table_and_a_note_says_why_one_is_not_there(run, pendulum):
    guesses = ["--guess", "a*cos(b*angle)", "--guess", "log(angle - 99)"]
    result = run("fit", pendulum, "-t", "velocity", *guesses, "--time-limit", "0", "--seed", "0")
    assert result.exit_code == 0
    assert sum(line.startswith("guess") for line in result.stdout.splitlines()) == 1
    assert "note: guess 'log(angle - 99)' is not in the table: its values are not finite" in result.stderr
