"""The arguments of `fit`: plain data that run.json records, and the estimator's parameters that follow from them.

Arguments that contradict each other are refused before any work is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fouriertree.cli.files import check_writable
from fouriertree.cli.fitting.options import RECORDED
from fouriertree.errors import InputError, shortened
from fouriertree.fit.options import OPTIONS, Flag
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.expr import PrimitiveSet

PLOTS = (".png", ".pdf", ".svg")


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
        """Raise InputError for arguments that contradict each other, or that the search or the loss would ignore."""
        output, plot, search = self.output, self.plot, self.search
        has_file = self.validation_file is not None
        refuse(
            (self.validation is not None and has_file,
             "--validation holds out rows of the table, --validation-file has other rows; give one of them"),
            (self.validation_last and self.validation is None,
             "--validation-last needs the fraction of rows to hold out: --validation 0.2"),
            (has_file and self.validation_file == self.data == DASH,
             "the standard input cannot be both DATA and the --validation-file; name one of them"),
        )  # fmt: skip
        for path in filter(None, (output, plot)):
            check_writable(path, self.data, *([self.validation_file] if has_file else []))
        refuse(
            (plot is not None and plot.suffix.lower() not in PLOTS,
             f"cannot draw {plot}: the name of a plot ends in {', '.join(PLOTS)}"),
            (output is not None and plot is not None and output.resolve() == plot.resolve(),
             f"{plot} cannot be both the model and the plot; rename one of them"),
            (search in ("one-plus-lambda", "gp") and (self.projector is not None or self.max_terms is not None),
             f"--projector and --max-terms are options of sums of trees; --search {search} fits one tree"),
            (search != "ftg" and self.projector is not None,
             f"--projector is an option of ftg; give --search ftg with it, not {search}"),
            (search != "hybrid" and (self.max_size is not None or bool(self.guess)),
             f"--max-size and --guess are options of the hybrid search; --search {search} ignores them"),
            (self.loss != "quantile" and self.quantile is not None,
             f"--quantile is an option of --loss quantile; give that with it, not {self.loss}"),
        )  # fmt: skip

    def parameters(self) -> dict[str, Any]:
        """The parameters of the `SymbolicRegressor`."""
        from fouriertree.cli.fitting.searches import search_parameters

        arguments = vars(self)
        values = {option.name: arguments[option.key] for option in OPTIONS if option.flag is not None}
        defaults = {option.name: option.default for option in OPTIONS if values.get(option.name, 0) is None}
        return {**values, **defaults, **search_parameters(self)}


def refuse(*cases: tuple[bool, str]) -> None:
    """Raise InputError with the message of the first case that is true."""
    for wrong, message in cases:
        if wrong:
            raise InputError(message)


def check_guesses(guesses: Sequence[str], X: pd.DataFrame, operators: PrimitiveSet | None) -> None:
    if not guesses:
        return
    from fouriertree.expr import ParseError, PrimitiveSet
    from fouriertree.fit.guesses import parse_guesses

    for guess in guesses:
        try:
            parse_guesses([guess], list(X.columns), operators or PrimitiveSet.default())
        except ParseError as error:
            raise InputError(f"--guess {guess!r} is no formula: {error.reason}") from None
