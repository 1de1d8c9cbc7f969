"""Every export is run, and agrees with `Model.predict` on ordinary and on edge values."""

from functools import cache

import numpy as np
import pytest

from fouriertree import PrimitiveSet
from fouriertree.export import TARGETS, ExportError, export
from fouriertree.expr.opcodes import VAR
from fouriertree.expr.operators.forms import Absent

from .models import every_operator, expected, long_models, random_models, rows, shapes, small_models
from .runners import CAREFUL, EXACT, NOT_RUN, UNTRIED

KINDS = {
    "operators": every_operator,
    "shapes": shapes,
    "random": random_models,
    "long": long_models,
    "small": small_models,
}


#: the sine of ONNX Runtime is 0 at π
WAVES = {"onnx": 1e-15}


#: JAX flushes subnormal values to 0
FLUSHING = {"jax"}


@cache
def models_of(kind):
    return KINDS[kind]()


@cache
def expectations(kind, negative_zeros, waves):
    X = rows(negative_zeros)
    return X, [expected(model, X, waves) for model in models_of(kind)]


def case(target, kind):
    """Models, rows, what is expected; neither SQLite nor a spreadsheet has a negative zero to store."""
    return models_of(kind), *expectations(kind, target not in CAREFUL, WAVES.get(target, 0.0))


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_run_or_there_is_a_reason(target):
    assert sum(target in table for table in (EXACT, CAREFUL, NOT_RUN)) == 1, (
        f"add {target!r} to EXACT, CAREFUL or NOT_RUN in tests/export/runners.py"
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", EXACT)
def test_an_export_has_the_values_of_the_model_including_infinities(target, kind, tmp_path):
    models, X, all_expected = case(target, kind)
    checked_rows = 0
    for model, found, wanted in zip(models, EXACT[target](models, X, tmp_path), all_expected, strict=True):
        assert found.shape == (len(X),)
        comparable = wanted.clear & (wanted.normal | (target not in FLUSHING))
        right = agrees(found, wanted) | ~comparable
        assert right.all(), report(model, X, found, wanted, right)
        checked_rows += np.count_nonzero(comparable)
    assert checked_rows > 0.75 * len(models) * len(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", CAREFUL)
def test_an_export_has_no_value_rather_than_a_wrong_one(target, kind, tmp_path):
    models, X, all_expected = case(target, kind)
    taken = [
        k
        for k, model in enumerate(models)
        if not is_absent(target, model) and (kind != "long" or not refuses(target, model))
    ]
    assert len(taken) > 0.75 * len(models) or kind == "long"
    chosen = [models[k] for k in taken]
    for k, found in zip(taken, CAREFUL[target](chosen, X, tmp_path), strict=True):
        wanted = all_expected[k]
        tried = found != UNTRIED
        no_value = np.isnan(found) & ~(wanted.finite & wanted.moderate)
        right = agrees(found, wanted) | no_value | ~wanted.clear | ~tried
        assert right.all(), report(models[k], X, found, wanted, right)
        assert tried.sum() >= 9


def is_absent(target, model):
    """Whether the expression has an operator that is declared absent in the language."""
    codes = {int(code) for e in model.expressions for code in e.op if code > VAR}
    forms = [PrimitiveSet.catalogue().by_opcode(code).forms.get(target) for code in codes]
    return any(isinstance(form, Absent) for form in forms)


def refuses(target, model):
    try:
        export(model, target)
    except ExportError:
        return True
    return False


def agrees(found, wanted):
    with np.errstate(all="ignore"):
        close = np.abs(found - wanted.values) <= wanted.tolerance
    return close | (found == wanted.values) | (np.isnan(found) & np.isnan(wanted.values))


def report(model, X, found, wanted, right):
    i = int(np.flatnonzero(~right)[0])
    return f"{model}\non {X[i].tolist()}\ngives {found[i]!r} instead of {wanted.values[i]!r} ± {wanted.tolerance[i]:g}"
