"""Tables that are refused: all their unusable columns are named, after a summary of the table."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from golem import Golem
from golem.cli import app
from golem.comparison import compare_file
from golem.data.reading import Reading
from golem.data.source import Purpose, open_source
from golem.runtime.progress import ProgressDisplay

ROWS = 60


class Shown(ProgressDisplay):
    """Collect the tables that are shown."""

    def __init__(self):
        self.tables = []

    def table(self, text):
        """Keep a table."""
        self.tables.append(text)


def frame():
    rng = np.random.default_rng(0)
    site = rng.choice(["u", "v"], ROWS)
    return pd.DataFrame({"site": site, "x": rng.normal(size=ROWS), "y": rng.normal(size=ROWS)})


def bad():
    names, days = [f"id{k}" for k in range(ROWS)], pd.date_range("2020-01-01", periods=ROWS)
    return frame().assign(name=names, day=days, one="same", two=7, again=lambda t: 2 * t["x"])


def read(table, path, missing="error"):
    """Read a table as `golem fit` does; return the message, and the lines of its only summary."""
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    shown = Shown()
    source = open_source([str(path)], Reading(), Purpose(checked=True))
    with pytest.raises(ValueError) as error:  # noqa: PT011
        source.read(missing, shown)
    (summary,) = shown.tables
    return str(error.value), summary.splitlines()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("missing", ["error", "drop", "em"])
def test_all_unusable_columns_are_named_after_the_summary(tmp_path, name, missing):
    message, lines = read(bad(), tmp_path / name, missing)
    assert f"{name}: Column 'name' has 60 different values in 60 rows" in message
    assert "Column 'day' contains dates or times, such as '2020-01-01" in message
    assert "Constant columns: 'one', 'two'. Columns 'x' and 'again' are copies of each other" in message
    assert "Drop them: drop=['name', 'day', 'one', 'two', 'again']. To keep 'name', group its values." in message
    assert [line.split()[0] for line in lines[2:]] == list(bad())
    assert [line.split()[:4] for line in lines if line.startswith("name")] == [["name", "text", "0", "60"]]
    assert lines[0] == "Table: 60 rows, 8 columns (4 numbers, 2 categories, 1 date, 1 text)"


def test_dates_of_parquet_are_in_the_summary(tmp_path):
    days = pd.Series(pd.date_range("2020-01-01", periods=ROWS)).dt.date.where(np.arange(ROWS) > 1)
    always = pd.Series([pd.Timedelta(days=1)] * ROWS)
    message, lines = read(frame().assign(day=days, stay=always), tmp_path / "a.parquet")
    assert [line.split()[:4] for line in lines[-2:]] == [["day", "date", "2", "58"], ["stay", "date", "0", "1"]]
    assert "categorical" not in message


def test_what_is_not_counted_is_in_the_summary(tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.files.parquet_files._LARGEST_COUNTED", 0)
    monkeypatch.setattr("golem.data.files.level_scan.MOST_LEVELS", 50)
    _, lines = read(bad(), tmp_path / "a.parquet")
    assert [line.split() for line in lines if line.startswith(("name", "day"))] == [["name", "text"], ["day", "date"]]
    assert lines[0] == "Table: 60 rows, 8 columns (4 numbers, 2 categories, 1 date, 1 text)"


def test_text_among_numbers_is_named_with_the_others(tmp_path):
    dose = [f"{k / 7:.3f}" for k in range(ROWS)]
    dose[5] = "<0.01"
    message, lines = read(frame().assign(dose=dose), tmp_path / "a.csv")
    assert "Column 'dose' is numeric except for '<0.01' in line 7. Correct line 7" in message
    assert [line.split()[0] for line in lines[2:]] == ["site", "x", "y", "dose"]
    message, lines = read(bad().assign(dose=dose), tmp_path / "b.csv")
    assert "Column 'dose' is numeric except for '<0.01' in line 7." in message
    assert "Drop them: drop=['name', 'day', 'one', 'two', 'again', 'dose']." in message
    assert [line.split()[0] for line in lines[2:]] == [*bad(), "dose"]


def test_a_comparison_names_them_too(tmp_path):
    bad().to_csv(tmp_path / "a.csv", index=False)
    shown = Shown()
    with pytest.raises(ValueError, match=r"drop=\['name', 'day', 'one', 'two', 'again'\]"):
        compare_file(tmp_path / "a.csv", ["order"], progress=shown)
    assert len(shown.tables) == 1


def test_the_summary_comes_before_the_error_about_missing_values(tmp_path):
    table = frame()
    table.loc[3:7, "x"] = np.nan
    message, lines = read(table, tmp_path / "a.csv")
    assert "Missing values (NaN) in 1 of 3 columns: 'x' (5 values)" in message
    assert lines[3].split()[:4] == ["x", "number", "5", "55"]
    message, lines = read(frame().assign(void=np.nan), tmp_path / "b.csv")
    assert "Column 'void' has no values. Drop it: drop=['void']." in message
    assert lines[-1].split() == ["void", "number", "60", "0"]


def test_the_summary_comes_before_the_error_about_a_constant_category(tmp_path):
    message, lines = read(frame().assign(one="same", two=7), tmp_path / "a.csv", "drop")
    assert "Constant columns: 'one', 'two'. Drop them: drop=['one', 'two'], or use drop_dependent=True." in message
    assert len(lines) == 7


@pytest.mark.parametrize("missing", ["error", "drop", "em"])
def test_a_category_with_one_level_and_gaps_is_named_at_once(tmp_path, missing):
    table = frame().assign(sick=np.where(np.arange(ROWS) % 3, None, "yes"))
    said = "Column 'sick' has only one level, 'yes', and missing values. Drop it: "
    message, lines = read(table, tmp_path / "a.csv", missing)
    assert f"{said}drop=['sick']. To keep 'sick', write 'no' or similar into its empty cells" in message
    assert lines[-1].split() == ["sick", "category", "40", "1", "yes", "(20)"]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Golem(missing=missing).fit(table)
    assert said in str(error.value)


def test_a_table_of_identifiers_alone_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    names, mails = [f"id{k}" for k in range(ROWS)], [f"m{k}" for k in range(ROWS)]
    pd.DataFrame({"name": names, "mail": mails}).to_csv(path, index=False)
    source = open_source([str(path)], Reading(), Purpose(checked=True))
    with pytest.raises(ValueError, match=r"drop=\['name', 'mail'\]"):
        source.read("error", ProgressDisplay())


def hopeless(kind):
    """Return a table with several faults, for which one after the other was named."""
    rng = np.random.default_rng(0)
    rows = 30 if kind == "more columns than rows" else 60
    d = 34 if kind == "more columns than rows" else 6
    table = pd.DataFrame(rng.normal(size=(rows, d)), columns=[f"v{j}" for j in range(d)])
    table["total"] = table["v0"] + table["v1"]
    if kind == "with a category":
        table["kind"] = rng.choice(["u", "v"], rows)
        table.loc[rng.random(rows) < 0.1, "kind"] = None
    if kind == "constant":
        table["one"] = 1.0
    if kind == "more columns than rows":
        for j in range(20):
            table.loc[rng.random(rows) < 0.2, f"v{j + 10}"] = np.nan
    table.loc[rng.random(rows) < (0.9 if kind == "few complete rows" else 0.1), "v2"] = np.nan
    return table


@pytest.mark.filterwarnings("ignore:n = ")
@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("numbers", "error"),
        ("numbers", "drop"),
        ("constant", "em"),
        ("with a category", "error"),
        ("few complete rows", "drop"),
        ("more columns than rows", "error"),
        ("more columns than rows", "em"),
    ],
)
def test_everything_is_named_with_options_that_work(tmp_path, monkeypatch, kind, missing):
    monkeypatch.chdir(tmp_path)
    table = hopeless(kind)
    table.to_csv("a.csv", index=False)
    command = ["fit", "a.csv", "-o", "out", "--no-diagnose", "--strict"]
    refused = CliRunner().invoke(app, [*command, "--missing", missing])
    assert refused.exit_code == 1
    works = re.search(r"(?:This works|Drop \w+): (.*?)(?:\. Or impute|, or let|, or use)", refused.output)
    assert works, refused.output
    fitted = CliRunner().invoke(app, [*command, "--missing", missing, *shlex.split(works[1])])
    assert fitted.exit_code == 0, fitted.output
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Golem(missing=missing).fit(table)
    said = re.search(r"This works: (.*?)\. Or impute", str(error.value))
    if said:
        eval(said[1], {"Golem": Golem, "X": table})
