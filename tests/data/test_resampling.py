"""Samples: resamples against rows that are really repeated, folds and halves against the rows themselves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import DataWarning, Golem, Moments
from golem.data.resampling import IncompleteRows, Rows, Shards, as_half, merged, read_sample, resampler


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.integers(2, 5))
def test_weighted_moments_are_those_of_repeated_rows(seed, n, d):
    rng = np.random.default_rng(seed)
    # Quarters: every product and sum is exact, so that only the division by n may round.
    X = rng.integers(-40, 40, size=(n, d)) / 4
    counts = rng.multinomial(n, np.full(n, 1 / n))
    expected = Moments.from_rows(np.repeat(X, counts, axis=0))
    found = Rows(Moments.from_rows(X), X).weighted(counts)
    assert found.n == expected.n
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=0, atol=1e-9)


def test_blocks_of_rows_and_a_large_mean_change_nothing(monkeypatch):
    monkeypatch.setattr("golem.data.resampling._BLOCK_NUMBERS", 10)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    counts = rng.multinomial(50, np.full(50, 1 / 50))
    expected = Moments.from_rows(np.repeat(X, counts, axis=0)).covariance
    found = Rows(Moments.from_rows(X + 1e8), X + 1e8).weighted(counts).covariance
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(found, found.T)


def test_shards_weighted_by_counts_are_the_repeated_blocks():
    rng = np.random.default_rng(1)
    blocks = [rng.normal(size=(size, 3)) + 5 for size in (7, 12, 9, 20)]
    shards = Shards(tuple(Moments.from_rows(block) for block in blocks))
    found = shards.weighted(np.array([2, 0, 1, 1]))
    expected = Moments.from_rows(np.concatenate([blocks[0], blocks[0], blocks[2], blocks[3]]))
    assert found.n == expected.n
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-10)
    np.testing.assert_allclose(shards.moments.scatter, Moments.from_rows(np.concatenate(blocks)).scatter, rtol=1e-10)


def test_half_the_rows_have_the_same_covariance():
    moments = Moments.from_rows(np.random.default_rng(2).normal(size=(101, 3)))
    half = as_half(moments)
    assert half.n == 50
    np.testing.assert_allclose(half.covariance, moments.covariance, rtol=1e-14)


def test_half_the_rows_have_half_of_every_pattern():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:20, 1] = np.nan
    moments = Moments.from_rows(X, missing="em")
    half = as_half(moments)
    np.testing.assert_array_equal(half.patterns.present, moments.patterns.present)
    np.testing.assert_allclose(half.patterns.counts, moments.patterns.counts * half.n / moments.n)


def test_a_null_correlation_of_a_resample_varies_as_in_half_the_rows():
    # Squared correlations times n are 1 on average in fresh data, and 2 in resamples: 1 again with n / 2.
    n, statistics = 200, []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        drawn = resampler(rng.normal(size=(n, 2))).draw(rng)
        S = drawn.covariance
        statistics.append(drawn.n * S[0, 1] ** 2 / (S[0, 0] * S[1, 1]))
    assert 0.8 < np.mean(statistics) < 1.25


def test_what_can_be_resampled():
    X = np.random.default_rng(3).normal(size=(30, 2))
    assert resampler(pd.DataFrame(X, columns=["a", "b"])).moments.names == ("a", "b")
    with pytest.raises(ValueError, match="Give the rows, or a list of moments of shards"):
        resampler(Moments.from_rows(X))
    with pytest.raises(ValueError, match="One shard cannot be resampled"):
        resampler([Moments.from_rows(X)])
    with pytest.raises(ValueError, match="NaN"):
        resampler(np.where(X > 1, np.nan, X))
    with pytest.warns(DataWarning, match="only 2 shards"):
        few = resampler([Moments.from_rows(X), Moments.from_rows(X)])
    assert few.unit == "shards"
    assert few.moments.n == merged([Moments.from_rows(X)] * 2).n == 60


def rows_of(values):
    return Rows(Moments.from_rows(values, "abc"[: values.shape[1]]), values)


def assert_same(moments, rows):
    expected = Moments.from_rows(rows)
    assert moments.n == expected.n
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(moments.covariance, expected.covariance, rtol=1e-11)


def test_folds_are_the_rows_of_a_permutation():
    rows = np.random.default_rng(0).normal(size=(53, 3)) + 1e6
    parts = np.array_split(np.random.default_rng(5).permutation(53), 4)
    folds = list(rows_of(rows).folds(4, np.random.default_rng(5)))
    assert sum(test.n for _, test in folds) == 53
    for part, (train, test) in zip(parts, folds, strict=True):
        assert_same(test, rows[part])
        assert_same(train, np.delete(rows, part, axis=0))
        assert train.names == ("a", "b", "c")


def test_halves_are_complementary():
    rows = np.random.default_rng(0).normal(size=(21, 3)) + 5
    rng = np.random.default_rng(2)
    halves = list(rows_of(rows).halves(3, np.random.default_rng(2)))
    assert [half.n for half in halves] == [10] * 6
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        shuffled = rng.permutation(21)
        assert_same(first, rows[shuffled[:10]])
        assert_same(second, rows[shuffled[10:20]])


def test_shards_stay_whole():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    shards = [Moments.from_rows(part) for part in np.split(rows, 12)]
    deal = np.array_split(np.random.default_rng(1).permutation(12), 5)
    for part, (train, test) in zip(deal, Shards(tuple(shards)).folds(5, np.random.default_rng(1)), strict=True):
        assert_same(test, np.concatenate([np.split(rows, 12)[k] for k in part]))
        assert train.n + test.n == 60


def test_where_rows_lack_values_em_is_run_on_each_part():
    rows = np.random.default_rng(0).normal(size=(90, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.7], [0, 0, 1]])
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    names = ("a", "b", "c")
    sample = IncompleteRows(Moments.from_rows(rows, names, missing="em"), rows)
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
    halves = list(IncompleteRows(Moments.from_rows(rows, missing="em"), rows).halves(2, np.random.default_rng(0)))
    assert [half.missing is None for half in halves].count(True) == 2
    assert all(np.isfinite(half.covariance).all() for half in halves)


def test_too_few_units_are_refused():
    with pytest.raises(ValueError, match="5 folds need at least 10 rows; got n_samples = 9"):
        next(rows_of(np.ones((9, 2))).folds(5, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="Halves need at least 6 rows"):
        next(rows_of(np.ones((5, 2))).halves(5, np.random.default_rng(0)))
    shards = Shards(tuple(Moments.from_rows(np.eye(3)[k:]) for k in (0, 1, 0)))
    with pytest.raises(ValueError, match="4 folds need at least 4 shards; got shards = 3"):
        next(shards.folds(4, np.random.default_rng(0)))


def test_one_reader_for_all_that_can_be_drawn_from():
    X = np.random.default_rng(3).normal(size=(30, 2))
    holes = np.where(X > 1, np.nan, X)
    reader = Golem(missing="em")
    assert isinstance(read_sample(reader, X)[1], Rows)
    assert isinstance(read_sample(reader, holes)[1], IncompleteRows)
    moments, kept = read_sample(reader.set_params(missing="drop"), holes)
    np.testing.assert_array_equal(kept.values, holes[~np.isnan(holes).any(axis=1)])
    assert moments.n == len(kept)
    moments, same = read_sample(reader, kept)
    assert same is kept
    assert moments is kept.moments
    assert len(read_sample(reader, [kept.moments] * 3)[1]) == 3
    assert read_sample(reader, kept.moments) == (kept.moments, None)
