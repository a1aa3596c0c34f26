"""Environments in files: one pass, any format, any pieces."""

import numpy as np
import pandas as pd
import pytest

from golem.data.checks import DataWarning
from golem.data.environment_files import EnvironmentSource, environment_shards, environments_from_file, labelled
from golem.data.files import batches
from golem.data.files.labelling import label_of
from golem.data.files.table_files import TableFiles
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
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-14)
        np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-9)


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
    table = labelled(TableFiles.open(write(frame, tmp_path, "csv"), hidden="arm"), "arm", TARGETS)
    parts = environment_shards(table, 6)
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


def test_categories_are_refused(frame, tmp_path):
    frame["site"] = np.where(frame["a"] > 1e6, "u", "v")
    message = r"'site' \(.*\['site'\]\)?\. Environments cannot be combined with categories yet\."
    for kind in ("csv", "parquet"):
        with pytest.raises(ValueError, match=message):
            environments_from_file(write(frame, tmp_path, kind), TARGETS, environment="arm")


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


@pytest.mark.parametrize("by_rows", [True, False])
def test_a_source_can_be_resampled(frame, expected, tmp_path, by_rows):
    table = labelled(TableFiles.open(write(frame, tmp_path, "csv"), hidden="arm"), "arm", TARGETS)
    source = EnvironmentSource(table, TARGETS, divided=True, scheduler=None, by_rows=by_rows, shards=25)
    assert_same(source.read("error", ProgressDisplay()), expected)
    assert source.sample.unit == ("rows" if by_rows else "shards")
    drawn = source.sample.draw(np.random.default_rng(0))
    assert drawn.named_targets == expected.named_targets
    rows = [part.read_rows() for part in drawn.parts]
    sizes = [part.moments.n for part in expected.parts]
    assert rows == [None] * 3 if not by_rows else [len(own) for own in rows] == sizes


@pytest.mark.parametrize("most_numbers", [10**6, 0])
def test_a_source_keeps_rows_or_a_sample_for_the_directions(frame, tmp_path, most_numbers):
    table = labelled(TableFiles.open(write(frame, tmp_path, "csv"), hidden="arm"), "arm", TARGETS)
    how = {"divided": False, "scheduler": None, "by_rows": True, "shards": 25}
    source = EnvironmentSource(table, TARGETS, **how, most_numbers=most_numbers)
    source.read("error", ProgressDisplay())
    found = source.sample_of_environments()
    assert set(found) == set(TARGETS)
    for label, rows in found.items():
        own = frame[frame["arm"] == label].drop(columns="arm").to_numpy()
        assert {tuple(row) for row in rows.round(6)} <= {tuple(row) for row in own.round(6)}
        assert len(rows) == len(own) or not most_numbers


def test_environments_of_few_shards_are_not_resampled_without_a_word(frame, tmp_path):
    path = write(frame.sort_values("arm"), tmp_path, "csv")
    table = labelled(TableFiles.open(path, hidden="arm"), "arm", TARGETS)
    few = pytest.warns(DataWarning, match="shards of environment")
    one = pytest.raises(ValueError, match="One shard of environment")
    for shards, outcome in ((15, few), (1, one)):
        source = EnvironmentSource(table, TARGETS, divided=True, scheduler=None, by_rows=False, shards=shards)
        source.read("error", ProgressDisplay())
        with outcome:
            source.sample.require_resampling()
        assert source.sample.unit == "shards"
