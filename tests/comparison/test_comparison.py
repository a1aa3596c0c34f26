"""Comparisons: the table against the metrics, agreement, and what happens when a method hangs, fails or crashes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import golem
from command_line import golem as golem_command
from golem import Golem, Knowledge, Moments, metrics
from golem.baselines import FGS
from golem.cli import app
from golem.comparison.method_process import MethodProcess
from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.comparison.registry import METHODS
from golem.comparison.result import Comparison, Row, comparison_content
from golem.comparison.run import compare, compare_file, default_methods, packages_not_installed
from golem.data.category_columns import read_coded
from golem.data.table import Table
from golem.data.table_reading import read_table
from golem.graphs.dag import cpdag
from golem.graphs.named_graph import NamedGraph
from golem.score.score_settings import ScoreSettings
from golem.score.table_score import score_of
from golem.simulate import simulate

# Fake packages, found by the child through PYTHONPATH: one hangs, one raises, one takes its process down.
HANGS = (
    "import time\nclass DagmaLinear:\n    def __init__(self, loss_type): pass\n    def fit(self, X): time.sleep(600)\n"
)
RAISES = "class DirectLiNGAM:\n    def fit(self, X): raise RuntimeError('lost its way')\n"
CRASHES = "import os\ndef flop(*a, **k):\n    print('about to go', flush=True)\n    os.abort()\n"


@pytest.fixture(scope="module")
def drawn():
    return simulate(6, 400, "ER1", "exponential", random_state=5)


@pytest.fixture(scope="module")
def comparison(drawn):
    return compare(drawn.data, ["order-ev", "fgs", "sort-regress-r2"], truth=drawn.sem.weights)


@pytest.fixture
def broken_packages(tmp_path, monkeypatch):
    (tmp_path / "dagma").mkdir()
    (tmp_path / "dagma" / "__init__.py").touch()
    (tmp_path / "dagma" / "linear.py").write_text(HANGS)
    (tmp_path / "lingam.py").write_text(RAISES)
    (tmp_path / "flopsearch.py").write_text(CRASHES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.mark.usefixtures("methods_here")
def test_columns_can_be_chosen(drawn, tmp_path):
    path = tmp_path / "data.csv"
    header = "a,b,,d,e,f"  # one has no name, and cannot be dropped by it
    np.savetxt(path, drawn.data, delimiter=",", header=header, comments="")
    command = ["compare", str(path), "--methods", "order-ev", "-q", "-o", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1
    assert "(--columns)" in refused.output
    assert CliRunner().invoke(app, [*command, "--columns", "b,a,d"]).exit_code == 0
    assert compare_file(path, "order-ev", columns=["b", "a", "d"]).names == ("b", "a", "d")


@pytest.mark.usefixtures("methods_here")
def test_a_covariance_matrix_gives_the_graphs_of_its_rows(drawn, tmp_path):
    names = list(drawn.sem.names)
    covariance = pd.DataFrame(np.cov(drawn.data.T, bias=True), columns=names)
    covariance.to_csv(tmp_path / "cov.csv", index=False)
    typed = ["compare", tmp_path / "cov.csv", "--methods", "order-ev,fgs,direct-lingam", "-o", tmp_path / "out"]
    assert "The table is a symmetric matrix" in golem_command(*typed, expect=1).output
    golem_command(*typed, "--covariance", "--rows", len(drawn.data), "-q")
    rows = {
        row["method"]: row for row in csv.DictReader((tmp_path / "out" / "comparison.csv").read_text().splitlines())
    }
    assert "needs the rows" in rows["direct-lingam"]["message"]
    typed = ["compare", tmp_path / "cov.csv", "--covariance", "--rows", len(drawn.data), "-o", tmp_path / "out"]
    said = golem_command(*typed, "-v").output
    assert "Not run, they need rows: direct-lingam" in said
    assert "error" not in said
    expected = compare(pd.DataFrame(drawn.data, columns=names), ["order-ev", "fgs"])
    found = compare_file(tmp_path / "cov.csv", ["order-ev", "fgs"], covariance=True, rows=len(drawn.data))
    for row in expected.rows:
        np.testing.assert_array_equal(found.estimates[row.method].graph, expected.estimates[row.method].graph)
        assert float(rows[row.method]["bic"]) == pytest.approx(row.bic)


@pytest.mark.usefixtures("methods_here")
def test_columns_that_cannot_be_used_are_dropped_on_request(drawn, tmp_path):
    table = pd.DataFrame(drawn.data, columns=list("abcdef")).assign(total=drawn.data.sum(axis=1), one=1.0)
    table.to_csv(tmp_path / "data.csv", index=False)
    typed = ["compare", tmp_path / "data.csv", "--methods", "order-ev", "-o", tmp_path / "out"]
    assert "--drop-dependent" in golem_command(*typed, expect=1).output
    said = golem_command(*typed, "--drop-dependent").output
    assert "Dropped 'total', 'one', which are constant or determined by other columns." in said
    dropped = compare_file(tmp_path / "data.csv", "order-ev", drop_dependent=True)
    assert dropped.names == tuple("abcdef")
    np.testing.assert_array_equal(
        dropped.estimates["order-ev"].graph, compare(drawn.data, "order-ev").estimates["order-ev"].graph
    )


@pytest.mark.usefixtures("methods_here")
def test_a_truth_with_names_goes_by_them(drawn):
    table = pd.DataFrame(drawn.data, columns=list("abcdef"))
    truth = pd.DataFrame(drawn.sem.weights, index=list("abcdef"), columns=list("abcdef"))
    (expected,) = compare(table, "order-ev", truth=truth).rows
    turned = table[list("fbdace")]
    named = NamedGraph.from_weights(drawn.sem.weights, tuple("abcdef"))
    for given in (truth, named):
        assert compare(turned, "order-ev", truth=given).rows[0].shd == expected.shd
    with pytest.raises(ValueError, match="different labels"):
        compare(table, "order-ev", truth=truth.set_axis(list("fedcba"), axis=1))
    with pytest.raises(ValueError, match="variables 'z' are not among"):
        compare(table, "order-ev", truth=truth.rename(index={"a": "z"}, columns={"a": "z"}))
    with pytest.raises(ValueError, match=r"got the path 'data.csv'. Use compare_file"):
        compare("data.csv")


def test_rows_hold_the_metrics_of_the_models(comparison, drawn):
    truth = drawn.sem.adjacency
    order, fgs, _ = comparison.rows
    model, classes = Golem("ev").fit(drawn.data), FGS().fit(drawn.data)
    expected = metrics.evaluate(truth, model.adjacency_)
    assert (order.edges, order.shd, order.shd_c, order.sid, order.tpr) == (
        expected.edges, expected.shd, expected.shd_c, expected.sid, expected.tpr
    )  # fmt: skip
    assert order.score_ev == pytest.approx(model.solution_.graph_scores["paper_score_ev"])
    assert order.bic == pytest.approx(model.solution_.graph_scores["bic_nv"])  # its weights are least squares
    favourable = metrics.evaluate(truth, classes.cpdag_, cpdag=True)
    assert (fgs.edges, fgs.shd, fgs.shd_c, fgs.tpr) == (
        favourable.edges, favourable.shd, favourable.shd_c, favourable.tpr
    )  # fmt: skip
    assert (fgs.sid, fgs.score_ev, fgs.score_nv) == (None, None, None)
    assert fgs.bic == pytest.approx(classes.bic_)
    assert all(row.status == "done" and 0 < row.seconds < 60 for row in comparison.rows)


def test_methods_can_run_at_the_same_time(comparison, drawn):
    steps = []
    with joblib.parallel_config("threading", n_jobs=2):
        found = compare(drawn.data, ["order-ev", "fgs"], truth=drawn.sem.weights, callback=steps.append)
    assert [(row.method, row.status, row.shd) for row in found.rows] == [
        (row.method, "done", row.shd) for row in comparison.rows[:2]
    ]
    assert {(step.method, step.number, step.total) for step in steps} == {("order-ev", 0, 2), ("fgs", 1, 2)}


def test_the_table_prints(comparison):
    lines = str(comparison).splitlines()
    assert lines[0].split() == ["method", "edges", "BIC", "seconds", "SHD", "SHD-C", "SID", "TPR"]
    assert [line.split()[0] for line in lines[1:]] == ["order-ev", "fgs", "sort-regress-r2"]
    assert len({len(line) for line in lines}) == 1


def by_hand():
    first = np.zeros((3, 3), dtype=bool)
    first[0, 1] = first[1, 2] = True
    second = first.copy()
    second[1, 0] = True  # undirected
    third = np.zeros((3, 3), dtype=bool)
    third[1, 0] = third[0, 2] = True
    estimates = {
        "a": Estimate(first, False, first),
        "b": Estimate(second, True, None),
        "c": Estimate(third, False, None),
    }
    return Comparison(("x", "y", "z"), tuple(map(Row, estimates)), estimates, first, {})


def test_agreement_lists_every_edge_with_every_method():
    assert by_hand().agreement() == [
        {"source": "x", "target": "y", "methods": 3, "truth": "->", "a": "->", "b": "--", "c": "<-"},
        {"source": "y", "target": "z", "methods": 2, "truth": "->", "a": "->", "b": "->", "c": ""},
        {"source": "x", "target": "z", "methods": 1, "truth": "", "a": "", "b": "", "c": "->"},
    ]


def test_links_are_undirected_in_the_agreement_and_the_drawing_and_agree_with_both_directions():
    found = by_hand()
    undecided = replace(found.estimates["a"], direction_from={(0, 1): "none", (1, 2): "structure"})
    found = replace(found, estimates=found.estimates | {"a": undecided})
    assert [edge["a"] for edge in found.agreement()] == ["--", "->", ""]
    assert (found.distances()[1] <= by_hand().distances()[1]).all()
    drawn = comparison_content(found)["graphs"][0]
    assert drawn["columns"] == ["source", "target", "undirected", "direction_from"]
    assert drawn["rows"] == [[0, 1, True, "none"], [1, 2, None, "structure"]]


@pytest.mark.usefixtures("methods_here")
def test_what_order_leaves_undecided_is_undirected():
    X = simulate(6, 500, "ER1", "gaussian-nv", random_state=0).data
    found = compare((X - X.mean(axis=0)) / X.std(axis=0), ["order", "order-nv", "notears-l1"])
    model = Golem().fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert model.undecided_.any()
    np.testing.assert_array_equal(found.estimates["order"].partially_directed(), model.pdag_)
    assert {edge["order"] for edge in found.agreement()} >= {"--"}
    assert found.estimates["notears-l1"].direction_from == {}


def test_an_undirected_edge_is_at_no_distance_from_both_directions():
    names, distances = by_hand().distances()
    assert names == ["truth", "a", "b", "c"]
    np.testing.assert_array_equal(distances, [[0, 0, 0, 3], [0, 0, 0, 3], [0, 0, 0, 2], [3, 3, 2, 0]])


def test_files_are_saved(comparison, tmp_path):
    paths = comparison.save(tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["comparison.csv", "agreement.csv", "distances.csv", "comparison.png"]
    with paths[0].open() as file:
        table = list(csv.DictReader(file))
    assert list(table[0])[:7] == ["method", "edges", "shd", "shd_c", "sid", "tpr", "seconds"]
    assert [float(line["shd"]) for line in table] == [row.shd for row in comparison.rows]
    assert table[1]["sid"] == ""
    with paths[1].open() as file:
        edges = list(csv.DictReader(file))
    assert sum(edge["truth"] != "" for edge in edges) == comparison.truth.sum()
    assert paths[3].read_bytes().startswith(b"\x89PNG")


def test_what_hangs_raises_or_crashes_is_reported_and_the_others_go_on(drawn, broken_packages):
    chosen = ["sort-regress-r2", "dagma", "lingam", "flopsearch", "gcastle-notears", "sort-regress-var"]
    steps = []
    found = compare(drawn.data, chosen, time_limit=1.0, callback=steps.append)
    outcome = {row.method: (row.status, row.message) for row in found.rows}
    assert outcome["sort-regress-r2"] == outcome["sort-regress-var"] == ("done", "")
    assert outcome["dagma"] == ("time limit", "stopped after 1 s")
    assert outcome["lingam"] == ("error", "RuntimeError: lost its way")
    assert outcome["flopsearch"] == ("crashed", "its process ended with signal SIGABRT: about to go")
    assert outcome["gcastle-notears"] == ("not installed", "pip install gcastle")
    assert {step.method for step in steps} == set(chosen) - {"gcastle-notears"}
    assert max(step.seconds for step in steps) < 2
    # Notes begin in the second column.
    assert "\ndagma             time limit: stopped after 1 s\n" in str(found)
    assert "\ngcastle-notears   not installed: pip install gcastle\n" in str(found)
    assert [row.shd for row in found.rows] == [None] * 6


def test_a_crash_without_a_word_is_reported_as_such(drawn, tmp_path, monkeypatch):
    (tmp_path / "flopsearch.py").write_text("import os\ndef flop(*a, **k): os.kill(os.getpid(), 9)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (row,) = compare(drawn.data, "flopsearch").rows
    assert (row.status, row.message) == ("crashed", "its process ended with signal SIGKILL")


def test_ctrl_c_keeps_what_is_there(drawn):
    def interrupt(step):
        if step.method == "notears":
            raise KeyboardInterrupt

    found = compare(drawn.data, ["sort-regress-r2", "notears", "pc"], callback=interrupt)
    assert [row.status for row in found.rows] == ["done", "interrupted", "not run"]
    assert found.interrupted
    assert list(found.estimates) == ["sort-regress-r2"]


def test_scripts_need_no_guard(tmp_path):
    script = tmp_path / "numpy.py"  # a file of the user's that a child must not import
    script.write_text("raise SystemExit('imported')")
    code = "import numpy as np, golem; print(golem.compare(np.random.default_rng(0).normal(size=(50, 3)), ['pc']))"
    environment = os.environ | {"PYTHONPATH": str(Path(golem.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert "pc" in done.stdout
    assert "crashed" not in done.stdout


@pytest.mark.usefixtures("methods_here")
def test_methods_refuse_in_their_rows(drawn):
    found = compare(Moments.from_rows(drawn.data), ["direct-lingam", "pc", "direct-lingam"])
    assert [row.method for row in found.rows] == ["direct-lingam", "pc"]
    assert found.rows[0].status == "error"
    assert "DirectLiNGAM needs the rows" in found.rows[0].message
    assert found.rows[1].status == "done"


@pytest.mark.usefixtures("methods_here")
def test_warnings_come_back():
    X = simulate(4, 300, "ER1", random_state=0).data
    found = compare(X, ["direct-lingam"])
    (warning,) = found.warnings
    assert "looks Gaussian" in warning
    assert found.warnings[warning] == ("direct-lingam",)


@pytest.mark.usefixtures("methods_here")
def test_few_rows_are_told_once(drawn):
    found = compare(drawn.data[:5], ["notears-l1", "sort-regress-r2"])
    (warning,) = found.warnings
    assert "n = 5 rows for d = 6 columns" in warning
    assert found.warnings[warning][0] == "notears-l1"
    assert [row.status for row in found.rows] == ["done", "error"]
    assert "rows are too few" in found.rows[1].message


@pytest.mark.usefixtures("methods_here")
def test_one_method_may_be_a_plain_name(drawn):
    assert [row.method for row in compare(drawn.data, "sort-regress-var").rows] == ["sort-regress-var"]


def test_bad_input_is_refused_before_anything_runs(drawn):
    with pytest.raises(ValueError, match=r"Unknown method 'nottears'\. Did you mean 'notears'"):
        compare(drawn.data, ["nottears"])
    with pytest.raises(ValueError, match=r"Unknown method 'NOTEARS'\. Did you mean 'notears'\?$"):
        compare(drawn.data, ["NOTEARS"])
    with pytest.raises(ValueError, match=r"Unknown method 'x'\. The methods are 'golem-ev', .*, 'var-lingam'\.$"):
        compare(drawn.data, ["x"])
    with pytest.raises(ValueError, match="Constant columns"):
        compare(np.ones((10, 3)), ["pc"])
    with pytest.raises(ValueError, match=r"The true graph must have shape \(6, 6\)"):
        compare(drawn.data, ["pc"], truth=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="has a cycle"):
        compare(drawn.data, ["pc"], truth=np.ones((6, 6)))
    with pytest.raises(ValueError, match="time_limit must be positive"):
        compare(drawn.data, ["pc"], time_limit=0)


def test_every_method_has_its_name():
    assert list(METHODS) == [
        "golem-ev", "golem-nv", "order-ev", "order-nv", "order", "order-soft", "order-hard", "order-mixed",
        "order-bdeu", "order-discrete-bic", "notears", "notears-l1", "fgs", "fgs-mbic", "pc", "direct-lingam",
        "sort-regress-var", "sort-regress-r2",
    ]  # fmt: skip
    assert METHODS["notears-l1"].model().l1 == 0.1
    assert METHODS["golem-nv"].model().solver == "adam"
    assert METHODS["order-nv"].model().solver == "order"
    offered = [set(default_methods(kind)) | set(packages_not_installed(kind)) for kind in (False, True)]
    assert offered[1] == {"order-soft", "order-hard", "gies", "gnies"}
    lagged = set(default_methods(with_lags=True)) | set(packages_not_installed(with_lags=True))
    assert lagged == {"order", "pcmci-plus", "var-lingam"}
    others = {"golem-ev", "golem-nv", "order-mixed", "order-bdeu", "order-discrete-bic"} | offered[1]
    others |= lagged - {"order"}
    assert offered[0] == (set(METHODS) | set(OTHER_PACKAGES)) - others
    assert golem.compare is compare


def test_a_class_without_a_member_has_no_bic(drawn):
    from golem.comparison.method_process import Outcome
    from golem.comparison.run import _row, _with_scores

    estimate = Estimate(cpdag(drawn.sem.adjacency), True, None)
    row = _row("pc", Outcome("done", "", estimate, 1.0), drawn.sem.adjacency)
    score = score_of(read_table(drawn.data), ScoreSettings())
    assert _with_scores(row, estimate, score, None).bic is None
    assert row.shd == row.shd_c == 0


@pytest.mark.usefixtures("methods_here")
def test_columns_that_the_truth_does_not_name_are_isolated_there_and_named(drawn):
    names = tuple(drawn.sem.names)
    kept = np.nonzero(drawn.sem.adjacency.any(axis=0) | drawn.sem.adjacency.any(axis=1))[0][:-1]
    inner = drawn.sem.adjacency[np.ix_(kept, kept)]
    truth = NamedGraph.from_class(inner, tuple(names[k] for k in kept))
    result = compare(pd.DataFrame(drawn.data, columns=names), "sort-regress-var", truth=truth)
    assert result.truth.sum() == inner.sum()
    (sentence,) = (text for text in result.warnings if text.startswith("The truth does not name"))
    assert all((repr(name) in sentence) == (k not in kept) for k, name in enumerate(names))


run = CliRunner()


def test_the_papers_recipe_runs_only_on_request(drawn, tmp_path, monkeypatch):
    asked = []

    def fake(source, methods, *others, **options):
        asked.append(methods)
        return Comparison(tuple(source.names), (Row("order"),), {"order": Estimate(truth, False, truth)}, None, {})

    truth = drawn.sem.adjacency
    monkeypatch.setattr("golem.comparison.run.compare_source", fake)
    data = tmp_path / "data.csv"
    np.savetxt(data, drawn.data, delimiter=",", header=",".join(drawn.sem.names), comments="")
    for more in ([], ["--paper"], ["--methods", "pc", "--paper"], ["--methods", "golem-ev"]):
        result = run.invoke(app, ["compare", str(data), "-o", str(tmp_path / "out"), *more])
        assert result.exit_code == 0, result.output
        assert ("2, the paper's recipe takes minutes (add --paper)" in result.output) == (more == [])
    assert asked[0] is None
    assert asked[1:] == [["golem-ev", "golem-nv", *default_methods()], ["golem-ev", "golem-nv", "pc"], ["golem-ev"]]


@pytest.mark.usefixtures("methods_here")
def test_the_command(drawn, tmp_path):
    data, truth, out = tmp_path / "data.csv", tmp_path / "truth.csv", tmp_path / "out"
    np.savetxt(data, drawn.data, delimiter=",", header=",".join(drawn.sem.names), comments="")
    edges = [f"x{i},x{j}" for i, j in np.argwhere(drawn.sem.adjacency)]
    truth.write_text("source,target\n" + "\n".join(edges) + "\n")
    arguments = ["compare", str(data), "--truth", str(truth), "-o", str(out)]
    result = run.invoke(app, [*arguments, "--methods", "pc, sort-regress-r2", "--methods", "lingam"])
    assert result.exit_code == 0, result.output
    assert "not installed: pip install lingam" in result.output
    assert "that the 2 methods connect" in result.output
    assert (out / "comparison.csv").exists()
    assert f"  report   {out / 'report.html'}" in result.output.splitlines()
    assert (out / "report.html").exists()
    result = run.invoke(app, [*arguments, "--methods", "pc", "--json"])
    (row,) = json.loads(result.output)
    assert row["method"] == "pc"
    assert row["sid"] is None
    truth.write_text("source,target\nx0,other\n")
    result = run.invoke(app, [*arguments, "--methods", "pc"])
    assert result.exit_code == 1
    assert "does not match" in result.output
    assert "Traceback" not in result.output
    result = run.invoke(app, ["compare", str(data), "--methods", "lingam", "-o", str(out)])
    assert result.exit_code == 1
    assert "Every method failed" in result.output


@pytest.mark.parametrize("with_truth", [False, True])
def test_a_comparison_without_any_graph_is_saved_with_its_statuses(drawn, tmp_path, with_truth):
    data, truth, out = tmp_path / "data.csv", tmp_path / "truth.csv", tmp_path / "out"
    np.savetxt(data, drawn.data, delimiter=",", header=",".join(drawn.sem.names), comments="")
    truth.write_text("source,target\nx0,x1\n")
    arguments = ["compare", str(data), "--methods", "pc,fgs", "--time-limit", "0.001", "-o", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--truth", str(truth)] if with_truth else arguments)
    assert result.exit_code == 1
    assert result.output.splitlines()[-1].startswith("Error: ")
    assert isinstance(result.exception, SystemExit)
    saved = list(csv.DictReader((out / "comparison.csv").read_text().splitlines()))
    assert [(row["method"], row["status"]) for row in saved] == [("pc", "time limit"), ("fgs", "time limit")]
    edges = list(csv.DictReader((out / "agreement.csv").read_text().splitlines()))
    assert [(row["source"], row["target"], row["methods"], row["truth"]) for row in edges] == (
        [("x0", "x1", "0", "->")] if with_truth else []
    )
    assert (out / "comparison.png").stat().st_size > 0


@pytest.mark.usefixtures("methods_here")
def test_knowledge_is_obeyed_or_refused(drawn, monkeypatch, tmp_path):
    (tmp_path / "lingam.py").write_text(RAISES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("golem.comparison.other_packages.OtherPackage.is_installed", True)
    free = compare(drawn.data, ["order-ev"]).estimates["order-ev"].graph
    i, j = np.argwhere(free)[0]
    known = Knowledge.named(forbidden=[(f"x{i}", f"x{j}")])
    result = compare(drawn.data, ["order-ev", "fgs", "notears-l1", "lingam"], knowledge=known)
    for name in ("order-ev", "fgs", "notears-l1"):
        assert not result.estimates[name].member[i, j]
    (refused,) = [row for row in result.rows if row.method == "lingam"]
    assert refused.status == "error"
    assert "cannot use knowledge" in refused.message
    with pytest.raises(ValueError, match="refers to 'y', which is not a column"):
        compare(drawn.data, ["order-ev"], knowledge=Knowledge.named([("y", "x0")]))


def test_the_child_process_knows_that_values_are_missing():
    table = read_coded(pd.DataFrame({"a": ["x", "y", None, "y"] * 9, "b": ["u", "v", "v", "u"] * 9}))
    with MethodProcess((Table.single(table.moments("em")), Knowledge.of(2)), ["order-bdeu"]) as process:
        assert "order-bdeu counts complete rows" in process.run("order-bdeu").message


@pytest.mark.usefixtures("methods_here")
def test_tables_with_categories_are_compared_by_their_scores():
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y", "z"], 200)
    b = np.where(rng.random(200) < np.where(a == "x", 0.9, 0.2), "on", "off")
    discrete, mixed = pd.DataFrame({"a": a, "b": b}), pd.DataFrame({"a": a, "c": (a == "y") + rng.normal(size=200)})
    truth = np.array([[0, 1], [0, 0]])
    for table, methods in (
        (discrete, ["order", "order-mixed", "order-bdeu"]),
        (mixed, ["order"]),
    ):
        found = compare(table, truth=truth)
        assert [row.method for row in found.rows] == methods
        assert {row.status for row in found.rows} == {"done"}
        assert {(row.edges, row.shd_c, row.bic) for row in found.rows} == {(1, 0.0, None)}
        # The same graph has the same score, whatever its method minimized.
        model = Golem().fit(table)
        assert found.settings["score"] == model.score_
        expected = 2 * len(table) * model.solution_.terms["score"]
        assert [row.score for row in found.rows] == pytest.approx([expected] * len(methods))
    assert compare(discrete, ["order"], missing="em").settings["score"] == Golem().fit(discrete).score_ != "mixed"
    holes = discrete.assign(a=np.where(np.arange(200) > 3, a, None))
    found = compare(holes, missing="em")
    assert [(row.method, row.status) for row in found.rows] == [("order", "done")]
    assert found.left_out["they need complete rows (use missing='drop')"] == ("order-bdeu", "order-discrete-bic")
    assert not compare(holes, ["order"], missing="em").left_out
    found = compare(holes, ["order", "order-bdeu"], missing="em")
    assert [row.status for row in found.rows] == ["done", "error"]
    because = "order-bdeu counts complete rows. Use missing='drop', or order-mixed."
    assert found.rows[1].message == f"missing='em' cannot be used here: {because}"
    assert found.settings["score"] == "mixed"
    of_numbers = ["pc", "order-ev", "golem-ev", "order-soft"]
    found = compare(mixed, [*of_numbers, "order-bdeu"])
    advice = "needs numbers, and this table has categories. Use order or order-mixed."
    assert [row.message for row in found.rows[:-1]] == [f"{name} {advice}" for name in of_numbers]
    assert "1 column is a number: 'c'" in found.rows[-1].message
