"""The program as it is typed: files, exit codes, one-sentence errors, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from command_line import golem
from golem import __version__
from golem.cli import app
from golem.readers import read_graph, read_table

run = CliRunner()


@pytest.fixture
def simulated(tmp_path):
    golem("simulate", "--graph", "ER", "--degree", 1, "--d", 6, "--n", 600, "--seed", 3, "-o", tmp_path, "--quiet")
    return tmp_path


def test_simulate_fit_score_go_together(simulated):
    out = simulated / "out"
    result = golem("fit", "-v", simulated / "data.csv", "-o", out, "--noise", "ev")
    files = {"graph.json", "edges.csv", "weights.csv", "graph.png", "report.html"}
    assert {path.name for path in out.iterdir()} == files
    assert (out / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert "data.csv: 600 rows, 6 columns" in result.output
    scores = json.loads(golem("score", simulated / "truth.csv", out / "edges.csv", "--json").output)
    assert scores["shd"] <= 1
    assert scores == json.loads(golem("score", simulated / "truth.csv", out / "graph.json", "--json").output) | {
        "nodes": scores["nodes"]
    }


def test_simulated_experiments_have_a_column_of_environments_and_their_targets(tmp_path):
    common = ("simulate", "--d", 4, "--n", 50, "-o", tmp_path)
    golem(*common, "--interventions", "hard", "--target-count", 2, "-q")
    header, *rows = (tmp_path / "data.csv").read_text().splitlines()
    targets = json.loads((tmp_path / "targets.json").read_text())
    assert header.split(",")[0] == "environment"
    assert {row.split(",")[0] for row in rows} == set(targets)
    assert len(rows) == 50
    assert sorted(map(len, targets.values())) == [0, 1, 1]
    assert {one for chosen in targets.values() for one in chosen} < set(header.split(","))
    assert "already exists" in golem(*common, expect=1).output
    assert "needs --interventions" in golem(*common, "--target-count", 2, "--force", expect=1).output


def test_undecided_directions_come_with_a_ranking_of_experiments(simulated):
    out = simulated / "out"
    printed = golem("fit", "-v", simulated / "data.csv", "-o", out, "--noise", "nv").output
    about = json.loads((out / "graph.json").read_text())
    assert about["undecided"]
    best = about["next_experiment"][0]
    assert 1 <= best["least"] <= best["decided"] <= about["undecided"]
    row = [best["variable"], f"{best['decided']:.1f}", str(best["least"])]
    assert row in [line.split() for line in printed.splitlines()]
    assert "Which experiment next?" in (out / "report.html").read_text()
    golem("fit", "-v", simulated / "data.csv", "-o", out, "--noise", "ev")
    assert json.loads((out / "graph.json").read_text())["next_experiment"] is None


def test_edges_csv_has_the_promised_columns(simulated):
    golem("fit", simulated / "data.csv", "-o", simulated / "out", "-q")
    with (simulated / "out" / "edges.csv").open() as file:
        assert next(csv.reader(file))[:3] == ["source", "target", "weight"]
    with (simulated / "truth.csv").open() as file:
        assert next(csv.reader(file)) == ["source", "target", "weight"]


def test_options_reach_the_estimator(simulated):
    golem(
        "fit", simulated / "data.csv", "-o", simulated / "out", "--noise", "ev", "--solver", "adam",
        "--lambda-sparsity", 0.5, "--lambda-dag", 1, "--threshold", 0.05, "--max-iter", 30, "--seed", 4, "--quiet",
    )  # fmt: skip
    content = json.loads((simulated / "out" / "graph.json").read_text())
    expected = {
        "noise": "ev", "solver": "adam", "lambda_sparsity": 0.5, "lambda_dag": 1.0, "threshold": 0.05, "max_iter": 30,
        "random_state": 4,
    }  # fmt: skip
    assert expected.items() <= content["settings"].items()
    assert content["iterations"] == 30


def test_a_certificate_on_request(simulated):
    common = ["fit", simulated / "data.csv", "-o", simulated / "out", "--certificate"]
    proof = json.loads(golem(*common, "--noise", "ev", "--json").output)["certificate"]
    assert proof["stationarity"] <= 1e-6
    assert proof["score"] < proof["start_score"]
    assert "optimality conditions" in golem(*common, "--noise", "ev").output
    golem(*common, "--noise", "nv", expect=1)


def test_quiet_prints_nothing_and_json_prints_json_alone(simulated):
    assert golem("fit", simulated / "data.csv", "-o", simulated / "out", "--quiet").output == ""
    content = json.loads(golem("fit", simulated / "data.csv", "-o", simulated / "out", "--json").output)
    assert content["d"] == 6
    assert len(content["edge_list"]) == content["edges"]


def test_demo_learns_from_sachs(tmp_path):
    result = golem("demo", "-v", "-o", tmp_path)
    assert "Click an edge in the report to see its scatter plot." in result.output
    assert "--scatter" not in result.output  # not an option of the demo, whose report has the plots
    assert "853 cells, 11 signalling molecules" in result.output
    assert re.search(r"\d+ links found; the textbook network has all \d+, and \d+ that were not found", result.output)
    assert re.search(r"wrong for \d+ of 110 ordered pairs", " ".join(result.output.split()))
    assert (tmp_path / "graph.png").exists()
    assert re.search(rf"\n  report +{re.escape(str(tmp_path / 'report.html'))}", result.output)


def test_report_makes_the_page_of_saved_results(simulated):
    golem("fit", simulated / "data.csv", "-o", simulated / "out", "-q")
    graph = simulated / "out" / "graph.json"
    page = simulated / "deep" / "page.html"
    compared = ["--truth", simulated / "truth.csv", "--compare", simulated / "out" / "weights.csv"]
    result = golem("report", graph, *compared, "-o", page, "--title", "a <b>")
    assert result.output.strip().endswith(str(page))
    assert "<h1>a &lt;b&gt;</h1>" in page.read_text()
    assert "is a folder" in golem("report", graph, "-o", simulated, expect=1).output
    assert (
        "Give the graph.json that `golem fit` writes"
        in golem("report", simulated / "truth.csv", "-o", page, expect=1).output
    )
    assert "There is no such file" in golem("report", simulated / "nothing.json", "-o", page, expect=1).output


def test_simulate_is_reproducible_and_follows_its_options(tmp_path):
    arguments = ["simulate", "--graph", "SF2", "--d", 8, "--n", 20, "--noise", "gumbel", "--standardize"]
    for folder in ("a", "b"):
        golem(*arguments, "-o", tmp_path / folder)
    assert (tmp_path / "a" / "data.csv").read_text() == (tmp_path / "b" / "data.csv").read_text()
    table = read_table(tmp_path / "a" / "data.csv")
    assert table.values.shape == (20, 8)
    np.testing.assert_allclose(table.values.std(axis=0), 1)
    assert np.count_nonzero(read_graph(tmp_path / "a" / "truth.csv").weights) == 13


def test_simulate_tells_what_was_drawn(tmp_path):
    varied = golem("simulate", "-d", 4, "-n", 5, "--noise-std", 1, 2, "-o", tmp_path).output
    assert "gaussian, standard deviations 1 to 2, seed 0" in varied
    assert "gaussian-ev" not in varied
    dense = golem("simulate", "--degree", 100, "-d", 10, "-n", 5, "-o", tmp_path, "--force").output
    assert "45 edges (ER100, gaussian-ev, seed 0)" in dense
    assert "Note: ER100 asks for 1000 edges, but 10 variables have only 45 pairs. All pairs are connected." in dense
    assert "Note" not in golem("simulate", "-d", 20, "-n", 5, "-o", tmp_path, "--force").output


def test_the_truth_names_variables_without_edges(tmp_path):
    golem("simulate", "-d", 6, "-n", 200, "--graph", "ER0.5", "-o", tmp_path, "-q")
    truth, data = tmp_path / "truth.csv", tmp_path / "data.csv"
    assert ",,\n" in truth.read_text()
    assert "Note" not in golem("score", truth, "--data", data).output
    golem("fit", data, "-o", tmp_path / "out", "-q", "--no-diagnose")
    scored = json.loads(golem("score", truth, tmp_path / "out" / "edges.csv", "--json").output)
    assert (scored["nodes"], scored["only_in_estimate"]) == (6, [])


def test_score_prints_every_metric(tmp_path):
    (tmp_path / "t.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "e.csv").write_text("source,target\nb,a\nb,c\n")
    output = golem("score", tmp_path / "t.csv", tmp_path / "e.csv").output
    for name in ("SHD ", "SHD-C", "SID", "TPR", "FDR", "precision", "F1"):
        assert name in output
    scores = json.loads(
        golem("score", tmp_path / "t.csv", tmp_path / "e.csv", "--json", "--normalize", "--nodes", 4).output
    )
    assert scores["shd"] == 0.25
    both = tmp_path / "u.csv"
    both.write_text("source,target\na,b\nb,a\nb,c\nc,b\n")
    assert json.loads(golem("score", tmp_path / "t.csv", both, "--json", "--cpdag").output)["shd"] == 0


def test_score_says_why_a_metric_is_undefined(tmp_path):
    truth, estimate = tmp_path / "t.csv", tmp_path / "e.csv"
    truth.write_text("source,target\na,b\nb,c\n")
    estimate.write_text("source,target\na,b\nb,c\nc,a\n")
    output = golem("score", truth, estimate).output
    assert "SHD-C      undefined (the estimate has a cycle, 'a' -> 'b' -> 'c' -> 'a')\n" in output
    assert "SID        undefined (the estimate has a cycle, 'a' -> 'b' -> 'c' -> 'a')\n" in output
    assert "TPR        1\n" in output
    estimate.write_text("source,target\na,b\nb,a\nb,c\n")
    assert "'a' -> 'b' -> 'a' (--cpdag treats edges in both directions" in golem("score", truth, estimate).output
    assert (
        "SID        undefined (it needs a DAG, not an equivalence class)"
        in golem("score", truth, estimate, "--cpdag").output
    )
    estimate.write_text(",a,b,c\na,0,0,0\nb,0,0,0\nc,0,0,0\n")
    assert "precision  undefined (the estimate has no edges)\n" in golem("score", truth, estimate).output
    empty = golem("score", estimate, estimate).output
    assert "TPR        undefined (the truth has no edges)\n" in empty
    assert "F1         undefined (neither graph has an edge)\n" in empty


def test_graphs_that_cannot_be_compared_are_refused_with_their_edges(simulated):
    golem("fit", simulated / "data.csv", "-o", simulated / "out", "-q")
    learned, loop, cycle = simulated / "out" / "graph.json", simulated / "loop.csv", simulated / "cycle.csv"
    loop.write_text("source,target\nx0,x0\nx0,x1\n")
    cycle.write_text("source,target\nx0,x1\nx1,x2\nx2,x0\n")
    page = ["-o", simulated / "page.html"]
    for arguments, sentence in [
        (["score", simulated / "truth.csv", loop], "The estimate has an edge from a variable to itself, 'x0' -> 'x0'"),
        (["report", learned, "--compare", loop, *page], "loop.csv has an edge from a variable to itself"),
        (["report", learned, "--truth", loop, *page], "The truth must be a directed acyclic graph"),
        (["report", learned, "--truth", cycle, *page], "has a cycle: 'x0' -> 'x1' -> 'x2' -> 'x0'"),
        (["score", cycle, learned], "has a cycle: 'x0' -> 'x1' -> 'x2' -> 'x0'"),
        (["compare", simulated / "data.csv", "--truth", cycle, "--methods", "pc"], "has a cycle: 'x0' -> 'x1'"),
    ]:
        assert sentence in golem(*arguments, expect=1).output
    assert not page[1].exists()


def test_links_are_neither_right_nor_reversed_and_agree_with_both_directions_in_a_class(tmp_path):
    (tmp_path / "truth.csv").write_text("source,target\nb,a\nb,c\nd,c\n")
    rows = [("a", "b", True), ("b", "c", False), ("c", "d", False)]
    (tmp_path / "edges.csv").write_text("source,target,undecided\n" + "".join(f"{a},{b},{u}\n" for a, b, u in rows))
    document = {"names": list("abcd"), "format_version": 2}
    edges = [{"source": a, "target": b, "weight": 1.0, "undecided": u} for a, b, u in rows]
    (tmp_path / "graph.json").write_text(json.dumps(document | {"edge_table": edges}))
    for file in ("graph.json", "edges.csv"):
        arguments = ["score", tmp_path / "truth.csv", tmp_path / file]
        assert "1 true, 1 reversed, 1 link (direction open), 0 extra, 0 missing" in golem(*arguments).output
        assert "2 true, 1 reversed, 0 extra, 0 missing" in golem(*arguments, "--cpdag").output
        drawn, favoured = (json.loads(golem(*arguments, "--json", *more).output) for more in ([], ["--cpdag"]))
        assert (drawn["shd"], drawn["true"], favoured["shd"], favoured["true"]) == (2, 1, 1, 2)


def test_directions_beyond_the_class_do_not_count_in_its_distance(tmp_path):
    # The class a - b - c has no directions; something else decides a -> b.
    rows = "a,b,False\nb,c,True\n"
    (tmp_path / "edges.csv").write_text("source,target,undecided\n" + rows)
    for more in ([], ["--cpdag"]):
        scores = json.loads(golem("score", *[tmp_path / "edges.csv"] * 2, "--json", *more).output)
        assert (scores["shd"], scores["shd_c"]) == (0, 0)
    (tmp_path / "pdag.csv").write_text("source,target\na,b\nb,c\nc,b\n")
    scores = json.loads(golem("score", tmp_path / "edges.csv", tmp_path / "pdag.csv", "--json", "--cpdag").output)
    assert scores["shd_c"] == 1  # a file with undirected edges is taken as a class


def test_score_tells_of_variables_that_one_graph_does_not_name(tmp_path):
    (tmp_path / "t.csv").write_text("source,target\na,b\nb,e\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    output = golem("score", tmp_path / "t.csv", tmp_path / "e.csv").output
    assert "Note: The estimate does not name 'e'" in output
    assert "Note: The truth does not name 'c'" in output
    assert "1 true, 0 reversed, 1 extra, 1 missing" in output
    unshared = json.loads(golem("score", tmp_path / "t.csv", tmp_path / "e.csv", "--json").output)
    assert (unshared["only_in_truth"], unshared["only_in_estimate"]) == (["e"], ["c"])
    assert "Note" not in golem("score", tmp_path / "t.csv", tmp_path / "e.csv", "--nodes", 4).output
    assert "Note" not in golem("score", tmp_path / "t.csv", tmp_path / "t.csv").output


def test_score_says_if_the_truth_is_a_learned_graph_with_links(tmp_path):
    (tmp_path / "t.csv").write_text("source,target,directed\na,b,False\nb,c,True\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    note = "The first graph has 1 link of unknown direction"
    assert note in golem("score", tmp_path / "t.csv", tmp_path / "e.csv").output
    assert note not in golem("score", tmp_path / "e.csv", tmp_path / "t.csv").output
    assert note not in golem("score", tmp_path / "t.csv", tmp_path / "e.csv", "--cpdag").output


@pytest.fixture
def folder(simulated):
    """Cut the simulated table into three files."""
    header, *lines = (simulated / "data.csv").read_text().splitlines()
    (simulated / "parts").mkdir()
    for k in range(3):
        (simulated / "parts" / f"{k}.csv").write_text("\n".join([header, *lines[200 * k : 200 * k + 200]]) + "\n")
    return simulated / "parts"


def test_a_folder_a_pattern_and_files_are_one_table(folder):
    # The results of an earlier fit in the same folder are not data.
    whole = json.loads(golem("fit", folder.parent / "data.csv", "-o", folder / "out", "--json").output)
    for data in ([folder], [folder / "*.csv"], sorted(folder.glob("*.csv"))):
        result = json.loads(golem("fit", *data, "-o", folder.parent / "out", "--json").output)
        assert result["n"] == 600
        assert result["edge_list"] == [
            edge | {key: pytest.approx(edge[key]) for key in edge if isinstance(edge[key], float)}
            for edge in whole["edge_list"]
        ]


def test_columns_are_chosen_by_name(simulated):
    common = ["fit", simulated / "data.csv", "-o", simulated / "out"]
    golem(*common, "--columns", "x4, x1,x2", "-q")
    assert json.loads((simulated / "out" / "graph.json").read_text())["names"] == ["x4", "x1", "x2"]
    assert "no column 'y'. The columns are 'x0'" in golem(*common, "--columns", "x1,y", expect=1).output
    (simulated / "data.csv").write_text('"a, b",c\n' + "1,2\n2,5\n3,1\n" * 3)
    golem(*common, "--columns", '"a, b",c', "-q")
    assert json.loads((simulated / "out" / "graph.json").read_text())["names"] == ["a, b", "c"]


def test_a_saved_row_index_is_left_out_with_a_warning(simulated):
    path = simulated / "data.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f",{header}", *(f"{k},{line}" for k, line in enumerate(lines))]))
    result = golem("fit", "-v", path, "-o", simulated / "out")
    assert "Warning" in result.output
    assert "'Unnamed: 0' looks like a saved row index" in result.output
    assert "6 columns (6 numbers)" in result.output
    assert golem("fit", path, "-o", simulated / "out", "--quiet").output == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("3.csv", b"", "3.csv: The file is empty"),
        ("3.parquet", b"PAR1 and then nothing", "3.parquet: The Parquet file cannot be read"),
        ("3.csv", b"x0,x1,x2,x3,x4,x5\n1,2,3,4,5,6\n1,2,3\n", "3.csv: The lines have different numbers of fields"),
        (
            "3.csv",
            b"x0,x1,x2,x3,x4,x5\n1,2,3,4,5,6\n1,2,3,4,5,six\n",
            "3.csv: Column 'x5' is numeric except for 'six' in line 3",
        ),
        ("3.csv", b"x0,x1,x2,x3,x4,x5\n1,2,3,4,5,6\n1,2,3,,5,6\n", "'x3' (1 value). The first is in line 3"),
        ("3.csv", b"x0,x1,x2,x3,x4,y\n1,2,3,4,5,6\n", "3.csv: Column 'x5' of"),
    ],
)
def test_a_bad_file_in_a_folder_is_named_and_nothing_is_written(folder, name, content, message):
    (folder / name).write_bytes(content)
    result = golem("fit", folder, "-o", folder.parent / "out", "--strict", expect=1)
    assert message in result.output
    *summary, _ = result.output.strip().splitlines()
    assert not summary or summary[0].startswith("Table: ")
    assert not (folder.parent / "out").exists()


def test_settings_are_checked_before_any_row_is_read(tmp_path):
    result = golem("fit", tmp_path / "none.csv", "--solver", "order", "--threshold", 0.1, expect=1)
    assert "threshold" in result.output
    assert "none.csv" not in result.output
    assert "none.csv: There is no such file" in golem("fit", tmp_path / "none.csv", expect=1).output


def test_a_terminal_sees_how_much_is_read(simulated, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("golem.cli.terminal.err", Console(file=screen, force_terminal=True, width=120))
    golem("fit", simulated / "data.csv", "-o", simulated / "out")
    assert "Reading" in screen.getvalue()
    assert re.search(r"(\S+)/\1 kB", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()))


@pytest.mark.usefixtures("methods_here")
@pytest.mark.parametrize("command", ["fit", "demo", "simulate", "score", "compare", "report", "export"])
def test_help_shows_examples_that_work(command, simulated, monkeypatch):
    monkeypatch.chdir(simulated)
    monkeypatch.setenv("COLUMNS", "200")
    (simulated / "sim").mkdir()
    for name in ("data.csv", "truth.csv"):
        renamed = (simulated / name).read_text().replace("x0", "A").replace("x1", "B")
        for folder in (simulated, simulated / "sim"):
            (folder / name).write_text(renamed)
    golem("fit", "sim/data.csv", "-o", "out", "-q")
    if command in ("fit", "compare"):
        golem("simulate", "--interventions", "hard", "--d", 4, "--n", 200, "-o", "experiments", "-q")
    examples = re.findall(rf"^ +golem ({command}.*?) *$", golem(command, "--help").output, re.MULTILINE)
    assert len(examples) >= 2
    for example in examples:
        if example == "compare data.csv":  # the paper's recipe takes minutes
            example += " --methods order,pc"
        if "-o sim" in example:
            example += " --force"
        golem(*shlex.split(example))


def test_simulate_does_not_overwrite_a_table(simulated):
    table = (simulated / "data.csv").read_text()
    refused = golem("simulate", "--seed", 4, "-o", simulated, expect=1).output
    assert "data.csv' already exists. Choose another folder with -o, or add --force." in refused
    assert (simulated / "data.csv").read_text() == table
    golem("simulate", "--seed", 4, "-o", simulated, "--force")
    assert (simulated / "data.csv").read_text() != table


def test_compare_does_not_overwrite_its_inputs_or_a_fit(simulated):
    table = simulated / "distances.csv"
    (simulated / "data.csv").rename(table)
    common = ["compare", table, "--methods", "pc", "-o", simulated]
    assert f"The results would overwrite '{table}'" in golem(*common, expect=1).output
    (simulated / "graph.json").write_text("{}")
    table = table.rename(simulated / "table.csv")
    assert "holds results of `golem fit`" in golem(*common[:1], table, *common[2:], expect=1).output


@pytest.mark.usefixtures("methods_here")
def test_fit_and_compare_print_the_same_bic(simulated):
    printed = golem("fit", "-v", simulated / "data.csv", "-o", simulated / "out", "--noise", "ev").output
    compared = golem(
        "compare", "-v", simulated / "data.csv", "--methods", "order-ev", "-o", simulated / "methods"
    ).output
    (bic,) = re.findall(
        r"^BIC (\S+) \(least-squares weights, free noise variances; comparable across methods",
        printed,
        re.MULTILINE,
    )
    assert re.search(rf"order-ev +\d+ +{re.escape(bic)} ", compared)
    assert "BIC: with least-squares weights and free noise variances" in compared


def test_version_and_no_command():
    assert golem("--version").output.strip() == f"golem {__version__}"
    module = subprocess.run([sys.executable, "-m", "golem", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout.strip() == f"golem {__version__}"
    assert "Usage" in run.invoke(app, []).output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n" + "1,2\n1,3\n1,5\n" * 3, "data.csv: Column 'a' is constant"),
        ("a,b\n1,x\n1,3\n", "Column 'b' is numeric except for 'x' in line 2"),
        ("a\n1\n2\n", "at least 2 columns"),
        ("a,b\n1,\n2,3\n3,4\n", "Missing values (NaN) in 1 of 2 columns"),
        ("", "empty"),
    ],
)
def test_a_users_error_is_one_sentence_and_exit_code_1(tmp_path, content, message):
    path = tmp_path / "data.csv"
    path.write_text(content)
    result = golem("fit", path, "-o", tmp_path / "out", expect=1)
    assert message in result.output
    assert "Traceback" not in result.output
    *summary, _ = result.output.strip().splitlines()
    assert not summary or summary[0].startswith("Table: ")
    assert not (tmp_path / "out").exists()


def test_usage_errors_exit_with_2(tmp_path):
    golem("fit", expect=2)
    golem("fit", tmp_path, "--noise", "xx", expect=2)
    golem("nothing", expect=2)
    golem("simulate", "--d", 0, expect=2)


def test_other_user_errors_exit_with_1(tmp_path):
    golem("fit", tmp_path / "none.csv", expect=1)
    golem("simulate", "--graph", "XX", "-o", tmp_path, expect=1)
    golem("simulate", "--graph", "ER2", "--degree", 3, "-o", tmp_path, expect=1)
    golem("score", tmp_path / "a", tmp_path / "b", expect=1)


def test_names_with_markup_are_shown_as_they_are(tmp_path, rng):
    x = rng.normal(size=500)
    rows = np.column_stack([x, x + 0.3 * rng.normal(size=500)])
    (tmp_path / "data.csv").write_text("[red]a,[/b]\n" + "\n".join(f"{a},{b}" for a, b in rows))
    assert "[red]a" in golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out").output


def hear_interrupts():
    """Undo that the children of a job in the background are born deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Ctrl-C in the middle of the solve, however busy the machine is.
_INTERRUPTED = """
import os, signal
import golem.gradient.adam
from golem.cli import main
plain, calls = golem.gradient.adam.minus_ratio, []
def counted(*arguments):
    calls.append(1)
    if len(calls) == 50:
        os.kill(os.getpid(), signal.SIGINT)
    return plain(*arguments)
golem.gradient.adam.minus_ratio = counted
main()
"""


def test_ctrl_c_keeps_the_best_so_far(simulated):
    command = [sys.executable, "-c", _INTERRUPTED, "fit", simulated / "data.csv", "-o", simulated / "out"]
    process = subprocess.run([*command, "--solver", "adam"], capture_output=True, preexec_fn=hear_interrupts)
    assert process.returncode == 130
    assert b"Traceback" not in process.stderr
    content = json.loads((simulated / "out" / "graph.json").read_text())
    assert content["interrupted"]
    assert content["status"]["name"] == "interrupted"
    assert (simulated / "out" / "graph.png").exists()


def test_an_output_that_cannot_be_is_refused_before_the_work(simulated):
    result = golem("fit", simulated / "data.csv", "-o", simulated / "data.csv", expect=1)
    assert "is a file" in result.output


def test_the_folder_of_a_simulation_can_be_fitted(tmp_path):
    golem("simulate", "--d", 4, "--n", 100, "-o", tmp_path / "sim", "--quiet")
    summary = json.loads(golem("fit", tmp_path / "sim", "-o", tmp_path / "out", "--quiet", "--json").output)
    assert (summary["n"], summary["d"]) == (100, 4)
    # A table that only shares the name is data.
    (tmp_path / "sim" / "truth.csv").write_text((tmp_path / "sim" / "data.csv").read_text())
    summary = json.loads(golem("fit", tmp_path / "sim", "-o", tmp_path / "out", "--quiet", "--json").output)
    assert summary["n"] == 200


def test_empty_graphs_can_be_scored(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("source,target\n")
    golem("score", empty, empty, expect=1)
    scores = json.loads(golem("score", empty, empty, "--nodes", 3, "--normalize", "--json").output)
    assert scores["shd"] == scores["sid"] == 0
    many = golem("score", empty, empty, "--nodes", 10**12, expect=1)
    assert "A graph of 1000000000000 nodes needs about" in many.stderr


def test_columns_can_be_dropped_and_a_missing_header_is_told(tmp_path, rng):
    rows = "\n".join(f"u,{a},{b}" for a, b in rng.normal(size=(50, 2)))
    path = tmp_path / "data.csv"
    path.write_text(f"id,a,b\n{rows}\n")
    assert json.loads(golem("fit", path, "-o", tmp_path / "out", "--drop", "id", "--quiet", "--json").output)["d"] == 2
    path.write_text("id,a,b,c\n" + "\n".join(f"u,{a},{b},{b}" for a, b in rng.normal(size=(50, 2))))
    for drop in (["--drop", "id, c"], ["--drop", "id", "--drop", "c"]):
        assert json.loads(golem("fit", path, "-o", tmp_path / "out", *drop, "--quiet", "--json").output)["d"] == 2
    path.write_text("\n".join(f"{a},{b}" for a, b in rng.normal(size=(50, 2))))
    assert "Without a header line, the columns are named" in golem("fit", path, "-o", tmp_path / "out").output


def test_graphs_over_other_variables_are_not_compared(tmp_path):
    for name, edge in (("one", "a,b"), ("other", "x,y")):
        (tmp_path / f"{name}.csv").write_text(f"source,target\n{edge}\n")
    result = golem("score", tmp_path / "one.csv", tmp_path / "other.csv", expect=1)
    assert "no variable in common" in result.output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--threshold", "0.3"], "--threshold 0.3 cannot be used here: --solver order does not use it."),
        (["--device", "foo"], "Unknown device 'foo'."),
        (["--certificate", "--noise", "nv"], "needs a table of numbers and --noise ev; got --noise nv."),
        (["--noise", "foo"], "'foo' is not one of"),
    ],
)
def test_errors_name_options_as_they_are_typed(tmp_path, options, sentence):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n2,3\n4,1\n3,3\n")
    command = [sys.executable, "-m", "golem", "fit", str(path), "-o", str(tmp_path / "out"), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"})
    assert ended.returncode in (1, 2)
    assert sentence in " ".join(ended.stderr.split())
    assert "Value error" not in ended.stderr


def test_score_checks_a_graph_against_a_table(simulated):
    truth, data = simulated / "truth.csv", simulated / "data.csv"
    lines = truth.read_text().splitlines()
    fewer = simulated / "fewer.csv"
    fewer.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    assert "The data are consistent with the graph" in golem("score", truth, "--data", data).output
    for wrong in ("", simulated, simulated / "p", simulated / "p.xyz"):
        result = golem("score", fewer, "--data", data, "--plot", wrong, expect=1)
        assert "Error: A figure cannot be written to" in result.stderr
    result = golem("score", fewer, "--data", data, "--plot", simulated / "p.png")
    assert "The data contradict the graph" in result.output
    assert "partial correlation" in result.output
    assert (simulated / "p.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(golem("score", fewer, "--data", data, "--json").output)
    assert found["p_value"] < 1e-6
    assert found["violations"][0]["p_value"] < 1e-6
    X = read_table(data)
    triangle = "\n".join(" ".join(map(repr, row[: k + 1])) for k, row in enumerate(np.cov(X.values.T).tolist()))
    (simulated / "tetrad.txt").write_text(f"{len(X.values)}\n{' '.join(X.names)}\n{triangle}\n")
    same = json.loads(golem("score", fewer, "--data", simulated / "tetrad.txt", "--json").output)
    assert same["p_value"] == pytest.approx(found["p_value"])
    golem("fit", data, "-o", simulated / "out", "-q")
    assert "Descriptive only" in golem("score", simulated / "out" / "graph.json", "--data", data).output


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ([], "Give a second graph to compare with, or a table with --data"),
        (["t.csv", "--data", "d.csv"], "Give a second graph to compare with, or a table with --data"),
        (["--data", "d.csv", "--nodes", 3], "--nodes cannot be used with --data"),
        (["t.csv", "--na", "-9"], "--na cannot be used without --data"),
    ],
)
def test_score_takes_a_graph_or_a_table(tmp_path, extra, message):
    (tmp_path / "t.csv").write_text("source,target\na,b\n")
    assert message in golem("score", tmp_path / "t.csv", *extra, expect=1).output.replace("\n", " ")


def test_options_are_in_lower_case():
    # Typer 0.27 names an option after its metavar if the two differ only in case and no name is given.
    def names(command):
        yield from (name for option in command.params for name in option.opts if name.startswith("-"))
        for part in getattr(command, "commands", {}).values():
            yield from names(part)

    assert [name for name in names(typer.main.get_command(app)) if name != name.lower()] == []
