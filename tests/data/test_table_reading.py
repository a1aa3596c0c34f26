"""Tables in memory: environments with categories against coding by hand, and columns of other fits."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from golem import DataWarning, Moments
from golem.data.table_checks import require_experiments
from golem.data.table_reading import read_table

TARGETS = {"control": [], "ko": ["x"]}


@pytest.fixture
def frame(rng):
    arm = np.where(np.arange(200) < 120, "control", "ko")
    site = np.where(arm == "ko", rng.choice(["u", "v"], 200), rng.choice(["u", "v", "w"], 200))
    return pd.DataFrame({"x": rng.normal(size=200) + 1e4, "site": site, "male": rng.random(200) < 0.4, "arm": arm})


def by_hand(frame):
    """Return the columns of the covariance: the most frequent level is the reference, the others are sorted."""
    reference = max(sorted(set(frame["site"].dropna())), key=lambda level: (frame["site"] == level).sum())
    others = sorted(set(frame["site"].dropna()) - {reference})
    columns = {"x": frame["x"]} | {f"site={level}": (frame["site"] == level).astype(float) for level in others}
    return pd.DataFrame(columns | {"male=True": frame["male"].astype(float)})


def assert_same(found, expected):
    assert found.names == expected.names
    assert found.n == expected.n
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_environments_share_the_levels_of_all_rows(frame, convert):
    table = read_table(convert(frame), environments="arm", targets=TARGETS)
    assert table.names == ("x", "site", "male")
    assert table.targets == ((), (0,))
    assert len(table.coding.variables[1].levels) == 3  # although one environment lacks a level
    columns = by_hand(frame)
    for part in table.parts:
        own = columns[frame["arm"] == part.label]
        assert_same(part.moments, Moments.from_table(own))
        np.testing.assert_allclose(table.coding.expand(part.read_rows()), own.to_numpy())
        assert part.moments.coding is table.coding or part.moments.coding == table.coding
    require_experiments(table, "hard")  # the level that is absent does not make the category constant


def test_one_table_per_environment_is_the_same(frame, rng):
    together = read_table(frame, environments="arm", targets=TARGETS)
    parts = {label: own.drop(columns="arm") for label, own in frame.groupby("arm")}
    parts["ko"] = parts["ko"][["male", "x", "site"]]
    apart = read_table(parts, targets=TARGETS)
    assert apart.coding == together.coding
    for one, other in zip(apart.parts, together.parts, strict=True):
        assert_same(one.moments, other.moments)
        np.testing.assert_array_equal(one.read_rows(), other.read_rows())
    known = {part.label: part.moments for part in together.parts}
    for part, moments in zip(read_table(known, targets=TARGETS).parts, known.values(), strict=True):
        assert_same(part.moments, moments)


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_missing_values_of_categories_are_treated_in_each_environment(frame, rng, missing):
    frame.loc[rng.choice(200, 20, replace=False), "site"] = None
    frame.loc[rng.choice(200, 20, replace=False), "x"] = np.nan
    table = read_table(frame, environments="arm", targets=TARGETS, missing=missing)
    columns = by_hand(frame)
    columns.loc[frame["site"].isna(), [name for name in columns if name.startswith("site=")]] = np.nan
    for part in table.parts:
        own = columns[frame["arm"] == part.label]
        if missing == "drop":
            assert_same(part.moments, Moments.from_table(own.dropna()))
            assert not np.isnan(part.read_rows()).any()
        else:
            used = own.loc[:, own.nunique() > 1]  # EM leaves out a level that the environment does not have
            expected = Moments.from_table(used, missing="em")
            kept = [part.moments.names.index(name) for name in used]
            assert part.moments.n == pytest.approx(expected.n, abs=10)
            np.testing.assert_allclose(part.moments.covariance[np.ix_(kept, kept)], expected.covariance, atol=1e-5)
        assert part.moments.missing.columns == frame[frame["arm"] == part.label][["x", "site"]].isna().sum().to_dict()
    assert table.missing.rows_read == 200
    assert table.is_incomplete == (missing == "em")


def test_levels_of_dropped_rows_are_left_out_of_all_environments(frame):
    frame.loc[frame.index[5], "site"] = "rare"
    frame.loc[frame.index[5], "x"] = np.nan
    with pytest.warns(DataWarning, match="only one row"):
        table = read_table(frame, environments="arm", targets=TARGETS, missing="drop")
    assert "rare" not in table.coding.variables[1].levels
    columns = by_hand(frame).drop(columns="site=rare")
    for part in table.parts:
        assert_same(part.moments, Moments.from_table(columns[frame["arm"] == part.label].dropna()))


def test_halves_of_environments_with_categories(frame):
    table = read_table(frame, environments="arm", targets=TARGETS)
    assert table.unit == "halves"
    half = table.draw(np.random.default_rng(0))
    assert [part.moments.n for part in half.parts] == [60, 40]
    for part in half.parts:
        assert part.moments.coding == half.coding
        np.testing.assert_allclose(half.coding.expand(part.read_rows()).mean(axis=0), part.moments.mean)
    assert len(list(table.halves(2, np.random.default_rng(0)))) == 4


def test_booleans_of_arrays_with_environments_are_categories(rng):
    table = read_table(rng.random((60, 2)) < 0.4, environments=np.repeat(["u", "v"], 30), targets={"u": [], "v": [1]})
    assert table.coding.is_discrete
    assert not table.is_named


def test_columns_of_other_types_are_refused(frame):
    parts = {label: own.drop(columns="arm") for label, own in frame.groupby("arm")}
    parts["ko"] = parts["ko"].assign(site=np.arange(80.0))
    with pytest.raises(ValueError, match="'site' is a category in environment 'control', but a number in 'ko'"):
        read_table(parts, targets=TARGETS)
    with pytest.raises(ValueError, match="Environment 'ko' has the columns 'x', 'site', but"):
        read_table(parts | {"ko": parts["ko"][["x", "site"]]}, targets=TARGETS)
    for one in ("control", "ko"):
        parts[one] = read_table(frame[frame["arm"] == one].drop(columns="arm")).moments()
    with pytest.raises(ValueError, match="other levels in environment 'ko' than in 'control'"):
        read_table(parts, targets=TARGETS)
    with pytest.raises(ValueError, match="'site' has 200 different values in 200 rows"):
        read_table(frame.assign(site=[f"row {k}" for k in range(200)]), environments="arm", targets=TARGETS)


def test_columns_are_those_of_a_fit(frame):
    names = ("male", "x", "site")
    table = read_table(frame, environments="arm", targets=TARGETS, names=names)
    assert table.names == names
    assert table.targets == ((), (1,))
    X = frame[["x"]].assign(y=np.arange(200.0) % 7).to_numpy()
    by_position = read_table(X, environments=frame["arm"], targets=TARGETS, names=("x", "y"))
    assert by_position.names == ("x", "y")
    np.testing.assert_array_equal(by_position.parts[0].read_rows(), X[:120])


def test_names_that_are_not_texts_are_not_names(rng):
    assert not read_table(pd.DataFrame(rng.normal(size=(20, 2)))).is_named
    assert read_table(pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])).is_named
    assert read_table(pa.table({"a": rng.normal(size=20), "b": rng.normal(size=20)})).is_named


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatch])
def test_repeated_names_of_pyarrow_are_refused(kind):
    columns = [pa.array(np.arange(9.0) ** k) for k in (1, 2)]
    with pytest.raises(ValueError, match=r"^Column names must be unique; repeated: 'a'\. Rename them\.$"):
        read_table(kind.from_arrays(columns, names=["a", "a"]))
