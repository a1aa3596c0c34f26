"""The summary of a table before the fit, and the source that it comes from."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from golem import Golem
from golem.data.category_columns import read_coded
from golem.data.checks import DataWarning
from golem.data.levels import note_of_texts
from golem.data.reading import Reading
from golem.data.source import Purpose, open_source
from golem.data.table_summary import TableSummary
from golem.data.variables import Coding, Variable
from golem.readers import moments_from_file
from golem.runtime.progress import ProgressDisplay

QUIET = ProgressDisplay()


def frame(n=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "site": rng.choice(["u", "v", "w"], n, p=[0.2, 0.5, 0.3]),
            "visits": rng.integers(4, size=n),
            "one": "same",
        }
    )


def opened(table, path, **how):
    table.to_csv(path, index=False)
    reading = Reading(**how)
    return open_source([str(path)], reading, Purpose(checked=True))


def test_the_summary_is_that_of_pandas(tmp_path):
    table = frame()
    table.loc[:9, ["x", "site"]] = None
    source = opened(table, tmp_path / "a.csv", drop=["one"])
    source.read("drop", QUIET)
    summary = source.summary
    assert (summary.rows, summary.sampled) == (200, None)
    x, site, visits = summary.columns
    assert (x.missing, x.values, x.low, x.high) == (10, 190, table["x"].min(), table["x"].max())
    assert dict(site.levels) == table["site"].value_counts().to_dict()
    assert [site.kind, visits.kind, visits.may_be_codes, x.may_be_codes] == ["category", "numeric", True, False]
    (note,) = summary.notes
    assert "'visits' (4 values)" in note
    assert "categorical=['visits']" in note
    chosen = opened(table, tmp_path / "a.csv", drop=["one"], numeric=["visits"])
    chosen.read("drop", QUIET)
    assert not chosen.summary.notes


def test_leading_zeros_are_noted(tmp_path):
    codes = [f"{7 * k:04d}" for k in range(60)]
    table = (
        frame().drop(columns="one")[:60].assign(zip=codes, price=[f"0.{k}" for k in range(60)], day=["007", "x"] * 30)
    )
    source = opened(table, tmp_path / "a.csv")
    source.read("error", QUIET)
    assert [note for note in source.summary.notes if "zeros" in note] == [
        "Column 'zip' has leading zeros and was read as numbers. If it is a code, such as a postcode, use "
        "categorical=['zip']."
    ]
    for chosen in ({"numeric": ["zip"]}, {"categorical": ["zip"], "numeric": []}):
        source = opened(table.assign(zip=["01", "02"] * 30), tmp_path / "b.csv", **chosen)
        source.read("error", QUIET)
        assert not [note for note in source.summary.notes if "zip" in note]


def test_codes_with_leading_zeros_are_different_levels(tmp_path):
    rng = np.random.default_rng(0)
    code = rng.choice(["01", "1", "02", "2"], 300)
    table = pd.DataFrame({"code": code, "y": 5 * (np.char.str_len(code) == 1) + rng.normal(size=300)})
    source = opened(table, tmp_path / "a.csv", categorical=["code"])
    moments = source.read("error", QUIET)
    assert set(moments.coding.variables[0].levels) == {"01", "1", "02", "2"}
    assert len(Golem().fit(moments).edges_) == 1
    plain = opened(table.assign(code=np.char.lstrip(code, "0")), tmp_path / "b.csv", categorical=["code"])
    assert set(plain.read("error", QUIET).coding.variables[0].levels) == {"1", "2"}


def test_a_little_text_among_numbers_is_noted(tmp_path):
    cells = [str(k % 40) for k in range(196)] + ["136A"] * 4
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(size=200), "family": cells})
    path = tmp_path / "a.csv"

    def notes(**options):
        source = opened(table, path, **options)
        source.read("drop", QUIET)
        return source.summary.notes

    said = (
        "1 column contains whole numbers and a little text, and is treated as a category: 'family' ('136A' in 4 of 200 "
        "rows). If these are numbers, "
    )
    advice = "correct the text, or use na=['family=136A'] and missing='drop'. Otherwise use categorical=['family']."
    assert notes() == [said + advice]
    assert notes(categorical=["family"]) == notes(na=["family=136A"]) == []
    with pytest.warns(DataWarning) as found:
        moments_from_file(path)
    assert str(found[0].message) == said + advice
    for read in (table, pl.from_pandas(table)):
        with pytest.warns(DataWarning) as found:
            read_coded(read)
        assert str(found[0].message).startswith(f"{said}convert the column to numbers")
    with pytest.warns(DataWarning) as found:  # of rare levels only
        read_coded(table.astype({"family": "category"}))
    assert "whole numbers" not in str(found[0].message)
    table["family"] = ["a", "b"] * 50 + ["7"] * 100
    assert notes() == []


def test_many_texts_among_numbers_are_to_be_corrected():
    texts = {f"{k}a": 1 for k in range(5)}
    note = note_of_texts({"a": {"1": 500} | texts, "b": {"7": 90, "?7": 1}})
    assert note.startswith(
        "2 columns contain whole numbers and a little text, and are treated as categories: 'a' ('0a', "
    )
    assert note.endswith("If these are numbers, correct the text. Otherwise use categorical=['a', 'b'].")
    assert note_of_texts({"a": {"u": 9}, "b": {"1": 8}, "c": {"1": 5, "2 or more": 4}}) == ""


def test_a_category_with_the_name_of_a_label_of_experiments_is_noted():
    coding = Coding((Variable("Condition", "category", ("wt", "ko")), Variable("batch"), Variable("x")))
    (note,) = TableSummary.of(coding, 9, None).notes
    assert note.startswith("If 'Condition' says which experiment a row comes from, use environment='Condition'")


def test_a_wide_table_is_folded():
    text = TableSummary.of(Coding.numeric([f"x{j}" for j in range(40)]), 5, np.zeros((5, 40))).text()
    assert text.startswith("Table: 5 rows, 40 columns (40 numbers)\ncolumn  type    missing  distinct  range\nx0 ")
    assert text.endswith("... and 10 more columns")
    assert len(text.splitlines()) == 33


def test_names_stay_on_one_line():
    coding = Coding((Variable("a\nb" * 30), Variable("site", "category", ("x" * 99, "y\nz"))))
    text = TableSummary.of(coding, 2, np.array([[1.0, 0], [2.0, 1]])).text()
    assert len(text.splitlines()) == 4
    assert max(map(len, text.splitlines())) < 120


def test_a_summary_of_a_sample_says_so():
    assert (
        "Values and ranges are those of 5 rows." in TableSummary.of(Coding.numeric("ab"), 50, np.zeros((5, 2))).text()
    )
    unseen = TableSummary.of(Coding.numeric("ab"), 50, None)
    assert [column.values for column in unseen.columns] == [None, None]


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_a_constant_category_is_refused_or_dropped(tmp_path, missing):
    source = opened(frame().assign(y=lambda t: 2 * t["x"]), tmp_path / "a.csv")
    assert [column.name for column in source.unusable(missing, QUIET)] == ["one", "y"]
    with pytest.raises(ValueError, match="Column 'one' is constant"):
        source.read(missing, QUIET)


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_the_rows_have_the_codes_of_the_moments(tmp_path, missing):
    table = frame().drop(columns="one")
    # The most frequent level has no complete row.
    table.loc[table["site"] == "v", "x"] = np.nan
    if missing == "em":
        table.loc[table["site"] == "v", "x"] = frame()["x"]
        table.loc[:20, "x"] = np.nan
    source = opened(table, tmp_path / "a.csv")
    moments = source.read(missing, QUIET).moments()
    rows = source.table.values
    expected = read_coded(table)
    assert moments.coding == (expected.complete() if missing == "drop" else expected).coding
    complete = rows[~np.isnan(rows).any(axis=1)]
    names = np.array(moments.coding.variables[1].levels)[complete[:, 1].astype(int)]
    assert names.tolist() == table.dropna()["site"].tolist()


def test_all_codes_of_a_discrete_table_are_kept(tmp_path):
    table = frame().drop(columns=["one", "x"]).astype({"visits": str})
    source = opened(table, tmp_path / "a.csv", categorical=["visits"])
    found = source.read("error", QUIET)
    codes = found.coding.codes(found.values)
    for j, variable in enumerate(found.coding.variables):
        assert np.array(variable.levels)[codes[:, j]].tolist() == table[variable.name].tolist()


def test_types_do_not_apply_to_covariances(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"so categorical=\[\.\.\.\] cannot be used"):
        open_source([str(tmp_path / "a.csv")], Reading(categorical=["a"], covariance=True, rows=9))
