"""JSON: graph.json, which `golem fit` writes, and the models of pgmpy, distinguished by their keys."""

from __future__ import annotations

from golem.graphs.formats.pgmpy_json import from_pgmpy
from golem.graphs.graph_document import GraphDocument, document_of, parse_json
from golem.graphs.named_graph import NamedGraph


def write_json(graph: NamedGraph) -> str:
    """Return the text of a graph.json that contains only the graph."""
    return GraphDocument.of_graph(graph).text()


def read_json(text: str) -> NamedGraph:
    """Read a graph.json, any JSON object with `names` and `weights`, or a pgmpy model."""
    content = parse_json(text)
    if isinstance(content, dict) and "cpds" in content:
        try:
            return from_pgmpy(content)
        except LookupError as error:
            raise ValueError(f"The pgmpy model has no entry {error}.") from None
    return document_of(content).graph()
