"""Columns chosen by names and patterns, and the patterns that messages suggest."""

from __future__ import annotations

import numpy as np
import pytest

from golem.data.column_patterns import as_patterns, column_types
from golem.data.levels import note_of_codes

NAMES = ["age", "sex", "T1", "T2", "T10", "dose [mg]", "dose [g]"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["T*"], {"T1", "T2", "T10"}),
        (["T?"], {"T1", "T2"}),
        (["*g]", "sex"], {"dose [mg]", "dose [g]", "sex"}),
        (["all"], set(NAMES)),
        ([], set()),
    ],
)
def test_patterns_match_columns(given, expected):
    assert column_types(given, [], NAMES) == (expected, set())
    assert column_types([], given, NAMES) == (set(), expected)


def test_a_name_is_stronger_than_a_pattern():
    assert column_types(["all"], ["age"], NAMES) == (set(NAMES) - {"age"}, {"age"})
    assert column_types(["T1"], ["T*"], NAMES) == ({"T1"}, {"T2", "T10"})
    assert column_types(["all"], [], ["all", "b"])[0] == {"all"}
    assert column_types(["a*"], [], ["a*", "ab"])[0] == {"a*"}


@pytest.mark.parametrize(
    ("categorical", "numeric", "message"),
    [
        (["Q*"], [], r"No column matches 'Q\*' \(categorical=\['Q\*'\]\)\. The columns are 'age', 'sex'"),
        ([], ["sexx"], r"no column 'sexx' among those used \(numeric=\['sexx'\]\)\. Did you mean 'sex'\?"),
        (["T*"], ["T1*"], r"Use either categorical=\['T1', 'T10'\] or numeric=\['T1', 'T10'\], not both"),
        (["age"], ["age"], r"Use either categorical=\['age'\] or numeric=\['age'\]"),
        (["t*"], [], "No column matches"),
    ],
)
def test_choices_that_cannot_be_made_are_named(categorical, numeric, message):
    with pytest.raises(ValueError, match=message):
        column_types(categorical, numeric, NAMES)


@pytest.mark.parametrize("seed", range(20))
def test_the_suggested_patterns_match_the_columns_and_no_others(seed):
    rng = np.random.default_rng(seed)
    letters = np.array(list("ab*1"))
    names = sorted({"".join(rng.choice(letters, rng.integers(1, 5))) for _ in range(30)} - {"all"})
    chosen = [name for name in names if rng.random() < 0.7]
    assert column_types(as_patterns(chosen, names), [], names)[0] == set(chosen)


def test_the_suggestion_is_complete():
    items = {f"T{k}": 5 for k in range(60)}
    assert note_of_codes(items, names=list(items)).endswith("use categorical=['all'].")
    assert note_of_codes(items, names=["age", *items]).endswith("use categorical=['T*'].")
    assert note_of_codes(items, names=["Tea", *items]).count("'T") == 8 + 10  # 'T0*', ..., 'T9*'
    scattered = {f"{k:03d}": 5 for k in range(0, 600, 10)}
    note = note_of_codes(scattered, names=[f"{k:03d}" for k in range(600)])
    assert "and 52 more. If these are codes of categories, name them with categorical=[...]" in note
