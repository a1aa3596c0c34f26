"""What all baselines share: how they read data, refuse bad input and present their answer."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from golem.data.checks import require_learnable
from golem.data.inputs import numpy_rows, read_data, read_knowledge
from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.moments import Moments
from golem.graphs.dag import cpdag
from golem.model.linear_sem import LinearSEM
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import residual_variances
from golem.solvers.rounding import with_required


@dataclass(eq=False, repr=False)
class Baseline(BaseEstimator, ABC):
    """A structure learner with the attributes of `Golem`.

    A subclass stores its parameters, `knowledge` among them, and writes `_learn`, which ends with a call of
    `_present_weights` (methods that learn a weighted DAG) or `_present_class` (methods that learn an equivalence
    class).

    Attributes
    ----------
    adjacency_ : ndarray of shape (d, d), bool
        Edges of the learned graph. Where the method learns an equivalence class, one DAG of that class, chosen without
        evidence; missing where the class has no member (PC can contradict itself on finite samples).
    cpdag_ : ndarray of shape (d, d), bool
        The Markov equivalence class; both directions set means undirected.
    weights_ : ndarray of shape (d, d)
        Weights of the learned graph; only of methods that learn weights.
    sem_ : LinearSEM
        The fitted model over the named variables, with free noise variances; only of methods that learn weights.
    moments_ : Moments
        The sufficient statistics of the data.
    knowledge_ : Knowledge
        The masks that were obeyed.
    seconds_ : float
        Wall-clock time of the learning, without the reading and checking of the data.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    # Whether the rows are needed, and not their moments alone.
    _needs_rows: ClassVar[bool] = False
    # Whether the answer depends on the units of the columns.
    _uses_scale: ClassVar[bool] = False

    knowledge: Knowledge | NamedKnowledge | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : array, tensor, DataFrame (pandas, Polars), PyArrow table or Moments
            Data, samples in rows; or their moments, for a precomputed covariance (methods that need rows refuse them).
        y : None
            Ignored, there for scikit-learn.
        """
        self._check_parameters()
        for attribute in ("weights_", "sem_", "adjacency_", "cpdag_", "bic_"):  # none of an earlier fit may stay
            self.__dict__.pop(attribute, None)
        moments, rows = read_data(self, X)
        if self._needs_rows and rows is None:
            raise ValueError(
                f"{type(self).__name__} needs the rows of the data, as it uses more of them than means and "
                "covariances; give an array or a table, not Moments"
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
        """Learn from data that have passed the checks, and present the answer."""

    def _present_weights(self, weights: Matrix) -> None:
        """Set the attributes that follow from acyclic weights."""
        self.weights_ = weights = with_required(weights, self.knowledge_.required)
        self.adjacency_: BoolMatrix = weights != 0
        self.cpdag_ = cpdag(self.adjacency_)
        noise_variances = residual_variances(weights, self.moments_.covariance)
        self.sem_ = LinearSEM.from_moments(weights, noise_variances, self.moments_)

    def _present_class(self, equivalence_class: BoolMatrix, member: BoolMatrix | None) -> None:
        """Set the attributes that follow from an equivalence class, or from what is nearly one and has no member."""
        self.cpdag_ = np.array(equivalence_class, dtype=bool)
        if member is not None:
            self.adjacency_ = member
