"""Samples: resamples against rows that are really repeated, folds and halves against the rows themselves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import DataWarning, Moments
from golem.data.resampling import CodedRows, IncompleteRows, Rows, Shards, as_half, merged
from golem.data.table import Part, Table
from golem.data.table_reading import read_table


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


def shards_of(parts):
    parts = tuple(parts)
    return Shards(merged(parts), parts)


def test_shards_weighted_by_counts_are_the_repeated_blocks():
    rng = np.random.default_rng(1)
    blocks = [rng.normal(size=(size, 3)) + 5 for size in (7, 12, 9, 20)]
    shards = shards_of(Moments.from_rows(block) for block in blocks)
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
        drawn = read_table(rng.normal(size=(n, 2))).draw(rng).moments()
        S = drawn.covariance
        statistics.append(drawn.n * S[0, 1] ** 2 / (S[0, 0] * S[1, 1]))
    assert 0.8 < np.mean(statistics) < 1.25


def test_what_can_be_resampled():
    X = np.random.default_rng(3).normal(size=(30, 2))
    assert read_table(pd.DataFrame(X, columns=["a", "b"])).draw(np.random.default_rng(0)).names == ("a", "b")
    for table in (read_table(Moments.from_rows(X)), Table.single(Moments.from_rows(X), X[:20])):
        with pytest.raises(ValueError, match="Give the rows, or a list of moments of shards"):
            table.require_resampling()
    with pytest.raises(ValueError, match="One shard cannot be resampled"):
        read_table([Moments.from_rows(X)]).require_resampling()
    few = read_table([Moments.from_rows(X), Moments.from_rows(X)])
    with pytest.warns(DataWarning, match="only 2 shards"):
        few.require_resampling()
    assert few.unit == "shards"
    assert few.n == merged([Moments.from_rows(X)] * 2).n == 60


def units_of_rows(values):
    return Table.single(Moments.from_rows(values), values).parts[0].units


def rows_of(values):
    return Table.single(Moments.from_rows(values, "abc"[: values.shape[1]]), values)


def assert_same(moments, rows):
    expected, moments = Moments.from_rows(rows), getattr(moments, "moments", lambda: moments)()
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
    halves = list(units_of_rows(rows).halves(3, np.random.default_rng(2)))
    assert [half.n for half, _ in halves] == [10] * 6
    by_content = units_of_rows(rows).by_content()
    for (first, of_first), (second, _) in zip(halves[::2], halves[1::2], strict=True):
        shuffled = by_content[rng.permutation(21)]
        assert_same(first, rows[shuffled[:10]])
        assert_same(second, rows[shuffled[10:20]])
        np.testing.assert_array_equal(of_first(), rows[shuffled[:10]])


def test_halves_depend_neither_on_the_order_nor_on_the_units():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=60), rng.integers(2, size=(60, 3)), rng.integers(3, size=60)])
    order, columns = rng.permutation(60), rng.permutation(5)
    first, _ = next(units_of_rows(rows).halves(1, np.random.default_rng(2)))
    other, _ = next(units_of_rows(rows[order][:, columns] * 3 + 1).halves(1, np.random.default_rng(2)))
    np.testing.assert_allclose(other.covariance / 9, first.covariance[np.ix_(columns, columns)])


def test_neighbours_stay_together_in_blocks():
    rows = np.arange(40.0)[:, None]
    for _, read in units_of_rows(rows).halves(3, np.random.default_rng(0), block=5):
        blocks, counts = np.unique(read()[:, 0] // 5, return_counts=True)
        assert len(blocks) == 4
        assert (counts == 5).all()


def test_shards_stay_whole():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    shards = [Moments.from_rows(part) for part in np.split(rows, 12)]
    deal = np.array_split(np.random.default_rng(1).permutation(12), 5)
    for part, (train, test) in zip(deal, read_table(shards).folds(5, np.random.default_rng(1)), strict=True):
        assert_same(test, np.concatenate([np.split(rows, 12)[k] for k in part]))
        assert train.n + test.n == 60


def test_where_rows_lack_values_em_is_run_on_each_part():
    rows = np.random.default_rng(0).normal(size=(90, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.7], [0, 0, 1]])
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    names = ("a", "b", "c")
    sample = Table.single(Moments.from_rows(rows, names, missing="em"), rows)
    parts = np.array_split(np.random.default_rng(5).permutation(90), 3)
    for part, (train, test) in zip(parts, sample.folds(3, np.random.default_rng(5)), strict=True):
        np.testing.assert_array_equal(test.parts[0].read_rows(), rows[part])
        assert test.n == len(part)
        train = train.moments()
        expected = Moments.from_rows(np.delete(rows, part, axis=0), names, missing="em")
        assert train.n == expected.n
        np.testing.assert_allclose(train.covariance, expected.covariance, atol=1e-4)
        np.testing.assert_allclose(train.mean, expected.mean, atol=1e-4)
    shuffled = np.random.default_rng(2).permutation(90)
    shuffled = sample.parts[0].units.by_content()[shuffled]
    half = next(sample.halves(1, np.random.default_rng(2))).moments()
    expected = Moments.from_rows(rows[shuffled[:45]], names, missing="em")
    assert half.missing.cells == expected.missing.cells
    np.testing.assert_allclose(half.covariance, expected.covariance, atol=1e-4)


def test_a_part_without_missing_values_needs_no_em():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    rows[0, 0] = np.nan  # in one half of each pair alone, and where the shift would be
    halves = list(read_table(rows, missing="em").halves(2, np.random.default_rng(0)))
    assert [half.missing is None for half in halves].count(True) == 2
    assert all(np.isfinite(half.moments().covariance).all() for half in halves)


def test_too_few_units_are_refused():
    with pytest.raises(ValueError, match="5 folds need at least 10 rows; got n_samples = 9"):
        next(rows_of(np.ones((9, 2))).folds(5, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="Halves need at least 6 rows"):
        next(rows_of(np.ones((5, 2))).halves(5, np.random.default_rng(0)))
    shards = shards_of(Moments.from_rows(np.eye(3)[k:]) for k in (0, 1, 0))
    with pytest.raises(ValueError, match="4 folds need at least 4 shards; got shards = 3"):
        next(shards.folds(4, np.random.default_rng(0)))


def test_how_a_table_is_drawn_from():
    X = np.random.default_rng(3).normal(size=(30, 2))
    holes = np.where(X > 1, np.nan, X)
    assert isinstance(read_table(X).parts[0].units, Rows)
    assert isinstance(read_table(holes, missing="em").parts[0].units, IncompleteRows)
    dropped = read_table(holes, missing="drop")
    kept = dropped.parts[0].units
    assert isinstance(kept, Rows)
    np.testing.assert_array_equal(kept.values, holes[~np.isnan(holes).any(axis=1)])
    assert dropped.n == len(kept)
    as_read = Table.single(dropped.moments(), holes)  # rows of files still have the gaps
    np.testing.assert_array_equal(as_read.parts[0].units.values, kept.values)
    assert len(read_table([dropped.moments()] * 3).parts[0].units) == 3
    mixed = read_table(pd.DataFrame({"a": X[:, 0], "b": ["u", "v", "v"] * 10}))
    assert isinstance(mixed.parts[0].units, CodedRows)
    assert [table.unit for table in (mixed, dropped)] == ["halves", "rows"]


def test_a_half_leaves_out_levels_that_it_does_not_have():
    frame = pd.DataFrame({"a": np.arange(20.0) ** 2, "b": ["u", "v"] * 9 + ["rare", "u"]})
    with pytest.warns(DataWarning, match="only one row"):
        table = read_table(frame)
    levels = set()
    for seed in range(10):
        half = table.draw(np.random.default_rng(seed))
        which = np.random.default_rng(seed).permutation(20)[:10]
        own = half.coding.variables[1].levels
        rows = half.parts[0].read_rows()
        assert [own[int(code)] for code in rows[:, 1]] == frame["b"][which].tolist()
        np.testing.assert_allclose(half.moments().mean, half.coding.expand(rows).mean(axis=0))
        levels.add(own)
    assert {len(own) for own in levels} == {2, 3}


def test_the_columns_of_a_fit():
    X = np.random.default_rng(0).normal(size=(30, 2))
    named = read_table(pd.DataFrame(X, columns=["a", "b"]))
    turned = named.aligned(("b", "a"))
    np.testing.assert_array_equal(turned.parts[0].read_rows(), X[:, ::-1])
    np.testing.assert_array_equal(turned.parts[0].units.values, X[:, ::-1])
    assert read_table(X).aligned(("b", "a")).names == ("b", "a")
    np.testing.assert_array_equal(read_table(X).aligned(("b", "a")).parts[0].read_rows(), X)
    with pytest.raises(ValueError, match="The data have 2 columns, but the model was fitted to 3"):
        named.aligned("abc")
    with pytest.raises(ValueError, match="The columns are 'a', 'b', not 'a', 'c'"):
        named.aligned("ac")
    shards = read_table([Moments.from_rows(part, "ab") for part in np.split(X, 3)]).aligned("ba")
    assert shards.parts[0].units.part(np.array([1])).names == ("b", "a")


def test_environments_are_drawn_by_themselves():
    rng = np.random.default_rng(0)
    parts = [
        Part(label, Moments.from_rows(X, "ab"), rows=X)
        for label, X in (("u", rng.normal(size=(40, 2))), ("v", rng.normal(size=(30, 2)) + 9))
    ]
    table = Table.of_parts(parts, {"u": [], "v": ["b"]})
    drawn = table.draw(np.random.default_rng(1))
    assert [part.moments.n for part in drawn.parts] == [20, 15]
    assert drawn.targets == ((), (1,))
    for part in drawn.parts:
        np.testing.assert_allclose(part.moments.mean, part.read_rows().mean(axis=0))
    with pytest.raises(ValueError, match="Environment 'u': Moments of all rows cannot be resampled"):
        Table.of({part.label: part.moments for part in parts}, {"u": [], "v": []}).draw(rng)
