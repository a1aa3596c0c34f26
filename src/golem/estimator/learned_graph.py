"""The learned graph as a list of edges, and the matrices of a fitted model, which are made on first access."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from golem.data.variables import Coding, Variable
from golem.directions.decisions import EdgeRecord, Source
from golem.directions.experiments import Hardness
from golem.graphs.edges import Edges
from golem.model.linear_sem import LinearSEM
from golem.runtime.types import BoolMatrix, BoolVector, Matrix, Vector

if TYPE_CHECKING:
    from golem.data.moments import Moments
    from golem.data.table import Table
    from golem.estimator.category_fit import CategoryFit, LevelCoefficient
    from golem.estimator.category_settings import ScoreName
    from golem.estimator.experiment_checks import ExperimentChecks
    from golem.score.likelihood import Likelihood
    from golem.score.solution import Solution


@dataclass(frozen=True, eq=False)
class LearnedGraph(Edges):
    """A learned graph with e edges on d nodes; its size is O(d + e).

    Parameters
    ----------
    causes, children : ndarray of shape (e,)
        Edge k leads from `causes[k]` to `children[k]`. Edges are grouped by child.
    d : int
        Number of nodes.
    weights : ndarray of shape (e,)
        The weights of the edges.
    residual_variances : ndarray of shape (d,)
        The variances of the nodes given their parents.
    reversible, undecided, by_variance, by_shape, by_intervention, by_knowledge : ndarray of shape (e,), bool, or None
        For each edge: whether the equivalence class leaves its direction open, whether its direction has no evidence,
        and whether it rests only on the noise variances, on the shape of the noise, on interventions, or on knowledge.
        None if the graph has a cycle.
    strength, error_rate : ndarray of shape (e,), or None
        The evidence for each direction (see `golem.directions.decisions.EdgeRecord`); NaN if there is none.
    conflicts : tuple of (int, int)
        Directions that the noise variances support and the noise shapes contradict.
    shape_note : str
        What the shapes of the noise give, and why not more; empty if they were not used.
    hardness : Hardness or None
        Whether targets of hard interventions depend on their parents; None if this was not tested.
    experiments : ExperimentChecks or None
        Tests of experiments that need their rows; None without rows.
    """

    weights: Vector
    residual_variances: Vector
    reversible: BoolVector | None = None
    undecided: BoolVector | None = None
    by_variance: BoolVector | None = None
    by_shape: BoolVector | None = None
    by_intervention: BoolVector | None = None
    by_knowledge: BoolVector | None = None
    strength: Vector | None = None
    error_rate: Vector | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    shape_note: str = ""
    hardness: Hardness | None = None
    experiments: ExperimentChecks | None = None

    def direction_from(self, k: int) -> Source:
        """Return what the direction of edge k rests on."""
        for source, edges in self._sources:
            if edges is not None and edges[k]:
                return source
        return "structure"

    def directions(self) -> dict[tuple[int, int], Source]:
        """Return what the direction of each edge (cause, child) rests on; nothing for a graph with a cycle."""
        if self.undecided is None:
            return {}
        ends = zip(self.causes.tolist(), self.children.tolist(), strict=True)
        return {edge: self.direction_from(k) for k, edge in enumerate(ends)}

    @property
    def open_in_class(self) -> BoolVector | None:
        """The undecided edges that the equivalence class leaves open; others contradict the class of free variances."""
        return None if self.undecided is None or self.reversible is None else self.undecided & self.reversible

    @property
    def _sources(self) -> tuple[tuple[Source, BoolVector | None], ...]:
        """The edges of each source other than the structure."""
        return (
            ("knowledge", self.by_knowledge),
            ("interventions", self.by_intervention),
            ("shape", self.by_shape),
            ("variances", self.by_variance),
            ("none", self.undecided),
        )


class _AfterFit:
    """An attribute that only a fitted estimator has, in its own dictionary."""

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet. Call fit first.")


class GraphMatrices:
    """The fitted attributes of an estimator that are made from `graph_` when they are first read.

    A matrix takes d^2 numbers. So a fit of thousands of columns makes none that nobody reads.
    """

    graph_: LearnedGraph = _AfterFit()  # type: ignore[assignment]
    solution_: Solution = _AfterFit()  # type: ignore[assignment]
    likelihood_: Likelihood
    moments_: Moments = _AfterFit()  # type: ignore[assignment]
    environments_: Table | None
    category_fit_: CategoryFit

    @functools.cached_property
    def weights_(self) -> Matrix:
        """Weights of the learned graph, shape (d, d)."""
        return self.graph_.matrix(self.graph_.weights)

    @functools.cached_property
    def raw_weights_(self) -> Matrix:
        """Weights before rounding, shape (d, d)."""
        raw: Matrix = self.solution_.weights
        return raw

    @functools.cached_property
    def adjacency_(self) -> BoolMatrix:
        """Edges of the learned graph, shape (d, d)."""
        return self.graph_.matrix()

    @functools.cached_property
    def cpdag_(self) -> BoolMatrix:
        """Equivalence class of the learned graph, shape (d, d)."""
        graph, reversible = self.graph_, _known(self.graph_.reversible)
        matrix = graph.matrix()
        matrix[graph.children[reversible], graph.causes[reversible]] = True
        return matrix

    @functools.cached_property
    def undecided_(self) -> BoolMatrix:
        """Edges whose direction has no evidence, shape (d, d)."""
        return self.graph_.matrix(_known(self.graph_.undecided))

    @functools.cached_property
    def by_variance_(self) -> BoolMatrix:
        """Edges whose direction rests only on the noise variances, shape (d, d)."""
        return self.graph_.matrix(_known(self.graph_.by_variance))

    @functools.cached_property
    def by_shape_(self) -> BoolMatrix:
        """Edges whose direction rests on the shape of the noise, shape (d, d)."""
        return self.graph_.matrix(_known(self.graph_.by_shape))

    @functools.cached_property
    def by_intervention_(self) -> BoolMatrix:
        """Edges whose direction rests on interventions, shape (d, d)."""
        return self.graph_.matrix(_known(self.graph_.by_intervention))

    @functools.cached_property
    def pdag_(self) -> BoolMatrix:
        """The equivalence class with all directions that have evidence, shape (d, d)."""
        graph, undecided = self.graph_, _known(self.graph_.undecided)
        matrix = graph.matrix()
        matrix[graph.children[undecided], graph.causes[undecided]] = True
        return matrix

    @functools.cached_property
    def edges_(self) -> list[EdgeRecord]:
        """One record per edge, sorted by source, then target."""
        graph, names = self.graph_, self.moments_.variables
        gains = self.category_fit_.strengths(graph) if has_categories(self) else np.full(len(graph), np.nan)
        _known(graph.undecided)
        order = np.lexsort((graph.children, graph.causes)).tolist()
        return [
            EdgeRecord(
                names[graph.causes[k]],
                names[graph.children[k]],
                float(graph.weights[k]),
                graph.direction_from(k),
                *(
                    None if values is None or np.isnan(values[k]) else float(values[k])
                    for values in (graph.strength, graph.error_rate, gains)
                ),
            )
            for k in order
        ]

    @functools.cached_property
    def variables_(self) -> tuple[Variable, ...]:
        """Name, kind and levels of every column."""
        return Coding.numeric(self.moments_.names).variables

    @functools.cached_property
    def score_(self) -> ScoreName:
        """The score that was minimized."""
        return "gaussian"

    @functools.cached_property
    def coefficients_(self) -> list[LevelCoefficient]:
        """The coefficients of edges with a category at one of their ends; empty for a table of numbers."""
        return self.category_fit_.coefficients(self.graph_) if has_categories(self) else []

    @functools.cached_property
    def sem_(self) -> LinearSEM:
        """The fitted model over the named variables; with environments, without interventions."""
        if has_categories(self):
            raise AttributeError(
                "A table with categories has no linear model (sem_). Its graph_ and edges_ have the weights between "
                "numbers, and coefficients_ those of levels."
            )
        _known(self.graph_.reversible)
        noise_variances = self.likelihood_.noise_variances(self.graph_.residual_variances)
        sem = LinearSEM.from_moments(self.weights_, noise_variances, self.moments_)
        if self.environments_ is None:
            return sem
        return LinearSEM(sem.weights, sem.noise_variances, self.environments_.intercepts(sem.weights), sem.names)


def has_categories(model: Any) -> bool:
    """Return whether a fitted model is one of a table with categories."""
    return hasattr(model, "category_fit_")


MATRICES = tuple(name for name, value in vars(GraphMatrices).items() if isinstance(value, functools.cached_property))


def _known(values: BoolVector | None) -> BoolVector:
    """Return the values; raise an AttributeError, as for an attribute that does not exist, if there are none."""
    if values is None:
        raise AttributeError(
            "The learned graph has a cycle (cycles='none'), so it has no equivalence class and no model."
        )
    return values
