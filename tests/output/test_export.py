"""Models to other tools: what is written is the model, from Python and from the command line."""

from __future__ import annotations

import dataclasses
import json
from typing import get_args

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import golem
from golem import Golem, LinearSEM
from golem.baselines import FGS, SortRegress
from golem.cli import app
from golem.cli.export import Format
from golem.graphs.formats import FORMATS
from golem.graphs.formats.networkx_formats import from_networkx
from golem.graphs.named_graph import NamedGraph
from golem.output import save
from golem.output.document import Supplement
from golem.output.edge_list import list_edges
from golem.output.export import export_graph, graph_text, named_graph, to_networkx
from golem.readers import read_graph
from golem.simulate import simulate

NAMES = ["a b", 'q"', "<é>", "n\nl", "e", "f"]


@pytest.fixture(scope="module")
def model():
    drawn = simulate(6, 500, "ER1", random_state=2)
    return Golem("nv").fit(pd.DataFrame(drawn.data, columns=NAMES))


@pytest.mark.parametrize("ending", ["graphml", "gml", "dot", "gv", "json"])
def test_files_hold_the_model_and_the_columns_of_its_edges(model, tmp_path, ending):
    graph = read_graph(golem.export_graph(model, tmp_path / f"graph.{ending}"))
    assert graph.names == tuple(NAMES)
    assert graph.weights.tobytes() == model.weights_.tobytes()
    np.testing.assert_array_equal(graph.noise_variances, model.sem_.noise_variances)
    np.testing.assert_array_equal(graph.intercepts, model.sem_.intercepts)
    listed = {(source, target): values for source, target, values in graph.edge_list()}
    assert listed == columns_of(list_edges(model))
    np.testing.assert_array_equal(LinearSEM.from_graph(graph).covariance, model.sem_.covariance)


def columns_of(edges):
    """Return what is known of each edge, by its ends."""
    known = [{name: value for name, value in vars(edge).items() if value is not None} for edge in edges]
    return {(edge.pop("source"), edge.pop("target")): edge for edge in known}


def test_frequencies_of_a_bootstrap_go_along(model, tmp_path):
    drawn = simulate(6, 500, "ER1", random_state=2)
    again = golem.bootstrap(Golem("nv"), pd.DataFrame(drawn.data, columns=NAMES), 5, n_jobs=1)
    graph = read_graph(export_graph(named_graph(model, again), tmp_path / "graph.graphml"))
    assert {(a, b): values for a, b, values in graph.edge_list()} == columns_of(list_edges(model, again))
    with pytest.raises(ValueError, match="A bootstrap needs a fitted Golem; got LinearSEM"):
        named_graph(model.sem_, again)
    save(model, tmp_path, Supplement(bootstrap=again))
    for _, _, values in read_graph(tmp_path / "graph.json").edge_list():
        assert {"direction_frequency", "weight_high"} <= set(values)
        assert ("effect_high" in values) == values["directed"]


def test_a_graph_json_can_be_handed_on(model, tmp_path):
    save(model, tmp_path)
    graph = read_graph(tmp_path / "graph.json")
    np.testing.assert_array_equal(LinearSEM.from_graph(graph).covariance, model.sem_.covariance)
    assert set(graph.links) == {(NAMES[i], NAMES[j]) for i, j in np.argwhere(model.undecided_)}
    assert graph.links


def test_a_required_edge_of_weight_zero_is_an_edge(tmp_path):
    content = {"names": ["a", "b"], "weights": [[0, 0], [0, 0]], "edge_table": [{"source": "a", "target": "b"}]}
    (tmp_path / "graph.json").write_text(json.dumps(content))
    for ending in ("graphml", "gml", "dot", "json", "csv"):
        path = export_graph(read_graph(tmp_path / "graph.json"), tmp_path / f"out.{ending}")
        assert read_graph(path).edge_list() == [("a", "b", {"weight": 0.0})]


def test_standardized_weights_of_a_sem_are_its_own():
    sem = simulate(5, 10, "ER2", random_state=1).sem
    scale = np.sqrt(np.diagonal(sem.covariance))
    for source, target, values in named_graph(sem).edge_list():
        i, j = sem.names.index(source), sem.names.index(target)
        assert values["standardized_weight"] == pytest.approx(sem.weights[i, j] * scale[i] / scale[j])


def test_networkx_there_and_back(model):
    graph = to_networkx(model)
    assert isinstance(graph, nx.DiGraph)
    assert list(graph) == NAMES
    np.testing.assert_array_equal(nx.to_numpy_array(graph), model.weights_)
    back = from_networkx(graph)
    assert back.edge_list() == named_graph(model).edge_list()
    assert back.node_list() == named_graph(model).node_list()
    undirected = from_networkx(nx.path_graph(3))
    np.testing.assert_array_equal(undirected.adjacency, nx.to_numpy_array(nx.path_graph(3)) != 0)
    assert undirected.names == ("0", "1", "2")
    assert not undirected.weighted


def test_the_class_of_a_model(model, tmp_path):
    for ending in ("graphml", "gml", "dot", "csv", "json"):
        graph = read_graph(export_graph(model, tmp_path / f"class.{ending}", cpdag=True))
        np.testing.assert_array_equal(graph.aligned(tuple(NAMES)) != 0, model.cpdag_)
        assert not graph.weighted
    with pytest.raises(ValueError, match=r"an equivalence class has none\. Export without cpdag=True, or use dagitty"):
        graph_text(model, "pgmpy", cpdag=True)


def test_the_class_of_an_edge_list_without_weights(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("source,target\na,b\nb,c\n")
    open_chain = graph_text(read_graph(path), "csv", cpdag=True)
    assert open_chain.split() == ["source,target", "a,b", "b,a", "b,c", "c,b"]
    path.write_text(open_chain)
    assert graph_text(read_graph(path), "csv", cpdag=True) == open_chain


@pytest.mark.parametrize("edges", ["a,b\nb,c\nc,a\n", "a,b,1\nb,a,2\n", "a,a\na,b\n"])
def test_a_cycle_has_no_class(edges, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text(f"source,target{',weight' * ('1' in edges)}\n{edges}")
    said = run("export", path, "--cpdag", "--to", "gml", expect=1).output
    assert "The graph has the cycle 'a' -> " in said
    assert "no equivalence class" in said
    assert run("export", path, "--to", "gml").output.startswith("graph")


def test_baselines_hand_over_their_weights(tmp_path):
    model = SortRegress().fit(simulate(5, 500, "ER2", random_state=0).data)
    graph = read_graph(export_graph(model, tmp_path / "graph.gml"))
    assert graph.weights.tobytes() == model.weights_.tobytes()
    np.testing.assert_array_equal(LinearSEM.from_graph(graph).covariance, model.sem_.covariance)


def test_methods_without_weights_hand_over_their_class(tmp_path):
    drawn = simulate(5, 500, "ER1", random_state=0)
    model = FGS().fit(drawn.data)
    for cpdag in (False, True):
        text = graph_text(model, "causal-learn", cpdag=cpdag)
        np.testing.assert_array_equal(FORMATS["causal-learn"].read(text).adjacency, model.cpdag_)
    with pytest.raises(ValueError, match="no weights"):
        graph_text(model, "pgmpy")


def test_mistakes_are_named(tmp_path):
    sem = LinearSEM([[0.0]], [1.0])
    with pytest.raises(ValueError, match=r"format must be one of graphml, .*; got 'png'"):
        export_graph(sem, tmp_path / "a.gml", "png")
    with pytest.raises(ValueError, match="file extension is unknown"):
        export_graph(sem, tmp_path / "a.png")
    with pytest.raises(ValueError, match="The model must be fitted, or be a LinearSEM or NamedGraph; got Golem"):
        export_graph(Golem(), tmp_path / "a.gml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["csv", "matrix"])
def test_names_that_a_table_would_make_one_are_refused(format, tmp_path):
    sem = LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0], names=[" a", "a"])
    with pytest.raises(ValueError, match=r"CSV cannot store the white space around ' a', .*or use json"):
        export_graph(sem, tmp_path / "graph.csv", format)
    assert list(tmp_path.iterdir()) == []
    assert read_graph(export_graph(sem, tmp_path / "graph.json")).names == (" a", "a")


def run(*arguments, expect=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == expect, result.output
    return result


def test_the_command_line_offers_every_format():
    assert list(get_args(Format)) == list(FORMATS)
    text = " ".join(run("export", "--help").output.split())
    for form in FORMATS.values():
        for extension in form.extensions:
            assert f" {extension} " in text.replace(",", " ").replace(":", " ")


def test_the_command_line_converts_and_scores(model, tmp_path):
    save(model, tmp_path)
    source = tmp_path / "graph.json"
    for name in FORMATS:
        if name in ("causal-learn", "dagitty", "bnlearn", "dowhy"):  # they cannot hold such names, or links
            continue
        run("export", source, "--to", name, "-o", tmp_path / "converted")
        scores = json.loads(run("score", source, tmp_path / "converted", "--json", "--cpdag").output)
        assert scores["shd"] == 0
        printed = run("export", source, "--to", name, "-o", "-")
        assert printed.stdout == (tmp_path / "converted").read_text()
        assert ("links is open" in printed.stderr) == FORMATS[name].needs_directions
    run("export", source, "-o", tmp_path / "graph.gml")
    assert json.loads(run("score", source, tmp_path / "graph.gml", "--json").output)["nodes"] == 6


def test_the_command_line_says_what_it_cannot_do(model, tmp_path):
    save(model, tmp_path)
    source = tmp_path / "graph.json"
    assert "No format given. Name one with --to" in run("export", source, expect=1).output
    assert "There is no such file" in run("export", tmp_path / "nothing.json", "--to", "gml", expect=1).output
    assert "file extension is unknown" in run("export", source, "-o", tmp_path / "a.xyz", expect=1).output
    assert "cannot store names with blanks" in run("export", source, "-o", tmp_path / "a.txt", expect=1).output
    assert "Saved" in run("export", source, "-o", tmp_path / "new" / "folder" / "a.gml").output
    assert (tmp_path / "new" / "folder" / "a.gml").exists()
    run("export", source, "--to", "png", expect=2)


EDGE, CYCLE = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            NamedGraph.from_class(EDGE != 0, ("a", "b")),
            r"^The graph has no weights, .* Use the graph\.json of a fit\.$",
        ),
        (NamedGraph.from_weights(EDGE, ("a", "b")), "^The graph has no noise variances, which a linear model needs"),
        (
            dataclasses.replace(NamedGraph.from_weights(CYCLE, ("a", "b")), noise_variances=np.ones(2)),
            r"^The graph has a directed cycle, but .* acyclic graph\.$",
        ),
    ],
)
def test_a_graph_that_is_not_a_linear_model_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        LinearSEM.from_graph(graph)
