"""Environments: moments and targets of several experiments."""

import json

import numpy as np
import pandas as pd
import pytest

from golem.data.moments import Moments
from golem.data.table import Table
from golem.data.table_checks import require_experiments
from golem.data.targets import coded_labels, read_targets

NAMES = ("A", "B", "C")


def tables(*sizes, seed=0, columns=3):
    """Return tables with different means and scales."""
    rng = np.random.default_rng(seed)
    return [rng.normal(loc=5 * k, scale=1 + k, size=(n, columns)) for k, n in enumerate(sizes)]


def made(parts, targets, names=NAMES):
    moments = {label: Moments.from_rows(rows, names) for label, rows in parts.items()}
    return Table.of(moments, targets)


def test_pooling_is_regression_on_indicators_of_the_environments():
    parts = tables(30, 20, 10)
    found = made(dict(zip("xyz", parts, strict=True)), {"x": [], "y": ["A"], "z": ["B"]})
    for which in ([0, 1, 2], [0, 2], [1]):
        rows = np.vstack([parts[e] for e in which])
        labels = np.repeat(range(len(which)), [len(parts[e]) for e in which])
        dummies = np.eye(len(which))[labels]
        residuals = rows - dummies @ np.linalg.lstsq(dummies, rows)[0]
        separate, shared = found.pooled(which), found.pooled(which, "shared")
        assert np.allclose(separate.scatter, residuals.T @ residuals)
        assert separate.n == len(rows) - len(which)
        assert np.allclose(shared.scatter, np.cov(rows.T) * (len(rows) - 1))
        assert shared.n == len(rows) - 1
        assert np.allclose(separate.mean, rows.mean(axis=0))


def test_sums_over_sets_of_environments_keep_their_digits():
    # Environment 3 has a scale of 1e8: subtracting it from the sum of all would leave no digit.
    parts = {str(k): rows * (1e8 if k == 3 else 1) for k, rows in enumerate(tables(*[20] * 7))}
    found = made(parts, {label: [] for label in parts})
    for out in range(7):
        which = [e for e in range(7) if e != out]
        direct = sum(found.parts[e].moments.scatter for e in which)
        assert np.allclose(found.pooled(which).scatter, direct, rtol=1e-12)


def test_parts_of_environments_add_up():
    first, second = tables(40, 30)
    targets = {"x": [], "y": ["B"]}
    whole = made({"x": first, "y": second}, targets)
    parts = made({"x": first[:11], "y": second[:7]}, targets) + made({"x": first[11:], "y": second[7:]}, targets)
    assert parts.fingerprint == whole.fingerprint
    other = made({"x": first, "y": second}, {"x": [], "y": ["C"]})
    assert other.fingerprint != whole.fingerprint
    with pytest.raises(ValueError, match="'y' has different targets"):
        whole + other


def test_targets_follow_the_columns():
    first, second = tables(9, 8)
    found = made({"x": first, "y": second}, {"y": ["C", "A"], "x": []})
    assert found.labels == ("y", "x")
    assert found.targets == ((0, 2), ())
    turned = found.reordered(["C", "B", "A"])
    assert turned.named_targets == {"y": ["C", "A"], "x": []}
    assert turned.groups() == {(1,): [0, 2], (0, 1): [1]}
    assert np.array_equal(turned.parts[0].moments.mean, second.mean(axis=0)[::-1])
    by_number = made({"x": first, "y": second}, {"x": [], "y": [0, np.int64(2)]})
    assert by_number.targets == ((), (0, 2))


def test_shifts_are_in_standard_deviations():
    rng = np.random.default_rng(0)
    parts = {label: rng.normal([0, mean, 0], size=(5000, 3)) for label, mean in (("x", 0), ("y", 2), ("z", 3))}
    one = made(parts, {"x": [], "y": ["B"], "z": ["B"]}).shifts()
    assert np.allclose(one, [[0, 0, 0], [0, 2, 0], [0, 3, 0]], atol=0.1)
    two = made(parts, {"x": [], "y": [], "z": ["B"]}).shifts()
    assert np.allclose(two, [[0, -2, 0], [0, 2, 0], [0, 2, 0]], atol=0.1)
    none = made(parts, {"x": ["A"], "y": ["B"], "z": ["B"]}).shifts()
    assert np.allclose(none[:, 1], [-2.5, 0.5, 2], atol=0.1)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (None, "need targets"),
        (["A"], "need targets"),
        ({"x": []}, "no targets for environment 'y'"),
        ({"x": [], "y": [], "ko_z": []}, "lists environment 'ko_z', but no row has this label"),
        ({"x": [], "y": ["a"]}, "target 'a' of environment 'y' is not a column. Did you mean 'A'"),
        ({"x": [], "y": [3]}, "target 3 of environment 'y'"),
        ({"x": [], "y": [True]}, "target True of environment 'y'"),
        ({"x": [], "y": None}, "'y' are unknown"),
        ({"x": [], "y": [], 1: [], "1": []}, "'1' occurs twice"),
        ({"x": [], "y": [], " ": []}, "an empty label"),
    ],
)
def test_targets_that_do_not_fit_are_refused(targets, message):
    first, second = tables(9, 8)
    with pytest.raises(ValueError, match=message):
        made({"x": first, "y": second}, targets)


def test_environments_need_the_same_columns():
    first, second = (Moments.from_rows(rows, names) for rows, names in zip(tables(9, 8), (NAMES, "ABD"), strict=True))
    with pytest.raises(ValueError, match="'y' has the columns 'A', 'B', 'D'"):
        Table.of({"x": first, "y": second}, {"x": [], "y": []})


def refusal(parts, targets, intervention):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        require_experiments(made(parts, targets), intervention)
    return str(error.value)


def test_environments_without_information_are_refused():
    first, second = tables(9, 8)
    flat = second.copy()
    flat[:, 0] = 3.0
    small = {"x": first, "y": second[:2]}
    assert "fewer than 3 rows: 'y' (2 rows)" in refusal(small, {"x": [], "y": ["A"]}, "soft")
    both = {"x": first, "y": second}
    assert "'A' is a target in every environment" in refusal(both, {"x": ["A"], "y": ["A", "B"]}, "soft")
    constant = {"x": first, "y": flat}
    assert "'A' is constant in environment 'y'. Drop" in refusal(constant, {"x": [], "y": ["B"]}, "hard")
    assert "use intervention='hard'" in refusal(constant, {"x": [], "y": ["A"]}, "soft")
    assert "do not target 'B'" in refusal(constant, {"x": ["B"], "y": ["A"]}, "hard")
    require_experiments(made(constant, {"x": [], "y": ["A"]}), "hard")


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"]),
        pd.Categorical(["b", "a", "b"], list("abc")),
    ],
)
def test_labels_of_any_kind_are_text(labels):
    names, codes = coded_labels(labels, 3)
    assert [names[code] for code in codes] == ["b", "a", "b"]


def test_whole_numbers_have_no_decimals():
    assert coded_labels(np.array([1.0, 2.0]), 2)[0] == coded_labels([1, 2], 2)[0] == ("1", "2")


def test_missing_labels_are_refused():
    with pytest.raises(ValueError, match="1 of 3 rows have no environment label; the first is row 2"):
        coded_labels(pd.Series(["a", None, "b"]), 3)
    with pytest.raises(ValueError, match="2 of 3 rows have no environment label; the first is row 2"):
        coded_labels(["a", "", " "], 3)
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        coded_labels(["a", "b"], 3)
    with pytest.raises(ValueError, match="one label per row"):
        coded_labels(["a", 1, "b"], 3)


def test_targets_are_read_from_json(tmp_path):
    path = tmp_path / "targets.json"
    path.write_text(json.dumps({"x": [], "y": ["A", "B"], "z": "C"}))
    assert read_targets(path) == {"x": [], "y": ["A", "B"], "z": ["C"]}
    for text, message in (
        ('{"x": [], "x": ["A"]}', "'x' occurs twice"),
        ("[1]", "must list the target columns"),
        ('{"x": 1}', "must list the target columns"),
        ("{", "not valid JSON"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_targets(path)
    with pytest.raises(ValueError, match="no such file"):
        read_targets(tmp_path / "none.json")


def test_some_columns_have_the_moments_and_targets_of_the_whole():
    rng = np.random.default_rng(0)
    parts = {label: Moments.from_rows(rng.normal(size=(20, 4)), list("abcd")) for label in ("x", "y")}
    whole = Table.of(parts, {"x": [], "y": ["a", "c"]})
    few = whole.selected([3, 2])
    assert (few.names, few.targets) == (("d", "c"), ((), (1,)))
    np.testing.assert_array_equal(few.pooled([0, 1]).scatter, whole.pooled([0, 1]).scatter[np.ix_([3, 2], [3, 2])])
