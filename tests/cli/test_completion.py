"""Completion in a shell: words that options take, columns of a table, and nothing heavy behind it."""

import pytest

from fouriertree.cli import words

# Not Rich: with it, Typer itself writes the help texts that some shells show beside the words.
HEAVY = ("numpy", "numba", "pandas", "sklearn", "sympy", "matplotlib")
CODE = """
import atexit, sys
atexit.register(lambda: print([m for m in {heavy} if m in sys.modules], file=sys.stderr))
from fouriertree.cli import main
main()
"""


@pytest.fixture
def complete(process, tmp_path):
    (tmp_path / "d.csv").write_text('speed,"top speed",mass\n1,2,3\n', "utf-8")

    def complete(*typed):
        env = {"_FOURIERTREE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": " ".join(typed)}
        result = process(code=CODE.format(heavy=HEAVY), env=env, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "[]\n")
        return result.stdout

    return complete


@pytest.mark.parametrize(
    ("typed", "proposed", "other"),
    [
        ("fouriertree pre", "predict", "problems"),
        ("fouriertree fit --val", "--validation-file", "--loss"),
        ("fouriertree fit --search ", "one-plus-lambda", "squared"),
        ("fouriertree fit --search h", "hybrid", "ftg"),
        ("fouriertree fit --loss ", "quantile", "mdl"),
        ("fouriertree fit --model-selection ", "mdl", "squared"),
        ("fouriertree fit --operators +,co", "+,cos", "sin"),
        ("fouriertree fit d.csv --target ", "mass", "d.csv"),
        ("fouriertree fit d.csv -t mass --column s", "speed", "mass"),
        ("fouriertree export model.json --to ja", "javascript", "julia"),
        ("fouriertree bench cl", "classic", "feynman"),
        ("fouriertree bench --system ", "gplearn", "classic"),
        ("fouriertree bench --case feynman_I_6", "feynman_I_6_2", "Koza-1"),
        ("fouriertree paper --only ", "heatmaps", "quick"),
    ],
)
def test_the_shell_is_told_what_fits(complete, typed, proposed, other):
    found = complete(typed)
    assert f'"{proposed}"' in found
    assert f'"{other}"' not in found


def test_a_table_that_is_not_there_proposes_nothing(complete):
    assert '"speed"' not in complete("fouriertree fit none.csv --target ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_shown(process, shell):
    env = {"_FOURIERTREE_COMPLETE": f"source_{shell}"}
    result = process(
        env=env, code="import sys; sys.argv[0] = 'fouriertree'\nfrom fouriertree.cli import main; main()"
    )
    assert result.returncode == 0
    assert "_FOURIERTREE_COMPLETE" in result.stdout


def test_the_words_are_those_of_the_package():
    from fouriertree.bench.names import SUITES
    from fouriertree.bench.systems import SYSTEMS
    from fouriertree.cli.fitting.settings import parse_operators
    from fouriertree.export import TARGETS
    from fouriertree.expr import PrimitiveSet

    assert tuple(TARGETS) == words.TARGETS
    assert tuple(SUITES) == words.SUITES
    assert tuple(SYSTEMS) == words.SYSTEMS
    assert set(parse_operators(",".join(words.operators())).names) == set(PrimitiveSet.catalogue().names)
    assert parse_operators(words.DEFAULT_OPERATORS) == PrimitiveSet.default()
