"""The arguments of `fit`: plain data that run.json records, and the estimator's parameters that follow from them.

Arguments that contradict each other are refused before any work is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fouriertree.cli.files import check_writable
from fouriertree.cli.fitting.options import GP_TRAVERSES, RECORDED
from fouriertree.cli.output import say
from fouriertree.errors import InputError, shortened
from fouriertree.fit.options import OPTIONS, Flag
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.expr import PrimitiveSet

PLOTS = (".png", ".pdf", ".svg")
#: FTG draws this many trees of at most so many levels for every term, and keeps the one of least description length
FTG_BEST_OF, FTG_LEVELS = 10_000, 4
FTG_TERMS = 10


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
            (self.loss == "relative" and self.target_transform is not None,
             "errors of a logarithm are relative already; give --target-transform log or --loss relative"),
        )  # fmt: skip

    def parameters(self) -> dict[str, Any]:
        """The parameters of the `SymbolicRegressor`."""
        arguments = vars(self)
        values = {option.name: arguments[option.key] for option in OPTIONS if option.flag is not None}
        defaults = {option.name: option.default for option in OPTIONS if values.get(option.name, 0) is None}
        return {**values, **defaults, **search_parameters(self)}


def refuse(*cases: tuple[bool, str]) -> None:
    """Raise InputError with the message of the first case that is true."""
    for wrong, message in cases:
        if wrong:
            raise InputError(message)


# The parameters that depend on the search ------------------------------------------------------------------------
def search_parameters(arguments: FitArguments) -> dict[str, Any]:
    """The parameters that depend on the search: itself, the operators, and the limits that it observes."""
    operators = None if arguments.operators is None else parse_operators(arguments.operators)
    if arguments.search == "hybrid":
        return {"operators": operators}
    if arguments.search != "ftg":
        from fouriertree.search import CanonicalGP, OnePlusLambda

        limited = arguments.time_limit is not None or arguments.max_evaluations is not None
        return {
            "search": CanonicalGP() if arguments.search == "gp" else OnePlusLambda(),
            "operators": operators,
            "max_traverses": None if limited else GP_TRAVERSES,
        }
    from fouriertree import FTG, GramSVD, PrimitiveSet, RampedHalfAndHalf

    # The search alone limits the number of terms.
    if arguments.projector == "gram-svd":
        published = "Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken"
        say(f"FTG as published: {published}")
        search = FTG(projector=GramSVD(), max_terms=arguments.max_terms)
        return {"search": search, "operators": operators or PrimitiveSet.paper(), "max_terms": None}
    trees = RampedHalfAndHalf(1, FTG_LEVELS)
    search = FTG(generator=trees, best_of=FTG_BEST_OF, max_terms=arguments.max_terms or FTG_TERMS)
    return {"search": search, "operators": operators, "max_terms": None}


def parse_operators(text: str) -> PrimitiveSet:
    from fouriertree.expr import PrimitiveSet
    from fouriertree.expr.primitives import did_you_mean

    names = [name.strip() for name in text.split(",") if name.strip()]
    known = PrimitiveSet.catalogue()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known.names) or "; there are"
            raise InputError(f"unknown operator {name!r}{hint} + - * / ^ {' '.join(known.names)}")
    rows = [known[name] for name in names]
    if not rows or len(set(rows)) < len(rows):
        raise InputError(f"--operators must name one operator or more, each of them once; got {text!r}")
    return PrimitiveSet(rows)


def check_guesses(guesses: Sequence[str], X: pd.DataFrame, operators: PrimitiveSet | None) -> None:
    from fouriertree.expr import ParseError, PrimitiveSet
    from fouriertree.fit.guesses import parse_guesses

    try:
        parse_guesses(guesses, list(X.columns), operators or PrimitiveSet.default())
    except ParseError as error:
        raise InputError(f"--guess {error.formula!r} cannot be used: {error.reason}") from None
