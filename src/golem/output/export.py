"""Export of graphs: files for other tools, and objects of NetworkX and causal-learn."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.graphs.dag import cycle_text, find_cycle, is_dag
from golem.graphs.formats import FORMATS, format_of, networkx_formats
from golem.graphs.graph_document import GraphDocument
from golem.graphs.named_graph import LAG, NamedGraph
from golem.model.linear_sem import LinearSEM
from golem.output.document import graph_keys
from golem.output.lagged_graph import multigraph
from golem.output.saved_model import SavedModel
from golem.runtime.files import without_formulas, write_text
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import ProblemError, Set

if TYPE_CHECKING:
    import networkx as nx
    from causallearn.graph.GeneralGraph import GeneralGraph

    from golem.assessment.bootstrap_result import Bootstrap


def named_graph(model: Any, bootstrap: Bootstrap | None = None) -> NamedGraph:
    """Return the graph of a model with all attributes of its edges and nodes.

    Parameters
    ----------
    model : fitted Golem or baseline, LinearSEM or NamedGraph
        Of a method that learns an equivalence class, the graph is that class, without weights. The weights of a
        LinearSEM are standardized by its own variances, others by those of the data.
    bootstrap : Bootstrap, optional
        The result of `golem.bootstrap` for a fitted Golem; its frequencies and intervals become columns of the edges.
    """
    if bootstrap is not None and not hasattr(model, "weights_"):
        raise ValueError(f"A bootstrap needs a fitted Golem; got {type(model).__name__}.")
    if isinstance(model, NamedGraph):
        return model
    if isinstance(model, SavedModel):
        return model.graph
    if isinstance(model, LinearSEM):
        graph = NamedGraph.from_weights(model.weights, model.names)
        columns = {**graph.edge_columns, "standardized_weight": model.standardized_weights[graph.adjacency]}
        variances, intercepts = model.noise_variances, model.intercepts
        return dataclasses.replace(graph, edge_columns=columns, noise_variances=variances, intercepts=intercepts)
    if not hasattr(model, "moments_"):
        raise ValueError(f"The model must be fitted, or be a LinearSEM or NamedGraph; got {type(model).__name__}.")
    if not hasattr(model, "weights_"):
        return NamedGraph.from_class(model.cpdag_, model.moments_.variables)
    return GraphDocument(**graph_keys(model, bootstrap)).graph()


def export_graph(
    model: Any,
    path: str | Path | None = None,
    format: str | None = None,
    *,
    cpdag: bool = False,
    spreadsheet: bool = False,
) -> Path | str:
    """Write the graph of a model for another tool; `golem.readers.read_graph` reads it back.

    Without a path, return the text.

    Parameters
    ----------
    model : fitted Golem or baseline, LinearSEM or NamedGraph
        What to write.
    path : str or Path, optional
        The file, which is written atomically.
    format : str, optional
        One of graphml, gml, dot, dowhy, dagitty, lavaan, bnlearn, pcalg, pgmpy, causal-learn, json, csv and matrix.
        By default it follows from the file extension. docs/tools.md lists what each format keeps.
    cpdag : bool
        Write the Markov equivalence class of the graph, without weights: an edge without a direction in the class is
        undirected (causal-learn) or listed in both directions.
    spreadsheet : bool
        Put an apostrophe before names such as `=1+1`, which spreadsheets would compute (csv and matrix).

    Raises
    ------
    ValueError
        If the format is unknown or cannot hold this graph; with `cpdag` also if the graph has a cycle.

    Warns
    -----
    UserWarning
        If the format needs a direction for each edge, and the graph has links.

    Examples
    --------
    >>> import tempfile, golem
    >>> from golem.readers import read_graph
    >>> sem = golem.LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0], names=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_graph(export_graph(sem, f"{folder}/graph.graphml")).edge_list()
    [('a', 'b', {'weight': 2.0, 'standardized_weight': 0.8944271909999159})]
    """
    if path is None:
        if format is None:
            raise ProblemError.of("Without a file, name a format, such as {format='dot'}.")
        return graph_text(model, format, cpdag=cpdag, spreadsheet=spreadsheet)
    path = Path(path)
    name = format_of(path) if format is None else format
    content = graph_text(model, name, cpdag=cpdag, spreadsheet=spreadsheet)
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: the folder {path.parent} does not exist. Create it first.")
    write_text(path, content)
    return path


def graph_text(model: Any, format: str, *, cpdag: bool = False, spreadsheet: bool = False) -> str:
    """Return the text that `export_graph` writes.

    Examples
    --------
    >>> import golem
    >>> sem = golem.LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0], names=["a", "b"])
    >>> print(graph_text(sem, "csv"), end="")
    source,target,weight,standardized_weight
    a,b,2.0,0.8944271909999159
    """
    if format not in FORMATS:
        raise ValueError(f"The format must be one of {', '.join(FORMATS)}; got {format!r}.")
    if spreadsheet and format not in ("csv", "matrix"):
        raise ProblemError(Set("spreadsheet", True), f" needs the format csv or matrix; got {format!r}.")
    graph = named_graph(model)
    if cpdag and format == "pgmpy":
        graph.require_model()  # raises if pgmpy cannot hold this graph either way
        raise ProblemError.of(
            "A model of pgmpy has weights, but an equivalence class has none. Export without {cpdag=True}, or "
            "use dagitty or pcalg."
        )
    text = FORMATS[format].write(_equivalence_class(graph) if cpdag else graph)
    if not cpdag and FORMATS[format].needs_directions and (links := graph.links):
        warnings.warn(
            f"The direction of {counted(len(links), 'link')} is open, but the format {format} needs one. Each gets one "
            f"of its equally good directions: {shortened([f'{a!r} --- {b!r}' for a, b in links], 3)}.",
            stacklevel=2,
        )
    return without_formulas(text) if spreadsheet else text


def _equivalence_class(graph: NamedGraph) -> NamedGraph:
    """Return the Markov equivalence class of a graph, or the graph itself if it already is one."""
    arrows = graph.adjacency
    if not graph.weighted:  # both directions of an edge then mean an undirected edge
        arrows = arrows & ~(arrows.T & ~np.eye(len(arrows), dtype=bool))
    if cycle := find_cycle(arrows):
        raise ProblemError(
            f"The graph has the cycle {cycle_text(cycle, graph.names)}, so it has no equivalence class. "
            "Export it without ",
            Set("cpdag", True),
            ".",
        )
    return graph.equivalence_class() if is_dag(graph.adjacency) else graph


def to_networkx(model: Any) -> nx.DiGraph[str]:
    """Return a NetworkX DiGraph with the attributes of edges and nodes.

    DoWhy accepts it: `CausalModel(data, treatment, outcome, graph=to_networkx(model))`. The graph of a series is a
    MultiDiGraph of its variables: an edge per lag, whose key and attribute `lag` say how many steps it takes.

    Examples
    --------
    >>> import golem
    >>> sem = golem.LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0], names=["a", "b"])
    >>> to_networkx(sem).edges["a", "b"]["weight"]
    2.0
    """
    graph = named_graph(model)
    return networkx_formats.to_networkx(graph) if LAG not in graph.edge_columns else multigraph(graph)


def to_causal_learn(model: Any, *, cpdag: bool = False) -> GeneralGraph:
    """Return a GeneralGraph of causal-learn, without weights; needs causal-learn. `cpdag` is as in `export_graph`.

    Examples
    --------
    >>> from golem import LinearSEM
    >>> from golem.output import to_causal_learn
    >>> to_causal_learn(LinearSEM([[0, 1], [0, 0]], [1, 1])).get_node_names()  # doctest: +SKIP
    ['x0', 'x1']
    """
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    graph = named_graph(model)
    arrows = (_equivalence_class(graph) if cpdag else graph.partially_directed()).adjacency
    nodes = [GraphNode(name) for name in graph.names]
    result = GeneralGraph(nodes)
    for i, j in np.argwhere(arrows & ~np.tril(arrows & arrows.T)):
        head = Endpoint.TAIL if arrows[j, i] else Endpoint.ARROW
        result.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, head))
    return result


def from_causal_learn(graph: GeneralGraph) -> NamedGraph:
    """Return the graph of a GeneralGraph of causal-learn; an undirected edge has both directions.

    Raises
    ------
    ValueError
        If an edge end means a hidden common cause.

    Examples
    --------
    >>> from golem import LinearSEM
    >>> from golem.output import from_causal_learn, to_causal_learn
    >>> graph = to_causal_learn(LinearSEM([[0, 1], [0, 0]], [1, 1]))  # a GeneralGraph  # doctest: +SKIP
    >>> from_causal_learn(graph).edge_list()  # doctest: +SKIP
    [('x0', 'x1', {})]
    """
    # marks[i, j] is the end at i of the edge between i and j: -1 a tail, 1 a head; 2 and more mean hidden causes.
    marks = np.asarray(graph.graph)
    if np.any((marks > 1) | ((marks == 1) & (marks.T == 1))):
        raise ValueError("The graph has edges for hidden common causes (<->, o->), which a linear DAG cannot have.")
    arrows = marks == -1
    names = tuple(node.get_name() for node in graph.get_nodes())
    return NamedGraph.from_class(arrows, names)
