"""Settings to JSON and back, the hash of moments, and runs that are repeated by golem fit --from."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from golem import Golem, Knowledge, Moments
from golem.cli import app
from golem.output.repeat import Run
from golem.output.settings_document import model_from, settings
from golem.runtime.devices import Placement
from golem.score.acyclicity import LogDet
from golem.simulate import simulate
from golem.solvers import LBFGS, Adam, Order

run = CliRunner()


def golem(*arguments, expect=0):
    result = run.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == expect, result.output
    return result


@pytest.mark.parametrize(
    "model",
    [
        Golem(),
        Golem("ev", "lbfgs", threshold=0.1, acyclicity=LogDet(s=2.0), cycles="gentle", lambda_dag=1),
        Golem("nv", Adam(max_iter=7, batch_size=5), init=np.zeros((3, 3)), random_state=np.int64(4)),
        Golem(solver=Order("fast", placement=Placement("cuda", "float32"))),
        Golem(solver=LBFGS(memory=3), missing="em", time_limit=2.5),
        Golem(lambda_sparsity="ebic", effort="thorough", knowledge=Knowledge.named([("a", "b")], tiers=[["a"], ["c"]])),
        Golem(lambda_sparsity=0.5, init=[2, 0, 1]),
        Golem.paper("nv"),
    ],
)
def test_settings_come_back_from_json(model):
    stored = json.dumps(settings(model), allow_nan=False)
    again = model_from(json.loads(stored))
    for name, value in model.get_params().items():
        np.testing.assert_equal(again.get_params()[name], value)
    assert json.dumps(settings(again)) == stored


def test_an_order_to_start_from_comes_back_from_a_tuple():
    again = model_from(json.loads(json.dumps(settings(Golem(init=(2, 0, 1))))))
    np.testing.assert_array_equal(again.init, [2, 0, 1])


def test_masks_come_back_as_names():
    known = Knowledge.of(3, [(0, 1)], [(2, 1)], [[2], [1]])
    again = model_from(settings(Golem(knowledge=known))).knowledge.resolve(("x0", "x1", "x2"))
    np.testing.assert_array_equal(again.forbidden, known.forbidden)
    np.testing.assert_array_equal(again.required, known.required)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"colour": "red"}, "settings 'colour' are unknown"),
        ({"random_state": "Generator(PCG64)"}, "the seed was a Generator"),
        ({"solver": {"type": "Annealing"}}, "hold a Annealing, which golem"),
        ({"solver": {"type": "Adam", "wings": 2}}, "hold a Adam of another version"),
        ({"callback": "f"}, "'callback' are unknown"),
    ],
)
def test_settings_that_cannot_come_back_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        model_from(values)


def test_the_hash_knows_data_apart_and_not_the_ways_to_read_them(rng):
    # Means far from zero, standardized columns and columns in tiny units among them.
    X = rng.normal(size=(301, 5)) * [1, 1e-6, 1e5, 1, 1] + [0, 0, 1e7, -3, 0]
    X[:, 3] -= X[:, 3].mean()
    X[:, 4] = (X[:, 4] - X[:, 4].mean()) / X[:, 4].std()
    whole = Moments.from_rows(X)
    expected = whole.fingerprint
    assert expected.startswith("sha256:")
    parts = sum((Moments.from_rows(part) for part in np.array_split(X[30:], 5)), Moments.from_rows(X[:30]))
    columns = Moments.from_columns(list(X.T), whole.names)
    turned = Moments.from_rows(X[::-1])
    assert {m.fingerprint for m in (parts, columns, turned)} == {expected}
    other = X.copy()
    other[0, 0] += 1e-3
    different = [
        Moments.from_rows(other),
        Moments.from_rows(X[1:]),
        Moments.from_rows(X, list("abcde")),
        Moments.from_rows(X[:, [1, 0, 2, 3, 4]]),
        whole.standardized(),
        dataclasses.replace(whole, n=302),
    ]
    assert len({m.fingerprint for m in different} | {expected}) == 7


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Run a fit with settings of every kind, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    X = simulate(6, 300, "ER1", random_state=3).data
    X[5, 2] = np.nan
    lines = [",".join("" if v != v else repr(float(v)) for v in row) for row in X]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,d,e,f", *lines]))
    golem(
        "fit", "data.csv", "-o", "out", "-q", "--noise", "nv", "--lambda-sparsity", "bic", "--missing", "drop",
        "--forbid", "a->b", "--require", "b->c", "--columns", "c,a,b,e", "--seed", 5,
    )  # fmt: skip
    return tmp_path


def test_graph_json_holds_what_a_repeat_needs(finished):
    content = json.loads((finished / "out" / "graph.json").read_text())
    assert content["data"] == {
        "paths": ["data.csv"],
        "folder": "..",
        "columns": ["c", "a", "b", "e"],
        "drop": [],
        "header": None,
        "na": [],
    }
    assert content["knowledge"] == {"forbidden": [["a", "b"]], "required": [["b", "c"]], "tiers": []}
    assert content["settings"]["random_state"] == 5
    assert content["moments_hash"].startswith("sha256:")
    assert {"python", "numpy", "scipy"} <= set(content["versions"])
    model = Run.read(finished / "out" / "graph.json").model()
    assert settings(model) == content["settings"]


def test_a_run_is_repeated_to_the_last_digit(finished):
    result = golem("fit", "--from", "out/graph.json", "-o", "again")
    assert "Compared with out/graph.json, the data are the same; the graph is the same." in result.output
    for name in ("edges.csv", "weights.csv"):
        assert (finished / "again" / name).read_text() == (finished / "out" / name).read_text()
    before, after = (json.loads((finished / folder / "graph.json").read_text()) for folder in ("out", "again"))
    timed = {"seconds", "trace"}
    assert {key: before[key] for key in before.keys() - timed} == {key: after[key] for key in after.keys() - timed}
    verdict = json.loads(golem("fit", "--from", "again/graph.json", "-o", "third", "--json").output)["repeat"]
    assert verdict["same_data"]
    assert verdict["same_graph"]
    assert verdict["largest_difference"] == 0


def test_a_bootstrap_is_repeated_with_its_seed(finished):
    golem("fit", "data.csv", "-o", "first", "-q", "--noise", "ev", "--missing", "drop", "--seed", 3, "--bootstrap", 6)
    golem("fit", "--from", "first/graph.json", "-o", "second", "-q")
    golem("fit", "--from", "first/graph.json", "-o", "third", "-q", "--bootstrap", 7)
    first, second, third = (
        json.loads((finished / folder / "graph.json").read_text())["bootstrap"]
        for folder in ("first", "second", "third")
    )
    assert first == second
    assert first["seed"] == third["seed"] == 3
    assert third["requested"] == 7


def test_other_data_and_other_versions_are_told(finished):
    header, *lines = (finished / "data.csv").read_text().splitlines()
    (finished / "more.csv").write_text("\n".join([header, *lines[:150]]))
    result = golem("fit", "more.csv", "--from", "out/graph.json", "-o", "again", "--json")
    content = json.loads(result.output)
    assert content["repeat"]["same_data"] is False
    assert content["n"] == 149
    record = finished / "out" / "graph.json"
    changed = json.loads(record.read_text())
    changed["versions"]["numpy"] = "1.0"
    del changed["moments_hash"]
    changed["edge_table"] = []
    record.write_text(json.dumps(changed))
    output = golem("fit", "--from", record, "-o", "again").output
    assert "whether the data are the same is not recorded; the graph is another: " in output
    assert f"numpy 1.0 then, {np.__version__} now" in output


def test_weights_that_moved_are_told(finished):
    record = finished / "out" / "graph.json"
    changed = json.loads(record.read_text())
    for edge in changed["edge_table"]:
        edge["weight"] *= 1.01
    record.write_text(json.dumps(changed))
    assert "the edges are the same, their weights differ by up to" in golem("fit", "--from", record).output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--noise", "ev"], "repeats a run with its own settings, and --noise would change them"),
        (["--seed", 5, "--forbid", "a->b"], "--forbid, --seed would change them"),
        (["--columns", "a,b"], "--columns would change them"),
    ],
)
def test_a_repeat_takes_no_settings(options, message, finished):
    assert message in golem("fit", "--from", "out/graph.json", *options, expect=1).output


def test_records_that_are_none_are_refused(finished):
    assert "this needs the graph.json" in golem("fit", "--from", "out/edges.csv", expect=1).output
    assert "no such file" in golem("fit", "--from", "none.json", expect=1).output
    record = finished / "out" / "graph.json"
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"data": None}))
    assert "does not say which files it came from" in golem("fit", "--from", record, expect=1).output
    record.write_text(json.dumps(content | {"settings": {"colour": "red"}}))
    assert "graph.json: settings 'colour' are unknown" in golem("fit", "--from", record, expect=1).output
    (finished / "data.csv").rename(finished / "gone.csv")
    record.write_text(json.dumps(content))
    said = golem("fit", "--from", record, expect=1).output
    assert (
        f"its data data.csv are not there (no {finished / 'data.csv'}, data.csv, {record.parent / 'data.csv'})" in said
    )
    golem("fit", expect=2)


@pytest.mark.parametrize("typed", ["data.csv", "*.csv", "../first/data.csv"])
def test_a_run_is_repeated_from_another_folder(typed, tmp_path, monkeypatch):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    golem("simulate", "--d", 5, "--n", 100, "-o", ".", "-q")
    (tmp_path / "first" / "truth.csv").unlink()
    golem("fit", typed, "-o", "out/deep", "-q")
    monkeypatch.chdir(tmp_path / "second")
    # A file of the same name here is not the one that was meant.
    golem("simulate", "--d", 5, "--n", 100, "--seed", 9, "-o", ".", "-q")
    said = golem("fit", "--from", "../first/out/deep/graph.json", "-o", "again").output
    assert "the data are the same; the graph is the same" in said
    # The new record can be repeated as well, from a third place.
    monkeypatch.chdir(tmp_path)
    assert "the data are the same" in golem("fit", "--from", "second/again/graph.json", "-o", "third").output


def test_a_record_without_a_folder_is_looked_up_here_and_beside_it(finished, monkeypatch):
    record = finished / "out" / "graph.json"
    content = json.loads(record.read_text())
    del content["data"]["folder"]
    record.write_text(json.dumps(content))
    assert "the data are the same" in golem("fit", "--from", "out/graph.json", "-o", "here").output
    (finished / "data.csv").rename(finished / "out" / "data.csv")
    assert "the data are the same" in golem("fit", "--from", "out/graph.json", "-o", "beside").output


def test_a_penalty_chosen_for_other_data_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n in (("few", 100), ("many", 400)):
        golem("simulate", "--d", 5, "--n", n, "-o", name, "-q")
    golem("fit", "few/data.csv", "--select", "bic", "-o", "first")
    said = golem("fit", "many/data.csv", "--from", "first/graph.json", "-o", "second").output
    assert "--select bic was taken over" in said
    assert "in 100 rows" in said
    assert "in 400" in said
