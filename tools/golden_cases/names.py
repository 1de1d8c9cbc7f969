"""Names of today, and what they are called in a tree in which they were renamed."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

#: Name of today → other names of the same thing: a top-level name, a parameter, a method, a fitted attribute, a column
#: of `equations_`, a key of a JSON document, an event, or an option of the command ("--max-evaluations").  A tree has
#: one of them; outputs show the first.  Add a row where something public is renamed.
ALIASES: dict[str, tuple[str, ...]] = {
    "checkpoint": ("keep",),
    "projected_norms": ("shadows",),
    "stop_requested": ("asked",),
    "requested": ("asked",),
    "Reported": ("Offered",),
    "loss_on_all_rows": ("loss_everywhere",),
    "to_record": ("as_saved",),
    "from_record": ("from_saved",),
    "ExtrapolationWarning": ("OutsideWarning",),
    "max_dictionary": ("most_atoms",),
}

_TODAY = {other: name for name, others in ALIASES.items() for other in others}


def today(name: str) -> str:
    """The name of today for what this tree may call otherwise."""
    return _TODAY.get(name, name)


def candidates(name: str) -> tuple[str, ...]:
    return (name, *ALIASES.get(name, ()))


def get(thing: Any, name: str) -> Any:
    """An attribute, by whichever name it has in this tree."""
    for candidate in candidates(name):
        if hasattr(thing, candidate):
            return getattr(thing, candidate)
    raise AttributeError(f"{type(thing).__name__} has none of {', '.join(candidates(name))}")


def call(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call with keywords, each by whichever name it has in this tree."""
    known = inspect.signature(function).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in known.values())
    named = {name: name if open_ended else _first(known, name) for name in options}
    return function(*arguments, **{named[name]: value for name, value in options.items()})


def _first(known: Any, name: str) -> str:
    """The candidate that is known; the name of today, which the call will refuse, if none is."""
    return next((candidate for candidate in candidates(name) if candidate in known), name)


class Package:
    """The top-level names of the package: ``ft.Hybrid``."""

    def __getattr__(self, name: str) -> Any:
        import fouriertree

        return get(fouriertree, name)


ft = Package()


def option(command: str, name: str) -> str:
    """An option of a command, by whichever name its help has."""
    if name not in ALIASES:
        return name
    text = _help(command)
    return next((candidate for candidate in candidates(name) if f"{candidate} " in text), name)


@cache
def _help(command: str) -> str:
    from golden_cases.command import run_command

    return run_command([*command.split(), "--help"]).stdout
