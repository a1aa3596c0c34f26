"""The graph of a series as matrices per lag, as a summary of its variables, and for NetworkX and tigramite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from golem.data.series import split_lag
from golem.graphs.named_graph import LAG, NamedGraph
from golem.runtime.types import BoolMatrix, Indices, Matrix

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class LaggedGraph:
    """The weights of a series: x_t = x_t present + sum over k of x_(t-k) past[k - 1] + noise.

    Parameters
    ----------
    names : tuple of str
        The d variables.
    present : ndarray of shape (d, d)
        Weights within a step.
    past : ndarray of shape (p, d, d)
        Weights of one to p steps back.
    links : ndarray of shape (d, d), bool
        Which edges within a step have no direction with evidence.
    """

    names: tuple[str, ...]
    present: Matrix
    past: NDArray[np.float64]
    links: BoolMatrix

    @classmethod
    def of(cls, model: Any) -> LaggedGraph:
        """Return the matrices of a fitted Golem, of what `golem.load` returns, or of a graph with a column `lag`."""
        from golem.output.export import named_graph

        graph = named_graph(model)
        edges, links = graph.edges, graph.is_link
        return cls.of_edges(graph.names, edges.causes, edges.children, graph.edge_columns["weight"], links)

    @classmethod
    def of_edges(
        cls, columns: tuple[str, ...], causes: Indices, children: Indices, weights: Any, links: Any = False
    ) -> LaggedGraph:
        """Return the matrices of a list of edges between the columns of a series, which have names such as x@1."""
        known = set(columns)
        split = [split_lag(name, known) for name in columns]
        names = tuple(name for name, lag in split if not lag)
        if not (p := max((lag for _, lag in split), default=0)):
            raise ValueError("The graph has no lags, so it has no effects over time. Fit it with lags.")
        place = {name: k for k, name in enumerate(names)}
        lags, variables = np.array([lag for _, lag in split]), np.array([place[name] for name, _ in split])
        every = np.zeros((p + 1, len(names), len(names)))
        every[lags[causes], variables[causes], variables[children]] = weights
        undecided = np.zeros_like(every, dtype=bool)
        undecided[lags[causes], variables[causes], variables[children]] = links
        return cls(names, every[0], every[1:], undecided[0])


def summary_graph(model: Any) -> NamedGraph:
    """Return the variables of a series with one edge per pair, with its shortest and its longest lag.

    Effects of a variable on its own future are left out. Weights at different lags do not add up, so it has none. Where
    it has no cycle, `export_graph(summary_graph(model), format="dowhy")` writes it for DoWhy.

    Examples
    --------
    >>> import numpy as np, golem
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[1:, 1] += X[:-1, 0]
    >>> golem.output.summary_graph(golem.Golem(lags=1).fit(X)).edge_list()
    [('x0', 'x1', {'shortest_lag': 1.0, 'longest_lag': 1.0, 'directed': True})]
    """
    lagged = LaggedGraph.of(model)
    weights = np.concatenate([lagged.present[None], lagged.past])
    edges: list[tuple[str, str, dict[str, Any]]] = []
    for i, j in np.argwhere(weights.any(axis=0)).tolist():
        if i != j:
            lags = np.flatnonzero(weights[:, i, j]).tolist()
            directed = bool(weights[1:, i, j].any()) or not lagged.links[i, j]
            found = {"shortest_lag": lags[0], "longest_lag": lags[-1], "directed": directed}
            edges.append((lagged.names[i], lagged.names[j], found))
    return NamedGraph.from_lists(lagged.names, edges)


def to_tigramite(model: Any) -> NDArray[np.str_]:
    """Return the graph of a series as the array of strings that tigramite plots, shape (d, d, p + 1).

    Entry [i, j, k] says how i, k steps back, and j are joined: "-->", within a step also "<--", and "o-o" for links.

    Examples
    --------
    >>> import numpy as np, golem
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[1:, 1] += X[:-1, 0]
    >>> golem.output.to_tigramite(golem.Golem(lags=1).fit(X))[0, 1].tolist()
    ['', '-->']
    """
    lagged = LaggedGraph.of(model)
    marks = np.full((len(lagged.names), len(lagged.names), len(lagged.past) + 1), "", dtype="<U3")
    marks[:, :, 1:][np.moveaxis(lagged.past, 0, -1) != 0] = "-->"
    arrows = (lagged.present != 0) & ~lagged.links
    marks[:, :, 0][arrows], marks[:, :, 0][arrows.T] = "-->", "<--"
    marks[:, :, 0][lagged.links | lagged.links.T] = "o-o"
    return marks


def multigraph(graph: NamedGraph) -> nx.MultiDiGraph[str]:
    """Return the variables of a series as a MultiDiGraph with an edge per lag, which is its key."""
    import networkx as nx

    known = set(graph.names)
    found: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    found.add_nodes_from((name, values) for name, values in graph.node_list() if not split_lag(name, known)[1])
    for source, target, values in graph.edge_list():
        found.add_edge(split_lag(source, known)[0], target, key=int(values[LAG]), **values)
    return found
