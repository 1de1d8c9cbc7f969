"""The options of a fit, each declared once: name, default, valid values, help and command-line form.

The estimators check their parameters against `OPTIONS`, `fouriertree fit` builds its command line from it, and the
parameter lists of the docstrings and docs/options.md are written from it by ``tools/option_docs.py``.  Nothing heavy is
imported, since `fouriertree --help` reads the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

from fouriertree.errors import shortened

#: headings of the options in help texts
COLUMNS, SEARCH, EQUATIONS, VALIDATION, OUTPUT = "Columns", "Search", "Equations", "Validation", "Output"
#: seeds are signed 64-bit integers in compiled code
LARGEST_SEED = 2**63 - 1
LOSSES = ("squared", "absolute", "huber", "quantile", "relative", "logistic")
#: the operators of `PrimitiveSet.default()`
DEFAULT_OPERATORS = "+,-,*,/,sin,cos,exp,log,sqrt,square,tanh"
#: where `fouriertree fit` creates run folders
RUNS = Path("fouriertree-runs")


# Valid values ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Kind:
    """The valid values of an option: a predicate, its words in an error, and how a value is read from text."""

    type: str  #: for docstrings
    phrase: str  #: the error is "… must be {phrase}; got …"
    accepts: Callable[[Any], bool]
    read: Callable[[str], Any] = str  #: ValueError for text that is no such value
    metavar: str | None = None
    choices: tuple[str, ...] = ()  #: words that a shell completes


def whole(least: int, most: int | None = None) -> Kind:
    """Integers from `least` to `most`."""

    def accepts(value: Any) -> bool:
        return isinstance(value, Integral) and least <= int(value) and (most is None or int(value) <= most)

    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    return Kind("int", f"a whole number {limits}", accepts, int, "N")


def number(phrase: str, metavar: str, accepts: Callable[[float], bool] = lambda x: x >= 0.0) -> Kind:
    """Real numbers, those that are not negative unless `accepts` is given; finite ones on the command line."""

    def is_valid(value: Any) -> bool:
        try:
            return isinstance(value, Real) and accepts(float(value))
        except OverflowError:  # an integer beyond float64
            return False

    return Kind("float", phrase, is_valid, finite_float, metavar)


def one_of(*choices: str) -> Kind:
    """One of some words."""

    def accepts(value: Any) -> bool:
        return isinstance(value, str) and value in choices

    words = "{" + ", ".join(map(repr, choices)) + "}"
    return Kind(words, f"one of {', '.join(choices)}", accepts, str, "|".join(choices), choices)


def finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def is_names(value: Any) -> bool:
    return is_list(value) and all(isinstance(name, str) for name in value)


def is_one_dimensional(value: Any) -> bool:
    """Whether it is a list of names, an array or an index of pandas, with one dimension."""
    listed = hasattr(value, "ndim") or is_list(value)
    return listed and getattr(value, "ndim", 1) == 1 and not any(isinstance(v, list | tuple) for v in value)


def is_seed(value: Any) -> bool:
    return hasattr(value, "randint") or (isinstance(value, Integral) and 0 <= int(value) <= LARGEST_SEED)


def mapping(types: str, example: str) -> Kind:
    def accepts(value: Any) -> bool:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)

    return Kind(f"mapping of {types}", f"a mapping such as {example}", accepts)


def text(metavar: str | None, completed: tuple[str, ...] = ()) -> Kind:
    return Kind("str", "text", lambda value: isinstance(value, str), str, metavar, completed)


def path(metavar: str) -> Kind:
    return Kind("str or Path", "a path", lambda value: isinstance(value, str | PathLike), Path, metavar)


#: booleans of Python and of NumPy
BOOLEAN = Kind(
    "bool", "True or False", lambda value: type(value).__name__ in ("bool", "bool_", "NoneType"), bool
)
FRACTION = number("a number between 0 and 1, such as 0.9", "FRACTION", lambda x: 0.0 < x < 1.0)
SECONDS = number("a number of seconds, at least 0", "SECONDS")
NOT_NEGATIVE = number("a number of at least 0", "X")
JOBS = Kind(
    "int", "a whole number of at least 1, or -1 for one per processor",
    lambda value: isinstance(value, Integral) and (int(value) >= 1 or int(value) == -1), int, "N",
)  # fmt: skip

EXECUTOR = Kind(
    "concurrent.futures.Executor", "a concurrent.futures.Executor such as ThreadPoolExecutor(4)",
    lambda value: callable(getattr(value, "submit", None)) and callable(getattr(value, "shutdown", None)),
)  # fmt: skip


# Declarations ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Flag:
    """The command-line form of an option, where it differs from that of the estimators."""

    name: str | None = None
    kind: Kind | None = None
    help: str | None = None
    default: Any = None  #: None where the command has to know whether the option was given
    shown: str | None = None  #: the default in help texts, where it is not `default`
    short: str | None = None
    repeated: bool = False  #: the value is a list, empty by default
    argument: bool = False
    completion: str | None = None  #: a function of `fouriertree.cli.completion`


@dataclass(frozen=True)
class Option:
    """A parameter of the estimators, an option of `fouriertree fit`, or both."""

    name: str
    default: Any
    kind: Kind
    help: str  #: one sentence
    heading: str  #: in help texts; none where it is empty
    flag: Flag | None = None
    optional: bool = False  #: None is valid although it is not the default

    @property
    def accepts_none(self) -> bool:
        return self.optional or self.default is None

    @property
    def key(self) -> str:
        """The name on the command line and in run.json."""
        return (self.flag and self.flag.name) or self.name

    @property
    def flag_kind(self) -> Kind:
        """The valid values on the command line."""
        return (self.flag and self.flag.kind) or self.kind

    @property
    def flag_default(self) -> Any:
        """The value on the command line where the option is not given."""
        default = None if self.flag is None else self.flag.default
        return list(default or ()) if self.flag and self.flag.repeated else default

    def check(self, value: Any) -> None:
        """Raise ValueError unless the value is valid."""
        if not (self.kind.accepts(value) or (value is None and self.accepts_none)):
            phrase = f"None or {self.kind.phrase}" if self.accepts_none else self.kind.phrase
            raise ValueError(f"{self.name} must be {phrase}; got {shortened(value)}")


OPTIONS: tuple[Option, ...] = (
    Option("search", None, Kind("Search", "a search such as FTG()", lambda value: hasattr(value, "step")),
           "Search algorithm; None is `Hybrid`, which observes the limits below.", SEARCH),
    Option("n_features", 10, whole(1), "Maximum number of features that a transformer returns.", EQUATIONS),
    Option("operators", None, Kind("list of str or PrimitiveSet", "a list of names, or a PrimitiveSet",
                                   lambda value: is_names(value) or hasattr(value, "by_opcode")),
           "Operators allowed in expressions, by name or symbol; None is `PrimitiveSet.default()`.", EQUATIONS,
           Flag(kind=text("NAMES"), help="Operators allowed in expressions, by name or symbol, separated by commas.",
                shown=DEFAULT_OPERATORS, completion="operators")),
    Option("max_terms", None, whole(1), "Maximum number of terms; None is 10, and no limit for linear models.",
           EQUATIONS, Flag(help="Maximum number of terms.", shown="10; no limit for linear models and gram-svd")),
    Option("max_size", 80, whole(1), "Maximum complexity of an equation.", EQUATIONS,
           Flag(help="Maximum complexity of an equation, for hybrid.", shown="80")),
    Option("complexities", None, mapping("str to int", "{'sin': 5}"),
           "Custom complexities of operators, such as ``{'sin': 5}``.", EQUATIONS),
    Option("nesting", None, mapping("str to mapping", "{'sin': {'exp': 0}}"),
           "Maximum number of operators nested inside another, such as ``{'sin': {'sin': 0, 'exp': 1}}``.", EQUATIONS),
    Option("guesses", None, Kind("list of str", "a list of formulas such as ['a*sin(x0)']", is_names),
           "Formulas such as ``['a*sin(x0)']``, in which unknown names are free parameters: each is fitted first, and "
           "is in the table with its loss.", EQUATIONS,
           Flag("guess", text("FORMULA"), "Formula such as 'a*sin(angle)', in which unknown names are free parameters, "
                "for hybrid: it is fitted first, and is in the table with its loss; may be repeated.", repeated=True)),
    Option("loss", "squared",
           Kind(f"{one_of(*LOSSES).type} or callable", f"{one_of(*LOSSES).phrase}, or a function of (y, predicted)",
                lambda value: callable(value) or one_of(*LOSSES).accepts(value)),
           "Loss of a row: absolute and huber are robust to outliers, relative is the squared error relative to y, "
           "logistic takes y for probabilities and fits their log-odds, and a function maps the arrays (y, predicted) "
           "to the losses of the rows.", EQUATIONS,
           Flag(kind=one_of(*LOSSES[:-1]), default="squared", help="Loss function: absolute and huber are robust to "
                "outliers, quantile estimates the --quantile of the target, relative is the squared error relative to "
                "the target.")),
    Option("quantile", 0.5, FRACTION, "Quantile that the quantile loss estimates.", EQUATIONS, Flag(shown="0.5")),
    Option("target_transform", None, one_of("log"),
           "Fit log(y), where y is positive: search, losses and selection are those of log(y), equations and "
           "predictions those of y.", EQUATIONS,
           Flag(help="Fit the logarithm of a positive target: search, losses and selection are those of the "
                "logarithm, equations and predictions those of the target.")),
    Option("model_selection", "mdl", one_of("mdl", "best", "accuracy"),
           "Criterion for the chosen equation: mdl is the minimum description length, best the last one before more "
           "complexity gains little, accuracy the smallest validation loss.", EQUATIONS, Flag(default="mdl")),
    Option("time_limit", None, SECONDS,
           "Time limit in seconds; without any limit, a fit ends when all search strategies have run.", SEARCH,
           Flag(help="Time limit in seconds.")),
    Option("max_evaluations", None, NOT_NEGATIVE,
           "Approximate number of candidate evaluations at most; unlike a time limit, it is reproducible.", SEARCH,
           Flag(kind=whole(1))),
    Option("memory_limit", None, number("a number of megabytes, at least 0", "MB"),
           "Memory of the process and its process pool, in megabytes, at which the search ends.", SEARCH, Flag()),
    Option("max_traverses", None, NOT_NEGATIVE,
           "Maximum number of passes over the data, the unit of cost of the paper, for its searches.", SEARCH),
    Option("target_loss", None, NOT_NEGATIVE,
           "Sum of squared errors at which the search ends; None is an error at rounding level.", SEARCH),
    Option("random_state", None, Kind("int or RandomState", "a RandomState or an integer from 0 to 2**63 - 1", is_seed),
           "Seed, which repeats a fit; None draws one, which `seed_` gives.", SEARCH,
           Flag("seed", whole(0, LARGEST_SEED), "Seed, which repeats a fit; without it, one is drawn and printed.")),
    Option("n_jobs", 1, JOBS, "Number of processes and threads, -1 for one per processor; results do not depend on it.",
           SEARCH, Flag("jobs", default=1), optional=True),
    Option("executor", None, EXECUTOR, "Executor that performs the tasks of a fit; None is a process pool of `n_jobs` "
           "workers, which all fits share.", SEARCH),
    Option("feature_names", None, Kind("list of str", "a list with a name for every feature", is_one_dimensional),
           "Names of the features in equations; None is those of a DataFrame, or x0, x1 and so on.", EQUATIONS),
    Option("run_dir", None, path("FOLDER"),
           "Folder in which every fit creates a run folder, `run_path_`, with events, equations so far and "
           "checkpoints, from which `resume` continues.", OUTPUT,
           Flag(help="Folder in which every fit creates a run folder with events, equations and checkpoints: see "
                "`runs`.", default=RUNS)),
    Option("warm_start", False, BOOLEAN,
           "Continue from the state of the last fit to the same data, with the same limits once more.", SEARCH),
    Option("progress", False, BOOLEAN, "Show a progress bar on stderr.", OUTPUT),
)  # fmt: skip


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError for the first of an estimator's parameters whose value is not valid."""
    for option in OPTIONS:
        if option.name in parameters:
            option.check(parameters[option.name])
