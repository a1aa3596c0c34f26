"""Tables with categories in memory: types, levels, and the moments of their columns."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from golem.baselines import SortRegress
from golem.data.category_columns import read_coded
from golem.data.checks import DataWarning
from golem.data.coded_tables import moments_of_columns, with_used_levels
from golem.data.table_reading import _may_have_categories, read_table
from golem.readers import moments_from_file


def frame(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "site": rng.choice(["x", "y", "z"], n),
            "ill": rng.random(n) < 0.3,
            "stage": pd.Categorical(rng.choice(["I", "II", "III", "IV"], n)),
            "visits": rng.integers(5, size=n),
        }
    )


KINDS = ["numeric", "category", "category", "category", "numeric"]


def described(table):
    return [(variable.name, variable.kind, variable.levels) for variable in table.coding.variables]


def test_types_are_the_same_in_every_library():
    data = frame()
    expected = read_coded(data)
    assert [kind for _, kind, _ in described(expected)] == KINDS
    assert set(described(expected)[2][2]) == {"False", "True"}
    for other in (pl.from_pandas(data), pa.Table.from_pandas(data)):
        found = read_coded(other)
        assert described(found) == described(expected)
        np.testing.assert_array_equal(found.rows, expected.rows)


BOOLEANS = np.random.default_rng(2).random((60, 3)) < [0.2, 0.5, 0.8]
NAMED = {f"x{j}": column for j, column in enumerate(BOOLEANS.T.copy())}


@pytest.mark.parametrize(
    "data",
    [
        BOOLEANS,
        BOOLEANS.tolist(),
        BOOLEANS.astype(object),
        np.asfortranarray(BOOLEANS),
        np.ma.masked_array(BOOLEANS),
        scipy.sparse.csr_array(BOOLEANS),
        pd.DataFrame(NAMED),
        pd.DataFrame(NAMED, dtype=object),
        pd.DataFrame(NAMED, dtype="boolean"),
        pl.DataFrame(NAMED),
        pa.table(NAMED),
        pa.RecordBatch.from_pydict(NAMED),
        "array.npy",
        "table.parquet",
        "table.csv",
    ],
    ids=lambda data: data if isinstance(data, str) else type(data).__name__,
)
def test_booleans_are_categories_in_every_container(data, tmp_path):
    if isinstance(data, str):
        path = tmp_path / data
        np.save(tmp_path / "array.npy", BOOLEANS)
        pd.DataFrame(NAMED).to_parquet(tmp_path / "table.parquet")
        pd.DataFrame(NAMED).to_csv(tmp_path / "table.csv", index=False)
        moments = moments_from_file(path)
    else:
        table = read_table(data)
        moments, rows = table.moments(), table.parts[0].read_rows()
        np.testing.assert_array_equal(moments.coding.expand(rows)[:, [0, 2]], BOOLEANS[:, [0, 2]] == [True, False])
    assert [variable.levels for variable in moments.coding.variables][::2] == [("False", "True"), ("True", "False")]
    frequent = BOOLEANS.mean(axis=0) > 0.5
    np.testing.assert_allclose(moments.mean, (frequent ^ BOOLEANS).mean(axis=0))


def test_names_of_columns_need_not_be_texts():
    table = read_coded(pd.DataFrame({0: np.arange(20.0), 1: ["a", "b"] * 10, 2: range(20)}))
    assert table.coding.names == ("0", "1", "2")
    assert table.coding.categories == ("1",)
    np.testing.assert_array_equal(table.rows, np.stack([np.arange(20), np.arange(20) % 2, np.arange(20)]).T)


def test_masked_booleans_are_missing():
    data = np.ma.masked_array(BOOLEANS, mask=np.arange(180).reshape(60, 3) == 7)
    assert np.argwhere(np.isnan(read_coded(data).rows)).tolist() == [[2, 1]]


@pytest.mark.parametrize("data", [[[True, 0.5], [False, 1.0]], BOOLEANS.astype(float), BOOLEANS.astype(int), []])
def test_arrays_with_other_cells_have_no_categories(data):
    assert not _may_have_categories(data)


def test_a_category_may_have_levels_of_several_types():
    cells = [1.5, "red", 2.0, True, None, 10**400] * 6
    (variable,) = read_coded(pd.DataFrame({"a": pd.Series(cells, dtype="category")})).coding.variables
    assert set(variable.levels) == {"1.5", "red", "2", "True", str(10**400)}


def test_the_coding_does_not_depend_on_the_order_of_rows():
    data = frame()
    order = np.random.default_rng(1).permutation(len(data))
    here, there = read_coded(data), read_coded(data.iloc[order])
    assert here.coding == there.coding
    np.testing.assert_array_equal(here.rows[order], there.rows)


def test_moments_are_those_of_dummy_columns():
    data = frame()
    moments = read_coded(data).moments()
    dummies = pd.get_dummies(data.astype({"ill": str}), dtype=float)
    columns = [name.replace("=", "_") for name in moments.names]
    np.testing.assert_allclose(moments.mean, dummies[columns].mean())
    np.testing.assert_allclose(moments.covariance, np.cov(dummies[columns].T, bias=True), atol=1e-12)


@pytest.mark.parametrize("cuts", [[60], [1, 2, 119], list(range(1, 120))])
def test_moments_of_parts_add_up(cuts):
    table = read_coded(frame())
    parts = [moments_of_columns(list(part.T), table.coding) for part in np.split(table.rows, cuts)]
    total = sum(parts[1:], parts[0])
    whole = table.moments()
    assert (total.n, total.coding) == (whole.n, whole.coding)
    np.testing.assert_allclose(total.covariance, whole.covariance, atol=1e-12)


def test_variables_are_selected_with_all_their_columns():
    table = read_coded(frame())
    names = ["stage", "age"]
    part, direct = table.moments().selected(names), read_coded(frame()[names]).moments()
    assert (part.names, part.coding) == (direct.names, direct.coding)
    np.testing.assert_allclose(part.covariance, direct.covariance, atol=1e-12)


def test_missing_categories_are_counted_once_per_cell_and_dropped_or_estimated():
    data = frame().astype({"site": object})
    data.loc[3:9, "site"] = None
    data.loc[5, "age"] = np.nan
    table = read_coded(data)
    with pytest.raises(
        ValueError, match=r"Missing values \(NaN\) in 2 of 5 columns: 'age' \(1 value\), 'site' \(7 values\)"
    ):
        table.moments()
    dropped = table.moments("drop")
    assert (dropped.n, dropped.missing.cells, dropped.missing.rows) == (113, 8, 7)
    np.testing.assert_allclose(dropped.covariance, read_coded(data.dropna()).moments().covariance, atol=1e-12)
    estimated = table.moments("em")
    assert estimated.missing.columns == {"age": 1, "site": 7}


def test_em_is_not_advised_if_no_row_is_complete_because_of_categories(tmp_path):
    data = frame().astype({"site": object, "stage": object})
    data.loc[::2, "site"] = None
    data.loc[1::2, "stage"] = None
    data.to_csv(tmp_path / "table.csv", index=False)
    for read in (
        read_coded(data).moments,
        lambda missing: moments_from_file(tmp_path / "table.csv", missing=missing),
    ):
        with pytest.raises(ValueError, match=r"0 rows after dropping 120 rows with missing values\. Impute the values"):
            read("drop")
        with pytest.raises(ValueError, match=r"'site' and 'stage' are never .* Drop columns: \S*drop\S*=\['stage'\]"):
            read("em")
    numbers = frame().assign(**dict(zip("uvw", np.random.default_rng(3).normal(size=(3, 120)), strict=True)))
    for k, name in enumerate("uvw"):
        numbers.loc[k::3, name] = np.nan
    with pytest.raises(ValueError, match=r"with missing values\. Try missing='em'"):
        read_coded(numbers).moments("drop")
    assert read_coded(numbers).moments("em").missing.rows == 120


@pytest.mark.filterwarnings("ignore:.* levels with")
def test_em_computes_the_moments_of_levels_that_other_categories_determine():
    rng, same = np.random.default_rng(4), np.arange(200) < 8
    table = pd.DataFrame({name: np.where(same, "other", rng.choice(["x", "y"], 200)) for name in ("one", "two")})
    table["size"] = np.where(np.arange(200) == 50, np.nan, rng.normal(size=200))
    table["copy"] = table["one"].where(np.arange(200) != 60)
    whole = read_coded(table).moments("em")
    alone = read_coded(table[["one", "two", "size"]]).moments("em")
    place = {name: k for k, name in enumerate(whole.names)}
    same_columns = [place[name.replace("one", "copy")] for name in alone.names]
    for columns in ([place[name] for name in alone.names], same_columns):
        np.testing.assert_allclose(whole.covariance[np.ix_(columns, columns)], alone.covariance, atol=1e-6)
        np.testing.assert_allclose(whole.mean[columns], alone.mean, atol=1e-6)
    np.testing.assert_allclose(whole.covariance[place["two=other"]], whole.covariance[place["one=other"]], atol=1e-12)


@pytest.mark.filterwarnings("ignore:.* levels with")
def test_em_uses_columns_that_differ_only_in_incomplete_rows():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"one": rng.choice(["x", "y"], 200), "size": rng.normal(size=200)})
    table["two"] = table["one"]
    table.loc[:4, ["two", "size"]] = ["x", np.nan]
    moments = read_coded(table).moments("em")
    one, two = (
        moments.names.index(next(n for n in moments.names if n.startswith(f"{name}="))) for name in ("one", "two")
    )
    differ = (table["one"] != table["two"]).mean()
    assert differ > 0
    correlation = moments.covariance[one, two] / np.sqrt(moments.variances[one] * moments.variances[two])
    assert abs(correlation) < 1 - differ


def test_em_refuses_numbers_that_other_numbers_determine():
    data = frame().assign(weight=np.random.default_rng(9).normal(size=120))
    data["double"] = 2 * data["weight"]
    data.loc[5, "age"] = np.nan
    with pytest.raises(ValueError, match="'weight' and 'double' are copies of each other"):
        read_coded(data).moments("em")


def test_levels_without_complete_rows_have_no_column():
    data = frame()
    data["site"] = np.where(data["site"] == "x", "rare", data["site"])
    most = read_coded(data).coding.variables[1].levels[0]
    for level in ("rare", most):  # the reference may vanish, too
        gaps = data.assign(age=data["age"].where(data["site"] != level))
        table = read_coded(gaps)
        whole = table.moments("drop")
        assert level not in whole.coding.variables[1].levels
        assert whole.variances.min() > 0
        streamed = with_used_levels(moments_of_columns(list(table.rows.T), table.coding, missing="drop"))
        assert streamed.coding == whole.coding
        np.testing.assert_allclose(streamed.covariance, whole.covariance, atol=1e-12)
        expected = read_coded(gaps.dropna())
        rows = table.complete()
        assert [set(v.levels) for v in rows.coding.variables] == [set(v.levels) for v in expected.coding.variables]
        names = np.array(rows.coding.variables[1].levels)[rows.rows[:, 1].astype(int)]
        assert names.tolist() == gaps.dropna()["site"].tolist()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            [f"id{k}" for k in range(120)],
            "Column 'new' has 120 different values in 120 rows, which is too many for a category",
        ),
        ([f"id{k % 80}" for k in range(120)], "80 different values in 120 rows"),
        (["2020-01-02", "2021-03-04"] * 60, "Column 'new' contains dates or times, such as '2020-01-02'"),
        (pd.date_range("2020-01-01", periods=120), "Column 'new' contains dates or times"),
        (
            pd.period_range("2020-01-01", periods=120, freq="D"),
            r"times, such as '2020-01-01'\..* first date\.$",
        ),
        (pd.PeriodIndex(["2020-01", "2020-02"] * 60, freq="M"), "or use each date as a category"),
        ([f"{k}.5 kg" for k in range(120)], "remove the unit 'kg'"),
        (["one"] * 120, "Column 'new' is constant"),
        (["1.5", "2.5", "x"] * 1 + ["3.5"] * 117, "not numeric: 'new' .'x' in row 3"),
    ],
)
def test_columns_that_are_no_categories_are_named(column, message):
    with pytest.raises(ValueError, match=message):
        read_coded(frame().assign(new=column)).moments()


def test_baselines_say_that_periods_are_dates():
    with pytest.raises(ValueError, match="'d' contains dates or times, such as '2020-01-01'"):
        SortRegress().fit(pd.DataFrame({"x": np.arange(9.0), "d": pd.period_range("2020-01-01", periods=9, freq="D")}))


def test_an_empty_category_is_to_be_dropped(tmp_path):
    data = frame().assign(void=pd.Series([None] * 120, dtype="str"))
    data.to_csv(tmp_path / "a.csv", index=False)
    for read in (read_coded(data).moments, partial(moments_from_file, tmp_path / "a.csv")):
        with pytest.raises(ValueError, match=r"Column 'void' has no values\. Drop it: \S+\['void'\]\S*$"):
            read(missing="drop")


def test_levels_that_differ_in_case_or_blanks_are_named(tmp_path):
    data = frame().assign(answer=["Yes", "yes", "no", "No"] * 30)
    sentence = r"Levels of 'answer' differ only in case, blanks, .* accents: .*'Yes'"
    with pytest.warns(DataWarning, match=sentence):
        read_coded(data)
    data.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(DataWarning, match=sentence):
        moments_from_file(tmp_path / "a.csv")
    with pytest.warns(DataWarning, match=r"of 'answer' differ only in case, .* accents: 'n  o', 'n o'\."):
        read_coded(data.assign(answer=["yes", "n  o", "n o"] * 40))


def test_all_unusable_columns_are_named_at_once():
    data = frame()
    names = [f"id{k}" for k in range(len(data))]
    days = pd.date_range("2020-01-01", periods=len(data))
    bad = data.assign(
        name=names, day=days, one="same", two=7.0, three=7.5, void=pd.Series([None] * len(data), dtype="str")
    )
    with pytest.raises(ValueError, match=r"Column 'name' has .* Column 'day' contains dates") as error:
        read_coded(bad)
    assert "Column 'void' has no values. Constant columns: 'one', 'two', 'three'." in str(error.value)
    drop = ["name", "day", "one", "two", "three", "void"]
    assert f"Drop them: X.drop(columns={drop}). To keep 'name', group its values. To keep 'day'" in str(error.value)
    read_coded(bad.drop(columns=drop)).moments()
    with pytest.raises(ValueError, match=r"Constant columns: 'one', 'two'\. Drop them: .*, or use golem\.fit_file"):
        read_coded(data.assign(one="same", two=7.0)).moments()


def test_many_unusable_columns_are_counted():
    names = {f"name{j}": [f"id{j}.{k}" for k in range(120)] for j in range(7)}
    with pytest.raises(ValueError, match="3 more columns cannot be used for the same reasons") as error:
        read_coded(pd.DataFrame(names))
    assert f"X.drop(columns={list(names)})" in str(error.value)


def test_rare_levels_are_named():
    data = frame()
    data["site"] = ["once", "rare", "rare", *data["site"][3:]]
    with pytest.warns(DataWarning) as found:
        read_coded(data)
    assert ["'site' ('once')" in str(found[0].message), "'site' ('rare')" in str(found[1].message)] == [True, True]


def test_moments_of_other_levels_do_not_merge():
    one, two = (read_coded(frame().replace({"site": {"x": level}})).moments() for level in "xw")
    with pytest.raises(ValueError, match="different columns"):
        one + two
