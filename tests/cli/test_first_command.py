"""`golem fit FILE` on tables as they come: with gaps, constants, totals, identifiers and too few complete rows."""

from __future__ import annotations

import json
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from command_line import golem
from golem import fit_file
from golem.simulate import simulate


@pytest.fixture
def table():
    return pd.DataFrame(simulate(4, 120, "ER1", random_state=3).data, columns=list("abcd"))


def fitted(frame, folder, *options, expect=0):
    """Fit a table in a file; return what was said, and the content of graph.json."""
    frame.to_csv(folder / "data.csv", index=False)
    said = golem("fit", folder / "data.csv", "-o", folder / "out", "--no-diagnose", *options, expect=expect).output
    return said, json.loads((folder / "out" / "graph.json").read_text()) if expect == 0 else None


def test_what_is_left_out_is_said_and_kept_in_the_files(table, tmp_path):
    frame = table.assign(
        one=7, total=table["a"] + table["b"], twin=2 * table["c"], subject_id=np.arange(120)[::-1] + 40
    )
    frame.insert(0, "row", range(120))
    said, content = fitted(frame, tmp_path)
    assert content["names"] == list("abcd")
    reasons = {column["name"]: column["reason"] for column in content["left_out"]}
    assert reasons == {
        "row": "identifies rows",
        "subject_id": "identifies rows",
        "one": "constant",
        "total": "linear combination of 'a', 'b'",
        "twin": "copy of 'c'",
    }
    assert "Left out: " in said
    assert "Columns left out" in (tmp_path / "out" / "report.html").read_text()
    # The same graph as without these columns, and a run that can be repeated.
    _, plain = fitted(table, tmp_path)
    assert plain["edge_table"] == content["edge_table"]
    assert plain["left_out"] is None
    said, _ = fitted(frame, tmp_path, "--strict", expect=1)
    assert "Column 'one' is constant." in said


def test_a_repeated_run_uses_the_same_columns_and_treatment(table, tmp_path):
    frame = table.assign(one=7).mask(np.random.default_rng(0).random((120, 5)) < 0.05)
    _, content = fitted(frame.assign(one=7), tmp_path)
    golem("fit", "--from", tmp_path / "out" / "graph.json", "-o", tmp_path / "again", "--no-diagnose")
    again = json.loads((tmp_path / "again" / "graph.json").read_text())
    assert again["edge_table"] == content["edge_table"]
    assert again["settings"]["missing"] == "em"


def test_em_is_the_first_choice_and_complete_rows_the_second(table, tmp_path):
    gaps = table.mask(np.random.default_rng(0).random(table.shape) < 0.05)
    assert fitted(gaps, tmp_path)[1]["missing"]["method"] == "em"
    words = gaps.apply(
        lambda column: column.gt(column.median()).map({True: "high", False: "low"}).where(column.notna())
    )
    assert fitted(words, tmp_path)[1]["missing"]["method"] == "drop"  # EM does not apply to categories alone


def test_columns_with_few_values_are_left_out_if_nothing_else_works(table, tmp_path):
    rng = np.random.default_rng(1)
    noise = pd.DataFrame(rng.normal(size=(120, 3)), columns=["s1", "s2", "s3"])
    words = table.gt(0).map(lambda value: "high" if value else "low")
    sparse = noise.gt(0).map(lambda value: "yes" if value else "no").mask(rng.random((120, 3)) < 0.8)
    _, content = fitted(words.join(sparse), tmp_path)
    assert content["names"] == list("abcd")
    assert {column["reason"] for column in content["left_out"]} == {"too many missing values"}


def test_most_rows_are_never_dropped_without_being_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 0)  # such files are read in a stream, and have no EM
    table = pd.DataFrame(simulate(4, 1000, "ER1", random_state=3).data, columns=list("abcd"))
    rng = np.random.default_rng(0)
    said, _ = fitted(table.mask(rng.random(table.shape) < 0.3), tmp_path, expect=1)
    assert "To drop these rows, use --missing drop" in said
    assert fitted(table.mask(rng.random(table.shape) < 0.05), tmp_path)[1]["missing"]["rows"] < 500


def test_a_chosen_type_keeps_a_column_that_looks_like_an_identifier(table, tmp_path):
    frame = table.assign(id=np.arange(120) ** 2 % 211)
    assert fitted(frame, tmp_path)[1]["names"] == list("abcd")
    assert fitted(frame, tmp_path, "--numeric", "id")[1]["names"] == [*"abcd", "id"]
    years = table.assign(year=np.arange(120) + 1900)
    assert fitted(years, tmp_path)[1]["names"] == [*"abcd", "year"]


def test_a_chosen_category_with_too_many_levels_is_refused_with_the_reason(table, tmp_path):
    said, _ = fitted(table.assign(g=[f"l{k}" for k in range(120)]), tmp_path, "--categorical", "g", expect=1)
    assert "Column 'g' has 120 different values in 120 rows, which is too many for a category." in said


def test_knowledge_without_a_file(table, tmp_path):
    for options in (["--exogenous", "a,b", "--outcome", "d"], ["--tiers", "a, b; *; d"]):
        _, content = fitted(table, tmp_path, *options)
        assert content["knowledge"]["tiers"] == [["a", "b"], ["c"], ["d"]]
        assert not any(edge["source"] == "d" for edge in content["edge_table"])
    said, _ = fitted(table, tmp_path, "--tiers", "a;b", "--outcome", "d", expect=1)
    assert "Both sources of knowledge have tiers" in said


def test_python_is_strict_unless_asked(table, tmp_path):
    frame = table.assign(one=7).mask(np.random.default_rng(0).random((120, 5)) < 0.05)
    frame.assign(one=7).to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(ValueError, match="missing"):
        fit_file(tmp_path / "data.csv", tmp_path / "out")
    result = fit_file(tmp_path / "data.csv", tmp_path / "out", missing="auto", strict=False, diagnose=False)
    assert [column.name for column in result.supplement.left_out] == ["one"]


def test_a_table_without_any_use_is_refused_with_all_reasons(tmp_path):
    frame = pd.DataFrame({"a": 1, "b": [f"name {k}" for k in range(40)], "c": np.arange(40.0) % 7})
    said, _ = fitted(frame, tmp_path, expect=1)
    assert "'b'" in said
    assert "constant" in said


def test_logarithms_are_taken_while_the_file_is_read(table, tmp_path):
    skewed = np.exp(table)
    _, content = fitted(skewed.assign(T1=1.5, T2=2.5), tmp_path, "--log", "a,b,c,d", "--drop", "T*")
    _, plain = fitted(table, tmp_path)
    assert content["names"] == plain["names"]
    assert [edge["weight"] for edge in content["edge_table"]] == pytest.approx(
        [edge["weight"] for edge in plain["edge_table"]]
    )
    fitted(skewed, tmp_path, "--log", "*")
    golem("fit", "--from", tmp_path / "out" / "graph.json", "-o", tmp_path / "again", "--no-diagnose")
    assert json.loads((tmp_path / "again" / "graph.json").read_text())["moments_hash"] == content["moments_hash"]
    said, _ = fitted(table, tmp_path, "--log", "a", expect=1)
    assert "Column 'a' has the value" in said
    assert "Leave the column out of --log." in said
    said, _ = fitted(table, tmp_path, "--drop", "T*", expect=1)
    assert "No column matches 'T*' (--drop" in said


def test_the_remedy_for_curves_names_all_columns_with_long_tails(tmp_path):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400))
    frame = pd.DataFrame({"x": np.exp(x), "z": z, "y": np.exp(x + z + 0.3 * rng.normal(size=400))})
    frame.to_csv(tmp_path / "data.csv", index=False)
    golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out")
    findings = json.loads((tmp_path / "out" / "graph.json").read_text())["diagnostics"]
    (remedy,) = [finding["remedy"] for finding in findings if finding["name"] == "linearity"]
    assert "--log x,y" in remedy


@pytest.mark.parametrize("ending", ["feather", "dta"])
def test_files_of_other_programs_are_read(table, tmp_path, ending):
    frame = table.assign(kind=np.where(table["a"] > 0, "high", "low"))
    path = tmp_path / f"data.{ending}"
    frame.to_feather(path) if ending == "feather" else frame.to_stata(path, write_index=False)
    frame.to_csv(tmp_path / "data.csv", index=False)
    contents = []
    for file in (path, tmp_path / "data.csv"):
        golem("fit", file, "-o", tmp_path / "out", "--no-diagnose")
        contents.append(json.loads((tmp_path / "out" / "graph.json").read_text()))
    assert contents[0]["edge_table"] == contents[1]["edge_table"]
    assert contents[0]["data"]["paths"] == [str(path)]


def test_a_file_that_needs_another_package_is_named(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "data.xlsx", "w") as workbook:
        workbook.writestr("xl/workbook.xml", "")
    (tmp_path / "data.sav").write_bytes(b"$FL2")
    for ending, name, package in (("xlsx", "Excel", "openpyxl"), ("sav", "SPSS", "pyreadstat")):
        monkeypatch.setitem(sys.modules, package, None)
        said = " ".join(golem("fit", tmp_path / f"data.{ending}", "-o", tmp_path / "out", expect=1).output.split())
        assert f"This is a file of {name}" in said
        assert f"pip install pandas {package}" in said
    (tmp_path / "data.feather").write_bytes(b"nothing")
    assert "The file of Feather cannot be read" in golem("fit", tmp_path / "data.feather", expect=1).output


def test_a_table_that_looks_transposed_is_asked_about(table, tmp_path):
    wide = pd.DataFrame(table.to_numpy().T, columns=[f"sample {k}" for k in range(120)])
    wide = pd.concat([wide] * 6).assign(gene=[f"gene {k}" for k in range(24)])
    wide = wide[["gene", *wide.columns[:-1]]]
    said, _ = fitted(wide, tmp_path, expect=1)
    assert "The table looks transposed: it has 24 rows and 120 columns" in said
    assert "--drop gene" in said
