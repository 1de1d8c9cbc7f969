"""The arguments of `fit`: plain data that run.json records, and the estimator's parameters that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fouriertree.cli.fitting.options import RECORDED
from fouriertree.errors import shortened
from fouriertree.fit.options import OPTIONS, Flag
from fouriertree.io.tables.source import DASH


class FitArguments(SimpleNamespace):
    """The values of the options of `fit`, by name; those that are not given have their defaults, and `run_dir` None."""

    def __init__(self, **values: Any) -> None:
        defaults = {key: option.flag_default for key, option in RECORDED.items()}
        super().__init__(**(defaults | {"run_dir": None} | values))

    def to_json(self) -> dict[str, Any]:
        """The arguments with absolute paths, since a run may be resumed in another folder."""

        def plain(value: Any) -> Any:
            return str(value if value == DASH else value.absolute()) if isinstance(value, Path) else value

        return {name: plain(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FitArguments:
        """Raise ValueError for what `to_json` would not have written."""
        arguments = cls(**data)
        for name, value in vars(arguments).items():
            if name not in RECORDED:
                raise ValueError(f"there is no option {name!r}")
            kind, flag = RECORDED[name].flag_kind, RECORDED[name].flag or Flag()
            valid = kind.accepts(value) or (value is None and not flag.argument)
            if flag.repeated:
                valid = isinstance(value, list) and all(map(kind.accepts, value))
            if not valid:
                raise ValueError(f"{name} must be {kind.phrase}; got {shortened(value)}")
            if kind.read is Path and value is not None:
                setattr(arguments, name, Path(value))
        return arguments

    def check(self) -> None:
        """Raise InputError for arguments that contradict each other, before any work is done."""
        from fouriertree.cli.fitting import checks

        checks.check_validation(self)
        checks.check_outputs(self)
        checks.check_search(self)

    def parameters(self) -> dict[str, Any]:
        """The parameters of the `SymbolicRegressor`."""
        from fouriertree.cli.fitting.searches import search_parameters

        arguments = vars(self)
        values = {option.name: arguments[option.key] for option in OPTIONS if option.flag is not None}
        defaults = {option.name: option.default for option in OPTIONS if values.get(option.name, 0) is None}
        return {**values, **defaults, **search_parameters(self)}
