"""Graph files: each format is read back as it was written; damaged files are refused or read as some graph."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated, mutated_json
from fuzz.rules import RefusedError, ViolationError, answer
from golem.data.knowledge import Knowledge
from golem.graphs.dag import is_dag
from golem.graphs.formats import FORMATS, read_graph
from golem.graphs.metrics import evaluate
from golem.graphs.named_graph import NamedGraph
from golem.output.export import graph_text

READERS = [*FORMATS, "knowledge"]
NAMES = ["a", "b c", "ä", "1", 'x"y', "<b>", "node", "a->b", "\\", "e,f"]
TETRAD_KNOWLEDGE = '/knowledge\naddtemporal\n1* a "b c"\n2- c\n3 d\n\nforbiddirect\na c\n\nrequiredirect\na d\n'
# These formats have no weights.
UNWEIGHTED = ("causal-learn", "dowhy", "lavaan", "bnlearn", "pcalg")
KNOWLEDGE = {"forbidden": [["a", "b"]], "required": [["b", "c"]], "tiers": [["a", "b"], ["c"]]}


@st.composite
def graphs(draw: st.DrawFn) -> NamedGraph:
    """Draw a small DAG with a model, so that every format can hold it."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    d = len(names)
    weights = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            weights[i, j] = draw(st.sampled_from([0.0, 0.5, -1e-7, 123456.789]))
    if d > 1:
        weights[0, 1] = 1.5
    graph = NamedGraph.from_weights(weights, tuple(names))
    return replace(graph, noise_variances=np.ones(d), intercepts=np.zeros(d))


@st.composite
def written_graphs(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw a graph in a format; formats differ in the names that they can hold."""
    graph = draw(graphs())
    try:
        text = graph_text(graph, reader)
    except ValueError:
        graph = replace(graph, names=tuple("abcd"[: len(graph.names)]))
        text = graph_text(graph, reader)
    edges = {f"{graph.names[i]}\n{graph.names[j]}": graph.weights[i, j] for i, j in np.argwhere(graph.adjacency)}
    return {"reader": reader, "bytes": as_text(text.encode()), "edges": edges}


@st.composite
def damaged_graphs(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw a file of a graph with some bytes changed."""
    case = draw(written_graphs(reader))
    return {"reader": f"{reader}, damaged", "bytes": as_text(draw(mutated(as_bytes(case["bytes"]))))}


@st.composite
def damaged_knowledge(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a file of knowledge with some values or bytes changed."""
    how = draw(st.sampled_from(["values", "bytes", "Tetrad"]))
    if how == "values":
        content = json.dumps(draw(mutated_json(KNOWLEDGE))).encode()
    else:
        content = draw(mutated(json.dumps(KNOWLEDGE).encode() if how == "bytes" else TETRAD_KNOWLEDGE.encode()))
    return {"reader": "knowledge, damaged", "bytes": as_text(content)}


def cases(reader: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw files for a reader; three of four graphs are damaged."""
    if reader == "knowledge":
        return damaged_knowledge()
    return st.one_of(*(damaged_graphs(reader) for _ in range(3)), written_graphs(reader))


def check(case: dict[str, Any]) -> None:
    """Read a file; what was written must come back, and what was read can be written again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(as_bytes(case["bytes"]))
        if case["reader"].startswith("knowledge"):
            answer(lambda: Knowledge.read(path))
            return
        graph = answer(lambda: read_graph(path))
        if "edges" in case:
            _require_edges(graph, case)
        again = Path(folder, "again")
        again.write_text(answer(lambda: graph_text(graph, "json")), encoding="utf-8")
        try:
            second = answer(lambda: read_graph(again))
        except RefusedError as refusal:
            raise ViolationError("golem refuses the graph that it wrote", case["reader"], str(refusal)) from None
    if second.names != graph.names or not np.array_equal(second.weights, graph.weights):
        raise ViolationError("the graph changes when it is written and read", case["reader"])
    if is_dag(graph.adjacency):
        scores = answer(lambda: evaluate(graph.adjacency, graph.adjacency))
        if (scores.shd, scores.shd_c, scores.sid) != (0, 0, 0):
            raise ViolationError("a graph differs from itself", case["reader"], str(scores))


def _require_edges(graph: NamedGraph, case: dict[str, Any]) -> None:
    """Raise a ViolationError unless the graph has the edges that were written; some formats have no weights."""
    found = {f"{graph.names[i]}\n{graph.names[j]}": graph.weights[i, j] for i, j in np.argwhere(graph.adjacency)}
    expected = case["edges"] if case["reader"] not in UNWEIGHTED else dict.fromkeys(case["edges"], 1.0)
    if found != expected:
        raise ViolationError("edges differ from those written", case["reader"], f"{found}, not {expected}")
