"""Problems by name: those of the paper, and user-defined ones."""

import re

from fouriertree.errors import listed
from fouriertree.problems.benchmarks import CONVENTIONAL, Benchmark, LargeScalePolynomial

Registered = Benchmark | LargeScalePolynomial

#: with the degrees of the paper's large-scale polynomials
_PROBLEMS: dict[str, Registered] = {
    **CONVENTIONAL,
    **{f"lsp{degree}": LargeScalePolynomial(degree) for degree in (10, 100)},
}


def register_problem(problem: Registered, name: str | None = None, replace: bool = False) -> Registered:
    """Register a problem under a name, which a `LargeScalePolynomial` needs; ValueError if the name is taken.

    Examples
    --------
    >>> register_problem(Benchmark("bump", "exp(-x0^2)", (-3.0, 3.0))).name
    'bump'
    >>> get_problem("bump").interval
    (-3.0, 3.0)
    >>> unregister_problem("bump")
    """
    key = name or (problem.name if isinstance(problem, Benchmark) else "")
    if not key:
        raise ValueError("this problem has no name; pass one: register_problem(problem, name=…)")
    if key in _PROBLEMS and not replace:
        raise ValueError(f"{key!r} is registered already; choose another name, or pass replace=True")
    a, b = problem.interval if isinstance(problem, Benchmark) else (problem.a, problem.b)
    if not a < b:
        raise ValueError(f"the interval must have a < b; got a = {a}, b = {b}")
    if isinstance(problem, Benchmark):
        if problem.n_points < 1:
            raise ValueError(f"a problem needs at least one point; got n_points = {problem.n_points}")
        if (last := max(problem.expression.columns, default=0)) > 0:
            raise ValueError(f"the formula must use x0 only; {problem.formula!r} uses x{last}")
    _PROBLEMS[key] = problem
    return problem


def unregister_problem(name: str) -> None:
    """Remove a problem from the registry."""
    get_problem(name)
    _PROBLEMS.pop(name, None)


def get_problem(name: str) -> Registered:
    """The problem registered under a name; `lsp37` is the large-scale polynomial of degree 37.

    Examples
    --------
    >>> get_problem("koza1").formula
    'x0^4 + x0^3 + x0^2 + x0'
    >>> get_problem("lsp37").degree
    37
    """
    if name in _PROBLEMS:
        return _PROBLEMS[name]
    if degree := re.fullmatch(r"lsp(\d+)", name):
        return LargeScalePolynomial(int(degree[1]))
    raise ValueError(
        f"unknown problem {name!r}; add it with register_problem(...), or use {listed(_PROBLEMS)}"
    )


def registered_problems() -> dict[str, Registered]:
    """All problems by name, in order of registration."""
    return dict(_PROBLEMS)


def formula_of(problem: Registered) -> str:
    """The target as text.

    >>> formula_of(LargeScalePolynomial(10)), formula_of(LargeScalePolynomial(2, coefficients=(1, 0, 3)))
    ('1 + x0 + x0^2 + … + x0^10', '1 + 3*x0^2')
    """
    if isinstance(problem, Benchmark):
        return problem.formula
    if problem.coefficients is None and problem.degree > 3:
        return f"1 + x0 + x0^2 + … + x0^{problem.degree}"
    return str(problem.target).replace("x", "x0")


def domain_of(problem: Registered) -> str:
    """The points or the interval on which the target is approximated, as text.

    >>> domain_of(get_problem("nguyen8")), domain_of(get_problem("lsp10"))
    ('20 points from U(0, 4)', 'all of [-1, 1]')
    """
    if isinstance(problem, Benchmark):
        return "{} points from U({:g}, {:g})".format(problem.n_points, *problem.interval)
    return f"all of [{problem.a:g}, {problem.b:g}]"
