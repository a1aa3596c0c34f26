"""The coding of categories as columns of numbers."""

import numpy as np
import pytest

from golem.data.variables import Coding, Variable

CODING = Coding((Variable("age"), Variable("sex", "category", ("F", "M")), Variable("site", "category", tuple("cabd"))))


def coded_rows(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=n), rng.integers(2, size=n), rng.integers(4, size=n)]).astype(float)


def test_the_reference_is_the_most_frequent_level_and_ties_go_by_name():
    assert Variable.of_counts("x", {"b": 2, "a": 1, "c": 3}).levels == ("c", "a", "b")
    assert Variable.of_counts("x", {"b": 2, "a": 2}).levels == Variable.of_counts("x", {"a": 2, "b": 2}).levels
    assert Variable.of_counts("x", {"b": 2, "a": 2}).levels == ("a", "b")


def test_numbers_as_levels_are_sorted_by_value():
    assert Variable.of_counts("x", {"10": 1, "9": 1, "2": 5, "x": 1}).levels == ("2", "9", "10", "x")


def test_each_level_but_the_reference_has_an_indicator():
    rows = coded_rows()
    expanded = CODING.expand(rows)
    assert expanded.shape == (50, CODING.first[-1]) == (50, 5)
    np.testing.assert_array_equal(expanded[:, 0], rows[:, 0])
    for j in (1, 2):
        block = expanded[:, CODING.first[j] : CODING.first[j + 1]]
        # The position of the 1 in a row is the code, and the reference has no 1.
        np.testing.assert_array_equal(block @ np.arange(1, block.shape[1] + 1), rows[:, j])
        assert set(block.sum(axis=1)) <= {0.0, 1.0}


def test_missing_categories_have_missing_indicators():
    rows = coded_rows()
    rows[3, 2] = np.nan
    absent = np.isnan(CODING.expand(rows))
    assert absent[3].tolist() == [False, False, True, True, True]
    assert absent.sum() == 3


def test_column_names_and_selection_agree():
    assert CODING.column_names == ("age", "sex=M", "site=a", "site=b", "site=d")
    some = CODING.selected(["site", "age"])
    names = np.array(CODING.column_names)[CODING.columns_of(["site", "age"])]
    assert tuple(names) == some.column_names


def test_codes_need_categories():
    with pytest.raises(ValueError, match="these columns are numbers: 'age'"):
        CODING.codes(coded_rows())
    discrete = CODING.selected(["sex", "site"])
    codes = discrete.codes(coded_rows()[:, 1:])
    assert codes.dtype == np.int16
    np.testing.assert_array_equal(codes, coded_rows()[:, 1:])
    assert (discrete.is_discrete, CODING.is_discrete, CODING.is_numeric) == (True, False, False)


def test_a_column_named_like_an_indicator_is_an_error():
    with pytest.raises(ValueError, match="'sex=M'"):
        _ = Coding((Variable("sex=M"), Variable("sex", "category", ("F", "M")))).column_names
