"""The report about integer columns that may be codes of categories."""

import contextlib
import datetime
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from golem import DataWarning, Golem, GolemCV, bootstrap
from golem.data.category_columns import read_coded
from golem.data.levels import is_text, warn_of_codes
from golem.data.variables import Variable
from golem.readers import moments_from_file


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(size=n), "ward": rng.integers(1, 5, n), "stay": rng.normal(size=n)})


def warned(call, *arguments):
    """Return the sentences of the warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*arguments)
    assert {warning.category for warning in found} <= {DataWarning}
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table,
        lambda table: table.astype({"ward": "int8"}),
        lambda table: table.astype({"ward": "UInt16"}),
        lambda table: table.astype({"ward": "Int64"}).assign(ward=lambda t: t["ward"].where(t.index != 3)),
        lambda table: table.set_axis(range(3), axis=1),
        pl.from_pandas,
        lambda table: pl.from_pandas(table).with_columns(pl.col("ward").cast(pl.Int128)),
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
    ],
)
def test_codes_are_reported_once_per_fit_in_every_library(convert):
    table = convert(frame())
    (said,) = warned(Golem(missing="drop").fit, table)
    name = "1" if 1 in getattr(table, "columns", ()) else "ward"
    assert said == (
        f"1 column contains only a few distinct whole numbers and is treated as numeric: '{name}' (4 values). If these "
        "are codes of categories, convert them to text or to the type 'category'. Otherwise convert them to floats to "
        "avoid this warning."
    )


def test_the_warning_names_the_line_of_the_user():
    for table in (frame(), frame().assign(sex=["f", "m"] * 100)):
        with pytest.warns(DataWarning, match="treated as numeric") as found:
            Golem().fit(table)
        assert found[0].filename == __file__


@pytest.mark.parametrize(("kind", "is_category"), [("category", True), (str, True), (float, False), ("Float64", False)])
def test_another_type_decides(kind, is_category):
    table = frame().astype({"ward": kind})
    model = Golem()
    assert warned(model.fit, table) == []
    assert model.variables_[1].is_category == is_category
    as_text = pl.from_pandas(frame()).with_columns(pl.col("ward").cast(pl.String))
    assert warned(model.fit, as_text) == []
    assert model.variables_[1].is_category


def test_codes_next_to_categories_and_counts_are_reported():
    rng = np.random.default_rng(1)
    counts = pd.DataFrame(
        {"visits": rng.poisson(100, 200), "ward": rng.integers(4, size=200), "on": rng.choice(2, 200)}
    )
    for table in (counts, counts.assign(sex=rng.choice(["f", "m"], 200))):
        (said,) = warned(Golem().fit, table)
        assert "2 columns contain only" in said
        assert "are treated as numeric: 'ward' (4 values), 'on' (2 values). " in said
        assert said.endswith(
            "A column with two values can stay a number: once a table has categories, golem no longer uses the noise "
            "to find directions."
        )
    (said,) = warned(Golem().fit, counts.drop(columns="visits"))
    assert "are treated as numeric: 'ward' (4 values), 'on' (2 values). " in said


@pytest.mark.parametrize(
    "column",
    [
        np.arange(200),
        np.arange(200) // 15,  # 14 values in all rows, but only 7 in the first hundred
        np.where(np.arange(200) < 150, np.arange(200) % 2, np.arange(200)),
        np.full(200, 7),
    ],
    ids=["row numbers", "sorted", "many values in the last rows", "constant"],
)
def test_other_integers_are_not_reported(column):
    assert warned(warn_of_codes, frame().drop(columns="ward").assign(new=column)) == []


def test_few_rows_and_floats_are_not_reported():
    assert warned(warn_of_codes, frame()[:39]) == []
    assert len(warned(warn_of_codes, frame()[:40])) == 1
    for data in (frame().to_numpy(), frame().to_numpy().tolist(), read_coded(frame())):
        assert warned(warn_of_codes, data) == []


def test_arrays_of_integers_are_reported_with_another_remedy():
    codes = np.random.default_rng(0).integers(0, [3, 2000], size=(300, 2))
    (said,) = warned(Golem().fit, codes)
    assert "is treated as numeric: 'x0' (3 values). If these are codes of categories, give a DataFrame" in said
    assert warned(Golem().fit, codes.astype(float)) == []


def test_a_search_for_the_penalty_and_a_bootstrap_report_codes_once():
    assert len(warned(GolemCV(Golem(), "bic", lambda_sparsity=[0.1, 0.2]).fit, frame())) == 1
    assert len(warned(bootstrap, Golem(), frame(), 2)) == 1
    model = Golem().fit(frame().astype(float))
    assert warned(bootstrap, model, frame(), 2) == []
    assert warned(model.diagnose, frame()) == []


def test_environments_cannot_have_categories_and_report_no_codes():
    table = frame().assign(arm=np.repeat(["control", "treated"], 100))
    assert warned(lambda: Golem().fit(table, environments="arm", targets={"control": [], "treated": ["age"]})) == []


def test_advice_for_dates_depends_on_how_many_there_are():
    with pytest.raises(ValueError, match=r"days or months since the first date\.$"):
        read_coded(pl.DataFrame({"day": [f"2020-01-{day:02}" for day in range(1, 29)]}))
    with pytest.raises(ValueError, match="or use each date as a category"):
        read_coded(pl.DataFrame({"day": ["2020-01-01", "2020-02-01"] * 20}))


@pytest.mark.parametrize(
    "levels",
    [
        ["2020-01", "2020-12"],
        ["2020/1", "2021/10"],
        ["01/2020", "12/2020"],
        ["2020Q1", "2020-Q4"],
        ["Q1 2020", "Q2 2020"],
    ],
)
def test_months_and_quarters_are_dates(levels, tmp_path):
    table = pl.DataFrame({"x": np.arange(40.0) % 7, "when": levels * 20})
    table.write_csv(path := tmp_path / "a.csv")
    said = f"Column 'when' contains dates or times, such as '{levels[0]}'"
    for read in (lambda: read_coded(table), lambda: moments_from_file(path)):
        with pytest.raises(ValueError, match=said):
            read()


@pytest.mark.parametrize("levels", [["2020-13", "2020-14"], ["1234-56", "1234-01"], ["3 days", "4 days"]])
def test_other_texts_with_numbers_are_levels(levels):
    assert read_coded(pl.DataFrame({"c": levels * 20})).coding.variables[0].is_category


@pytest.mark.parametrize(
    "column",
    [
        pd.to_timedelta(np.arange(40) % 4 - 1, unit="h"),
        pd.to_timedelta(np.arange(40) % 4, unit="D"),
        [datetime.timedelta(days=1, seconds=k % 4) for k in range(40)],
        [f"{k % 4}:30" for k in range(40)],
    ],
)
def test_durations_are_to_become_seconds_or_hours(column, tmp_path):
    table = pd.DataFrame({"x": np.arange(40.0) % 7, "wait": column})
    table.to_parquet(path := tmp_path / "a.parquet")
    said = "'wait' contains times or durations, such as .*, such as seconds or hours"
    for read in (
        lambda: read_coded(table),
        lambda: read_coded(pl.from_pandas(table)),
        lambda: moments_from_file(path),
    ):
        with pytest.raises(ValueError, match=said):
            read()


def test_text_in_an_array_is_named():
    with pytest.raises(ValueError, match=r"cannot contain text such as 'f'\. Give a DataFrame"):
        Golem().fit(np.array([["f", 1], ["m", 2], ["f", 3]], dtype=object))


@pytest.mark.parametrize("level", ["inf", "Infinity"])
def test_a_text_that_python_reads_as_a_number_is_a_level_among_other_texts(level, tmp_path):
    assert Variable.of_counts("c", {"9": 1, level: 2, "1": 3, "4": 1}).levels == ("1", "4", "9", level)
    cells = [level, "yes", "yes", "no"] * 10
    levels = ("yes", level, "no")
    for table in (pl.DataFrame({"c": cells}), *(pd.DataFrame({"c": cells}, dtype=kind) for kind in ("str", object))):
        assert read_coded(table).coding.variables[0].levels == levels
    (tmp_path / "data.csv").write_text("\n".join(["c", *cells]))
    assert moments_from_file(tmp_path / "data.csv").coding.variables[0].levels == levels
    # Numbers are numbers with any of these words.
    assert not is_text({"1.5": 3, level: 2, "2": 1})
    assert not is_text({"1.5": 3, level: 2, "none": 9})


def test_intervals_keep_their_names():
    x = np.random.default_rng(1).permutation(np.linspace(0, 1, 60))
    table = pd.DataFrame(
        {"x": x, "part": pd.cut(x, [-1, 0.25, 0.75, 1]), "y": np.random.default_rng(0).normal(size=60)}
    )
    model = Golem().fit(table)
    assert set(model.variables_[1].levels) == {"(-1.0, 0.25]", "(0.25, 0.75]", "(0.75, 1.0]"}


@pytest.mark.parametrize(
    ("cells", "levels", "rows", "said"),
    [
        (["a", "a ", "b"], ("a", "b"), 60, "differ only in the blanks around them: 'a', 'a '"),
        (["\u00e9", "e\u0301", "b"], ("b", "e\u0301", "\u00e9"), 60, "the encoding of accents: "),
        (["a", "", "b"], ("a", "b"), 40, None),
        (["a", " ", "b"], ("a", "b"), 40, None),
        (["a", "none", "b"], ("a", "b"), 40, None),
        (["+", "-", "?"], ("+", "-"), 40, None),
        (["\x1ea", "a", "b"], ("\x1ea", "a", "b"), 60, "differ only in case, blanks, invisible"),
    ],
)
@pytest.mark.filterwarnings("ignore:Missing in 20 rows")
def test_text_is_the_same_category_from_every_reader(cells, levels, rows, said, tmp_path):
    table = pd.DataFrame({"x": np.arange(60.0) ** 2 % 7, "c": cells * 20})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet", index=False)
    found = []
    for source in (tmp_path / "a.csv", tmp_path / "a.parquet", table, pl.from_pandas(table)):
        with contextlib.nullcontext() if said is None else pytest.warns(DataWarning, match=re.escape(said)):
            read = partial(moments_from_file, source) if isinstance(source, Path) else read_coded(source).moments
            found.append(read(missing="drop"))
        assert found[-1].n == rows
        assert found[-1].coding.variables[1].levels == levels
    assert len({moments.coding for moments in found}) == 1


def test_words_that_count_as_missing_in_memory_are_named():
    table = pd.DataFrame({"x": np.arange(40.0), "c": ["none", "a", "b", "b"] * 10})
    with pytest.warns(DataWarning, match="Missing in 10 rows of 'c', as in files: 'none'. If this is a level"):
        read_coded(table)
