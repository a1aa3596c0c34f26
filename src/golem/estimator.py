"""Golem: the scikit-learn face of the score, its solvers and the rounding."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from golem.acyclicity import Acyclicity, Expm, LogDet, Polynomial
from golem.arrays import to_device
from golem.checks import require_learnable, warn_of_equal_scales
from golem.graph import BoolMatrix, cpdag, meek_closure
from golem.knowledge import Knowledge
from golem.likelihood import GaussianEV, GaussianNV, Likelihood
from golem.moments import Matrix, Moments, is_table, rows_and_names
from golem.objective import PAPER_PENALTIES, Objective, graph_scores
from golem.rounding import CycleRemoval, round_to_dag
from golem.sem import LinearSEM
from golem.solvers import LBFGS, Adam, Callback, Order, Solution, Status
from golem.sparsity import L0, Criterion


@dataclass(frozen=True)
class NoiseModel:
    """A likelihood with the paper's penalties for it (appendix F)."""

    likelihood: Likelihood
    lambda_sparsity: float
    lambda_dag: float


# Where words become objects; nothing below this module sees the words.
NOISE_MODELS = {
    "ev": NoiseModel(GaussianEV(), *PAPER_PENALTIES["ev"]),
    "nv": NoiseModel(GaussianNV(), *PAPER_PENALTIES["nv"]),
}
SOLVERS: dict[str, Order | Adam | LBFGS] = {"order": Order(), "adam": Adam(), "lbfgs": LBFGS()}
ACYCLICITIES: dict[str, Acyclicity] = {"expm": Expm(), "polynomial": Polynomial(), "logdet": LogDet()}
STARTS = ("zeros", "ev")
CYCLE_REMOVALS = ("paper", "gentle", "none")
PAPER_THRESHOLD = 0.3


class Golem(BaseEstimator):
    """Learn a linear directed acyclic graph by penalized Gaussian likelihood.

    Minimizes S(B) = L(B) + R_sparse(B) + R_DAG(B) (Ng, Ghassami and Zhang 2020, eq. 1). `weights_[i, j] != 0` means
    i -> j. By default the edges are counted, as in the paper's theory, and the graph is acyclic by construction
    (`solver="order"`). With `solver="adam"` or `"lbfgs"` this is the paper's method: R_sparse = lambda_sparsity ||B||_1
    and R_DAG = lambda_dag h(B) (eq. 4), and the weights are rounded to a graph afterwards.

    Parameters
    ----------
    noise : {"nv", "ev"}
        Noise variances: free ("nv", GOLEM-NV) or all equal ("ev", GOLEM-EV). Equal variances decide every
        direction, and believe the units of the columns.
    solver : {"order", "lbfgs", "adam"} or an object of `golem.solvers`
        How to minimize; an object carries its own settings, such as `Adam(batch_size=256)`. A parameter that a
        solver has no use for is refused, not ignored.
    lambda_sparsity : float or {"mbic", "ebic", "bic"}, optional
        The price of edges. Order: a criterion (see `golem.sparsity.L0`; default "mbic") or lambda in S(B) = L(B) +
        lambda (number of edges). Adam and L-BFGS: the weight of ||B||_1; by default the paper's, 2e-3 (nv) or
        2e-2 (ev).
    lambda_dag : float, optional
        Weight of h(B) (Adam, L-BFGS); by default 5, as in the paper. With 0 this is the -L1 variant, with
        `lambda_sparsity=0` as well the -Plain variant.
    effort : {"fast", "default", "thorough"}, optional
        How long the order is searched for with noise="nv" (order).
    threshold : float, optional
        Edges with smaller absolute weights are dropped (Adam, L-BFGS); by default 0.3, as in the paper. It is in the
        units of the weights: small true effects need a smaller one.
    max_iter : int, optional
        Most iterations (Adam, L-BFGS); by default the solver's own.
    init : {"zeros", "ev"} or array, optional
        Start. Adam and L-BFGS: zeros, the raw weights of GOLEM-EV, or a (d, d) matrix; by default "ev" for noise="nv"
        and "zeros" for noise="ev", as in the paper. Order: an order of the nodes, causes first, or a (d, d) graph;
        "ev" is the order of noise="ev".
    acyclicity : {"expm", "polynomial", "logdet"} or a term of `golem.acyclicity`, optional
        The function h (Adam, L-BFGS); by default "expm".
    cycles : {"paper", "gentle", "none"}, optional
        How rounding removes cycles (Adam, L-BFGS; see `golem.rounding.round_to_dag`); by default "paper". "none"
        leaves them, and then there is no `cpdag_` and no `sem_` when the graph is cyclic.
    knowledge : Knowledge, optional
        Forbidden and required edges, obeyed exactly.
    random_state : int, Generator or None
        Seed of the search and of minibatches; without one it is 0, so that the same data give the same graph.
    device : str
        "cpu", or a torch device such as "cuda" for solver="adam".
    time_limit : float, optional
        Seconds for each solve; what was reached by then is the answer, marked by `solution_.status`.
    callback : callable, optional
        Called with a `golem.solvers.Progress` a few times a second.

    Attributes
    ----------
    weights_ : ndarray of shape (d, d)
        Weights of the learned graph.
    raw_weights_ : ndarray of shape (d, d)
        Weights before rounding (the same as `weights_` with solver="order").
    adjacency_ : ndarray of shape (d, d), bool
        Edges of the learned graph.
    cpdag_ : ndarray of shape (d, d), bool
        Its Markov equivalence class; both directions set means undirected.
    undecided_ : ndarray of shape (d, d), bool
        Edges whose direction rests on no evidence under the noise model used.
    sem_ : LinearSEM
        The fitted model over the named variables.
    solution_ : Solution
        How the solve went: status, terms of the score, trace, time.
    start_solution_ : Solution or None
        The solve of GOLEM-EV that `init="ev"` started from.
    moments_ : Moments
        The sufficient statistics of the data.
    knowledge_ : Knowledge
        The masks that were obeyed.
    edge_price_ : L0
        The price of edges: the one minimized by solver="order", else the default, as a yardstick.
    n_iter_ : int
        Iterations of the last solve.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, n=500, graph="ER1", random_state=1)
    >>> model = Golem(noise="ev").fit(drawn.data)
    >>> bool((model.adjacency_ == drawn.sem.adjacency).all())
    True
    """

    def __init__(
        self,
        noise: Literal["nv", "ev"] = "nv",
        solver: Literal["order", "lbfgs", "adam"] | Order | Adam | LBFGS = "order",
        *,
        lambda_sparsity: float | Criterion | None = None,
        lambda_dag: float | None = None,
        effort: Literal["fast", "default", "thorough"] | None = None,
        threshold: float | None = None,
        max_iter: int | None = None,
        init: Literal["zeros", "ev"] | ArrayLike | None = None,
        acyclicity: Literal["expm", "polynomial", "logdet"] | Acyclicity | None = None,
        cycles: CycleRemoval | None = None,
        knowledge: Knowledge | None = None,
        random_state: int | np.random.Generator | None = None,
        device: str = "cpu",
        time_limit: float | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.noise = noise
        self.solver = solver
        self.lambda_sparsity = lambda_sparsity
        self.lambda_dag = lambda_dag
        self.effort = effort
        self.threshold = threshold
        self.max_iter = max_iter
        self.init = init
        self.acyclicity = acyclicity
        self.cycles = cycles
        self.knowledge = knowledge
        self.random_state = random_state
        self.device = device
        self.time_limit = time_limit
        self.callback = callback

    @classmethod
    def paper(cls, noise: Literal["ev", "nv"], **changes: Any) -> Golem:
        """Return the paper's recipe to the letter (appendix F), with changes if any.

        Adam from zeros (ev) or from the raw weights of GOLEM-EV (nv), 1e5 steps of 1e-3 on all rows, the paper's
        penalties, threshold 0.3, then its cycle removal.
        """
        model = _named(NOISE_MODELS, noise, "noise")
        recipe: dict[str, Any] = {
            "noise": noise,
            "solver": "adam",
            "lambda_sparsity": model.lambda_sparsity,
            "lambda_dag": model.lambda_dag,
            "threshold": PAPER_THRESHOLD,
            "init": "ev" if noise == "nv" else "zeros",
            "acyclicity": "expm",
            "cycles": "paper",
        }
        return cls(**(recipe | changes))

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : array, DataFrame (pandas, Polars), PyArrow table or Moments
            Data, samples in rows; or their moments, for a precomputed covariance.
        y : None
            Ignored, there for scikit-learn.
        """
        noise, solver = self.check_settings()
        for attribute in ("sem_", "cpdag_", "undecided_"):  # a cyclic graph has none; none of an earlier fit may stay
            self.__dict__.pop(attribute, None)
        moments, rows = self._read(X)
        require_learnable(moments, uses_scale=self.noise == "ev" or not isinstance(solver, Order))
        if self.noise == "ev":
            warn_of_equal_scales(moments)
        knowledge = Knowledge.none(moments.d) if self.knowledge is None else self.knowledge
        _require_shape(knowledge.forbidden, moments.d, "the knowledge masks")
        self.knowledge_, self.edge_price_ = knowledge, self._edge_price(solver)

        self.start_solution_: Solution | None = None
        if isinstance(solver, Order):
            self.solution_ = self._search(solver, moments, noise, knowledge)
            weights = self.solution_.weights
        else:
            self.solution_ = self._descend(solver, moments, rows, noise, knowledge)
            weights = self._round(knowledge)
        self._describe(weights, moments, noise.likelihood, knowledge)
        if not self.solution_.status.is_final:
            stage = (
                " (in the solve of GOLEM-EV that was to be the start)" if self.solution_ is self.start_solution_ else ""
            )
            warnings.warn(self.solution_.status.value + stage, ConvergenceWarning, stacklevel=2)
        return self

    def check_settings(self) -> tuple[NoiseModel, Order | Adam | LBFGS]:
        """Return what the words stand for, or raise a ValueError where settings contradict each other.

        `fit` begins with this; before a long pass over files it spares the wait for a complaint.
        """
        noise, solver = _named(NOISE_MODELS, self.noise, "noise"), self._solver()
        self._edge_price(solver)
        return noise, solver

    def score(self, X: Any, y: None = None) -> float:
        """Mean Gaussian log-likelihood of a row of X under the fitted model; higher is better."""
        check_is_fitted(self, "sem_")
        moments = X if isinstance(X, Moments) else self._read(X, reset=False)[0]
        moments = moments.reordered(self.sem_.names)
        return self.sem_.log_likelihood(moments) / moments.n

    def certify(self, tolerance: float = 1e-6) -> Any:
        """Polish the paper's l1 score from these weights to a stationary point; see `golem.diagnostics.certify`."""
        from golem.diagnostics import certify

        return certify(self, tolerance)

    def plot(self, **options: Any) -> Any:
        """Draw the learned graph, or the weights where it is large; see `golem.plots.plot_model`."""
        from golem.plots import plot_model

        return plot_model(self, **options)

    def _solver(self) -> Order | Adam | LBFGS:
        """Return the solver with the estimator's own settings, after checking that it has a use for them."""
        solver: Order | Adam | LBFGS = (
            _named(SOLVERS, self.solver, "solver") if isinstance(self.solver, str) else self.solver
        )
        for name in ("max_iter", "time_limit"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive; got {value}")
        for name in ("lambda_sparsity", "lambda_dag", "threshold"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str) or 0 <= value < np.inf):
                raise ValueError(f"{name} must be at least 0 and finite; got {value}")
        if self.cycles not in (None, *CYCLE_REMOVALS):
            raise ValueError(f"cycles must be one of {', '.join(CYCLE_REMOVALS)}; got {self.cycles!r}")
        if isinstance(solver, Order):
            useless = ["lambda_dag", "threshold", "max_iter", "acyclicity", "cycles"]
            remedy = "the order solver counts edges and is acyclic by construction; leave it out, or use solver='lbfgs'"
            if self.noise == "ev" and self.effort is not None:
                raise ValueError(
                    f"effort={self.effort!r} with noise='ev': equal variances need no search; leave it out"
                )
        else:
            useless = ["effort"]
            remedy = "it is for solver='order'"
        for name in useless:
            if getattr(self, name) is not None:
                raise ValueError(f"{name}={getattr(self, name)!r} with solver={self.solver!r}: {remedy}")
        if isinstance(self.lambda_sparsity, str) and not isinstance(solver, Order):
            raise ValueError(f"lambda_sparsity={self.lambda_sparsity!r} is for solver='order'; here it is a number")
        if self.device != "cpu" and not isinstance(solver, Adam):
            raise ValueError(f"device={self.device!r} is for solver='adam'; the others run on the CPU")
        settings = {"max_iter": self.max_iter, "time_limit": self.time_limit, "effort": self.effort}
        given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
        return dataclasses.replace(solver, **given)

    def _edge_price(self, solver: Order | Adam | LBFGS) -> L0:
        """Return the price by which edges are counted; where they are not, the default, as a yardstick."""
        counted = isinstance(solver, Order) and self.lambda_sparsity is not None
        return L0(self.lambda_sparsity) if counted else L0()  # type: ignore[arg-type]

    def _search(self, solver: Order, moments: Moments, noise: NoiseModel, knowledge: Knowledge) -> Solution:
        """Count edges along orders of the nodes."""
        sparsity, init = self.edge_price_, self.init
        allowed, required = (None, None) if knowledge.is_empty else (knowledge.allowed, knowledge.required)
        if isinstance(init, str):
            if init != "ev" or self.noise == "ev":
                raise ValueError(f"init={init!r}: with solver='order' a start is an order, a graph or, for 'nv', 'ev'")
            init = solver.solve(moments, GaussianEV(), sparsity, allowed=allowed, required=required).weights
        return solver.solve(
            moments,
            noise.likelihood,
            sparsity,
            None if init is None else np.asarray(init),
            allowed=allowed,
            required=required,
            random_state=self.random_state,
            callback=self.callback,
            stage=f"order-{self.noise}",
        )

    def _descend(
        self, solver: Adam | LBFGS, moments: Moments, rows: Matrix | None, noise: NoiseModel, knowledge: Knowledge
    ) -> Solution:
        """Minimize the paper's score, from GOLEM-EV where that is the start."""
        weights = self._start(moments.d)
        if weights is None:
            golem_ev = self._objective(moments, NOISE_MODELS["ev"], knowledge)
            self.start_solution_ = self._solve(solver, golem_ev, None, rows, stage="golem-ev (start)")
            if self.start_solution_.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
                return self.start_solution_
            weights = self.start_solution_.weights
        objective = self._objective(moments, self._penalized(noise), knowledge)
        if not isinstance(self.init, str | None) and not np.isfinite(
            objective.value_and_grad(to_device(weights, self.device))[0]
        ):
            raise ValueError("the score is not finite at the start matrix (init); choose smaller weights")
        return self._solve(solver, objective, weights, rows, stage=f"golem-{self.noise}")

    def _round(self, knowledge: Knowledge) -> Matrix:
        """Round the raw weights to a graph, and note how many edges it cost."""
        threshold = PAPER_THRESHOLD if self.threshold is None else self.threshold
        rounded = round_to_dag(self.solution_.weights, threshold, knowledge.required, self.cycles or "paper")
        self.solution_ = dataclasses.replace(self.solution_, cut_edges=rounded.cut)
        return rounded.weights

    def _read(self, X: Any, reset: bool = True) -> tuple[Moments, Matrix | None]:
        """Turn data into moments and, where there are any, rows."""
        if isinstance(X, Moments):
            self.n_features_in_ = X.d
            self.feature_names_in_ = np.array(X.names, dtype=object)
            return X, None
        if is_table(X):
            values, names = rows_and_names(X)
            # scikit-learn's own record of the columns; it does not know every kind of table.
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset and hasattr(X, "column_names"):
                self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        else:
            values = validate_data(self, X, reset=reset, dtype=float, ensure_all_finite=False, ensure_min_samples=2)
            names = None
        return Moments.from_rows(values, names), values

    def _start(self, d: int) -> Matrix | None:
        """Return the start of the weights, or None where GOLEM-EV is to be solved for it."""
        init = ("ev" if self.noise == "nv" else "zeros") if self.init is None else self.init
        if isinstance(init, str):
            if init not in STARTS:
                raise ValueError(f"init must be one of {', '.join(STARTS)} or a (d, d) array; got {init!r}")
            return None if init == "ev" else np.zeros((d, d))
        start = np.array(init, dtype=float)
        _require_shape(start, d, "the start matrix")
        if not np.isfinite(start).all():
            raise ValueError("the start matrix has NaN or infinite entries")
        if np.diagonal(start).any():
            raise ValueError("the start matrix has nonzero diagonal entries; no variable causes itself")
        if np.linalg.slogdet(np.eye(d) - start)[0] == 0:
            raise ValueError("the score is infinite at the start matrix: I - B is singular there; choose another one")
        return start

    def _penalized(self, noise: NoiseModel) -> NoiseModel:
        """Return the noise model with the user's penalties in place of the paper's."""
        penalties: dict[str, Any] = {"lambda_sparsity": self.lambda_sparsity, "lambda_dag": self.lambda_dag}
        return dataclasses.replace(noise, **{name: value for name, value in penalties.items() if value is not None})

    def _objective(self, moments: Moments, noise: NoiseModel, knowledge: Knowledge) -> Objective:
        """Assemble S(B)."""
        acyclicity = "expm" if self.acyclicity is None else self.acyclicity
        return Objective(
            to_device(moments.covariance, self.device),
            noise.likelihood,
            acyclicity=_named(ACYCLICITIES, acyclicity, "acyclicity") if isinstance(acyclicity, str) else acyclicity,
            lambda_sparsity=noise.lambda_sparsity,
            lambda_dag=noise.lambda_dag,
            allowed=knowledge.allowed,
            unpenalized=knowledge.required,
        )

    def _solve(
        self, solver: Adam | LBFGS, objective: Objective, init: Matrix | None, rows: Matrix | None, stage: str
    ) -> Solution:
        """Run a solver on the device."""
        if isinstance(solver, LBFGS):
            return solver.solve(objective, init, callback=self.callback, stage=stage)
        return solver.solve(
            objective,
            None if init is None else to_device(init, self.device),
            rows=None if rows is None else to_device(rows - rows.mean(axis=0), self.device),
            random_state=self.random_state,
            callback=self.callback,
            stage=stage,
        )

    def _describe(self, weights: Matrix, moments: Moments, likelihood: Likelihood, knowledge: Knowledge) -> None:
        """Set the attributes that follow from the rounded weights."""
        self.moments_ = moments
        self.raw_weights_ = self.solution_.weights
        self.n_iter_ = max(1, self.solution_.iterations)
        self.weights_ = weights
        self.adjacency_: BoolMatrix = (weights != 0) | knowledge.required
        try:
            self.cpdag_ = cpdag(self.adjacency_)
        except ValueError:
            return  # cycles="none" left a cycle: there is neither an equivalence class nor a model
        scores = graph_scores(weights, moments.covariance, moments.n)
        self.solution_ = dataclasses.replace(self.solution_, graph_scores=scores)
        self.undecided_ = np.zeros_like(self.adjacency_)
        if not isinstance(likelihood, GaussianEV):
            self.undecided_ = _undecided(self.adjacency_, self.cpdag_, knowledge)
        # Where n <= d a residual can vanish; a model needs a positive variance all the same.
        floor = np.finfo(float).eps * moments.variances
        noise_variances = np.maximum(likelihood.noise_variances(weights, moments.covariance), floor)
        intercepts = moments.mean - moments.mean @ weights
        self.sem_ = LinearSEM(weights, noise_variances, intercepts, moments.names)


def _undecided(adjacency: BoolMatrix, equivalence_class: BoolMatrix, knowledge: Knowledge) -> BoolMatrix:
    """Edges that the equivalence class leaves undirected, less those that knowledge directs."""
    graph = equivalence_class
    if not knowledge.is_empty:
        known = adjacency & (knowledge.required | knowledge.forbidden.T)
        graph = meek_closure(graph & ~(graph & graph.T & known.T))
    return adjacency & graph & graph.T


def _require_shape(array: np.ndarray[Any, Any], d: int, what: str) -> None:
    """Raise where a (d, d) matrix is expected and something else comes."""
    if array.shape != (d, d):
        raise ValueError(f"{what} must have shape ({d}, {d}), one row and column a variable; got {array.shape}")


def _named(table: dict[str, Any], name: str, parameter: str) -> Any:
    """Look a word up in its table, or say which words there are."""
    if name not in table:
        raise ValueError(f"{parameter} must be one of {', '.join(map(repr, table))}; got {name!r}")
    return table[name]
