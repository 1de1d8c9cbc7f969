"""From the names that a user gives to the parameters of a SymbolicRegressor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fouriertree.cli.errors import InputError
from fouriertree.cli.fitting.options import GP_TRAVERSES, MAX_TERMS, ProjectorName, SearchName
from fouriertree.cli.output import say

if TYPE_CHECKING:
    from fouriertree.expr import PrimitiveSet

#: of so many small trees, FTG takes the one that describes the data most briefly
FTG_LEVELS, FTG_BEST_OF = 4, 10_000


def search_settings(
    search: SearchName,
    projector: ProjectorName | None,
    max_terms: int | None,
    operators: str | None,
    limited: bool,
) -> dict[str, Any]:
    """What SymbolicRegressor is told about the search."""
    named = None if operators is None else parse_operators(operators)
    if search is SearchName.hybrid:
        return {"operators": named, "max_terms": max_terms}
    if search is not SearchName.ftg:
        return {"operators": named, **gp_settings(search, limited)}
    if projector is ProjectorName.gram_svd:
        return published_settings(max_terms, named)
    from fouriertree import FTG, RampedHalfAndHalf

    terms = MAX_TERMS if max_terms is None else max_terms
    ftg = FTG(generator=RampedHalfAndHalf(1, FTG_LEVELS), best_of=FTG_BEST_OF, max_terms=terms)
    return {"search": ftg, "operators": named}


def published_settings(max_terms: int | None, operators: PrimitiveSet | None) -> dict[str, Any]:
    from fouriertree import FTG, GramSVD, PrimitiveSet

    say("FTG as published: Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken")
    return {
        "search": FTG(projector=GramSVD(), max_terms=max_terms),
        "operators": PrimitiveSet.paper() if operators is None else operators,
    }


def gp_settings(search: SearchName, limited: bool) -> dict[str, Any]:
    from fouriertree.search import CanonicalGP, OnePlusLambda

    return {
        "search": CanonicalGP() if search is SearchName.gp else OnePlusLambda(),
        "max_traverses": None if limited else GP_TRAVERSES,
    }


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
