"""What comes from a file or from a column's name is data: nothing of it is ever run."""

import ast
import json
from pathlib import Path

import pytest

import fouriertree
from fouriertree import Model, SymbolicRegressor, parse
from fouriertree.export import export, jax_function, torch_module
from fouriertree.expr import ParseError
from fouriertree.saving import ModelFileError, file_of
from fuzz.models import model_files

SOURCE = Path(fouriertree.__file__).parent
#: functions that run text, and modules that run what they load
RUNNERS = {"eval", "exec", "compile", "__import__", "parse_expr", "sympify", "system", "popen"}
LOADERS = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
#: where text is run, and why it may be
JUSTIFIED = {
    "cli/problems.py": {"compile", "exec"},  # a Python file that the user names to be run
    "export/jax_source.py": {"compile", "exec"},  # source that we wrote, with words of ours for names
    "export/torch_source.py": {"compile", "exec"},
    "bench/formulas.py": {
        "parse_expr"
    },  # formulas of the package's own lists, and of the systems to compare with
    "bench/sampling.py": {"sympify"},  # numbers of the package's own lists
    "expr/symbolic.py": {"eval"},  # templates of the built-in operators
}
#: where pickles are read, and from whom
PICKLES = {"search/hybrid/worker.py", "search/hybrid/crew.py"}  # from processes that this one has started


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


def test_text_is_run_only_where_there_is_a_reason():
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


def test_a_formula_is_read_and_never_run(tmp_path):
    marker = tmp_path / "marker"
    for text in attacks(marker):
        with pytest.raises(ParseError):
            parse(text)
    assert not marker.exists()


def test_a_formula_in_a_model_file_is_read_and_never_run(tmp_path):
    marker, path = tmp_path / "marker", tmp_path / "model.json"
    for text in attacks(marker):
        data = json.loads(model_files()[0])
        data["rows"][0]["terms"][0]["expression"] = data["rows"][0]["formula"] = text
        path.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(ModelFileError, match="is damaged"):
            SymbolicRegressor.load(path)
    assert not marker.exists()


def test_a_name_in_a_model_file_is_a_name_and_never_run(tmp_path):
    marker = tmp_path / "marker"
    for name in [*attacks(marker), f"\n{attacks(marker)[1]}\n", f'")\n{attacks(marker)[1]}\n("']:
        model = Model((2.0,), (parse("x0 + 1"),), (name,))
        exec(export(model, "python"), {})
        exec(export(model, "sympy"), {})
        assert str(model.sympy().free_symbols.pop()) == name
    assert not marker.exists()


def test_a_name_is_never_run_where_a_module_is_made_at_once(tmp_path):
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
    from fouriertree.saving import from_bytes

    assert file_of(from_bytes(model_files()[0])) == model_files()[0]
