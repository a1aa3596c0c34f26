"""`Golem`, the scikit-learn estimator of the score, its solvers and the rounding."""

from __future__ import annotations

import copy
import warnings
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from golem.data.inputs import TableEstimator
from golem.data.knowledge import KnowledgeLike
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.robust import RobustChoice
from golem.data.series import LagChoice
from golem.data.table import Intercepts, Intervention
from golem.data.table_errors import NotNumericError
from golem.data.table_reading import Statistics, Targets, is_interventional, read_table
from golem.directions.by_structure import is_quick
from golem.estimator.conveniences import Conveniences, NotebookDisplay
from golem.estimator.direction_check import DirectionCheck
from golem.estimator.fit import Fit, conclude, learn
from golem.estimator.graph_matrices import MATRICES, GraphMatrices
from golem.estimator.settings import Settings, paper_settings
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.rounding import CycleRemoval
from golem.runtime.messages import quoted, warn_user
from golem.runtime.problems import names_remedies
from golem.score.acyclicity import Acyclicity
from golem.score.score_settings import ScoreChoice
from golem.score.solution import Callback
from golem.score.sparsity import Criterion, Sparsity
from golem.search.solver import Order


@dataclass(eq=False, repr=False)
class Golem(NotebookDisplay, DirectionCheck, TableEstimator, GraphMatrices, Conveniences):
    """Learn a linear directed acyclic graph by penalized Gaussian likelihood.

    Minimizes S(B) = L(B) + R_sparse(B) + R_DAG(B) (Ng, Ghassami and Zhang 2020, eq. 1). `weights_[i, j] != 0` means
    i -> j. By default the penalty counts the edges, as in the paper's theory, and the graph is acyclic by construction
    (`solver="order"`). With `solver="adam"` or `"lbfgs"` this is the paper's method: R_sparse = lambda_sparsity ||B||_1
    and R_DAG = lambda_dag h(B) (eq. 4), and the weights are then rounded to a graph.

    Parameters
    ----------
    noise : {"auto", "nv", "ev"}
        Noise variances: free ("nv", GOLEM-NV), equal ("ev", GOLEM-EV), or chosen from the data ("auto"): equal, tied by
        a common prior, or free (see `noise_choice_` and docs/how.md). Equal and tied variances give directions that
        free ones do not, but these depend on the units of the columns. With Adam and L-BFGS, "auto" estimates the
        mean and spread of the common prior.
    solver : {"order", "lbfgs", "adam"} or an object of `golem.solvers`
        How to minimize. An object has its own settings, such as `Adam(batch_size=256)`. Parameters that the solver does
        not use are refused.
    lambda_sparsity : float or {"mbic", "ebic", "bic"}, optional
        The penalty per edge. Order: a criterion (see `golem.score.L0`; default "mbic"), or lambda in S(B) = L(B) +
        lambda (number of edges); with categories, per free parameter (docs/categories.md). Adam and L-BFGS: the weight
        of ||B||_1, by default 2e-2 (ev) or 2e-3 (nv, auto).
    lambda_dag : float, optional
        Weight of h(B) (Adam, L-BFGS), by default 5. 0 gives the -L1 variant of the paper; with `lambda_sparsity=0` as
        well, the -Plain variant.
    effort : {"fast", "default", "thorough"}, optional
        Length of the search (order, unless noise="ev").
    threshold : float or "lr", optional
        Smaller absolute weights are set to zero (Adam, L-BFGS), by default below 0.3. It has the units of the weights:
        small true effects need a smaller one. "lr" keeps the edges whose likelihood ratio exceeds the penalty
        `edge_penalty_`, and refits their weights (docs/compare.md).
    max_iter : int, optional
        Maximum number of iterations (Adam, L-BFGS), by default that of the solver.
    init : {"zeros", "ev"} or array, optional
        Start. Adam and L-BFGS: zeros, the raw weights of GOLEM-EV, or a (d, d) matrix; by default "zeros" for
        noise="ev" and "ev" otherwise. Order: an order of the nodes, causes first, a (d, d) graph, or "ev", the order of
        noise="ev". A start that contradicts the knowledge is changed as little as possible.
    acyclicity : {"expm", "polynomial", "logdet"} or a term of `golem.score`, optional
        The function h (Adam, L-BFGS), by default "expm".
    sparsity : {"l1"} or a term of `golem.score`, optional
        The penalty on the weights (Adam; L-BFGS needs "l1"), by default "l1".
    cycles : {"paper", "gentle", "none"}, optional
        How rounding removes cycles (Adam, L-BFGS): "paper" drops the smallest edges until none is left, "gentle" (the
        default with threshold="lr") only edges that close a cycle with larger ones. "none" keeps cycles; a cyclic graph
        has no `cpdag_` and no `sem_`.
    knowledge : Knowledge or dict, optional
        Forbidden and required edges and tiers, obeyed exactly: by name (`{"tiers": [["age", "sex"], ["*"], ["y"]]}`,
        `Knowledge(tiers=...)`, `Knowledge.read`) or by number (`Knowledge.of`).
    missing : {"error", "drop", "em"}
        Treatment of missing values (NaN, null): raise an error, drop their rows, or estimate means and covariances by
        Gaussian EM and learn from these (docs/preparing.md). Moments have their own setting.
    robust : {"auto", "ranks", "off"}
        Whether to learn from correlations of ranks (normal scores) with the scales of the columns, which withstand
        outliers and heavy tails: if the table has outliers, always, or never (docs/suitability.md). "ranks" needs all
        rows in memory and cannot be used with noise="ev". "auto" does not apply to noise="ev", Adam, L-BFGS and
        Moments.
    shape : {"auto", "off"}
        Whether the shape of the noise may settle directions that are open in the equivalence class, where it is not
        Gaussian and the linear model holds (docs/how.md). This needs rows. It applies to solver="order" unless
        noise="ev": equal variances give directions by assumption, and Adam and L-BFGS return the graph of the paper.
    evidence : {"auto", "full", "fast"}
        Whether directions that follow from the structure are checked (`check_directions`), without which they are
        links. "full": by `fit`. "auto": of tables with few rows and columns, when `edges_`, `pdag_`, a figure or a
        report is first asked for. "fast": only if you call `check_directions`.
    intervention : {"soft", "hard"}
        What the experiments of `fit(..., environments=...)` do to their targets: change how they depend on their
        parents, or cut the influence of the parents (docs/interventions.md).
    intercepts : {"separate", "shared"}
        Whether every environment has means of its own, or all have the same means where nothing was changed.
    score_function : {"auto", "gaussian", "mixed", "bdeu", "discrete-bic"}
        What is minimized (docs/categories.md). "gaussian": the score above, for tables of numbers. "mixed": the
        degenerate Gaussian score of numbers and categories. "bdeu", "discrete-bic": counts, for tables of categories.
        "auto" chooses by the types of the columns.
    statistics : {"auto", "dense", "sparse"}
        Covariances of all pairs of columns, or correlations that are computed when they are needed, for tables with
        very many columns (docs/large.md); "auto" chooses the latter from 5000 columns on. These must be complete
        tables of numbers from one environment, and noise variances are free.
    lags : int or "auto", optional
        For time series: how many steps back causes may lie. Lagged columns are named `x@1`, `x@2`, ...; nothing causes
        the past. "auto" chooses the number by BIC (docs/series.md).
    time : str or sequence, optional
        The column of X with the time, or one value per row: the rows are sorted, and gaps end a stretch. By default the
        dates of the index of a pandas table are time, and else the order of the rows.
    unit : str or sequence, optional
        The column of X with the units of a panel, or one value per row. Lags never cross units, and every unit has an
        intercept of its own.
    random_state : int, Generator or None
        Random seed of the search and of minibatches. None means 0, so that equal data give equal graphs.
    device : str
        "cpu"; a torch device such as "cuda", for solver="adam", for solver="order" with noise="ev", and for
        statistics="sparse"; or "auto", a GPU if there is one and the problem is large enough.
    dtype : {"float64", "float32"}
        Precision of Adam, and of the order solver on a device. "float32" halves the memory; docs/large.md has the cost.
    time_limit : float, optional
        Time limit per solve, in seconds. The result so far is kept; see `solution_.status`.
    callback : callable, optional
        Called with a `golem.solvers.Progress` a few times per second.

    Attributes
    ----------
    lag_weights_ : ndarray of shape (p, d, d)
        Weights of the past: `lag_weights_[k - 1, i, j]` is that of i, k steps back, on j. Other matrices are of the
        present.
    graph_ : LearnedGraph
        The learned graph as a list of edges, with weights and what decides each direction. The matrices below and
        `sem_` are made from it when they are first read; graphs of many thousand columns need no matrices.
    weights_ : ndarray of shape (d, d)
        Weights of the learned graph; NaN for edges with a category, which have an `edge_strength` and `coefficients_`.
    raw_weights_ : ndarray of shape (d, d)
        Weights before rounding; with solver="order" equal to `weights_`.
    adjacency_ : ndarray of shape (d, d), bool
        Edges of the learned graph.
    cpdag_ : ndarray of shape (d, d), bool
        Its equivalence class; edges with both directions set are undirected.
    pdag_ : ndarray of shape (d, d), bool
        Arrows where a direction has evidence, undirected edges (links) elsewhere.
    undecided_ : ndarray of shape (d, d), bool
        Edges whose direction has no evidence: the undirected edges of `pdag_`.
    by_variance_ : ndarray of shape (d, d), bool
        Edges whose direction rests only on the noise variances: with noise="nv" they would be links.
    by_shape_, by_intervention_ : ndarray of shape (d, d), bool
        Edges whose direction rests on the shape of the noise, or on interventions.
    edges_ : list of EdgeRecord
        One record per edge: source, target, weight, what the direction rests on, and how strong that evidence is. It
        prints as a table, and `pandas.DataFrame(model.edges_)` makes one to compute with.
    variables_ : tuple of Variable
        Name, kind ("numeric" or "category") and levels of every column.
    score_ : {"gaussian", "mixed", "bdeu", "discrete-bic"}
        The score that was minimized.
    coefficients_ : list of LevelCoefficient
        The coefficients, per level, of edges with a category at one of their ends.
    noise_choice_ : NoiseChoice or None
        The choice of noise="auto", with scores and reason (order).
    likelihood_ : Likelihood
        The noise model used.
    sem_ : LinearSEM
        The fitted model over the named variables; a table with categories has none. Its effects along links
        hold only if the directions shown are right.
    solution_ : Solution
        How the solve ended: status, terms of the score, trace, time.
    start_solution_ : Solution or None
        The solve of GOLEM-EV for `init="ev"`.
    moments_ : Moments
        The sufficient statistics of the data; with environments, of all rows, with the covariance within environments.
    table_ : Table
        The variables, and the moments and targets of each environment; a table without environments has one part.
    missing_ : Missing or None
        The missing values and their treatment; None if there were none.
    knowledge_ : Knowledge
        The masks that were obeyed.
    edge_penalty_ : L0
        The penalty per edge of solver="order"; with other solvers the default, for comparison.
    threshold_ : float or None
        The threshold used; with "lr" the smallest absolute raw weight kept (None: order).
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

    noise: Literal["auto", "nv", "ev"] = "auto"
    solver: Literal["order", "lbfgs", "adam"] | Order | GradientSolver = "order"
    _: KW_ONLY
    lambda_sparsity: float | Criterion | None = None
    lambda_dag: float | None = None
    effort: Literal["fast", "default", "thorough"] | None = None
    threshold: float | Literal["lr"] | None = None
    max_iter: int | None = None
    init: Literal["zeros", "ev"] | ArrayLike | None = None
    acyclicity: Literal["expm", "polynomial", "logdet"] | Acyclicity | None = None
    sparsity: Literal["l1"] | Sparsity | None = None
    cycles: CycleRemoval | None = None
    knowledge: KnowledgeLike = None
    missing: MissingChoice = "error"
    robust: RobustChoice = "auto"
    shape: Literal["auto", "off"] = "auto"
    evidence: Literal["auto", "full", "fast"] = "auto"
    intervention: Intervention = "soft"
    intercepts: Intercepts = "separate"
    score_function: ScoreChoice = "auto"
    statistics: Statistics = "auto"
    lags: LagChoice | None = None
    time: Any = None
    unit: Any = None
    random_state: int | np.random.Generator | None = None
    device: str = "cpu"
    dtype: Literal["float64", "float32"] = "float64"
    time_limit: float | None = None
    callback: Callback | None = None

    @classmethod
    def paper(cls, noise: Literal["ev", "nv"], *, accelerate: bool = False, **changes: Any) -> Golem:
        """Return the paper's recipe (appendix F), with changes if any.

        Adam from zeros (ev) or from the raw weights of GOLEM-EV (nv), 1e5 steps of 1e-3 on all rows, the paper's
        penalties, threshold 0.3, then its removal of cycles. It computes in float64 on every device, with inverses and
        exponentials exact to rounding.

        Parameters
        ----------
        noise : {"ev", "nv"}
            GOLEM-EV or GOLEM-NV.
        accelerate : bool
            Approximate inverses and exponentials on an NVIDIA GPU, from 1024 variables (see `golem.solvers.Adam`).
        **changes
            Other parameters of `Golem`, such as `device="cuda"` or `max_iter=1000`.
        """
        return cls(**(paper_settings(noise, accelerate, "solver" in changes) | changes))

    @names_remedies
    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        environments: Any = None,
        targets: Targets | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : array, sparse matrix, tensor, DataFrame (pandas, Polars), PyArrow table or Moments
            Data of shape (n, d), or their moments. Of several environments also a dictionary from labels to tables or
            Moments. Or `golem.readers.Table`, which can have moments, and rows or a sample of them for the shape of the
            noise and for experiments.
        y : None
            Ignored, for scikit-learn.
        environments : str or sequence of n labels, optional
            The experiment that each row comes from, or the name of the column of X with these labels. noise="auto" and
            "nv" then both mean free noise variances, and the shape of the noise is not used.
        targets : mapping of label to columns, optional
            The columns that each experiment changed, by name or number; [] for observational data.
        checkpoint : path, optional
            File that keeps the state of a long solve (Adam). If a fit is interrupted, reaches its time limit or is
            killed, the same call continues where it stopped, with the same result as a fit without a break. A file of
            other data or settings is refused. A fit that has ended returns at once.
        """
        self._forget()
        self._table = None
        settings = self.settings.check()
        file = settings.checkpoint_path(checkpoint)
        settings.require_for(is_interventional(X, environments, targets))
        how: dict[str, Any] = {"missing": self.missing, "robust": settings.robust_moments}
        how["statistics"] = settings.table_statistics
        table = read_table(X, environments=environments, targets=targets, series=settings.series, **how)
        self.adopt(learn(table, settings, file))
        if self.evidence == "full":
            self.check_directions(table)
        elif self.evidence == "auto" and is_quick(self.fit_.score.with_table(table)):
            self._table = table.kept()
        return self

    def _set(self, fit: Fit) -> None:
        """Set the fit and its graph, and forget matrices of an earlier one."""
        self.fit_, self.graph_ = fit, fit.graph
        for name in MATRICES:
            self.__dict__.pop(name, None)

    def adopt(self, fit: Fit) -> Self:
        """Set the fitted attributes; warn if the solve ended early."""
        table, solution = fit.table, fit.solution
        self._set(fit)
        self.table_, self.knowledge_ = table, fit.knowledge
        self.moments_, self.missing_ = table.moments(fit.score.intercepts), table.missing
        self.solution_, self.start_solution_, self.noise_choice_ = solution, fit.start, solution.noise_choice
        self.likelihood_, self.edge_penalty_ = fit.score.likelihood, fit.score.sparsity
        self.threshold_, self.n_iter_ = fit.threshold, max(1, solution.iterations)
        self.record_columns(table)
        if not solution.status.is_final:
            ended_early = fit.start is not None and fit.start.status.is_cut_short
            stage = " (in the solve of GOLEM-EV for the start)" if ended_early else ""
            warn_user(solution.status.value + stage, ConvergenceWarning)
        return self

    def remember(self, **found: Any) -> None:
        """Keep what an assessment of the model has found, as attributes of these names with an underscore."""
        for name, value in found.items():
            setattr(self, f"{name}_", value)

    @property
    def settings(self) -> Settings:
        """The parameters, as the functions that learn a graph take them."""
        return Settings(**self.get_params(deep=False))

    def check_settings(self) -> None:
        """Raise a ValueError if settings contradict each other.

        `fit` calls this first. Call it before reading large files to see errors early.
        """
        self.settings.check()

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean Gaussian log-likelihood per row of X; higher is better."""
        check_is_fitted(self, "graph_")
        if self.score_ != "gaussian":
            raise ValueError(
                "score(X) is a Gaussian log-likelihood, and is not available for a model with categories. "
                "solution_.terms['score'] has the score of the fit."
            )
        sem = self.sem_  # an error if there is none
        moments = self._moments_of(X).reordered(sem.names)
        return sem.log_likelihood(moments) / moments.n

    def _moments_of(self, X: Any) -> Moments:
        """Return the moments of other rows of the same columns, unless they are given."""
        try:
            return self.read_other(X).moments()
        except NotNumericError as error:
            labels = [name for name in error.columns if name not in self.table_.names]
            if not labels:
                raise
            raise ValueError(
                f"score(X) takes only the columns of the graph. Leave out the column of labels: {quoted(labels)}."
            ) from None

    def with_threshold(self, threshold: float | Literal["lr"]) -> Golem:
        """Return a copy of this fitted model with another threshold (Adam, L-BFGS)."""
        check_is_fitted(self, "solution_")
        model, fit = copy.copy(self), self.fit_
        model.set_params(threshold=threshold)
        model.__dict__.pop("selection_", None)  # chosen with the earlier threshold
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit has given it
            settings = model.settings.check()
            return model.adopt(conclude(fit.score, settings, fit.knowledge, fit.solution, fit.start))


def plain_model(model: Any) -> Golem:
    """Return a Golem itself, or the one that a fitted GolemCV has chosen; raise a ValueError for anything else."""
    chosen = getattr(model, "estimator_", model)
    if not isinstance(chosen, Golem):
        raise ValueError(f"The model must be a Golem or a fitted GolemCV; got {type(model).__name__}.")
    return chosen
