"""Content of files and feature names is data and is never executed."""

import ast
import json
from pathlib import Path

import pytest

import fouriertree
from fouriertree import Model, SymbolicRegressor, parse
from fouriertree.export import export, jax_function, torch_module
from fouriertree.expr import ParseError
from fouriertree.runs.model_file import ModelFileError, encoded_record
from fuzz.models import model_files

SOURCE = Path(fouriertree.__file__).parent
#: functions that execute text, and modules that execute what they load
RUNNERS = {"eval", "exec", "compile", "__import__", "parse_expr", "sympify", "system", "popen"}
LOADERS = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
#: where text is executed, and why it may be
JUSTIFIED = {
    "cli/problems.py": {"compile", "exec"},  # a Python file that the user names to be run
    "export/trainable.py": {"compile", "exec"},  # generated source, with generated identifiers
    "experiments/bench/formulas.py": {"parse_expr"},  # built-in laws, and output of the compared systems
    "experiments/bench/sampling.py": {"sympify"},  # constants of built-in laws
    "expr/symbolic.py": {"eval"},  # templates of the built-in operators
    "io/tables/source.py": {"__import__"},  # optional packages of table formats, by literal names
}
#: where pickles are read: from this process and its workers only
PICKLES = {
    "search/processes.py",  # calls that the parent process has pickled
    "search/shared.py",  # objects that tasks refer to
}


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            module = (
                called.value.id
                if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
                else ""
            )
            if name in RUNNERS and module not in ("re", "platform"):
                yield name


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def test_text_is_executed_only_where_it_is_justified():
    found = {}
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if names := set(calls(tree)):
            found[path.relative_to(SOURCE).as_posix()] = names
        trusted = path.relative_to(SOURCE).as_posix() in PICKLES
        assert not (LOADERS - ({"pickle"} if trusted else set())) & set(imported(tree)), path
    assert found == JUSTIFIED


def test_arrays_are_never_loaded_with_pickles_inside():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant)
                assert node.value.value is False, path


def attacks(marker):
    call = f"open({str(marker)!r}, 'w')"
    return [
        f"__import__('os').system('touch {marker}')", call, f"x0.__class__({call})", f"(lambda: {call})()", f"[{call}]",
        f"sin({call})", f"x0; {call}", f"f'{{{call}}}'", f"x0 if {call} else x0", "exec(x0)",
        "eval(x0)", "__import__(x0)",
    ]  # fmt: skip


def test_a_formula_is_parsed_and_never_executed(tmp_path):
    marker = tmp_path / "marker"
    for text in attacks(marker):
        with pytest.raises(ParseError):
            parse(text)
    assert not marker.exists()


def test_a_formula_in_a_model_file_is_parsed_and_never_executed(tmp_path):
    marker, path = tmp_path / "marker", tmp_path / "model.json"
    for text in attacks(marker):
        data = json.loads(model_files()[0])
        data["rows"][0]["terms"][0]["expression"] = data["rows"][0]["formula"] = text
        path.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(ModelFileError, match="is damaged"):
            SymbolicRegressor.load(path)
    assert not marker.exists()


def test_a_name_in_a_model_file_is_never_executed(tmp_path):
    marker = tmp_path / "marker"
    for name in [*attacks(marker), f"\n{attacks(marker)[1]}\n", f'")\n{attacks(marker)[1]}\n("']:
        model = Model((2.0,), (parse("x0 + 1"),), (name,))
        exec(export(model, "python"), {})
        exec(export(model, "sympy"), {})
        assert str(model.sympy().free_symbols.pop()) == name
    assert not marker.exists()


def test_a_name_is_never_executed_where_a_module_is_built(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    marker = tmp_path / "marker"
    for name in (attacks(marker)[1], f"\n{attacks(marker)[1]}\n"):
        model = Model((2.0,), (parse("x0 + 1"),), (name,))
        torch_module(model)
        jax_function(model)
    assert not marker.exists()


def test_a_saved_model_holds_nothing_but_json():
    for content in model_files():
        assert json.loads(content)
    from fouriertree.runs.model_file import decoded, from_json

    assert encoded_record(from_json(decoded(model_files()[0]))) == model_files()[0]
