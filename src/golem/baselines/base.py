"""What all baselines share: reading data, refusing bad input, and the attributes of the result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from golem.data.checks import require_learnable, require_numbers
from golem.data.inputs import TableEstimator, numpy_rows, read_knowledge
from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.moments import Moments
from golem.data.table_reading import read_table
from golem.gradient.rounding import with_required
from golem.graphs.dag import cpdag
from golem.model.linear_sem import LinearSEM
from golem.runtime.problems import names_remedies
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import residual_variances

# A standardized column with a smaller variance than this given others counts as their linear combination.
COLLINEAR = 1e-10


@dataclass(eq=False, repr=False)
class Baseline(TableEstimator, ABC):
    """A structure learner with the attributes of `Golem`.

    A subclass is a dataclass of parameters. Its `_learn` ends with a call of `_set_weights` (methods that learn a
    weighted DAG) or `_set_class` (methods that learn an equivalence class).

    Attributes
    ----------
    adjacency_ : ndarray of shape (d, d), bool
        Edges of the learned graph. If the method learns an equivalence class, an arbitrary DAG of that class; missing
        if the class has no member, because the tests of PC can contradict each other.
    cpdag_ : ndarray of shape (d, d), bool
        The Markov equivalence class; an edge in both directions is undirected.
    weights_ : ndarray of shape (d, d)
        Weights of the learned graph, if the method learns weights.
    sem_ : LinearSEM
        The fitted model with free noise variances, if the method learns weights.
    moments_ : Moments
        The sufficient statistics of the data.
    knowledge_ : Knowledge
        The masks of required and forbidden edges.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    # Whether the method needs the rows, not only their moments.
    _needs_rows: ClassVar[bool] = False
    # Whether the result depends on the units of the columns.
    _uses_scale: ClassVar[bool] = False

    knowledge: Knowledge | NamedKnowledge | None = field(default=None, kw_only=True)

    @names_remedies
    def fit(self, X: Any, y: None = None) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : array, sparse matrix, tensor, DataFrame (pandas, Polars), PyArrow table or Moments
            Data with samples in rows, or their moments, which methods that need rows refuse.
        y : None
            Ignored; exists for scikit-learn.
        """
        self._forget()
        self._check_parameters()
        table = read_table(X)
        moments, rows = table.moments(), table.parts[0].read_rows()
        require_numbers(moments)
        self.record_columns(table)
        if self._needs_rows and rows is None:
            raise ValueError(
                f"{type(self).__name__} needs the rows of the data, not only means and covariances. Give an array or a "
                "table instead of Moments."
            )
        require_learnable(moments, uses_scale=self._uses_scale)
        self.moments_, self.knowledge_ = moments, read_knowledge(self.knowledge, moments.names)
        began = time.perf_counter()
        self._learn(moments, None if rows is None else numpy_rows(rows), self.knowledge_)
        self.seconds_ = time.perf_counter() - began
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise a ValueError for parameters out of range."""

    @abstractmethod
    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        """Learn from checked data, and set the attributes."""

    def _set_weights(self, weights: Matrix) -> None:
        """Set the attributes that follow from acyclic weights."""
        self.weights_ = weights = with_required(weights, self.knowledge_.required)
        self.adjacency_: BoolMatrix = weights != 0
        self.cpdag_ = cpdag(self.adjacency_)
        noise_variances = residual_variances(weights, self.moments_.covariance)
        self.sem_ = LinearSEM.from_moments(weights, noise_variances, self.moments_)

    def _set_class(self, equivalence_class: BoolMatrix, member: BoolMatrix | None) -> None:
        """Set the attributes that follow from an equivalence class and one of its members, if it has any."""
        self.cpdag_ = np.array(equivalence_class, dtype=bool)
        if member is not None:
            self.adjacency_ = member
