"""The matrices and lists of a fitted model, which are made from its graph when they are first read."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from golem.data.moments import Moments
from golem.data.table import Table
from golem.data.variables import Variable
from golem.directions.learned_graph import EdgeRecord, LearnedGraph, known
from golem.estimator.fit import Fit
from golem.graphs.named_graph import LINK_SOURCES
from golem.model.linear_sem import LinearSEM
from golem.runtime.records import Records
from golem.runtime.types import BoolMatrix, BoolVector, Matrix
from golem.score.score_settings import ScoreName
from golem.score.solution import Solution
from golem.score.table_regression import LevelCoefficient


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
    moments_: Moments = _AfterFit()  # type: ignore[assignment]
    table_: Table = _AfterFit()  # type: ignore[assignment]
    fit_: Fit = _AfterFit()  # type: ignore[assignment]

    def present(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return the rows and columns of the variables in the present, of a matrix of all columns of the table."""
        here = np.flatnonzero(self.table_.lags == 0)
        return matrix if len(here) == len(matrix) else matrix[np.ix_(here, here)]

    @functools.cached_property
    def weights_(self) -> Matrix:
        """Weights of the learned graph, shape (d, d)."""
        return self.present(self.graph_.matrix(self.graph_.weights))

    @functools.cached_property
    def lag_weights_(self) -> NDArray[np.float64]:
        """Weights of the past, shape (p, d, d): entry [k - 1, i, j] is that of i, k steps back, on j."""
        series, B, lags = self.table_.series, self.graph_.matrix(self.graph_.weights), self.table_.lags
        here = np.flatnonzero(lags == 0)
        place = {name: k for k, name in enumerate(self.table_.names)}
        steps = range(1, 1 + (0 if series is None else series.lags))
        past = [np.array([place[f"{self.table_.names[j]}@{lag}"] for j in here], dtype=np.intp) for lag in steps]
        return np.array([B[np.ix_(rows, here)] for rows in past]).reshape(len(past), len(here), len(here))

    @functools.cached_property
    def raw_weights_(self) -> Matrix:
        """Weights before rounding, shape (d, d)."""
        return self.present(self.solution_.weights)

    @functools.cached_property
    def adjacency_(self) -> BoolMatrix:
        """Edges of the learned graph, shape (d, d)."""
        return self.present(self.graph_.matrix())

    @functools.cached_property
    def cpdag_(self) -> BoolMatrix:
        """Equivalence class of the learned graph, shape (d, d)."""
        return self.present(self.graph_.partially_directed(self._reversible))

    @functools.cached_property
    def undecided_(self) -> BoolMatrix:
        """Edges whose direction has no evidence, shape (d, d)."""
        graph = self._judged
        return self.present(graph.matrix(graph.undecided))

    @functools.cached_property
    def by_variance_(self) -> BoolMatrix:
        """Edges whose direction rests only on the noise variances, shape (d, d)."""
        return self.present(self.graph_.matrix(self.graph_.directed_by("variances")))

    @functools.cached_property
    def by_shape_(self) -> BoolMatrix:
        """Edges whose direction rests on the shape of the noise, shape (d, d)."""
        return self.present(self.graph_.matrix(self.graph_.directed_by("shape")))

    @functools.cached_property
    def by_intervention_(self) -> BoolMatrix:
        """Edges whose direction rests on interventions, shape (d, d)."""
        return self.present(self.graph_.matrix(self.graph_.directed_by("interventions")))

    @functools.cached_property
    def pdag_(self) -> BoolMatrix:
        """Arrows where a direction has evidence, undirected edges (links) elsewhere, shape (d, d)."""
        return self.present(self._judged.partially_directed(self._judged.undecided))

    @property
    def _judged(self) -> LearnedGraph:
        """The graph, after its directions were checked if the rows are at hand and this is quick."""
        self.check_if_kept()
        return self.graph_

    def check_if_kept(self) -> None:
        """Check the directions if the rows were kept for this."""

    @property
    def _reversible(self) -> BoolVector:
        """Whether the equivalence class leaves the direction of each edge open."""
        return np.asarray(known(self.graph_.reversible), dtype=bool)

    @functools.cached_property
    def edges_(self) -> Records[EdgeRecord]:
        """One record per edge, sorted by source, then target."""
        graph, names, fit, lags = self._judged, self.table_.names, self.fit_, self.table_.lags
        sources = known(graph.sources).tolist()
        more = [graph.strength, graph.error_rate, fit.strengths, fit.standardized_weights, fit.standard_errors]
        more.append(fit.robustness)
        return Records(
            EdgeRecord(
                names[graph.causes[k]],
                names[graph.children[k]],
                float(graph.weights[k]),
                sources[k] not in LINK_SOURCES,
                sources[k],
                *(None if values is None or np.isnan(values[k]) else float(values[k]) for values in more),  # type: ignore[arg-type]
                lag=int(lags[graph.causes[k]]),  # type: ignore[misc]
            )
            for k in np.lexsort((graph.children, graph.causes)).tolist()
        )

    @functools.cached_property
    def variables_(self) -> tuple[Variable, ...]:
        """Name, kind and levels of every column."""
        return self.table_.coding.variables

    @functools.cached_property
    def score_(self) -> ScoreName:
        """The score that was minimized."""
        return self.fit_.score.name

    @functools.cached_property
    def coefficients_(self) -> Records[LevelCoefficient]:
        """The coefficients of edges with a category at one of their ends; empty for a table of numbers."""
        return Records(self.fit_.score.coefficients(self.graph_))

    @functools.cached_property
    def sem_(self) -> LinearSEM:
        """The fitted model over the named variables; with environments, without interventions."""
        r, score = self.graph_.residual_variances, self.fit_.score
        if np.isnan(r).any():
            raise AttributeError(
                "A table with categories has no linear model (sem_). Its graph_ and edges_ have the weights between "
                "numbers, and coefficients_ those of levels."
            )
        if len(self.table_.past):
            raise AttributeError(
                "A series has no model of one row (sem_). Its weights are in weights_ and lag_weights_, and its "
                "effects over time in golem.impulse_responses(model)."
            )
        known(self.graph_.reversible)
        sem = LinearSEM.from_moments(self.weights_, score.likelihood.noise_variances(r), self.moments_)
        model = LinearSEM(sem.weights, sem.noise_variances, self.table_.intercepts(sem.weights), sem.names)
        return model.with_links(self.undecided_)


MATRICES = tuple(name for name, value in vars(GraphMatrices).items() if isinstance(value, functools.cached_property))
