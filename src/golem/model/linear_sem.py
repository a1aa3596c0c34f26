"""LinearSEM: a linear structural equation model over a directed acyclic graph (paper, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.moments import Moments
from golem.data.table_input import is_table, rows_and_names
from golem.graphs.adjustment import AdjustmentKind, adjustment_set
from golem.graphs.dag import is_dag
from golem.graphs.named_graph import NamedGraph
from golem.model.interventions import NOISE_SHAPES, Intervened, draw_rows, implied_covariance, implied_mean, number_of
from golem.model.prediction import Prediction, condition
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.types import BoolMatrix, Matrix, Vector


@dataclass(frozen=True, eq=False)
class LinearSEM:
    """The model x = c + x B + e, with independent noise e and an acyclic B.

    Parameters
    ----------
    weights : array of shape (d, d)
        B: entry [i, j] is the effect of i on j.
    noise_variances : array of shape (d,)
        Variances of e.
    intercepts : array of shape (d,), optional
        c; zero by default. e has mean zero.
    names : sequence of str, optional
        Names of the variables.
    noise : {"gaussian", "exponential", "gumbel"}
        Shape of the noise that `sample` draws; the second moments do not depend on it.

    Raises
    ------
    ValueError
        If the weights have a cycle, a variance is not positive, or shapes disagree.

    Examples
    --------
    >>> sem = LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0])
    >>> sem.covariance
    array([[1., 2.],
           [2., 5.]])
    """

    weights: Matrix
    noise_variances: Vector
    intercepts: Vector
    names: tuple[str, ...]
    noise: str

    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        noise: str = "gaussian",
    ) -> None:
        B, variances = np.array(weights, dtype=float), np.array(noise_variances, dtype=float)
        if not is_dag(B):
            raise ValueError("the weights of a LinearSEM must form a directed acyclic graph, and have a cycle")
        d = len(B)
        c = np.zeros(d) if intercepts is None else np.array(intercepts, dtype=float)
        if variances.shape != (d,) or c.shape != (d,):
            raise ValueError(
                f"weights of {d} variables need {d} noise variances and intercepts; "
                f"got shapes {variances.shape} and {c.shape}"
            )
        if not (
            np.isfinite(B).all() and np.isfinite(c).all() and np.all(variances > 0) and np.isfinite(variances).all()
        ):
            raise ValueError("weights and intercepts must be finite, noise variances finite and positive")
        if noise not in NOISE_SHAPES:
            raise ValueError(f"noise must be one of {', '.join(NOISE_SHAPES)}; got {noise!r}")
        for name, value in (
            ("weights", B),
            ("noise_variances", variances),
            ("intercepts", c),
            ("names", column_names(names, d)),
            ("noise", noise),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_graph(cls, graph: NamedGraph) -> LinearSEM:
        """Return the model of a graph that was read, with its weights, noise variances and intercepts.

        Raises
        ------
        ValueError
            If the graph has no weights or no noise variances, or a cycle.
        """
        graph.require_model()
        return cls(graph.weights, np.asarray(graph.noise_variances), graph.intercepts, graph.names)

    @classmethod
    def from_moments(cls, weights: ArrayLike, noise_variances: ArrayLike, moments: Moments) -> LinearSEM:
        """Return the model of weights and noise variances learned from data, with intercepts that fit the means."""
        # Where n <= d a residual can vanish; a model needs a positive variance all the same.
        floor = np.finfo(float).eps * moments.variances
        intercepts = moments.mean - moments.mean @ np.asarray(weights)
        return cls(weights, np.maximum(noise_variances, floor), intercepts, moments.names)

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def adjacency(self) -> BoolMatrix:
        """Boolean matrix of the edges."""
        return np.not_equal(self.weights, 0)

    @property
    def mean(self) -> Vector:
        """Mean of x, c (I - B)^-1."""
        return implied_mean(self.weights, self.intercepts)

    @property
    def covariance(self) -> Matrix:
        """Implied covariance, (I - B)^-T Omega (I - B)^-1."""
        return implied_covariance(self.weights, self.noise_variances)

    @property
    def precision(self) -> Matrix:
        """Implied precision, (I - B) Omega^-1 (I - B)'."""
        M = np.eye(self.d) - self.weights
        return (M / self.noise_variances) @ M.T

    @property
    def standardized_weights(self) -> Matrix:
        """Weights in standard deviations: B_ij sd(x_i) / sd(x_j), with the deviations that the model implies."""
        scale = np.sqrt(np.diagonal(self.covariance))
        return self.weights * scale[:, None] / scale

    @property
    def total_effects(self) -> Matrix:
        """Total effects of every variable on every other, (I - B)^-1: the sum over directed paths of their weights.

        Entry [i, j] is the change of x_j's mean when x_i is set one unit higher. The diagonal is 1.
        """
        return np.asarray(np.linalg.inv(np.eye(self.d) - self.weights))

    def total_effect(self, cause: str | int, effect: str | int) -> float:
        """Change of the mean of one variable when another, given by name or number, is set one unit higher.

        Examples
        --------
        >>> sem = LinearSEM([[0, 2, 1], [0, 0, 3], [0, 0, 0]], [1, 1, 1], names=["a", "b", "c"])
        >>> sem.total_effect("a", "c")  # 1 directly, 2 * 3 through b
        7.0
        """
        return float(self.total_effects[number_of(cause, self.names), number_of(effect, self.names)])

    def do(self, values: Mapping[str | int, float]) -> Intervened:
        """Return the distribution of x when variables, by name or number, are set to values from outside.

        Examples
        --------
        >>> sem = LinearSEM([[0, 2], [0, 0]], [1, 1], names=["a", "b"])
        >>> sem.do({"a": 1}).mean, sem.do({"b": 1}).mean
        (array([1., 2.]), array([0., 1.]))
        """
        B, variances, intercepts = self.weights.copy(), self.noise_variances.copy(), self.intercepts.copy()
        known = self._by_number(values)
        for j, value in known.items():
            if np.ndim(value) or not np.isfinite(value):
                raise ValueError(f"do() sets a variable to one finite number; got {value!r} for {self.names[j]!r}")
            B[:, j], variances[j], intercepts[j] = 0, 0, value
        named = {self.names[j]: float(value) for j, value in known.items()}
        return Intervened(B, variances, intercepts, self.names, self.noise, named)

    def adjustment_set(self, cause: str | int, effect: str | int, kind: AdjustmentKind = "optimal") -> tuple[str, ...]:
        """Return the names of variables to adjust for, so that a regression gives the total effect.

        By default it is the set with the smallest variance of the estimate (`golem.graphs.adjustment.adjustment_set`).

        Raises
        ------
        ValueError
            If no directed path leads from cause to effect.

        Examples
        --------
        >>> sem = LinearSEM([[0, 1, 1], [0, 0, 1], [0, 0, 0]], [1, 1, 1], names=["a", "b", "c"])
        >>> sem.adjustment_set("b", "c"), sem.adjustment_set("a", "c")
        (('a',), ())
        """
        i, j = number_of(cause, self.names), number_of(effect, self.names)
        try:
            chosen = adjustment_set(self.adjacency, i, j, kind)
        except ValueError as error:
            raise ValueError(f"{self.names[i]!r} and {self.names[j]!r}: {error}") from None
        return tuple(self.names[k] for k in chosen)

    def predict(
        self, given: Mapping[str | int, ArrayLike] | Any, targets: Sequence[str | int] | None = None
    ) -> Prediction:
        """Predict variables from observed values of some others: Gaussian conditional means and variances.

        Seeing is not setting: compare `do`. For noise that is not Gaussian this is the best linear prediction and its
        mean squared error.

        Parameters
        ----------
        given : mapping or table
            Observed values: a number, or an array with one for each row, by name or number of the variable; or a
            table (pandas, Polars, PyArrow) with some of the model's columns.
        targets : sequence of str or int, optional
            What to predict; by default all that is not given.

        Examples
        --------
        >>> sem = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["cause", "effect"])
        >>> found = sem.predict({"effect": 3.0})
        >>> found.names, found.mean, found.variance
        (('cause',), array([1.5]), array([0.5]))
        """
        if not isinstance(given, Mapping):
            if not is_table(given):
                raise ValueError(
                    "predict() takes a mapping of variables to values, or a table with named columns; got "
                    f"{type(given).__name__}"
                )
            rows, columns = rows_and_names(given)
            given = dict(zip(columns, rows.T, strict=True))
        known = self._by_number(given)
        hidden = [j for j in range(self.d) if j not in known]
        wanted = hidden if targets is None else [number_of(target, self.names) for target in targets]
        if seen := [self.names[j] for j in wanted if j in known]:
            raise ValueError(f"{quoted(seen)}: given and a target at once")
        if not wanted:
            raise ValueError("there is nothing to predict: all variables are given, or no target is")
        away, covariance = condition(
            self.weights, self.noise_variances, self._stacked(known) - self.mean[list(known)], list(known), hidden
        )
        position = [hidden.index(j) for j in wanted]
        names = tuple(self.names[j] for j in wanted)
        return Prediction(names, self.mean[wanted] + away[..., position], covariance[np.ix_(position, position)])

    def _stacked(self, known: Mapping[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Put the values of several variables side by side, (k,) or (rows, k)."""
        try:
            values = np.stack(np.broadcast_arrays(*known.values()), axis=-1) if known else np.zeros(0)
        except ValueError:
            lengths = ", ".join(f"{self.names[j]!r} {np.shape(value)}" for j, value in known.items())
            raise ValueError(f"the given values have different lengths: {lengths}") from None
        if values.ndim > 2 or not np.isfinite(values).all():
            raise ValueError("the given values must be finite numbers, or arrays with one for each row")
        return values

    def _by_number(self, values: Mapping[str | int, Any]) -> dict[int, Any]:
        """Read a mapping from variables to numbers."""
        known = {number_of(variable, self.names): np.asarray(value, dtype=float) for variable, value in values.items()}
        if len(known) < len(values):
            raise ValueError("a variable is given twice, by its name and by its number")
        return known

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> NDArray[np.float64]:
        """Draw n rows, node by node in topological order."""
        return draw_rows(self.weights, self.noise_variances, self.intercepts, self.noise, n, random_state)

    def log_likelihood(self, data: Moments | ArrayLike) -> float:
        """Gaussian log-likelihood of all rows (log|det(I - B)| = 0 on a DAG, Lemma 1)."""
        moments = self._moments(data)
        M = np.eye(self.d) - self.weights
        bias = moments.mean @ M - self.intercepts
        r = np.sum(M * (moments.covariance @ M), axis=0) + bias**2
        return float(-moments.n / 2 * np.sum(np.log(2 * np.pi * self.noise_variances) + r / self.noise_variances))

    def _moments(self, data: Moments | ArrayLike) -> Moments:
        """Moments of the data with the columns in the model's order; tables are matched by name."""
        if isinstance(data, Moments):
            return data.reordered(self.names)
        if is_table(data):
            return Moments.from_table(data).reordered(self.names)
        return Moments.from_rows(data, self.names)

    def bic(self, data: Moments | ArrayLike, *, equal_variances: bool = False) -> float:
        """Bayesian information criterion, -2 log-likelihood + k log n; lower is better.

        k counts the edges, the noise variances (one, if `equal_variances`) and the intercepts.
        """
        moments = self._moments(data)
        k = int(self.adjacency.sum()) + (1 if equal_variances else self.d) + self.d
        return -2 * self.log_likelihood(moments) + k * float(np.log(moments.n))
