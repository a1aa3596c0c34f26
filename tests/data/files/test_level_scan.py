"""Categories in files: types, levels and moments, however the files are cut."""

import gzip
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from golem.data.category_columns import read_coded
from golem.data.checks import DataWarning
from golem.data.files import batches
from golem.readers import moments_from_file, shards_from_file


def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=n).round(4),
            "site": rng.choice(["Köln", "San José", "x"], n),
            "ill": rng.choice(["yes", "no"], n),
            "sign": rng.choice(["+", "-"], n),
            "visits": rng.integers(5, size=n),
        }
    )
    table.loc[table["site"] == "x", "age"] += 1
    return table


def written(table, path, **how):
    table.to_csv(path, index=False, **how)
    return path


def assert_same(found, expected):
    assert (found.n, found.coding) == (expected.n, expected.coding)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)


@pytest.mark.parametrize("size", [None, 300])
def test_every_format_gives_the_levels_and_moments_of_the_frame(tmp_path, monkeypatch, size):
    table = frame()
    expected = read_coded(table).moments()
    if size is not None:
        for name in ("block_bytes", "piece_bytes"):
            monkeypatch.setattr(f"golem.data.files.csv_files.{name}", lambda d: size)
    files = [
        written(table, tmp_path / "a.csv"),
        written(table, tmp_path / "b.txt", sep="\t"),
        written(table, tmp_path / "c.csv", sep=";", decimal=","),
        written(table, tmp_path / "d.csv", encoding="cp1252"),
        written(table, tmp_path / "e.csv.gz"),
        written(table, tmp_path / "f.csv", quoting=1),
    ]
    for file in files:
        assert_same(moments_from_file(file), expected)
    assert_same(sum(shards_from_file(files[0], 3)[1:], shards_from_file(files[0], 3)[0]), expected)


@pytest.mark.parametrize("rows", [300, 7])
def test_parquet_types_are_types(tmp_path, monkeypatch, rows):
    monkeypatch.setattr("golem.data.files.parquet_files.batch_rows", lambda d: 11)
    table = frame().assign(flag=lambda t: t["ill"] == "yes", group=lambda t: pd.Categorical(t["visits"].astype(str)))
    table.to_parquet(tmp_path / "x.parquet", row_group_size=rows)
    found = moments_from_file(tmp_path / "x.parquet")
    assert [v.kind for v in found.coding.variables] == ["numeric"] + ["category"] * 3 + ["numeric"] + ["category"] * 2
    assert_same(found, read_coded(table).moments())


def test_files_may_have_different_levels(tmp_path):
    table = frame()
    parts = [table[table["site"] == level] for level in ("Köln", "San José", "x")]
    for k, part in enumerate(parts):
        written(part, tmp_path / f"{k}.csv")
    assert_same(moments_from_file(tmp_path), read_coded(table).moments())


def test_missing_categories_are_counted_and_dropped(tmp_path):
    table = frame()
    table.loc[4:9, "site"] = None
    path = written(table, tmp_path / "a.csv", na_rep="?")
    with pytest.raises(ValueError, match=r"a\.csv: .*1 of 5 columns: 'site' \(6 values, written '\?'\).* line 6"):
        moments_from_file(path)
    found = moments_from_file(path, missing="drop")
    assert (found.missing.columns, found.missing.markers) == ({"site": 6}, {"site": {"?": 6}})
    assert_same(found, read_coded(table).moments("drop"))
    estimated = moments_from_file(path, missing="em")
    assert estimated.missing.columns == {"site": 6}
    np.testing.assert_allclose(estimated.covariance, read_coded(table).moments("em").covariance)
    marked = moments_from_file(path, missing="drop", na=["x"]).missing.columns["site"]
    assert marked == 6 + (table["site"] == "x").sum()


def test_text_below_the_first_lines_is_found(tmp_path):
    table = frame().assign(code=lambda t: t["visits"].astype(str))
    table.loc[200:210, "code"] = "9a"
    with pytest.warns(DataWarning, match="'9a' in 11 of 300 rows"):
        assert_same(moments_from_file(written(table, tmp_path / "a.csv")), read_coded(table).moments())


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["<0.01"] * 40 + ["1.5", "2.5"] * 130,
            "'new' is numeric except for '<0.01' in line 2 and text in 39 more lines",
        ),
        (["unknown"] * 40 + ["1", "2"] * 130, r"If 'unknown' means a missing value, use na=\['unknown'\]"),
        (["12 %", "5 %", "7 %"] * 100, r"'new' \('12 %' in line 2"),
        (["1", "2", "x"] + ["3"] * 297, "Correct or remove line 4"),
        (["2020-01-02", "2021-03-04"] * 150, "Column 'new' contains dates or times"),
        ([f"p{k}" for k in range(300)], "300 different values in 300 rows, which is too many for a category"),
    ],
)
def test_what_is_no_category_is_named(tmp_path, cells, message):
    path = written(frame().assign(new=cells), tmp_path / "a.csv")
    with pytest.raises(ValueError, match=message):
        moments_from_file(path)


@pytest.mark.parametrize("text", [["unknown"] * 40, ["n.d."], ["<1"] * 5])
def test_codes_with_text_can_be_declared_as_categories(tmp_path, text):
    table = frame().assign(new=[*text, *("123"[k % 3] for k in range(300 - len(text)))])
    path = written(table, tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"If 'new' is a category, use categorical=\['new'\]\.$"):
        moments_from_file(path)
    with pytest.raises(ValueError, match=r"If 'new' is a category, use X\.astype\({'new': 'category'}\)\.$"):
        read_coded(table)
    with warnings.catch_warnings(action="ignore"):  # of a level with one row
        assert text[0] in moments_from_file(path, categorical=["new"]).coding.variables[-1].levels
        assert text[0] in read_coded(table.astype({"new": "category"})).coding.variables[-1].levels


@pytest.mark.parametrize(
    "cells",
    [["unknown"] * 40 + ["1.5"] * 260, ["1,234", "new"] + ["7"] * 298, ["12 %"] * 300],
)
def test_other_numbers_are_not_to_become_categories(tmp_path, cells):
    path = written(frame().assign(new=cells), tmp_path / "a.csv")
    with pytest.raises(ValueError, match="'new'") as error:
        moments_from_file(path)
    assert "is a category" not in str(error.value)


def test_codes_that_were_categories_stay_categories_in_parquet(tmp_path):
    table = frame().astype({"visits": "category"})
    table.to_parquet(tmp_path / "a.parquet", row_group_size=70)
    found = moments_from_file(tmp_path / "a.parquet")
    assert_same(found, read_coded(table).moments())
    numbers = moments_from_file(tmp_path / "a.parquet", numeric=["visits"]).coding.variables[-1]
    assert not numbers.is_category
    read = pq.read_table(tmp_path / "a.parquet")
    pq.write_table(read, tmp_path / "b.parquet", store_schema=False)  # as other programs do
    assert not moments_from_file(tmp_path / "b.parquet").coding.variables[-1].is_category


def test_types_can_be_chosen(tmp_path):
    table = frame()
    path = written(table, tmp_path / "a.csv")
    found = moments_from_file(path, categorical=["visits"])
    assert_same(found, read_coded(table.astype({"visits": "category"})).moments())
    dates = written(table.assign(day=["2020-01-02", "2021-03-04"] * 150), tmp_path / "b.csv")
    assert moments_from_file(dates, categorical=["day"]).coding.variables[-1].levels == ("2020-01-02", "2021-03-04")
    with pytest.raises(ValueError, match=r"Column 'site' contains text \('.*, so numeric=\['site'\] cannot be used"):
        moments_from_file(path, numeric=["site"])
    with pytest.raises(ValueError, match=r"no column 'sitee' among those used \(categorical=\['sitee'\]\).*'site'"):
        moments_from_file(path, categorical=["sitee"])
    with pytest.raises(ValueError, match=r"either categorical=\['.*'\] or numeric="):
        moments_from_file(path, categorical=["age"], numeric=["age"])
    np.save(tmp_path / "x.npy", table[["age", "visits"]].to_numpy())
    codes = moments_from_file(tmp_path / "x.npy", categorical=["x1"]).coding.variables[1].levels
    assert sorted(codes) == sorted(set(table["visits"].astype(str)))


def test_the_type_of_a_column_does_not_depend_on_the_others(tmp_path):
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.integers(1, 6, size=(90, 3)), columns=["T1", "T2", "T3"])
    age, site = rng.normal(40, 9, 90), rng.choice(["u", "v"], 90)
    for table in (items, items.assign(age=age), items.assign(site=site), items[:20], items.astype(float)):
        table.to_parquet(tmp_path / "a.parquet")
        files = [written(table, tmp_path / "a.csv"), tmp_path / "a.parquet"]
        codings = [moments_from_file(file).coding for file in files]
        codings += [read_coded(convert(table)).coding for convert in (pd.DataFrame, pl.from_pandas)]
        for coding in codings:
            kinds = {} if coding.is_numeric else {variable.name: variable.kind for variable in coding.variables}
            assert {kinds.get(name, "numeric") for name in items} == {"numeric"}
            assert kinds.get("site", "category") == "category"
    np.save(tmp_path / "a.npy", items.to_numpy())
    assert moments_from_file(tmp_path / "a.npy").coding.is_numeric


def test_types_can_be_chosen_for_all_columns_and_by_patterns(tmp_path):
    items = pd.DataFrame(np.random.default_rng(0).integers(1, 6, size=(90, 3)), columns=["T1", "T2", "sum"])
    path = written(items, tmp_path / "a.csv")
    assert moments_from_file(path, categorical="all").coding.is_discrete
    assert moments_from_file(path, categorical=["T*"]).coding.categories == ("T1", "T2")
    assert moments_from_file(path, categorical=["all"], numeric=["sum"]).coding.categories == ("T1", "T2")
    assert moments_from_file(path, numeric="all").coding.is_numeric
    with pytest.raises(ValueError, match=r"No column matches 'Q\*' \(numeric=\['Q\*'\]\)"):
        moments_from_file(path, numeric="Q*")
    text = written(items.assign(site=["u", "v", "w"] * 30), tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r"Column 'site' contains text \('.*, so numeric=\['site'\] cannot be used"):
        moments_from_file(text, numeric="all")


def test_an_option_changes_a_single_column(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"flag": rng.random(90) < 0.5, "ward": rng.integers(4, size=90), "site": ["u", "v", "v"] * 30})
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
        kinds = [v.kind for v in moments_from_file(path, numeric=["flag"], categorical=["w*"]).coding.variables]
        assert kinds == ["numeric", "category", "category"]


def test_a_table_without_rows_is_named(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: golem needs at least 3 rows"):
        moments_from_file(tmp_path / "a.parquet", numeric=[])
    (tmp_path / "b.csv").write_text("a,b\n" + "u,x\n" * 9)
    with pytest.raises(ValueError, match=r"b\.csv: Constant columns: 'a', 'b'"):
        moments_from_file(tmp_path / "b.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    with pytest.raises(ValueError, match=r"a\.csv: golem needs at least 3 rows"):
        moments_from_file(tmp_path / "a.csv")


def test_compressed_blocks_of_one_line_have_the_same_levels(tmp_path, monkeypatch):
    table = frame(40)
    text = table.to_csv(index=False).replace("Köln", '" Köln "').encode()
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    monkeypatch.setattr(batches, "_BYTES", 8)
    assert_same(moments_from_file(tmp_path / "a.csv.gz"), read_coded(table).moments())


def test_a_level_with_the_name_none_is_missing_and_the_error_says_so(tmp_path):
    path = written(frame().replace({"site": {"x": "none"}}), tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"values, written 'none'\).* If 'none' is a value, rename it in the file"):
        moments_from_file(path)
