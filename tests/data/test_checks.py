"""Validation and conversion of the input."""

import numpy as np
import pandas as pd
import pytest

from fouriertree import PrimitiveSet
from fouriertree.data.checks import check_operators, draw_seed, target_as_numbers

TEXT = ["1", "2.5", "-3e2"]


@pytest.mark.parametrize("y", [TEXT, tuple(TEXT), np.array(TEXT), np.array(TEXT, object), pd.Series(TEXT)])
def test_numbers_as_text_are_converted(y):
    found = target_as_numbers(y)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.5, -300.0])


@pytest.mark.parametrize("y", [["1", "two"], np.array(["1", "two"]), pd.Series(["1", "two"])])
def test_other_text_in_the_target_is_refused_with_the_cell(y):
    with pytest.raises(ValueError, match="y is not numeric: it contains 'two'"):
        target_as_numbers(y)


def test_a_target_without_text_is_unchanged():
    for y in (
        [1, 2],
        np.arange(3),
        pd.Series([1.0]),
        np.array([1, None], object),
        [[1], [2, 3]],
        None,
        "text",
    ):
        assert target_as_numbers(y) is y


def test_a_missing_cell_among_text_is_left_to_scikit_learn_as_nan():
    np.testing.assert_array_equal(target_as_numbers(pd.Series(["1", None])), [1.0, np.nan])


def test_an_empty_set_of_operators_is_refused():
    check_operators(PrimitiveSet(["sin"]))
    with pytest.raises(ValueError, match="there are no operators to build trees from; name at least one"):
        check_operators(PrimitiveSet([]))


def test_seeds_have_an_upper_limit_that_is_named():
    assert draw_seed(2**63 - 1) == 2**63 - 1
    with pytest.raises(ValueError, match=r"an integer from 0 to 2\*\*63 - 1; got 9223372036854775808"):
        draw_seed(2**63)
