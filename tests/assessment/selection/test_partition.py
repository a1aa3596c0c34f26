"""Folds and halves: every row once, moments exactly those of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Moments
from golem.assessment.selection.partition import Sample


def assert_same(moments, rows):
    expected = Moments.from_rows(rows)
    assert moments.n == expected.n
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(moments.covariance, expected.covariance, rtol=1e-11)


def test_folds_are_the_rows_of_a_permutation():
    rows = np.random.default_rng(0).normal(size=(53, 3)) + 1e6
    parts = np.array_split(np.random.default_rng(5).permutation(53), 4)
    folds = list(Sample(rows, ("a", "b", "c")).folds(4, np.random.default_rng(5)))
    assert sum(test.n for _, test in folds) == 53
    for part, (train, test) in zip(parts, folds, strict=True):
        assert_same(test, rows[part])
        assert_same(train, np.delete(rows, part, axis=0))
        assert train.names == ("a", "b", "c")


def test_halves_are_complementary():
    rows = np.random.default_rng(0).normal(size=(21, 3)) + 5
    rng = np.random.default_rng(2)
    halves = list(Sample(rows, ("a", "b", "c")).halves(3, np.random.default_rng(2)))
    assert [half.n for half in halves] == [10] * 6
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        shuffled = rng.permutation(21)
        assert_same(first, rows[shuffled[:10]])
        assert_same(second, rows[shuffled[10:20]])


def test_shards_stay_whole():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    shards = [Moments.from_rows(part) for part in np.split(rows, 12)]
    deal = np.array_split(np.random.default_rng(1).permutation(12), 5)
    for part, (train, test) in zip(deal, Sample(shards, ("x0", "x1")).folds(5, np.random.default_rng(1)), strict=True):
        assert_same(test, np.concatenate([np.split(rows, 12)[k] for k in part]))
        assert train.n + test.n == 60


def test_where_rows_lack_values_em_is_run_on_each_part():
    rows = np.random.default_rng(0).normal(size=(90, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.7], [0, 0, 1]])
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    names = ("a", "b", "c")
    sample = Sample(rows, names, Moments.from_rows(rows, names, missing="em"))
    parts = np.array_split(np.random.default_rng(5).permutation(90), 3)
    for part, (train, test) in zip(parts, sample.folds(3, np.random.default_rng(5)), strict=True):
        np.testing.assert_array_equal(test, rows[part])
        expected = Moments.from_rows(np.delete(rows, part, axis=0), names, missing="em")
        assert train.n == expected.n
        np.testing.assert_allclose(train.covariance, expected.covariance, atol=1e-4)
        np.testing.assert_allclose(train.mean, expected.mean, atol=1e-4)
    shuffled = np.random.default_rng(2).permutation(90)
    half = next(sample.halves(1, np.random.default_rng(2)))
    expected = Moments.from_rows(rows[shuffled[:45]], names, missing="em")
    assert half.missing.cells == expected.missing.cells
    np.testing.assert_allclose(half.covariance, expected.covariance, atol=1e-4)


def test_a_part_without_missing_values_needs_no_em():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    rows[0, 0] = np.nan  # in one half of each pair alone, and where the shift would be
    halves = list(Sample(rows, ("a", "b"), Moments.from_rows(rows, missing="em")).halves(2, np.random.default_rng(0)))
    assert [half.missing is None for half in halves].count(True) == 2
    assert all(np.isfinite(half.covariance).all() for half in halves)


def test_too_few_units_are_refused():
    with pytest.raises(ValueError, match="5 folds need at least 10 rows; got n_samples = 9"):
        next(Sample(np.ones((9, 2)), ("a", "b")).folds(5, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="halves need at least 6 rows"):
        next(Sample(np.ones((5, 2)), ("a", "b")).halves(5, np.random.default_rng(0)))
