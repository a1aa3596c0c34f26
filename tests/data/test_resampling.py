"""Resampling: weighted moments against rows that are really repeated, and the variance of a resample."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import DataWarning, Moments
from golem.data.resampling import Rows, Shards, as_half, merged, resampler


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
    with pytest.raises(ValueError, match="give the rows, or a list of moments of shards"):
        resampler(Moments.from_rows(X))
    with pytest.raises(ValueError, match="one shard cannot be resampled"):
        resampler([Moments.from_rows(X)])
    with pytest.raises(ValueError, match="NaN"):
        resampler(np.where(X > 1, np.nan, X))
    with pytest.warns(DataWarning, match="2 shards are few"):
        few = resampler([Moments.from_rows(X), Moments.from_rows(X)])
    assert few.unit == "shards"
    assert few.moments.n == merged([Moments.from_rows(X)] * 2).n == 60
