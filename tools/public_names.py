"""List every public name, one sorted line each: python tools/public_names.py [--write]

Public is what `fouriertree.__all__` has and what the pages in docs/api describe, with methods and parameters; fitted
attributes; columns of the table of equations; keys of model files, of run folders and of the documents of `--json`;
commands with their options; export targets; operators.  `--write` rewrites tests/public_names.txt.  A name that
disappears needs a row in the table "Renamed" of CHANGELOG.md.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "public_names.txt"
DOCUMENTED = re.compile(r"^::: (\S+)", re.MULTILINE)
#: keys of files below which there are names that are listed elsewhere, or that are no names of ours
OPAQUE = frozenset(["command", "described", "parameters", "versions"])


def public_names() -> list[str]:
    """All of them, sorted."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        found = {*top_level(), *documented(), *commands(), *documents(), *catalogues(), *fitted(Path(folder))}
    return sorted(found)


# Python -------------------------------------------------------------------------------------------------------
def top_level() -> Iterator[str]:
    import fouriertree

    for name in fouriertree.__all__:
        yield from described(name, getattr(fouriertree, name))


def documented() -> Iterator[str]:
    """What the pages of the reference name beyond the top level."""
    import fouriertree

    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for name in DOCUMENTED.findall(page.read_text("utf-8")):
            if name.removeprefix("fouriertree.") not in fouriertree.__all__:
                yield from described(name, resolved(name))


def resolved(path: str) -> Any:
    """The object of a dotted path: the longest module in it, and attributes of that."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            return reduce(getattr, parts[n:], import_module(".".join(parts[:n])))
        except ModuleNotFoundError:
            continue
    raise ValueError(f"docs/api describes {path}, which is not there")


def described(name: str, thing: Any) -> Iterator[str]:
    """A name with its parameters; of a class, those of its constructor, and its members."""
    yield name
    if inspect.isclass(thing):
        yield from (f"{name}({parameter})" for parameter in parameters(thing))
        yield from members(name, thing)
    elif callable(thing):
        yield from (f"{name}({parameter})" for parameter in parameters(thing))


def members(name: str, cls: type) -> Iterator[str]:
    # The fields of a dataclass are parameters of its constructor already.
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    for member in sorted(set(dir(cls)) - fields):
        if member.startswith("_"):
            continue
        thing = inspect.getattr_static(cls, member, None)
        function = (
            getattr(thing, "fget", None) or getattr(thing, "func", None) or getattr(thing, "__func__", thing)
        )
        if type(thing).__module__.startswith("sklearn") or not is_ours(function):
            continue
        yield f"{name}.{member}"
        if function is thing or isinstance(thing, classmethod | staticmethod):
            yield from (f"{name}.{member}({p})" for p in parameters(function) if p not in ("self", "cls"))


def is_ours(thing: Any) -> bool:
    """Whether it is no function of another package, from which it is inherited."""
    return not callable(thing) or str(getattr(thing, "__module__", "")).startswith("fouriertree")


def parameters(thing: Any) -> list[str]:
    """Names of the parameters; protocols are not made, and have none."""
    if getattr(thing, "_is_protocol", False):
        return []
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [str(parameter).partition(":")[0].partition("=")[0] for parameter in found]


# Fitted estimators and their files ----------------------------------------------------------------------------
def fitted(folder: Path) -> Iterator[str]:
    from fouriertree import SymbolicClassifier, SymbolicRegressor, SymbolicTransformer

    X = np.random.default_rng(0).uniform(1.0, 3.0, (24, 2))
    y = X[:, 0] * X[:, 1]
    limits = {"max_evaluations": 500, "random_state": 0, "feature_names": ["a", "b"]}
    one = SymbolicRegressor(run_dir=folder / "runs", **limits).fit(X, y)
    several = SymbolicRegressor(**limits).fit(X, np.column_stack([y, X]))
    classes = SymbolicClassifier(**limits).fit(X, np.digitize(y, [2.0, 4.0]))
    features = SymbolicTransformer(**limits).fit(X, y)
    for model in (one, several, classes, features):
        yield from (
            f"{type(model).__name__}.{name}" for name in vars(model) if name[0] != "_" and name[-1] == "_"
        )
    yield from (f"equations_[{column}]" for column in classes.equations_)
    yield from (f"equations_[{column}]" for column in one.equations_)
    for name, model in {"regressor": one, "several outputs": several, "classifier": classes}.items():
        model.save(folder / "model.json")
        yield from keys(json.loads((folder / "model.json").read_text("utf-8")), f"file of {name}: ")
    yield from run_names(one.run_path_)


def run_names(run: Path) -> Iterator[str]:
    """Files of a run folder, keys of run.json, events and their fields."""
    # Whether there is a checkpoint after a short fit depends on the time that it took.
    yield from (f"run folder: {path.name}" for path in run.iterdir() if path.suffix != ".ftc")
    yield from keys(json.loads((run / "run.json").read_text("utf-8")), "run.json: ")
    for line in (run / "events.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        yield from (f"events.jsonl: {event['event']}.{name}" for name in event if name != "event")


def keys(content: Any, prefix: str) -> Iterator[str]:
    """Paths of all keys in nested plain data; lists have the keys of their items."""
    for key, part in content.items():
        yield f"{prefix}{key}"
        items = part if isinstance(part, list) else [part]
        for item in items:
            if isinstance(item, Mapping) and key not in OPAQUE:
                yield from keys(item, f"{prefix}{key}.")


# The command --------------------------------------------------------------------------------------------------
def commands() -> Iterator[str]:
    import typer.main

    from fouriertree.cli import app

    yield from options("fouriertree", typer.main.get_command(app))


def options(name: str, command: Any) -> Iterator[str]:
    """A command with its arguments, options and their choices, and the commands below it."""
    yield name
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield f"{name} {parameter.name.upper()}"
            continue
        for option in (*parameter.opts, *parameter.secondary_opts):
            yield f"{name} {option}"
        choices = parameter.metavar or ""
        if "|" in choices:
            yield from (f"{name} {parameter.opts[0]} {choice}" for choice in choices.split("|"))
    for below, part in getattr(command, "commands", {}).items():
        yield from options(f"{name} {below}", part)


def documents() -> Iterator[str]:
    documents = tomllib.loads((ROOT / "tools" / "json_keys.toml").read_text(encoding="utf-8"))
    for command, described_keys in documents.items():
        for key, text in described_keys.items():
            yield f"{command} --json: {key}"
            if key in ("equations", "unseen", "runs", "files", "targets", "problems"):
                yield from (f"{command} --json: {key}.{part}" for part in re.findall(r"`(\w+)`", text))


def catalogues() -> Iterator[str]:
    from fouriertree import PrimitiveSet
    from fouriertree.export import TARGETS

    yield from (f"export target {name}" for name in TARGETS)
    yield from (f"operator {name}" for name in PrimitiveSet.catalogue().names)


if __name__ == "__main__":
    text = "\n".join(public_names()) + "\n"
    if "--write" in sys.argv[1:]:
        LIST.write_text(text, encoding="utf-8")
        print(f"wrote {LIST.name}")
    else:
        print(text, end="")
