"""NamedGraph: what a file can tell of a graph, as matrices for us and as lists of nodes and edges for the formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from golem.graphs.dag import cpdag, is_dag
from golem.runtime.messages import counted, quoted
from golem.runtime.names import column_names, positions
from golem.runtime.types import BoolMatrix, Matrix, Vector

# Columns of an edge that are yes or no; all others are numbers.
FLAGS = ("undecided", "by_variance")
# Words that formats use themselves for an edge, and that name no column.
_RESERVED = ("source", "target", "weight", "id", "label", "key", "name")
Attributes = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A weighted graph over named variables, with whatever else is known of its edges and nodes.

    Parameters
    ----------
    weights : ndarray of shape (d, d)
        Entry [i, j] is the weight of i -> j; 1 for the edges of a graph without weights.
    names : tuple of str
        The variables.
    adjacency : ndarray of shape (d, d), bool
        The edges, of which some may have weight 0. An edge in both directions is undirected.
    weighted : bool
        Whether the weights mean anything.
    edge_columns : mapping of str to ndarray
        Further columns, such as standardized_weight or undecided: one value an edge, in the order of `edge_list`;
        NaN where an edge has none.
    noise_variances, intercepts : ndarray of shape (d,), optional
        The rest of a linear model.

    Examples
    --------
    >>> graph = NamedGraph.from_lists(["rain", "wet"], [("rain", "wet", {"weight": 0.5})], [{}, {}])
    >>> graph.weights
    array([[0. , 0.5],
           [0. , 0. ]])
    """

    weights: Matrix
    names: tuple[str, ...]
    adjacency: BoolMatrix
    weighted: bool = True
    edge_columns: Mapping[str, Vector] = field(default_factory=dict)
    noise_variances: Vector | None = None
    intercepts: Vector | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.weights).all():
            raise ValueError("a weight is not finite")

    @classmethod
    def from_weights(cls, weights: Matrix, names: tuple[str, ...]) -> NamedGraph:
        """Return the graph whose edges are the weights that are not 0."""
        return cls(weights, names, np.not_equal(weights, 0))

    @classmethod
    def from_class(cls, graph: BoolMatrix, names: tuple[str, ...]) -> NamedGraph:
        """Return a graph without weights, such as an equivalence class."""
        return cls(graph.astype(float), names, graph, weighted=False)

    @classmethod
    def from_lists(
        cls,
        names: Iterable[str],
        edges: Iterable[tuple[str, str, Attributes]],
        nodes: Sequence[Attributes] = (),
    ) -> NamedGraph:
        """Build a graph from its names, its edges (source, target, attributes), and the attributes of its nodes.

        Numbers among the attributes, also as text, are kept; anything else is left behind. A graph none of whose
        edges has a weight has none.

        Raises
        ------
        ValueError
            If names repeat or are empty, an edge names a stranger or stands there twice, a weight is no number, or
            some edges have a weight and others none.
        """
        names = tuple(names)
        names, edges = column_names(names, len(names)), list(edges)
        where = {name: position for position, name in enumerate(names)}
        weights, adjacency = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)), dtype=bool)
        for source, target, attributes in edges:
            if strangers := [name for name in (source, target) if name not in where]:
                raise ValueError(f"an edge names {quoted(strangers)}, which is none of the nodes")
            i, j = where[source], where[target]
            if adjacency[i, j]:
                raise ValueError(f"the edge from {source!r} to {target!r} stands there twice")
            adjacency[i, j] = True
            weights[i, j] = _weight(attributes, source, target)
        lacking = [edge[:2] for edge in edges if not _is_there(edge[2].get("weight"))]
        if 0 < len(lacking) < len(edges):
            source, target = lacking[0]
            raise ValueError(
                f"the edge from {source!r} to {target!r} has no weight, and others have one; give one to every edge or "
                "to none"
            )
        by_place = {(where[source], where[target]): attributes for source, target, attributes in edges}
        in_order = [by_place[i, j] for i, j in np.argwhere(adjacency).tolist()]
        return cls(
            weights,
            names,
            adjacency,
            weighted=not lacking,
            edge_columns=_columns(in_order),
            noise_variances=_node_column(nodes, "noise_variance"),
            intercepts=_node_column(nodes, "intercept"),
        )

    def edge_list(self) -> list[tuple[str, str, dict[str, float | bool]]]:
        """List the edges with their attributes, `weight` first; by source, then target, in the order of the names."""
        found = []
        for k, (i, j) in enumerate(np.argwhere(self.adjacency).tolist()):
            attributes: dict[str, float | bool] = {"weight": float(self.weights[i, j])} if self.weighted else {}
            for name, values in self.edge_columns.items():
                if name in FLAGS:
                    attributes[name] = bool(values[k])
                elif np.isfinite(values[k]):
                    attributes[name] = float(values[k])
            found.append((self.names[i], self.names[j], attributes))
        return found

    def node_list(self) -> list[tuple[str, dict[str, float]]]:
        """List the nodes with their attributes."""
        given = {"noise_variance": self.noise_variances, "intercept": self.intercepts}
        known = {name: values for name, values in given.items() if values is not None}
        return [(node, {name: float(values[i]) for name, values in known.items()}) for i, node in enumerate(self.names)]

    def aligned(self, names: tuple[str, ...]) -> Matrix:
        """Weights over another list of names that includes all of this graph's; the others are isolated.

        An edge is not 0 here: one of weight 0 has a 1.
        """
        known = set(names)
        if missing := [name for name in self.names if name not in known]:
            raise ValueError(f"variables {quoted(missing)} are not among {quoted(names)}")
        index = positions(self.names, names)
        weights = np.zeros((len(names), len(names)))
        weights[np.ix_(index, index)] = np.where(self.adjacency & (self.weights == 0), 1.0, self.weights)
        return weights

    def equivalence_class(self) -> NamedGraph:
        """Return the Markov equivalence class of the graph: no weights, both directions where its members disagree."""
        return NamedGraph.from_class(cpdag(self.adjacency), self.names)

    def require_model(self) -> None:
        """Raise a ValueError where the graph lacks what a linear model needs: weights, noise variances, no cycle."""
        if not self.weighted or self.noise_variances is None:
            lacking = "weights" if not self.weighted else "noise variances"
            raise ValueError(f"the graph has no {lacking}, and a linear model needs both; start from a graph.json")
        if not is_dag(self.adjacency):
            raise ValueError("a linear model needs a directed acyclic graph; this one has a cycle")


def weight_matrix(rows: Any, names: Sequence[Any], what: str = "the weights") -> Matrix:
    """Return the square matrix over the names that a list of rows holds, as numbers or as text."""
    if not isinstance(rows, list) or len(rows) != len(names):
        raise ValueError(f"{what} must have {counted(len(names), 'row')}, one per name")
    weights = np.empty((len(names), len(names)))
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(names):
            raise ValueError(f"row {names[i]!r} of {what} must have {counted(len(names), 'number')}, one per name")
        try:
            weights[i] = row
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"row {names[i]!r} of {what} has a value that is not a number") from None
    return weights


def _weight(attributes: Attributes, source: str, target: str) -> float:
    """Return the weight of an edge, 1 where it has none."""
    given = attributes.get("weight")
    if not _is_there(given):
        return 1.0
    weight = _number(given)
    if not np.isfinite(weight):
        raise ValueError(f"the weight {given!r} of the edge from {source!r} to {target!r} is not a finite number")
    return weight


def _columns(edges: Sequence[Attributes]) -> dict[str, Vector]:
    """Gather the attributes that are numbers or flags, one vector a name."""
    found = dict.fromkeys(name for attributes in edges for name in attributes if name not in _RESERVED)
    columns = {}
    for name in found:
        values = np.array([_number(attributes.get(name)) for attributes in edges])
        if name in FLAGS:
            columns[name] = np.nan_to_num(values) != 0
        elif np.isfinite(values).any():
            columns[name] = values
    return columns


def _node_column(nodes: Sequence[Attributes], name: str) -> Vector | None:
    """Return a number of every node, or None where one lacks it."""
    values = np.array([_number(attributes.get(name)) for attributes in nodes])
    return values if len(values) and np.isfinite(values).all() else None


def _is_there(value: Any) -> bool:
    """Tell whether a cell has anything in it."""
    return value is not None and value != ""


def _number(value: Any) -> float:
    """Return the number in a value or in its text, NaN where there is none; true and false are 1 and 0."""
    if isinstance(value, str):
        value = {"true": 1.0, "false": 0.0}.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
    return number if np.isfinite(number) else np.nan
