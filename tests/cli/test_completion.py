"""Completion in a shell: values of options and columns of a table, without heavy imports."""

import pytest

from fouriertree.cli import completion

# Not Rich: with it, Typer itself writes the help texts that some shells show beside the choices.
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
        ("fouriertree bench ev", "everyday", "feynman"),
        ("fouriertree bench --gen", "--generate", "--disguise"),
        ("fouriertree bench --system ", "gplearn", "classic"),
        ("fouriertree bench --case feynman_I_6", "feynman_I_6_2", "Koza-1"),
        ("fouriertree paper --only ", "heatmaps", "quick"),
    ],
)
def test_values_are_completed(complete, typed, proposed, other):
    found = complete(typed)
    assert f'"{proposed}"' in found
    assert f'"{other}"' not in found


def test_a_missing_table_has_no_completions(complete):
    assert '"speed"' not in complete("fouriertree fit none.csv --target ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_a_shell_is_printed(process, shell):
    env = {"_FOURIERTREE_COMPLETE": f"source_{shell}"}
    result = process(
        env=env, code="import sys; sys.argv[0] = 'fouriertree'\nfrom fouriertree.cli import main; main()"
    )
    assert result.returncode == 0
    assert "_FOURIERTREE_COMPLETE" in result.stdout


def test_completed_words_are_those_of_the_package():
    from fouriertree.cli.fitting.arguments import parse_operators
    from fouriertree.experiments.bench.names import NOISE_KINDS, SUITES
    from fouriertree.experiments.bench.systems import SYSTEMS
    from fouriertree.export import TARGETS
    from fouriertree.expr import PrimitiveSet

    assert tuple(TARGETS) == completion.TARGETS
    assert tuple(SUITES) == completion.SUITES
    assert tuple(NOISE_KINDS) == completion.NOISE_KINDS
    assert tuple(SYSTEMS) == completion.SYSTEMS
    assert set(parse_operators(",".join(completion.operator_names())).names) == set(
        PrimitiveSet.catalogue().names
    )
