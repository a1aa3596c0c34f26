"""NamedGraph: what a file can store about a graph, as lists of nodes and edges, and as matrices on demand.

`EdgeRow` has the columns of an edge, which the tables, files and pages of a learned graph share.
"""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.runtime.machine import require_memory
from golem.runtime.messages import counted, quoted
from golem.runtime.names import column_names, positions
from golem.runtime.types import BoolMatrix, Matrix, Vector

if TYPE_CHECKING:
    from golem.graphs.graph_document import CoefficientRecord, VariableRecord

DirectionSource = Literal[
    "knowledge", "follows", "time", "structure", "variances", "shape", "interventions", "unchecked", "none"
]
# Sources that are not evidence: an edge with one of them is a link, not an arrow.
LINK_SOURCES: tuple[DirectionSource, ...] = ("unchecked", "none")


@dataclass(frozen=True)
class EdgeRow:
    """One edge of a learned graph, and all that is known about it: a row of edges.csv and graph.json.

    Parameters
    ----------
    source, target : str
        The cause and the effect; of a link, its two ends.
    weight, standardized_weight, standard_error : float or None
        The weight, the same in standard deviations of both ends, and its error by least squares with the graph as
        given. None if an end is a category; the error also if the weights are not least squares.
    directed : bool
        Whether the direction has evidence or was given: an arrow. Otherwise the edge is a link.
    drop_loss : float or None
        The loss of score without the edge, in units of the deviance (see `golem.diagnostics.edge_loss`).
    direction_from : str or None
        What the direction rests on; None if the graph has a cycle or the method does not say.
    direction_strength, direction_error_rate : float or None
        The evidence for the direction; see `golem.directions.learned_graph.EdgeRecord`.
    direction_stability : float or None
        Share of random halves of the rows that have the direction, if the structure gives it.
    robustness_value : float or None
        Share of the remaining variance of both ends that an unmeasured common cause would have to explain to remove
        the edge (Cinelli and Hazlett 2020).
    edge_strength : float or None
        In a table with categories: how much the deviance rises without the edge.
    lag : int or None
        How many steps before the effect the cause lies, in a graph of a series.
    adjacency_frequency, direction_frequency, weight_low, weight_high, effect_low, effect_high : float or None
        Frequencies and intervals of a bootstrap.
    """

    source: str
    target: str
    weight: float | None
    standardized_weight: float | None
    standard_error: float | None
    directed: bool
    drop_loss: float | None
    direction_from: DirectionSource | None
    direction_strength: float | None
    direction_error_rate: float | None
    direction_stability: float | None
    robustness_value: float | None
    edge_strength: float | None
    lag: int | None = None
    adjacency_frequency: float | None = None
    direction_frequency: float | None = None
    weight_low: float | None = None
    weight_high: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None

    @property
    def text(self) -> str:
        """The edge as text: `a --> b`, or `a --- b` for a link."""
        return f"{self.source} {'-->' if self.directed else '---'} {self.target}"


EDGE_COLUMNS = get_type_hints(EdgeRow)
# Columns of edges that are true or false, or one of a few words; all others are numbers.
FLAGS = tuple(name for name, kind in EDGE_COLUMNS.items() if kind is bool)
WORDS = {"direction_from": get_args(DirectionSource)}
# A column that only graphs of tables with categories have.
STRENGTH = "edge_strength"
# A column that only graphs of series have.
LAG = "lag"
# Attributes that formats use themselves, which are not columns.
_RESERVED = ("source", "target", "weight", "id", "label", "key", "name")
# Columns of earlier versions; `directed` and `direction_from` say the same.
_EARLIER = ("undecided", "by_variance")
Attributes = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph over named variables as a list of edges, with attributes of its edges and nodes.

    Parameters
    ----------
    names : tuple of str
        The variables.
    edges : Edges
        The edges, sorted by cause, then child. An edge in both directions is undirected.
    edge_columns : mapping of str to ndarray
        Columns such as weight, standardized_weight or directed: one value per edge. NaN, or an empty word, means that
        an edge has no value. If the table had categories, only edges between numbers have a weight.
    noise_variances, intercepts : ndarray of shape (d,), optional
        The other parameters of a linear model.
    variables, coefficients : list, optional
        The types of the variables, and the coefficients per level, if the table had categories.

    Examples
    --------
    >>> graph = NamedGraph.from_lists(["rain", "wet"], [("rain", "wet", {"weight": 0.5})], [{}, {}])
    >>> graph.weights
    array([[0. , 0.5],
           [0. , 0. ]])
    """

    names: tuple[str, ...]
    edges: Edges
    edge_columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    noise_variances: Vector | None = None
    intercepts: Vector | None = None
    variables: list[VariableRecord] | None = None
    coefficients: list[CoefficientRecord] | None = None

    @classmethod
    def from_weights(cls, weights: Matrix, names: tuple[str, ...]) -> NamedGraph:
        """Return the graph whose edges are the nonzero weights."""
        if not np.isfinite(weights).all():
            raise ValueError("The weights contain infinite values or NaN. Every weight must be a finite number.")
        edges = Edges.from_matrix(np.not_equal(weights, 0))
        return cls(names, edges, {"weight": weights[edges.causes, edges.children]})

    @classmethod
    def from_class(cls, graph: BoolMatrix, names: tuple[str, ...]) -> NamedGraph:
        """Return a graph without weights, such as an equivalence class."""
        return cls(names, Edges.from_matrix(graph))

    @classmethod
    def from_lists(
        cls,
        names: Iterable[str],
        edges: Iterable[tuple[str, str, Attributes]],
        nodes: Sequence[Attributes] = (),
    ) -> NamedGraph:
        """Return the graph of a list of names, edges (source, target, attributes), and attributes of the nodes.

        Attributes that are numbers, or their text, and the `WORDS` are kept; others are ignored. If an edge has no
        weight, the graph is not weighted.

        Raises
        ------
        ValueError
            If names repeat or are empty, an edge has an unknown end or appears twice, a weight is not a number, or only
            some of the edges have weights and there are no categories.
        """
        names = tuple(names)
        names, by_place = column_names(names, len(names)), _numbered_edges(names, edges)
        causes, children = np.array(list(by_place), dtype=np.intp).reshape(-1, 2).T
        return cls(
            names,
            Edges(causes, children, len(names)),
            _columns(list(by_place.values())),
            noise_variances=_node_column(nodes, "noise_variance"),
            intercepts=_node_column(nodes, "intercept"),
        )

    @property
    def weighted(self) -> bool:
        """Whether every edge has a weight."""
        return "weight" in self.edge_columns and bool(np.isfinite(self.edge_columns["weight"]).all())

    @functools.cached_property
    def weights(self) -> Matrix:
        """Entry [i, j] is the weight of i -> j; edges of a graph that is not weighted have 1."""
        return self._matrix(self.edge_columns["weight"] if self.weighted else np.ones(len(self.edges)))

    @functools.cached_property
    def adjacency(self) -> BoolMatrix:
        """The edges as a matrix; they may have weight 0."""
        return self._matrix(np.ones(len(self.edges), dtype=bool))

    def _matrix(self, values: NDArray[Any], names: tuple[str, ...] | None = None) -> NDArray[Any]:
        """Return a matrix of values of the edges over the names or others; refuse one that is too large."""
        names = names or self.names
        require_room(len(names))
        place = np.array(positions(self.names, names), dtype=np.intp)
        return Edges(place[self.edges.causes], place[self.edges.children], len(names)).matrix(values)

    @property
    def has_categories(self) -> bool:
        """Whether the graph was learned from a table with categories, as far as is known."""
        return self.variables is not None or STRENGTH in self.edge_columns

    @property
    def is_link(self) -> NDArray[np.bool_]:
        """Whether each edge has no direction; edges of graphs that do not say so have one."""
        return np.asarray(self.edge_columns.get("directed", np.ones(len(self.edges))) == 0)

    def edge_list(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return the edges with their attributes, sorted by source, then target, in the order of the names."""
        found = []
        for k, (i, j) in enumerate(self.edges.pairs()):
            attributes: dict[str, Any] = {}
            for name, values in self.edge_columns.items():
                if name in FLAGS:
                    attributes[name] = bool(values[k])
                elif name in WORDS:
                    attributes |= {name: str(values[k])} if values[k] else {}
                elif np.isfinite(values[k]):
                    attributes[name] = float(values[k])
            found.append((self.names[i], self.names[j], attributes))
        return found

    def node_list(self) -> list[tuple[str, dict[str, float]]]:
        """Return the nodes with their attributes."""
        given = {"noise_variance": self.noise_variances, "intercept": self.intercepts}
        known = {name: values for name, values in given.items() if values is not None}
        return [(node, {name: float(values[i]) for name, values in known.items()}) for i, node in enumerate(self.names)]

    def aligned(self, names: tuple[str, ...]) -> Matrix:
        """Return the weights over a list of names that includes all names of the graph; the others are isolated.

        Edges of weight 0 become 1, so that every edge is nonzero.
        """
        known = set(names)
        if missing := [name for name in self.names if name not in known]:
            raise ValueError(f"The graph's variables {quoted(missing)} are not among {quoted(names)}.")
        weights = self.edge_columns["weight"] if self.weighted else np.ones(len(self.edges))
        return self._matrix(np.where(weights == 0, 1.0, weights), names)

    @property
    def links(self) -> list[tuple[str, str]]:
        """The edges without a direction."""
        ends = zip(self.edges.pairs(), self.is_link, strict=True)
        return [(self.names[i], self.names[j]) for (i, j), is_link in ends if is_link]

    def partially_directed(self) -> NamedGraph:
        """Return the graph with its links in both directions and without weights, or the graph itself without links."""
        if not (links := self.links):
            return self
        pairs = {(source, target) for source, target, _ in self.edge_list()} | {(b, a) for a, b in links}
        return NamedGraph.from_lists(self.names, [(*pair, {}) for pair in pairs])

    def equivalence_class(self) -> NamedGraph:
        """Return the CPDAG of the graph, without weights."""
        return NamedGraph.from_class(cpdag(self.adjacency), self.names)

    def require_model(self) -> None:
        """Raise a ValueError unless the graph has weights, noise variances and no cycle, as a linear model must."""
        if self.has_categories:
            raise ValueError(
                "The graph has categories, but a linear model needs numbers. Fit only the numeric columns, or export "
                "the graph in another format, such as graphml, dot, json or csv."
            )
        if not self.weighted or self.noise_variances is None:
            lacking = "weights" if not self.weighted else "noise variances"
            raise ValueError(f"The graph has no {lacking}, which a linear model needs. Use the graph.json of a fit.")
        if not is_dag(self.adjacency):
            raise ValueError("The graph has a directed cycle, but a linear model needs a directed acyclic graph.")


def require_room(d: int) -> None:
    """Raise an error if the matrices of a graph of so many nodes do not fit the memory."""
    # Weights, adjacency, and a copy of the weights, in bytes.
    needed, remedy = 17 * d**2, "Use a graph of fewer nodes or a machine with more memory."
    require_memory(f"A graph of {d} nodes", needed, remedy)


def _numbered_edges(
    names: Sequence[str], edges: Iterable[tuple[str, str, Attributes]]
) -> dict[tuple[int, int], Attributes]:
    """Return the attributes of edges (source, target, attributes) by the numbers of their ends, sorted by these.

    Unknown ends, repeated edges and weights that are not numbers are refused. So are weights of only some edges, unless
    the edges have the strengths that golem gives to the edges of a table with categories.
    """
    where = {name: position for position, name in enumerate(names)}
    found: dict[tuple[int, int], Attributes] = {}
    lacking: list[tuple[str, str]] = []
    for source, target, attributes in edges:
        if unknown := [name for name in (source, target) if name not in where]:
            raise ValueError(f"An edge has the end {quoted(unknown)}, which is not a node.")
        if (where[source], where[target]) in found:
            raise ValueError(f"The edge from {source!r} to {target!r} appears twice.")
        if not _is_given(given := attributes.get("weight")):
            lacking += [] if _is_given(attributes.get(STRENGTH)) else [(source, target)]
        elif not np.isfinite(_number(given)):
            raise ValueError(
                f"The weight {reprlib.repr(given)} of the edge from {source!r} to {target!r} is not a finite number."
            )
        found[where[source], where[target]] = attributes
    if lacking and any(_is_given(attributes.get("weight")) for attributes in found.values()):
        source, target = lacking[0]
        raise ValueError(f"The edge from {source!r} to {target!r} has no weight. Give one to all edges or to none.")
    return dict(sorted(found.items(), key=lambda item: item[0]))


def weight_matrix(rows: Any, names: Sequence[Any], what: str = "the weights") -> Matrix:
    """Return the square matrix over the names that a list of rows holds, as numbers or as text."""
    if not isinstance(rows, list) or len(rows) != len(names):
        raise ValueError(f"{what.capitalize()} must have {counted(len(names), 'row')}, one per name.")
    weights = np.empty((len(names), len(names)))
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(names):
            raise ValueError(
                f"Row {quoted([names[i]])} of {what} must have {counted(len(names), 'number')}, one per name."
            )
        try:
            weights[i] = row
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"Row {quoted([names[i]])} of {what} has a value that is not a finite number.") from None
    return weights


def _columns(edges: Sequence[Attributes]) -> dict[str, NDArray[Any]]:
    """Return one vector per attribute that has numbers, flags or known words; empty text is not a word."""
    edges = [current_columns(attributes) for attributes in edges]
    found = dict.fromkeys(["weight", *(name for attributes in edges for name in attributes if name not in _RESERVED)])
    columns: dict[str, NDArray[Any]] = {}
    for name in found:
        if name in WORDS:
            given = [str(attributes.get(name)) for attributes in edges]
            words = np.array([word if word in WORDS[name] else "" for word in given])
            columns |= {name: words} if (words != "").any() else {}
            continue
        values = np.array([_number(attributes.get(name)) for attributes in edges])
        if name in FLAGS:
            flags = [attributes.get(name) for attributes in edges]
            wrong = [flag for flag, value in zip(flags, values, strict=True) if _is_given(flag) and np.isnan(value)]
            if wrong:
                raise ValueError(f"The column {name} must have true or false; got {reprlib.repr(wrong[0])}.")
            columns[name] = np.nan_to_num(values, nan=1.0) != 0
        elif np.isfinite(values).any() or not edges:
            columns[name] = values
    return columns


def current_columns(attributes: Attributes) -> Attributes:
    """Return the attributes of an edge with `directed` in the place of the columns of earlier versions."""
    kept = {name: value for name, value in attributes.items() if name not in _EARLIER}
    return {"directed": _number(attributes["undecided"]) != 1} | kept if "undecided" in attributes else kept


def _node_column(nodes: Sequence[Attributes], name: str) -> Vector | None:
    """Return an attribute of all nodes, or None if some node does not have it as a number."""
    values = np.array([_number(attributes.get(name)) for attributes in nodes])
    return values if len(values) and np.isfinite(values).all() else None


def _is_given(value: Any) -> bool:
    """Return whether a value is neither None nor empty text."""
    return value is not None and value != ""


def _number(value: Any) -> float:
    """Return a value or its text as a number, true and false as 1 and 0, and anything else as NaN."""
    if isinstance(value, str):
        value = {"true": 1.0, "false": 0.0}.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
    return number if np.isfinite(number) else np.nan
