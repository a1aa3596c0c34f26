"""What `golem fit` does, called from Python: the same files, quietly, from any thread."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from golem import Golem, GolemCV, Knowledge, fit_file
from golem.cli import app
from golem.data.knowledge import NamedKnowledge
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told
from golem.runtime.progress import ProgressDisplay
from golem.simulate import simulate
from golem.workflow import repeat_fit


@pytest.fixture
def data(tmp_path):
    drawn = simulate(5, 300, "ER2", random_state=2).data
    path = tmp_path / "data.csv"
    np.savetxt(path, drawn, delimiter=",", header="a,b,c,d,e", comments="")
    return path


def document(folder):
    content = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    del content["seconds"], content["trace"]
    return content


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"score": "bdeu"}, r"Use model=Golem\(score_function=\.\.\.\)\.$"),
        ({"noise": "ev"}, r"Use model=Golem\(noise=\.\.\.\)\.$"),
        ({"bootstraps": 5}, r"Did you mean 'bootstrap'\?$"),
        ({"z": 1}, "The parameters are 'data', 'output', 'model', "),
    ],
)
def test_unknown_parameters_are_named_with_a_suggestion(data, tmp_path, options, hint):
    with pytest.raises(TypeError, match=rf"^fit_file has no parameter '{next(iter(options))}'\. {hint}"):
        fit_file(data, tmp_path / "out", **options)


def test_the_matrix_of_many_columns_is_not_written_and_an_earlier_one_is_removed(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["fit", "data.csv", "-o", "out", "--noise", "ev", "--no-diagnose"]
    assert "(table: out/edges.csv)" in CliRunner().invoke(app, command).output
    edges = (tmp_path / "out" / "edges.csv").read_text()
    monkeypatch.setattr("golem.output.document.LARGEST_MATRIX", 2)
    assert CliRunner().invoke(app, command).exit_code == 0
    assert not (tmp_path / "out" / "weights.csv").exists()
    assert (tmp_path / "out" / "edges.csv").read_text() == edges


def test_python_and_the_command_line_write_the_same(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--noise", "ev", "--forbid", "a->b", "--bootstrap", "5", "--select", "bic", "--seed", "3", "-q"]
    assert CliRunner().invoke(app, ["fit", "data.csv", "-o", "typed", *options]).exit_code == 0
    model = Golem("ev", random_state=3)
    result = fit_file("data.csv", "called", model, forbid=["a->b"], bootstrap=5, select="bic", random_state=3)
    called, typed = document(tmp_path / "called"), document(tmp_path / "typed")
    remedies = {finding.name: told(finding.remedy, SHELL) for finding in result.diagnosis.findings}
    for finding in called["diagnostics"]:  # the command line names options instead of parameters
        finding["remedy"] = remedies[finding["name"]]
    assert called == typed
    for name in ("edges.csv", "weights.csv", "path.csv"):
        assert (tmp_path / "called" / name).read_text() == (tmp_path / "typed" / name).read_text()
    files = {path.name for path in (tmp_path / "called").iterdir()}
    assert files == {path.name for path in (tmp_path / "typed").iterdir()}
    assert result.bootstrap.replicates == 5
    assert result.selection is result.model.selection_
    assert not result.interrupted


def test_edges_come_on_top_of_the_knowledge_of_the_model(data, tmp_path):
    known = Knowledge.named(required=[("a", "b")])
    model = fit_file(data, tmp_path / "out", Golem(knowledge=known), forbid=["c->d"]).model
    assert model.weights_[0, 1] != 0
    assert model.knowledge_.forbidden[2, 3]
    masks = Knowledge.of(5, required=[(0, 1)])
    model = fit_file(data, tmp_path / "out", Golem(knowledge=masks), forbid=["c->d"]).model
    assert model.knowledge_.required[0, 1]
    assert model.knowledge_.forbidden[2, 3]


def test_it_is_silent_and_leaves_the_plotting_backend_alone(data, tmp_path, capfd):
    import matplotlib as mpl

    before = mpl.rcParams["backend"]
    fit_file(data, tmp_path / "out", bootstrap=2)
    assert capfd.readouterr() == ("", "")
    assert mpl.rcParams["backend"] == before


def test_it_runs_outside_the_main_thread(data, tmp_path):
    results = []
    thread = threading.Thread(target=lambda: results.append(fit_file(data, tmp_path / "out")))
    thread.start()
    thread.join()
    assert results[0].model.weights_.shape == (5, 5)


def test_a_listener_hears_of_every_stage(data, tmp_path):
    heard = []

    class Listening(ProgressDisplay):
        def __getattribute__(self, name):
            heard.append(name)
            return super().__getattribute__(name)

    fit_file(data, tmp_path / "out", bootstrap=2, progress=Listening())
    assert list(dict.fromkeys(heard)) == ["reading", "table", "waiting", "solving", "counting", "worded"]


@pytest.fixture(scope="module")
def opened():
    """Paths that are opened, by whatever code, from the moment that a test clears the list."""
    paths = []

    def note(event, arguments):
        if event == "open" and isinstance(arguments[0], str | os.PathLike):
            paths.append(os.fspath(arguments[0]))

    sys.addaudithook(note)  # it cannot be taken away again
    return paths


@pytest.mark.parametrize("select", [None, "cv"])
@pytest.mark.parametrize("missing", ["error", "em"])
def test_a_small_file_is_read_once_and_names_are_looked_up_once_a_stage(
    missing, select, data, tmp_path, monkeypatch, opened
):
    resolve, resolved = NamedKnowledge.resolve, []
    monkeypatch.setattr(NamedKnowledge, "resolve", lambda self, names: resolved.append(1) or resolve(self, names))
    known = tmp_path / "known.json"
    known.write_text('{"forbidden": [["b", "c"]]}')
    options = ["--forbid", "a->b", "--knowledge", known, "--missing", missing, "--bootstrap", 2, "-q"]
    options += ["--select", select] if select else []
    opened.clear()
    result = CliRunner().invoke(app, [str(word) for word in ("fit", data, "-o", tmp_path / "out", *options)])
    assert result.exit_code == 0, result.output
    # Once for its format and its columns, once for its rows: moments, folds, resamples and checks share these.
    assert opened.count(str(data)) == 2
    # Each stage can be called on its own: the choice of the penalty, the fit and the bootstrap, for all their fits.
    assert len(resolved) == (3 if select else 2)


def test_knowledge_of_other_columns_is_refused_before_the_rows_are_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 60 + "oops\n")  # beyond the lines that tell the format
    known = Knowledge.named(forbidden=[("a", "z")])
    with pytest.raises(ValueError, match="'z', which is not a column"):
        fit_file(path, tmp_path / "out", Golem(knowledge=known), forbid=["a->b"])
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        fit_file(path, tmp_path / "out", Golem(knowledge=Knowledge.of(3)))


def test_the_callback_of_the_model_is_called_next_to_the_listener(data, tmp_path):
    seen, heard = [], []

    class Listening(ProgressDisplay):
        @contextlib.contextmanager
        def solving(self):
            yield heard.append

    model = Golem("ev", "lbfgs", callback=seen.append)
    result = fit_file(data, tmp_path / "out", model, diagnose=False, progress=Listening())
    assert seen
    assert seen == heard
    assert result.model.callback == seen.append


def test_the_model_of_the_caller_is_left_as_it_is(data, tmp_path):
    model = Golem()
    before = model.get_params()
    fit_file(data, tmp_path / "out", model, forbid="a->b", select="bic")
    assert model.get_params() == before
    assert not hasattr(model, "weights_")
    fit_file(data, tmp_path / "out", model, require="a->b")


def test_a_single_text_is_one_item_not_its_letters(data, tmp_path):
    marker = data.read_text().splitlines()[1].split(",")[0]
    how = {"drop": "e", "na": marker, "forbid": "a->b", "diagnose": False}
    result = fit_file(data, tmp_path / "out", Golem(missing="drop"), **how)
    assert result.model.moments_.names == ("a", "b", "c", "d")
    assert result.model.knowledge_.forbidden[0, 1]
    assert result.document.data.na == [marker]
    with pytest.raises(ValueError, match="no column 'abc'"):
        fit_file(data, tmp_path / "out", columns="abc")


def test_a_run_is_repeated_from_its_record(data, tmp_path):
    first = fit_file(data, tmp_path / "out", Golem("nv"), drop=["e"], bootstrap=2)
    again = repeat_fit(tmp_path / "out" / "graph.json", tmp_path / "again")
    assert again.repeat.same_data
    assert again.repeat.same_graph
    assert again.bootstrap.replicates == 2
    with pytest.raises(TypeError, match="forbid"):
        repeat_fit(tmp_path / "out" / "graph.json", tmp_path / "again", forbid=["c->d"])
    np.testing.assert_array_equal(again.model.weights_, first.model.weights_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"certificate": True}, "noise='ev'"),
        ({"model": Golem("ev", effort="fast")}, "effort"),
        ({"model": GolemCV()}, "must be a Golem; got GolemCV"),
        ({"bootstrap": -3}, "bootstrap must be a positive whole number"),
        ({"bootstrap": 2.5}, "bootstrap must be a positive whole number"),
        ({"select": "bic", "model": Golem(lambda_sparsity="bic")}, "lambda_sparsity"),
    ],
)
def test_what_is_wrong_with_the_settings_is_said_before_files_are_opened(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        fit_file(tmp_path / "not-there.csv", tmp_path / "out", **options)


def test_an_array_is_not_a_path(tmp_path):
    with pytest.raises(ValueError, match="Expected names or paths; got a ndarray"):
        fit_file(np.eye(4), tmp_path / "out")


def test_the_results_never_overwrite_the_data(data, tmp_path):
    mine = data.rename(tmp_path / "weights.csv")
    before = mine.read_text()
    with pytest.raises(ValueError, match=r"results would overwrite .*weights\.csv"):
        fit_file(mine, tmp_path)
    assert mine.read_text() == before
    assert list(tmp_path.iterdir()) == [mine]


def test_rows_are_in_the_report_only_with_scatter(data, tmp_path):
    value = f"{np.loadtxt(data, delimiter=',', skiprows=1)[0, 0]:.4g}"
    pages = [tmp_path / name / "report.html" for name in ("without", "with")]
    for page, scatter in zip(pages, (False, True), strict=True):
        fit_file(data, page.parent, Golem("ev", shape="off"), scatter=scatter, diagnose=False)
    assert ['"scatters":null' in page.read_text() for page in pages] == [True, False]
    assert value in pages[1].read_text().partition('"values"')[2]
    (tmp_path / "cov.csv").write_text("a,b\n1,0.5\n0.5,1\n")
    with pytest.raises(ValueError, match="scatter=True needs the rows of one table"):
        fit_file(tmp_path / "cov.csv", tmp_path / "out", covariance=True, rows=50, scatter=True)


@pytest.mark.parametrize("diagnose", [True, False])
def test_the_better_graph_of_two_searches_is_written(tmp_path, diagnose):
    # On this table the search finds a better graph with the columns in reverse order.
    drawn, path = simulate(24, 48, "ER2", "gaussian-nv", random_state=38), tmp_path / "data.csv"
    np.savetxt(path, drawn.data, delimiter=",", header=",".join(drawn.sem.names), comments="")
    once = Golem("nv").fit(drawn.data)
    result = fit_file(path, tmp_path / "out", Golem("nv"), diagnose=diagnose)
    assert result.model.solution_.terms["score"] < once.solution_.terms["score"] - 0.01
    assert result.document.objective["score"] == result.model.solution_.terms["score"]
    if diagnose:
        assert "The graph shown is better than the other one" in result.diagnosis["search"].finding
