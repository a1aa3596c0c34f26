"""LinearSEM: a linear structural equation model over a directed acyclic graph (paper, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.moments import Moments
from golem.data.table_input import is_table, rows_and_names
from golem.graphs.dag import AdjustmentKind, adjustment_set, is_dag
from golem.graphs.named_graph import NamedGraph
from golem.model.linear_equations import (
    NOISE_SHAPES,
    Intervened,
    LinearEquations,
    NamedMatrix,
    Prediction,
    condition,
    number_of,
)
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import BoolMatrix, Matrix


@dataclass(frozen=True, eq=False)
class LinearSEM(LinearEquations):
    """The model x = c + x B + e, with independent noise e and an acyclic B.

    Parameters
    ----------
    weights : array of shape (d, d)
        B: entry [i, j] is the effect of i on j.
    noise_variances : array of shape (d,)
        Variances of e.
    intercepts : array of shape (d,), optional
        c, zero by default. The noise e has mean zero.
    names : sequence of str, optional
        Names of the variables.
    noise : {"gaussian", "exponential", "gumbel"}
        Distribution of the noise that `sample` draws. Means and covariances do not depend on it.

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
            raise ValueError("The weights have a cycle; a LinearSEM needs the weights of a directed acyclic graph.")
        d = len(B)
        c = np.zeros(d) if intercepts is None else np.array(intercepts, dtype=float)
        if variances.shape != (d,) or c.shape != (d,):
            raise ValueError(
                f"Weights of shape ({d}, {d}) need {d} noise variances and {d} intercepts; got shapes "
                f"{variances.shape} and {c.shape}."
            )
        if not (all(np.isfinite(array).all() for array in (B, c, variances)) and np.all(variances > 0)):
            raise ValueError("Weights, intercepts and noise variances must be finite, and noise variances positive.")
        if noise not in NOISE_SHAPES:
            raise ProblemError(Parameter("noise"), f" must be one of {quoted(NOISE_SHAPES)}; got {noise!r}.")
        # The class is frozen, which forbids plain assignment.
        vars(self).update(weights=B, noise_variances=variances, intercepts=c, names=column_names(names, d), noise=noise)

    def with_links(self, links: BoolMatrix) -> LinearSEM:
        """Return the model with edges whose direction is open; effects that depend on them are NaN.

        Examples
        --------
        >>> sem = LinearSEM([[0, 2.0], [0, 0]], [1, 1]).with_links(np.array([[False, True], [False, False]]))
        >>> sem.total_effect(0, 1), sem.assuming_directions().total_effect(0, 1)
        (nan, 2.0)
        """
        model = LinearSEM(self.weights, self.noise_variances, self.intercepts, self.names, self.noise)
        vars(model)["_links"] = np.asarray(links, dtype=bool)
        return model

    def assuming_directions(self) -> LinearSEM:
        """Return the same model as if the directions shown were known, so that every effect is a number."""
        return LinearSEM(self.weights, self.noise_variances, self.intercepts, self.names, self.noise)

    @classmethod
    def from_graph(cls, graph: NamedGraph) -> LinearSEM:
        """Return the model of a graph with weights, noise variances and intercepts, for example one read from a file.

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
        # With n <= d a residual can be zero, but a model needs positive variances.
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
    def precision(self) -> Matrix:
        """Implied precision, (I - B) Omega^-1 (I - B)'."""
        M = np.eye(self.d) - self.weights
        return (M / self.noise_variances) @ M.T

    @property
    def standardized_weights(self) -> Matrix:
        """Weights in standard deviations, B_ij sd(x_i) / sd(x_j), with the standard deviations implied by the model."""
        scale = np.sqrt(np.diagonal(self.covariance))
        return self.weights * scale[:, None] / scale

    @property
    def total_effects(self) -> NamedMatrix:
        """Total effects between all variables, (I - B)^-1: sums over directed paths of the products of their weights.

        Entry [i, j] is the change of the mean of x_j when x_i is set one unit higher; i and j can be names. The
        diagonal is 1. Effects of a fitted model that may run along a link are NaN: `Golem.effects_on` has their range.
        """
        effects = total_effects(self.weights)
        links: BoolMatrix | None = vars(self).get("_links")
        if links is not None and links.any():
            effects[_along_links(self.adjacency, links)] = np.nan
        return NamedMatrix.of(effects, self.names)

    def total_effect(self, cause: str | int, effect: str | int) -> float:
        """Return the change of the mean of `effect` when `cause` is set one unit higher; both by name or number.

        NaN if it may run along a link of a fitted model, whose direction is open: `Golem.effects_on` gives its range.

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
                raise ValueError(f"do() sets each variable to one finite number; got {value!r} for {self.names[j]!r}.")
            B[:, j], variances[j], intercepts[j] = 0, 0, value
        named = {self.names[j]: float(value) for j, value in known.items()}
        return Intervened(B, variances, intercepts, self.names, self.noise, named)

    def randomize(self, targets: Mapping[str | int, tuple[float, float]]) -> LinearSEM:
        """Return the model under a hard intervention: each target is drawn at random, independent of its parents.

        Parameters
        ----------
        targets : mapping of str or int to (float, float)
            The mean and the standard deviation of each target, by name or number.

        Examples
        --------
        >>> sem = LinearSEM([[0, 2], [0, 0]], [1, 1], names=["a", "b"])
        >>> sem.randomize({"b": (3.0, 0.5)}).covariance
        array([[1.  , 0.  ],
               [0.  , 0.25]])
        """
        B, variances, intercepts = self.weights.copy(), self.noise_variances.copy(), self.intercepts.copy()
        for j, law in self._by_number(targets).items():
            if law.shape != (2,) or not (np.isfinite(law).all() and law[1] > 0):
                raise ValueError(
                    f"randomize() needs a finite mean and a positive standard deviation for {self.names[j]!r}; got "
                    f"{law.tolist()}. Use do() to set a variable to one value."
                )
            B[:, j], intercepts[j], variances[j] = 0, law[0], law[1] ** 2
        return LinearSEM(B, variances, intercepts, self.names, self.noise)

    def change(
        self, targets: Iterable[str | int], *, weights: float = 1.0, variance: float = 1.0, shift: float = 0.0
    ) -> LinearSEM:
        """Return the model under a soft intervention: the targets keep their parents but depend on them differently.

        Parameters
        ----------
        targets : iterable of str or int
            The variables whose equations change, by name or number.
        weights, variance : float
            Factors for the weights of the edges into the targets and for the variances of their noise.
        shift : float
            Number to add to their intercepts.

        Examples
        --------
        >>> sem = LinearSEM([[0, 2], [0, 0]], [1, 1], names=["a", "b"])
        >>> changed = sem.change(["b"], weights=0.5, variance=4.0)
        >>> changed.weights[0, 1], changed.noise_variances
        (np.float64(1.0), array([1., 4.]))
        """
        j = sorted({number_of(target, self.names) for target in targets})
        B, variances, intercepts = self.weights.copy(), self.noise_variances.copy(), self.intercepts.copy()
        B[:, j] *= weights
        variances[j] *= variance
        intercepts[j] += shift
        return LinearSEM(B, variances, intercepts, self.names, self.noise)

    def adjustment_set(self, cause: str | int, effect: str | int, kind: AdjustmentKind = "optimal") -> tuple[str, ...]:
        """Return the names of the variables to adjust for, so that a regression estimates the total effect.

        By default, the set whose estimate has the smallest variance (docs/effects.md).

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
        """Predict variables from observed values of others: Gaussian conditional means and variances.

        Observing a value is different from setting it; for the latter see `do`. If the noise is not Gaussian, the
        result is the best linear prediction and its mean squared error.

        Parameters
        ----------
        given : mapping or table
            Observed values: per variable (name or number) one number or an array with one number per row; or a table
            (pandas, Polars, PyArrow) with some of the model's columns.
        targets : sequence of str or int, optional
            Variables to predict; by default all that are not given.

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
                    "predict() needs a mapping of variables to values or a table with named columns; got "
                    f"{type(given).__name__}."
                )
            rows, columns = rows_and_names(given)
            given = dict(zip(columns, rows.T, strict=True))
        known = self._by_number(given)
        hidden = [j for j in range(self.d) if j not in known]
        wanted = hidden if targets is None else [number_of(target, self.names) for target in targets]
        if seen := [self.names[j] for j in wanted if j in known]:
            raise ValueError(f"{quoted(seen)}: both given and a target. Remove it from one of the two.")
        if not wanted:
            raise ValueError("There is nothing to predict: all variables are given, or the list of targets is empty.")
        away, covariance = condition(
            self.weights, self.noise_variances, self._stacked(known) - self.mean[list(known)], list(known), hidden
        )
        position = [hidden.index(j) for j in wanted]
        names = tuple(self.names[j] for j in wanted)
        return Prediction(names, self.mean[wanted] + away[..., position], covariance[np.ix_(position, position)])

    def _stacked(self, known: Mapping[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Stack the values of k variables into an array of shape (k,) or (rows, k)."""
        try:
            values = np.stack(np.broadcast_arrays(*known.values()), axis=-1) if known else np.zeros(0)
        except ValueError:
            lengths = ", ".join(f"{self.names[j]!r} {np.shape(value)}" for j, value in known.items())
            raise ValueError(f"The given values have different lengths: {lengths}.") from None
        if values.ndim > 2 or not np.isfinite(values).all():
            raise ValueError("Given values must be finite: one number, or an array with one number per row.")
        return values

    def _by_number(self, values: Mapping[str | int, Any]) -> dict[int, Any]:
        """Replace the names in a mapping by the numbers of the variables."""
        known = {number_of(variable, self.names): np.asarray(value, dtype=float) for variable, value in values.items()}
        if len(known) < len(values):
            raise ValueError("A variable is given twice, by its name and by its number. Remove one of the two.")
        return known

    def log_likelihood(self, data: Moments | ArrayLike) -> float:
        """Return the Gaussian log-likelihood of all rows (log|det(I - B)| = 0 on a DAG, Lemma 1)."""
        from scipy.sparse import csc_array

        moments, B = self._moments(data), csc_array(self.weights)
        S, bias = moments.covariance, moments.mean - moments.mean @ B - self.intercepts
        r = np.diagonal(S) + bias**2
        for j in range(self.d):  # node by node: a product of matrices takes a minute for thousands of variables
            parents, b = (array[B.indptr[j] : B.indptr[j + 1]] for array in (B.indices, B.data))
            r[j] += b @ (S[np.ix_(parents, parents)] @ b - 2 * S[parents, j])
        return float(-moments.n / 2 * np.sum(np.log(2 * np.pi * self.noise_variances) + r / self.noise_variances))

    def _moments(self, data: Moments | ArrayLike) -> Moments:
        """Return the moments of the data with the columns in the model's order; the columns of tables go by name."""
        if isinstance(data, Moments):
            return data.reordered(self.names)
        if is_table(data):
            return Moments.from_table(data).reordered(self.names)
        return Moments.from_rows(data, self.names)

    def bic(self, data: Moments | ArrayLike, *, equal_variances: bool = False) -> float:
        """Return the Bayesian information criterion, -2 log-likelihood + k log n; lower is better.

        k counts the edges, the noise variances (one, if `equal_variances`) and the intercepts.
        """
        moments = self._moments(data)
        k = int(self.adjacency.sum()) + (1 if equal_variances else self.d) + self.d
        return -2 * self.log_likelihood(moments) + k * float(np.log(moments.n))


def total_effects(B: Matrix) -> Matrix:
    """Return the total effects (I - B)^-1 of all pairs, shape (d, d); that of a variable on itself is 1.

    Weights of NaN belong to edges with a category at one of their ends. Effects along such edges are NaN.

    Examples
    --------
    >>> total_effects(np.array([[0, 2.0, 0, 0], [0, 0, 3.0, np.nan], [0, 0, 0, 0], [0, 0, 0, 0]]))
    array([[ 1.,  2.,  6., nan],
           [ 0.,  1.,  3., nan],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    unknown = np.isnan(B)
    effects = np.linalg.inv(np.eye(len(B)) - np.where(unknown, 0.0, B))
    if unknown.any():
        reaches = np.linalg.inv(np.eye(len(B)) - (B != 0) / len(B)) > 0
        effects[reaches @ unknown @ reaches] = np.nan
    return np.asarray(effects)


def _along_links(graph: BoolMatrix, links: BoolMatrix) -> BoolMatrix:
    """Return the pairs (i, j) with a path from i to j that has a link, in whichever direction links point."""
    both = links | links.T
    reach = np.eye(len(graph), dtype=bool) | graph | both
    while not np.array_equal(further := reach @ reach, reach):
        reach = further
    found: BoolMatrix = reach @ both @ reach
    np.fill_diagonal(found, False)
    return found
