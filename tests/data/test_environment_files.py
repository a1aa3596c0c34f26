"""Environments in files: one pass, any format, any pieces."""

import itertools

import numpy as np
import pandas as pd
import pytest

from golem.data.checks import DataWarning
from golem.data.files import batches
from golem.data.files.table_files import TableFiles, label_of
from golem.data.readers import environments_from_file, shards_by_label
from golem.data.source import Purpose, TableSource
from golem.data.table_reading import read_table
from golem.runtime.progress import ProgressDisplay

TARGETS = {"control": [], "ko 1": ["a"], "7": ["b", "c"]}


@pytest.fixture
def frame(rng):
    labels = np.array(["control", "ko 1", "7"])[rng.integers(3, size=400)]
    return pd.DataFrame(rng.normal(size=(400, 3)) + 1e6, columns=list("abc")).assign(arm=labels)


@pytest.fixture
def expected(frame):
    return read_table(frame, environments="arm", targets=TARGETS)


def write(frame, folder, kind):
    path = folder / f"data.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, row_group_size=70)
    else:
        frame.to_csv(path, index=False)
    return path


def assert_same(found, expected):
    assert found.named_targets == expected.named_targets
    for one, other in zip(found.parts, expected.parts, strict=True):
        one, other = one.moments, other.moments
        assert one.n == other.n
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
        np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("size", [500, 1 << 25])
def test_a_column_of_labels_divides_the_rows(frame, expected, tmp_path, kind, size, monkeypatch):
    monkeypatch.setattr(batches, "_BYTES", size)
    monkeypatch.setattr(batches, "_LARGEST_BLOCK", 4 * size)
    path = write(frame[["a", "arm", "b", "c"]], tmp_path, kind)
    assert_same(environments_from_file(path, TARGETS, environment="arm"), expected)


def test_columns_are_chosen_as_in_other_tables(frame, tmp_path):
    path = write(frame, tmp_path, "csv")
    chosen = {"control": [], "ko 1": [], "7": ["c"]}
    assert environments_from_file(path, chosen, environment="arm", columns=["c", "b"]).names == ("c", "b")
    assert environments_from_file(path, chosen, environment="arm", drop=["a"]).names == ("b", "c")


def test_labels_can_be_numbers(frame, expected, tmp_path):
    numbers = frame.assign(arm=frame["arm"].map({"control": 0, "ko 1": 1, "7": 7}))
    targets = {"0": [], "1": ["a"], "7": ["b", "c"]}
    np.save(tmp_path / "data.npy", numbers.to_numpy(float))
    by_number = {"0": [], "1": ["x0"], "7": ["x1", "x2"]}
    found = [
        environments_from_file(write(numbers, tmp_path, kind), targets, environment="arm")
        for kind in ("csv", "parquet")
    ]
    found.append(environments_from_file(tmp_path / "data.npy", by_number, environment="x3"))
    for one in found:
        assert [part.moments.n for part in one.parts] == [part.moments.n for part in expected.parts]
        np.testing.assert_allclose(one.pooled([0, 1]).covariance, expected.pooled([0, 1]).covariance, rtol=1e-9)


@pytest.mark.parametrize("labels", [("0.5", "1.0", "1.5"), ("0.50", "1", "1.5")])
def test_labels_can_have_decimals(frame, expected, tmp_path, labels):
    numbers = frame.assign(arm=frame["arm"].map({"control": 0.5, "ko 1": 1.0, "7": 1.5}))
    targets = dict(zip(labels, TARGETS.values(), strict=True))
    for kind in ("csv", "parquet"):
        found = environments_from_file(write(numbers, tmp_path, kind), targets, environment="arm")
        assert [part.moments.n for part in found.parts] == [part.moments.n for part in expected.parts]
    with pytest.raises(ValueError, match=r"no targets for environment '1\.5'"):
        environments_from_file(write(numbers, tmp_path, "csv"), {"0.5": [], "1": []}, environment="arm")


def test_every_file_can_be_an_environment(frame, expected, tmp_path):
    paths = []
    for label, rows in frame.groupby("arm"):
        paths.append(tmp_path / f"{label}.csv")
        rows.drop(columns="arm").to_csv(paths[-1], index=False)
    assert_same(environments_from_file(paths, TARGETS), expected)
    assert_same(environments_from_file(tmp_path, TARGETS), expected)
    with pytest.raises(ValueError, match="no targets for environment 'ko 1'"):
        environments_from_file(paths, {"control": [], "7": []})


def test_files_with_one_label_are_refused(frame, tmp_path):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        frame.drop(columns="arm").to_csv(tmp_path / folder / "ko.csv", index=False)
    with pytest.raises(ValueError, match="'ko' occurs twice in the names of the files"):
        environments_from_file(tmp_path, {"ko": []})


@pytest.mark.parametrize(
    ("name", "label"), [("a.csv", "a"), ("a.b.CSV.GZ", "a.b"), ("x/ko A.parquet", "ko A"), ("plain", "plain")]
)
def test_the_label_is_the_name_without_its_ending(name, label):
    assert label_of(name) == label


def test_shards_of_environments_add_up(frame, expected, tmp_path):
    table = TableFiles.open(write(frame, tmp_path, "csv"), hidden=["arm"]).labelled("arm", TARGETS)
    parts = shards_by_label(table, 6)
    for label, moments in ((part.label, part.moments) for part in expected.parts):
        total = sum(parts[label][1:], start=parts[label][0])
        np.testing.assert_allclose(total.covariance, moments.covariance, rtol=1e-9)


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_missing_values_are_treated_in_each_environment(frame, tmp_path, missing, rng):
    frame.loc[:, "a":"c"] = frame.loc[:, "a":"c"].mask(rng.random((400, 3)) < 0.03)
    path = write(frame, tmp_path, "csv")
    with pytest.raises(ValueError, match="Missing values"):
        environments_from_file(path, TARGETS, environment="arm")
    found = environments_from_file(path, TARGETS, environment="arm", missing=missing)
    assert_same(found, read_table(frame, environments="arm", targets=TARGETS, missing=missing))


@pytest.fixture
def mixed(frame, rng):
    """Numbers, a category of which one environment lacks a level, Booleans, and codes of few numbers."""
    site = np.where(frame["arm"] == "7", rng.choice(["u", "v"], 400), rng.choice(["u", "v", "w"], 400))
    return frame.drop(columns="c").assign(c=rng.integers(1, 4, 400), site=site, male=rng.random(400) < 0.4)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("size", [500, 1 << 25])
def test_categories_of_environments_share_their_levels(mixed, tmp_path, kind, size, monkeypatch):
    monkeypatch.setattr(batches, "_BYTES", size)
    monkeypatch.setattr(batches, "_LARGEST_BLOCK", 4 * size)
    expected = read_table(mixed, environments="arm", targets=TARGETS)
    found = environments_from_file(write(mixed, tmp_path, kind), TARGETS, environment="arm")
    assert found.coding == expected.coding
    assert found.coding.categories == ("site", "male")
    assert_same(found, expected)
    coded = environments_from_file(
        write(mixed, tmp_path, kind), TARGETS, environment="arm", categorical=["c"], numeric=["male"] * (kind != "csv")
    )
    assert coded.coding.variables[2].levels in itertools.permutations("123")


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_missing_values_of_categories_are_treated_in_each_environment(mixed, tmp_path, missing, rng):
    mixed.loc[rng.choice(400, 30, replace=False), "site"] = None
    mixed.loc[rng.choice(400, 30, replace=False), "a"] = np.nan
    path = write(mixed, tmp_path, "csv")
    expected = read_table(mixed, environments="arm", targets=TARGETS, missing=missing)
    assert_same(environments_from_file(path, TARGETS, environment="arm", missing=missing), expected)
    table = TableFiles.open(path, hidden=["arm"]).labelled("arm", TARGETS)
    for divided in (True, False):
        source = TableSource(table, Purpose(divided=divided), TARGETS)
        found = source.read(missing, ProgressDisplay())
        assert_same(found, expected)
        for part, other in zip(found.parts, expected.parts, strict=True):
            rows = part.read_rows()
            rows = rows if missing == "em" else rows[~np.isnan(rows).any(axis=1)]
            np.testing.assert_allclose(rows, other.read_rows())
    assert found.unit == "halves"
    drawn = found.draw(np.random.default_rng(0))
    again = expected.draw(np.random.default_rng(0))
    assert_same(drawn, again)


def test_one_file_per_environment_shares_the_levels(mixed, tmp_path):
    expected = read_table(mixed, environments="arm", targets=TARGETS)
    paths = []
    for label, own in mixed.groupby("arm"):
        paths.append(tmp_path / f"{label}.csv")
        own.drop(columns="arm").to_csv(paths[-1], index=False)
    found = environments_from_file(paths, TARGETS)
    assert found.coding == expected.coding
    assert_same(found, expected)


def test_columns_that_cannot_be_used_with_environments(mixed, tmp_path):
    unusable = mixed.assign(one="x", twice=2 * mixed["a"], copy=mixed["site"] + "!")
    for missing in ("error", "em"):
        source = TableSource(
            TableFiles.open(write(unusable, tmp_path, "csv"), hidden=["arm"]).labelled("arm", TARGETS),
            Purpose(),
            TARGETS,
        )
        found = [column.name for column in source.unusable(missing, ProgressDisplay())]
        assert found == ["one", "twice", "copy"]
    with pytest.raises(ValueError, match="Column 'one' is constant"):
        source.read("error", ProgressDisplay())
    dates = mixed.assign(day=pd.date_range("2020-01-01", periods=400).astype(str))
    with pytest.raises(ValueError, match="'day' contains dates"):
        environments_from_file(write(dates, tmp_path, "csv"), TARGETS, environment="arm")


def test_wrong_labels_are_refused_with_their_place(frame, tmp_path):
    frame.loc[frame.index[10], "arm"] = "typo"
    with pytest.raises(ValueError, match=r"no targets for environment 'typo' \(.* line 12\)"):
        environments_from_file(write(frame, tmp_path, "csv"), TARGETS, environment="arm")
    frame.loc[frame.index[10], "arm"] = None
    with pytest.raises(ValueError, match=r"no label in 1 of 400 rows; the first is in line 12\..*not apply"):
        environments_from_file(write(frame, tmp_path, "csv"), TARGETS, environment="arm")
    with pytest.raises(ValueError, match=r"no column 'Arm' \(environments?=\.\.\.\)\. Did you mean 'arm'"):
        environments_from_file(write(frame, tmp_path, "csv"), TARGETS, environment="Arm")
    small = frame.groupby("arm").head(2)
    with pytest.raises(ValueError, match="fewer than 3 rows"):
        environments_from_file(write(small, tmp_path, "csv"), TARGETS, environment="arm")


def opened(frame, folder, **how):
    table = TableFiles.open(write(frame, folder, "csv"), hidden=["arm"]).labelled("arm", TARGETS)
    return TableSource(table, Purpose(**how), TARGETS)


@pytest.mark.parametrize("by_rows", [True, False])
def test_a_source_can_be_resampled(frame, expected, tmp_path, by_rows, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 2**28 if by_rows else 0)
    monkeypatch.setattr("golem.data.source.SHARDS", 25)
    table = opened(frame, tmp_path, divided=True).read("error", ProgressDisplay())
    assert_same(table, expected)
    assert table.unit == ("rows" if by_rows else "shards")
    drawn = table.draw(np.random.default_rng(0))
    assert drawn.named_targets == expected.named_targets
    rows = [part.read_rows() for part in drawn.parts]
    sizes = [part.moments.n for part in expected.parts]
    assert rows == [None] * 3 if not by_rows else [len(own) for own in rows] == sizes


@pytest.mark.parametrize("most_numbers", [10**6, 0])
def test_a_source_keeps_rows_or_a_sample_for_the_directions(frame, tmp_path, most_numbers, monkeypatch):
    monkeypatch.setattr("golem.data.source.MOST_NUMBERS", most_numbers)
    source = opened(frame, tmp_path)
    table = source.read("error", ProgressDisplay())
    assert set(table.labels) == set(TARGETS)
    for part in table.parts:
        rows, own = part.read_rows(), frame[frame["arm"] == part.label].drop(columns="arm").to_numpy()
        assert {tuple(row) for row in rows.round(6)} <= {tuple(row) for row in own.round(6)}
        assert len(rows) == len(own) or not most_numbers
    assert source.checked_rows is None
    assert source.summary.rows == 400


def test_halves_of_a_stream_of_sorted_rows_are_alike(frame, expected, tmp_path, monkeypatch):
    """The parts are not blocks of consecutive rows, of which each would have other values of the first column."""
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 0)
    monkeypatch.setattr(batches, "_BYTES", 3000)
    by_value = frame.sort_values(frame.columns[0])
    table = opened(by_value, tmp_path, halved=True).read("error", ProgressDisplay())
    assert_same(table, expected)
    for part in table.parts:
        values = by_value.loc[by_value["arm"] == part.label, frame.columns[0]]
        assert sum(shard.n for shard in part.shards) == len(values)
        means = [shard.mean[0] for shard in part.shards if shard.n > 4]
        assert np.std(means) < 0.5 * values.std()
    again = opened(by_value, tmp_path, halved=True).read("error", ProgressDisplay())
    assert [shard.n for shard in again.parts[0].shards] == [shard.n for shard in table.parts[0].shards]


def test_environments_of_few_shards_are_not_resampled_without_a_word(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 0)
    few = pytest.warns(DataWarning, match="shards of environment")
    one = pytest.raises(ValueError, match="One shard of environment")
    for shards, outcome in ((15, few), (1, one)):
        monkeypatch.setattr("golem.data.source.SHARDS", shards)
        table = opened(frame.sort_values("arm"), tmp_path, divided=True).read("error", ProgressDisplay())
        with outcome:
            table.require_resampling()
        assert table.unit == "shards"
