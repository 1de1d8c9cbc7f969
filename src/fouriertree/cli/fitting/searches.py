"""From the names of a search and of operators to the objects that a `SymbolicRegressor` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fouriertree.cli.fitting.options import GP_TRAVERSES
from fouriertree.cli.output import say
from fouriertree.errors import InputError

if TYPE_CHECKING:
    from fouriertree.cli.fitting.arguments import FitArguments
    from fouriertree.expr import PrimitiveSet

#: FTG draws this many trees of at most so many levels for every term, and keeps the one of least description length
FTG_BEST_OF, FTG_LEVELS = 10_000, 4
FTG_TERMS = 10


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
        say(
            "FTG as published: Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken"
        )
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
