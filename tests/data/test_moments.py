"""Moments: exact merges, shifts, kinds of tables, and refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import Golem, Moments


def covariance_in_extended_precision(X):
    X = X.astype(np.longdouble)
    X = X - X.mean(axis=0)
    return (X.T @ X / len(X)).astype(float)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 98), st.sampled_from([0.0, 1.0, 1e8]))
def test_merged_moments_equal_moments_of_the_whole(seed, cut, mean):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 4)) @ rng.normal(size=(4, 4)) + mean
    cut = max(2, min(cut, 98))
    whole, merged = Moments.from_rows(X), Moments.from_rows(X[:cut]) + Moments.from_rows(X[cut:])
    scale = np.sqrt(np.outer(whole.variances, whole.variances))
    assert merged.n == 100
    assert np.max(np.abs(merged.covariance - whole.covariance) / scale) < 1e-12
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-15, atol=1e-13)


def test_mean_1e8_keeps_the_covariance(rng):
    X = rng.normal(size=(1000, 3)) + 1e8
    np.testing.assert_allclose(Moments.from_rows(X).covariance, covariance_in_extended_precision(X), rtol=1e-12)


def test_many_merges_keep_the_covariance(rng):
    X = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 3)) + 1e8
    parts = [Moments.from_rows(X[k : k + 10]) for k in range(0, 1000, 10)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    expected = covariance_in_extended_precision(X)
    assert np.max(np.abs(total.covariance - expected)) < 1e-12 * np.max(expected)


def test_every_kind_of_table_gives_the_same_moments(rng):
    X = rng.normal(size=(20, 3))
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    expected = Moments.from_rows(X, names="abc")
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), pa.record_batch(columns)):
        moments = Moments.from_table(table)
        assert moments.names == ("a", "b", "c")
        np.testing.assert_array_equal(moments.scatter, expected.scatter)
    assert Moments.from_table(X).names == ("x0", "x1", "x2")


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array", "dok_array", "bsr_array", "lil_matrix"])
def test_sparse_matrices_are_read_as_their_dense_form(kind, rng):
    X = np.where(rng.random((30, 3)) < 0.5, 0.0, rng.normal(size=(30, 3)))
    sparse = getattr(scipy.sparse, kind)(X)
    np.testing.assert_array_equal(Moments.from_rows(sparse).scatter, Moments.from_rows(X).scatter)
    np.testing.assert_array_equal(Golem(noise="ev").fit(sparse).weights_, Golem(noise="ev").fit(X).weights_)


def test_a_record_batch_can_be_fitted(rng):
    X = rng.normal(size=(50, 2))
    model = Golem(noise="ev").fit(pa.record_batch({"u": X[:, 0], "v": X[:, 1]}))
    assert list(model.feature_names_in_) == ["u", "v"]


def test_integers_booleans_and_nullable_columns_are_numbers():
    frame = pd.DataFrame({"i": [1, 2, 4], "b": [True, False, True], "n": pd.array([1, 2, 5], dtype="Int64")})
    np.testing.assert_allclose(Moments.from_table(frame).mean, [7 / 3, 2 / 3, 8 / 3])


def test_integers_of_128_bits_are_numbers():
    frame = pl.DataFrame({"a": pl.Series([10**30, 2 * 10**30, 3], dtype=pl.Int128), "b": [1, 2, 4]})
    np.testing.assert_allclose(Moments.from_table(frame).mean, [1e30, 7 / 3])


def test_input_is_untouched(rng):
    X = rng.normal(size=(10, 2))
    copy = X.copy()
    Moments.from_rows(X)
    np.testing.assert_array_equal(X, copy)


def test_standardized_has_unit_variances(rng):
    standardized = Moments.from_rows(rng.normal(size=(50, 3)) * [1, 10, 1e5]).standardized()
    np.testing.assert_allclose(np.diagonal(standardized.covariance), 1)


def test_from_covariance_round_trip(rng):
    moments = Moments.from_rows(rng.normal(size=(50, 3)))
    again = Moments.from_covariance(moments.covariance, 50, moments.mean, moments.names)
    np.testing.assert_allclose(again.covariance, moments.covariance, rtol=1e-14)
    np.testing.assert_array_equal(again.mean, moments.mean)


@pytest.mark.parametrize(
    ("covariance", "n", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], 10, r"not symmetric.*'x0' and 'x1'"),
        ([[1.0, 2.0], [2.0, 1.0]], 10, "not positive semidefinite"),
        ([[1.0, 0.0], [0.0, -1.0]], 10, "negative variance of 'x1'"),
        ([[1.0, np.nan], [np.nan, 1.0]], 10, "NaN"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 10, "square"),
        ([[1.0, 0.0], [0.0, 1.0]], 1, "at least 2"),
    ],
)
def test_a_bad_covariance_is_refused_with_its_reason(covariance, n, message):
    with pytest.raises(ValueError, match=message):
        Moments.from_covariance(covariance, n)


def test_a_singular_covariance_is_accepted():
    assert Moments.from_covariance(np.ones((2, 2)), 5).d == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pd.DataFrame({"a": [1.0, np.nan, np.inf], "b": [1, 2, 3]}),
            r"Infinite values \(inf\) in 1 of 2 columns: 'a' \(1 value\)\. The first is in row 3",
        ),
        (
            pd.DataFrame({"a": ["u", "v"], "b": [1, 2]}),
            r"1 of 2 columns is not numeric: 'a' \('u' in row 1 and text in 1 more row\)",
        ),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"]), "b": [1, 2]}), "not numeric: 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "unique; repeated: 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["", "a"]), "Column 1 has an empty name"),
        (pl.DataFrame({"a": [1.0, None], "b": [1, 2]}), r"'a' \(1 value\)"),
        (pl.LazyFrame({"a": [1.0, 2.0]}), "A polars LazyFrame is a lazy query without rows"),
        (np.zeros((1, 3)), "at least 3 rows"),
        (np.zeros(3), "must have shape"),
        ([["a", "b"], ["c", "d"]], "table of numbers"),
    ],
)
def test_a_bad_table_is_refused_with_its_columns(table, message):
    with pytest.raises(ValueError, match=message):
        Moments.from_table(table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((4, 2)) * 1j, "Complex data not supported"),
        (scipy.sparse.csr_array(np.ones((4, 2)) * 1j), "Complex data not supported"),
        (np.array([["2020-01-01", "2020-01-02"]] * 3, dtype="datetime64[D]"), "dates or times"),
        (np.ones((3, 2), dtype="timedelta64[s]"), "got durations"),
        ([[np.datetime64("2020-01-01"), 1.0], [2.0, 3.0]], "dates or times"),
        (np.zeros(4, dtype=[("a", float), ("b", float)]), "structured array"),
        ([[10**400, 2], [3, 4], [4, 5]], "Values beyond 1e150"),
        (pd.DataFrame({"a": [10**400, 2, 3], "b": [1, 2, 7]}), "Column 'a': Values beyond 1e150"),
        (pd.DataFrame({"a": [[1.0], [2.0], [4.0]], "b": [1, 2, 7]}), "not numeric: 'a'"),
        (pl.DataFrame({"a": [[1.0], [2.0], [4.0]], "b": [1, 2, 7]}), r"not numeric: 'a' \(type List\(Float64\)\)"),
        (pl.DataFrame({"a": [1, 2, 4], "b": [1, 2, 7]}).cast({"a": pl.Date}), r"'a' (\(type Date\)|contains dates)"),
        ({"a": [1, 2], "b": [3, 5]}, "got a dictionary"),
        (None, "got NoneType"),
    ],
)
@pytest.mark.parametrize("read", [Moments.from_table, Moments.from_rows, Golem().fit])
def test_what_would_be_converted_without_a_word_is_refused(table, message, read):
    with pytest.raises(ValueError, match=message):
        read(table)


@pytest.mark.parametrize("cell", ["x" * 200_000, {"x" * 200_000: 1}])
def test_a_long_cell_is_shortened_in_the_message(cell):
    table = pa.table({"a": [cell] * 3, "b": [1, 2, 7]})
    with pytest.raises(ValueError, match="not numeric: 'a'") as raised:
        Moments.from_table(table)
    assert len(str(raised.value)) < 500


def test_an_array_of_text_is_a_plain_value_error():
    with pytest.raises(ValueError, match="must be a table of numbers") as raised:
        Moments.from_rows(np.array([["a", "1"], ["b", "2"]]))
    assert raised.type is ValueError


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*in beta state", "ignore:.*nested tensors")
def test_tensors_of_all_kinds_are_read_or_refused(rng):
    torch = pytest.importorskip("torch")
    X = torch.asarray(rng.normal(size=(40, 3)))
    expected = Moments.from_rows(X)
    for tensor in (X.to_sparse(), X.to_sparse_csr(), X.clone().requires_grad_()):
        np.testing.assert_array_equal(Moments.from_rows(tensor).scatter, expected.scatter)
        assert Golem(noise="ev").fit(tensor).n_features_in_ == 3
    rough = X.bfloat16()
    np.testing.assert_array_equal(Moments.from_table(rough).mean, Moments.from_table(rough.double()).mean)
    for tensor, message in (
        (X + 1j, "Complex data not supported"),
        (X[:0], "at least 3 rows"),
        (X[0], r"must have shape \(rows, columns\); got shape \(3,\)"),
        (X[0, 0], "got Tensor"),
        (torch.zeros((5, 3), device="meta"), "nested, quantized or without data"),
        (torch.nested.nested_tensor([X[0], X[0, :2]]), "nested, quantized or without data"),
    ):
        for read in (Moments.from_rows, Moments.from_table, Golem().fit):
            with pytest.raises(ValueError, match=message):
                read(tensor)
    with pytest.raises(ValueError, match="at least 2 columns"):
        Golem().fit(X[:, :0])


def test_moments_of_different_columns_do_not_merge(rng):
    X = rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match=r"'a', 'b'.*'a', 'c'"):
        Moments.from_rows(X, "ab") + Moments.from_rows(X, "ac")


@pytest.mark.torch
@pytest.mark.parametrize("d", [3, 4, 9, 16])
def test_half_of_a_product_of_tensors_is_mirrored(d, monkeypatch, rng):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("golem.data.moments._STRIP", 4)
    X = rng.normal(size=(40, d)) + 1e6
    ours = Moments.from_rows(torch.asarray(X))
    np.testing.assert_allclose(ours.scatter, Moments.from_rows(X).scatter, rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(ours.scatter, ours.scatter.T)


@pytest.mark.torch
def test_tensors_are_treated_as_arrays_are(rng):
    torch = pytest.importorskip("torch")
    X = rng.normal(size=(40, 3))
    shift = np.array([5.0, -2.0, 1e3])
    for missing in ("error", "drop"):
        ours, expected = (Moments.from_rows(Y, shift=shift, missing=missing) for Y in (torch.asarray(X), X))
        np.testing.assert_array_equal(ours.shift, shift)
        np.testing.assert_array_equal(expected.shift, shift)
        np.testing.assert_allclose(ours.scatter, expected.scatter, rtol=1e-9)
        assert ours.missing == expected.missing
    X[:, 1] *= 1e200
    for Y in (X, torch.asarray(X)):
        with pytest.raises(ValueError, match="Values beyond 1e150"):
            Moments.from_rows(Y)


def test_the_hash_knows_data_apart_and_not_the_ways_to_read_them(rng):
    # Means far from zero, standardized columns and columns in tiny units among them.
    X = rng.normal(size=(301, 5)) * [1, 1e-6, 1e5, 1, 1] + [0, 0, 1e7, -3, 0]
    X[:, 3] -= X[:, 3].mean()
    X[:, 4] = (X[:, 4] - X[:, 4].mean()) / X[:, 4].std()
    whole = Moments.from_rows(X)
    expected = whole.fingerprint
    assert expected.startswith("sha256:")
    parts = sum((Moments.from_rows(part) for part in np.array_split(X[30:], 5)), Moments.from_rows(X[:30]))
    columns = Moments.from_columns(list(X.T), whole.names)
    turned = Moments.from_rows(X[::-1])
    assert {m.fingerprint for m in (parts, columns, turned)} == {expected}
    other = X.copy()
    other[0, 0] += 1e-3
    different = [
        Moments.from_rows(other),
        Moments.from_rows(X[1:]),
        Moments.from_rows(X, list("abcde")),
        Moments.from_rows(X[:, [1, 0, 2, 3, 4]]),
        whole.standardized(),
        dataclasses.replace(whole, n=302),
    ]
    assert len({m.fingerprint for m in different} | {expected}) == 7
