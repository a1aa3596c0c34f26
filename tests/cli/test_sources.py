"""Where rows come from as it is typed: standard input, markers of missing values, and both again with --from."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from command_line import golem
from golem import Moments
from golem.cli import app
from golem.readers import moments_from_file, read_table, shards_from_file
from golem.simulate import simulate

run = CliRunner()
NAMES = ("a", "b", "c")


@pytest.fixture
def rows(rng):
    X = simulate(3, 300, "ER1", random_state=2).data
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def text(rows, marker, separator=","):
    lines = [separator.join(marker if v != v else repr(float(v)) for v in row) for row in rows]
    return "\n".join([separator.join(NAMES), *lines]) + "\n"


@pytest.mark.parametrize("marker", [".", "-", "?", "-999", "not asked"])
def test_a_marker_is_read_as_a_missing_value(marker, rows, tmp_path):
    path = tmp_path / "data.csv"
    for separator in (",", ";", "\t"):
        path.write_text(text(rows, marker, separator))
        np.testing.assert_array_equal(read_table(path, na=[marker]).values, rows)
    with gzip.open(tmp_path / "data.csv.gz", "wt") as file:
        file.write(text(rows, marker))
    expected = Moments.from_rows(rows, NAMES, missing="drop")
    for source in (path, tmp_path / "data.csv.gz"):
        found = moments_from_file(source, na=[marker], missing="drop")
        assert found.missing.columns == expected.missing.columns
        assert found.missing.markers == {name: {marker: count} for name, count in expected.missing.columns.items()}
        np.testing.assert_allclose(found.covariance, expected.covariance)
    shards = shards_from_file(path, 3, na=[marker], missing="drop")
    assert sum(shard.n for shard in shards) == expected.n


def test_a_number_stands_for_all_cells_of_its_value(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,-999\n2,-999.0\n3,-9.99e2\n4,-998\n")
    values = read_table(tmp_path / "data.csv", na=["-999"]).values
    np.testing.assert_array_equal(np.isnan(values[:, 1]), [True, True, True, False])
    table = pa.table({"a": [1, 2, 3], "b": [-999, 5, 6], "c": [0.5, -999.0, None]})
    pq.write_table(table, tmp_path / "data.parquet")
    values = read_table(tmp_path / "data.parquet", na=["-999"]).values
    np.testing.assert_array_equal(values, [[1, np.nan, 0.5], [2, 5, np.nan], [3, 6, np.nan]])


def test_a_first_row_of_markers_is_no_header(tmp_path):
    (tmp_path / "data.csv").write_text("1,.,3\n4,5,6\n7,8,9\n")
    assert read_table(tmp_path / "data.csv", na=["."]).values.shape == (3, 3)


@pytest.mark.parametrize("marker", ["*", "?", ".", "-", "NA", "N/A", "null"])
def test_usual_marks_are_missing_values_and_one_message_offers_the_choice(marker, rows, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text(rows, marker))
    said = golem("fit", path, "-o", tmp_path / "out", "--strict", expect=1).output
    written = f", written {marker!r}" if len(marker) == 1 else ""
    assert f"'a' ({np.isnan(rows[:, 0]).sum()} values{written})" in said
    assert "Drop those rows (--missing drop), use Gaussian EM (--missing em)" in said
    said = golem("fit", path, "-o", tmp_path / "out", "--missing", "em", "-v").output
    assert (f"'a': {marker!r} in " in said) == (len(marker) == 1)
    np.testing.assert_array_equal(read_table(path).values, rows)
    # Among other text, the column is refused.
    path.write_text(text(rows, marker).replace("\n", "\ntall,1,2\n", 60))
    assert (
        "'a' is numeric except for 'tall' in line 2 and text in 59 more lines"
        in golem("fit", path, "-o", tmp_path / "out", expect=1).output
    )


def test_a_rare_marker_is_named_with_the_way_out(rows, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text(rows, "#DIV/0!"))
    said = golem("fit", path, "-o", tmp_path / "out", expect=1).output
    assert "3 of 3 columns contain numbers and text" in said
    assert "If '#DIV/0!' means a missing value, use --na '#DIV/0!' and --missing drop or --missing em." in said
    path.write_text(text(rows, "tall"))
    said = golem("fit", path, "-o", tmp_path / "out", expect=1).output
    assert "If 'tall' means a missing value, use --na tall and --missing drop. Otherwise encode it as a number" in said


@pytest.mark.parametrize("marker", ["-999", "none given"])
def test_a_marker_of_one_column_does_not_apply_to_others(marker, rows, tmp_path):
    path, cells = tmp_path / "data.csv", np.isnan(rows[:, 1])
    path.write_text(text(np.where(np.isnan(rows) & (np.arange(3) != 1), 0.5, rows), marker))
    found = read_table(path, na=[f"b={marker}"])
    np.testing.assert_array_equal(np.isnan(found.values), np.column_stack([0 * cells, cells, 0 * cells]))
    assert found.missing.markers == {"b": {marker: cells.sum()}}
    with pytest.raises(
        ValueError,
        match=r"No value of the columns used is 'a=.*'|'b' is numeric except for 'none given' in line",
    ):
        read_table(path, na=[f"a={marker}"])


def test_a_marker_that_matches_nothing_is_an_error(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("height,b\n" + "1,2\n3,1\n5,7\n" * 5)
    for missing in ("error", "drop", "em"):
        said = golem("fit", path, "--na", "-9", "--missing", missing, "-o", tmp_path / "out", expect=1).output
        assert "No value of the columns used is '-9'. Remove the marker: --na -9." in said
    said = golem("fit", path, "--na", "heigt=0", "-o", tmp_path / "out", expect=1).output
    assert "There is no column 'heigt'. Did you mean 'height'?" in said


@pytest.mark.usefixtures("methods_here")
def test_markers_are_recorded_and_repeated(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mixed = text(rows[:150], ".") + text(rows[150:], "-999").partition("\n")[2]
    (tmp_path / "data.csv").write_text(mixed)
    options = ("--missing", "em", "--na", ".", "--na", "-999")
    golem("fit", "data.csv", "-o", "out", *options, "-q")
    content = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert content["data"]["na"] == [".", "-999"]
    assert content["missing"]["cells"] == np.isnan(rows).sum()
    assert (
        "the data are the same; the graph is the same" in golem("fit", "--from", "out/graph.json", "-o", "two").output
    )
    assert "cannot be combined with --na" in golem("fit", "--from", "out/graph.json", "--na", "0", expect=1).output
    result = golem("compare", "data.csv", "--methods", "fgs", "-o", "compared", *options)
    assert "missing in" in result.output


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_from_standard_input(packed, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = text(rows, "NA").encode()
    (tmp_path / "data.csv").write_bytes(table)
    options = ("--missing", "drop", "--noise", "ev", "--bootstrap", 4, "--select", "cv", "-q")
    golem("fit", "data.csv", "-o", "file", *options)
    golem("fit", "-", "-o", "pipe", *options, input=gzip.compress(table) if packed else table)
    for name in ("edges.csv", "weights.csv", "path.csv"):
        assert (tmp_path / "pipe" / name).read_text() == (tmp_path / "file" / name).read_text()
    assert json.loads((tmp_path / "pipe" / "graph.json").read_text())["data"]["paths"] == ["-"]
    said = golem("fit", "--from", "pipe/graph.json", expect=1).output
    assert "The table came from standard input. Pipe it in again" in said
    said = golem("fit", "-", "--from", "pipe/graph.json", "-o", "again", input=table).output
    assert "the data are the same; the graph is the same" in said


@pytest.mark.usefixtures("methods_here")
def test_methods_are_compared_on_standard_input(tmp_path):
    table = text(simulate(3, 300, "ER1", random_state=2).data, "")
    (tmp_path / "data.csv").write_text(table)
    for name, source in (("file", tmp_path / "data.csv"), ("pipe", "-")):
        golem("compare", source, "--methods", "fgs", "-o", tmp_path / name, "-q", input=table.encode())
    edges = [(tmp_path / name / "agreement.csv").read_text() for name in ("file", "pipe")]
    assert edges[0] == edges[1] != ""
    assert "Methods compared on standard input" in (tmp_path / "pipe" / "report.html").read_text()
    assert "Standard input is empty" in golem("compare", "-", input=b"", expect=1).output


ROWS = "".join(f"{k},{k * k % 7},{k**3 % 11}\n" for k in range(20))


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("a,b,c\n" + ROWS + "1,2,x\n", (), "standard input: Column 'c' is numeric except for 'x'"),
        ("a,b,c\n" + ROWS + "1,2\n", (), "standard input: The lines have different numbers of fields"),
        ("a,b,c\n1,2,3\n", (), "standard input: golem needs at least 3 rows"),
        ("a,,c\n" + ROWS, (), "standard input: Column 2 has an empty name"),
        ("a,b,c\n" + ROWS + "1,,3\n", (), "standard input: Missing values (NaN) in 1 of 3 columns"),
        ("a,b,c\n" + "1,2,3\n1,3,1\n1,5,2\n1,2,2\n1,1,1\n" * 2, (), "standard input: Column 'a' is constant"),
        ("a,b,c\n" + ROWS, ("--drop", "z"), "standard input: There is no column 'z' to drop"),
        ("PAR1 and no more PAR1", (), "standard input: The Parquet file cannot be read"),
        ("a,b,c,\n" + ROWS.replace("\n", ",\n"), (), "standard input: Ignored 1 field"),
        ("a,b,c\n" + ROWS, ("data.csv",), "not in standard input"),
        ("a,b,c\n" + ROWS, ("-",), "Files given twice: 'standard input'"),
    ],
)
def test_standard_input_is_called_by_its_name(table, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("u,v\n1,2\n3,5\n")
    result = run.invoke(app, ["fit", "-", *options, "-o", "out", "--no-diagnose", "--strict"], input=table)
    said = " ".join(result.output.split())
    assert message in said
    assert "golem-" not in said


def test_a_truth_of_other_variables_is_refused_with_the_name_of_the_table(tmp_path):
    (tmp_path / "truth.csv").write_text("source,target\nu,v\n")
    result = golem("compare", "-", "--truth", tmp_path / "truth.csv", input="a,b,c\n" + ROWS, expect=1)
    assert "Error: standard input: " in result.output
    assert "truth.csv does not match the table: " in " ".join(result.output.split())


def test_the_error_about_a_truth_that_is_no_graph_begins_with_its_own_name(tmp_path):
    (tmp_path / "truth.csv").write_text("a,b\n1,2\n")
    result = golem("compare", "-", "--truth", tmp_path / "truth.csv", input="a,b,c\n" + ROWS, expect=1)
    assert result.stderr.startswith(f"Error: {tmp_path / 'truth.csv'} is not a graph")


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_an_empty_path_is_not_the_current_folder(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a,b,c\n" + ROWS)
    assert "An empty path was given" in golem(command, "", expect=1).output
    assert not (tmp_path / "golem-output").exists()


@contextlib.contextmanager
def pipe(path, content):
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(content,))
    writer.start()
    yield path
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_read_like_files(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,c\n" + ROWS)
    golem("fit", tmp_path / "data.csv", "-o", tmp_path / "file", "--bootstrap", 3, "-q")
    with pipe(tmp_path / "Pipe", "a,b,c\n" + ROWS) as path:
        golem("fit", path, "-o", tmp_path / "pipe", "--bootstrap", 3, "-q")
    assert (tmp_path / "pipe" / "edges.csv").read_text() == (tmp_path / "file" / "edges.csv").read_text()
    with pipe(tmp_path / "Text", "a,b,c\n" + ROWS + "1,2,x\n") as path:
        said = golem("fit", path, expect=1).output
    assert f"{path}: Column 'c' is numeric except for" in " ".join(said.split())
    with pipe(tmp_path / "Nothing", "") as path:
        assert f"{path} is empty" in " ".join(golem("fit", path, expect=1).output.split())
    with pytest.raises(ValueError, match="A pipe can be read only once"):
        read_table(path)


def test_a_closed_standard_input_is_told(tmp_path):
    command = [sys.executable, "-c", "from golem.cli import main; main()", "fit", "-", "-o", str(tmp_path / "out")]
    closed = ["sh", "-c", '"$@" <&-', "sh", *command]
    result = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "standard input, which is closed" in " ".join(result.stderr.split())


def test_an_empty_standard_input_is_told(tmp_path):
    assert "Standard input is empty" in golem("fit", "-", "-o", tmp_path / "out", input=b"", expect=1).output


@pytest.mark.usefixtures("methods_here")
@pytest.mark.parametrize("command", [("fit",), ("compare", "--methods", "fgs")])
def test_columns_that_are_left_out_are_told_in_a_sentence(command, rows, tmp_path):
    name, *options = command
    lines = text(np.nan_to_num(rows), "").splitlines()
    (tmp_path / "r.txt").write_text("\n".join([lines[0], *(f'"{k}",{line}' for k, line in enumerate(lines[1:]))]))
    (tmp_path / "ends.csv").write_text("".join(f"{line},\n" for line in lines))
    for file, sentence in (
        ("r.txt", "Column 'Unnamed: 0' looks like a saved row index and is ignored"),
        ("ends.csv", "Ignored 1 field without a name or a value"),
    ):
        said = golem(name, tmp_path / file, *options, "-o", tmp_path / "out").output
        assert f"Warning: {tmp_path / file}: {sentence}" in said
        assert golem(name, tmp_path / file, *options, "-o", tmp_path / "out", "-q").output == ""


def test_a_number_of_rows_beyond_floats_is_refused(tmp_path):
    (tmp_path / "cov.csv").write_text("a,b\n1,0.5\n0.5,1\n")
    typed = ("fit", tmp_path / "cov.csv", "--covariance", "--rows", "1" + "0" * 30, "-o", tmp_path / "out")
    assert "at least 2, at most 2^53; got n=1" in golem(*typed, expect=1).stderr


@pytest.mark.parametrize("command", ["fit", "compare", "simulate", "export", "report", "demo"])
def test_an_empty_name_for_the_results_is_refused(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    files = [] if command in ("simulate", "demo") else ["data.csv"]
    assert "The name is empty" in golem(command, *files, "-o", "", expect=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("inside", ["", "x"])
def test_a_link_to_itself_is_no_folder_for_results(inside, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for command in ("fit", "compare"):
        result = golem(command, tmp_path / "data.csv", "-o", tmp_path / "loop" / inside, expect=1)
        assert "is a link that leads nowhere. Choose another folder" in result.stderr


def test_thousands_of_labels_without_rows_are_counted(tmp_path):
    rows = "".join(f"{k % 7},{k % 5},{'ab'[k % 2]}\n" for k in range(40))
    (tmp_path / "data.csv").write_text(f"x,y,arm\n{rows}")
    (tmp_path / "t.json").write_text(json.dumps({"a": [], "b": ["x"]} | {f"l{k}": [] for k in range(50_000)}))
    typed = ("fit", tmp_path / "data.csv", "--environment=arm", "--targets", tmp_path / "t.json", "-o", tmp_path / "o")
    assert "'l7' and 49992 more, but no row of column 'arm' has one of these labels" in golem(*typed, expect=1).stderr


def test_names_that_are_formulas_are_told_and_escaped_for_spreadsheets(tmp_path, rng):
    rows = rng.normal(size=(60, 2)) @ [[1, 2], [0, 1]]
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header='"=1+1","@b"', comments="")
    result = golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out")
    assert "take the names '=1+1', '@b' in edges.csv and weights.csv for formulas" in " ".join(result.stderr.split())
    for to, cells in {"csv": 2, "matrix": 4}.items():
        text = golem("export", tmp_path / "out" / "graph.json", "--to", to, "--spreadsheet").stdout
        assert text.count("'=1+1") + text.count("'@b") == text.count("=1+1") + text.count("@b") == cells
    refused = golem("export", tmp_path / "out" / "graph.json", "--to", "gml", "--spreadsheet", expect=1)
    assert "--spreadsheet needs the format csv or matrix; got 'gml'" in refused.stderr
