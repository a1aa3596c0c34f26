"""GolemCV: a Golem with penalties and a threshold chosen from the data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from golem.assessment.selection.path_scores import (
    PenaltyPath,
    Setting,
    by_criterion,
    by_folds,
    by_halves,
    default_penalties,
    grid,
)
from golem.data.checks import DataWarning
from golem.data.inputs import TableEstimator, read_knowledge
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.table import Table
from golem.data.table_checks import check_table
from golem.data.table_reading import Targets, are_shards, read_table
from golem.estimator.conveniences import Conveniences, NotebookDisplay
from golem.estimator.golem import Golem
from golem.estimator.graph_matrices import MATRICES
from golem.estimator.settings import is_counted
from golem.runtime.problems import Bare, Parameter, ProblemError, Set, Text, names_remedies
from golem.runtime.progress import Counter
from golem.runtime.types import BoolMatrix
from golem.score.sparsity import L0, Criterion
from golem.score.table_score import score_of

Method = Literal["bic", "cv", "stability"]
METHODS: tuple[Method, ...] = ("bic", "cv", "stability")
# Parameters that belong to one method, and their defaults.
_OF_METHOD: dict[str, tuple[Method, Any]] = {
    "criterion": ("bic", "mbic"),
    "cv": ("cv", 5),
    "pairs": ("stability", 25),
    "stable": ("stability", 0.75),
}
# Penalties on cycles that cross-validation compares, around the paper's 5.
DAG_PENALTIES = (1.0, 5.0, 25.0)


@dataclass(frozen=True)
class Selection:
    """The chosen parameters of Golem, and the path: one row per setting that was compared.

    Examples
    --------
    >>> from golem import GolemCV
    >>> from golem.simulate import simulate
    >>> selection = GolemCV(select="bic").fit(simulate(4, 300, "ER1", random_state=0).data).selection_
    >>> selection.method, list(selection.chosen), sum(row["chosen"] for row in selection.path)
    ('bic', ['lambda_sparsity'], 1)
    """

    method: Method
    chosen: dict[str, Any]
    path: list[dict[str, Any]]

    @property
    def note(self) -> str:
        """What to do if the choice is at an end of the path, so that the best penalty may lie beyond; or empty."""
        penalties = [row["lambda_sparsity"] for row in self.path]
        chosen = self.chosen["lambda_sparsity"]
        if min(penalties) == max(penalties) or chosen not in (min(penalties), max(penalties)):
            return ""
        if chosen == min(penalties):
            return Text.of(
                "The choice is the lowest penalty of the path, so the best one may be lower still. Many of "
                "its edges may be weak; compare with another method ({select=...})."
            )
        return Text.of(
            "The choice is the highest penalty of the path, so the best one may be higher still. Compare with "
            "the graph of a higher one, such as {lambda_sparsity=}.",
            lambda_sparsity=Bare(f"{2 * chosen:.3g}"),
        )


@dataclass(eq=False, repr=False)
class GolemCV(NotebookDisplay, TableEstimator, Conveniences):
    """Learn a graph with penalties and a threshold chosen from the data.

    A path of graphs is learned, from high penalties to low ones, and one point of it is chosen:

    - "bic": by an information criterion of the refitted graph on all rows, 2 n L + penalty of the graph. One pass.
    - "cv": by the held-out Gaussian likelihood in K folds. Of the settings within one standard error of the best
      (of the differences per fold), the one with the fewest edges is chosen.
    - "stability": by how well graphs from complementary halves of the rows agree with that of all rows
      (docs/compare.md). Of the settings that are nearly as good as the best, the one with the
      fewest edges is chosen. If they agree no better than pure noise would, "mbic" decides, with a warning.

    Of equally good settings, which are neighbours with the same graphs, the middle one is chosen.

    With solver="order" the path runs over the penalty per edge. With "lbfgs" and "adam" it runs over the weight of the
    l1 norm and, with "cv", that of the DAG penalty. At each point the raw weights become a graph by threshold="lr", a
    likelihood ratio, unless the estimator or `threshold` say otherwise.

    Parameters
    ----------
    estimator : Golem, optional
        All other settings; `Golem()` by default.
    select : {"bic", "cv", "stability"}
        How to choose.
    lambda_sparsity : sequence of float, optional
        The grid. Order: lambda in S(B) = L(B) + lambda (number of edges), by default penalties 2 n lambda from the 2 of
        AIC to twice that of "mbic". Adam and L-BFGS: weights of ||B||_1, by default 0.002 to 0.1.
    lambda_dag : sequence of float, optional
        Weights of h(B) (Adam, L-BFGS); by default that of the estimator or, with "cv", 1, 5 and 25.
    threshold : sequence of float or "lr", optional
        Thresholds (Adam, L-BFGS); by default that of the estimator or "lr".
    criterion : {"mbic", "ebic", "bic"}, optional
        The penalty of a graph with "bic"; by default "mbic", E log n + 2 log C(P, E) for E edges among P pairs of
        columns (see `golem.score.sparsity.L0.graph_penalty`). It is less strict with graphs of many edges than the
        penalty per edge of the search.
    cv : int, optional
        Number of folds, by default 5. Rows are shuffled first.
    pairs : int, optional
        Number of pairs of halves; by default 25, which means 50 fits of the path.
    stable : float, optional
        Frequency in the halves from which an edge counts as stable; by default 0.75.
    random_state : int, Generator or None
        Seed of folds and halves, by default 0.
    n_jobs : int, optional
        Processes for folds and halves; by default 1, -1 for all cores.
    callback : callable, optional
        Called with the numbers of graphs learned and in total.

    Attributes
    ----------
    estimator_ : Golem
        The model at the chosen setting, learned from all rows. Its attributes (`weights_`, `adjacency_`, `cpdag_`,
        `undecided_`, `sem_`, `moments_`, `solution_`, ...) are attributes of this object as well.
    best_params_ : dict
        The chosen parameters of Golem.
    best_score_ : float
        The score of the choice: the criterion (lower is better), the mean held-out log-likelihood per row, or the
        agreement of halves and all rows (higher is better).
    path_ : list of dict
        One row per setting, ready for `pandas.DataFrame`: the parameters, `edges` on all rows, `score` and `chosen`;
        `edge_penalty`, 2 n lambda (order); with "cv" `standard_error` of the difference from the best score; with
        "stability" `stable_edges` and `expected_false`, a bound on how many of these are false
        (docs/compare.md).
    adjacency_frequency_, direction_frequency_ : ndarray of shape (d, d)
        Shares of the halves that join two nodes, and that have i -> j, at the chosen setting ("stability"). Undecided
        edges count half for each direction, and halves do not use the shape of the noise.
    stable_ : ndarray of shape (d, d), bool
        Edges of the graph with an adjacency frequency of at least `stable` ("stability").
    selection_ : Selection
        Method, choice and path, as in graph.json.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(8, n=200, graph="ER1", random_state=0)
    >>> model = GolemCV(Golem("ev"), select="cv").fit(drawn.data)
    >>> bool((model.adjacency_ == drawn.sem.adjacency).all())
    True
    >>> [row["edges"] for row in model.path_]
    [10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 13, 13]
    """

    estimator: Golem | None = None
    select: Method = "bic"
    _: KW_ONLY
    lambda_sparsity: Sequence[float] | None = None
    lambda_dag: Sequence[float] | None = None
    threshold: Sequence[float | Literal["lr"]] | None = None
    criterion: Criterion | None = None
    cv: int | None = None
    pairs: int | None = None
    stable: float | None = None
    random_state: int | np.random.Generator | None = None
    n_jobs: int | None = None
    callback: Counter | None = None

    def fit(self, X: Any, y: None = None, *, environments: Any = None, targets: Targets | None = None) -> Self:
        """Learn the path, choose, and learn the graph at the choice.

        Parameters
        ----------
        X : array, DataFrame (pandas, Polars), PyArrow table, or sequence of Moments
            Rows; or the moments of shards of rows (`golem.readers.shards_from_file`), each of which goes to one fold or
            half as a whole. "bic" also takes a single `Moments` or a tensor.
        y : None
            Ignored, for scikit-learn.
        environments, targets
            As for `Golem.fit`; with "bic" and "stability", which divides the rows within each environment.
        """
        chosen = self.choose(X, environments, targets).chosen
        self.best_params_, self.path_ = chosen, self.selection_.path
        (self.best_score_,) = (row["score"] for row in self.path_ if row["chosen"])
        self.estimator_ = clone(self._template()).set_params(**chosen)
        self.estimator_.fit(merged(X) if are_shards(X) else X, environments=environments, targets=targets)
        self.estimator_.remember(selection=self.selection_)
        for name, value in vars(self.estimator_).items():
            if name.endswith("_") and name not in ("n_features_in_", "feature_names_in_"):
                setattr(self, name, value)
        if self.select == "stability":
            self.stable_: BoolMatrix = self.adjacency_ & (self.adjacency_frequency_ >= self._own("stable"))
        return self

    def __getattr__(self, name: str) -> Any:
        # The matrices of the chosen model are made when they are first read.
        if name in MATRICES and "estimator_" in vars(self):
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @names_remedies
    def choose(self, X: Any, environments: Any = None, targets: Targets | None = None) -> Selection:
        """Learn the path and choose parameters for `Golem.set_params`; the parameters are those of `fit`."""
        self._forget()
        self.check_settings()
        table = self._read(X, environments, targets)
        template = self._template()
        if score_of(table, template.settings.score_settings).name != "gaussian":
            raise ValueError(
                "The penalty per edge can be chosen (select) only for tables of numbers, and this one has categories. "
                "Use the default penalty."
            )
        if isinstance(X, Moments) and self.select != "bic":
            raise ProblemError.of(
                "{select=} divides the rows, but the data are moments of all rows. Use {select='bic'}, the "
                "rows, or the moments of shards (golem.readers.shards_from_file).",
                select=self.select,
            )
        # Names become masks once for all fits of the path.
        template = clone(template).set_params(knowledge=read_knowledge(template.knowledge, table.names))
        with warnings.catch_warnings():  # the last fit repeats them
            warnings.simplefilter("ignore", DataWarning)
            uses_scale = template.noise == "ev" or not is_counted(template)
            check_table(table, uses_scale=uses_scale, bounded=False, intervention=template.intervention)
        settings = self._grid(template, table)
        rng = np.random.default_rng(0 if self.random_state is None else self.random_state)
        path = PenaltyPath(template, table, settings, self.n_jobs, self.callback)
        if self.select == "bic":
            scored = by_criterion(path, L0(self._own("criterion")))
        elif self.select == "cv":
            scored = by_folds(path, self._own("cv"), rng)
        else:
            scored = by_halves(path, self._own("pairs"), self._own("stable"), rng)
        if scored.frequencies is not None:
            self.adjacency_frequency_ = scored.frequencies.adjacency
            self.direction_frequency_ = scored.frequencies.direction
        rows, best = scored.rows, scored.best
        for k, (row, setting) in enumerate(zip(rows, settings, strict=True)):
            penalty = {"edge_penalty": 2 * table.n * setting.lambda_sparsity} if is_counted(template) else {}
            rows[k] = setting.parameters | penalty | row | {"chosen": k == best}
        own = {} if template.threshold is None else {"threshold": template.threshold}
        self.selection_ = Selection(self.select, own | settings[best].parameters, rows)
        return self.selection_

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean Gaussian log-likelihood per row of X under the fitted model; higher is better."""
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(self.read_other(X).moments()))

    def check_settings(self) -> None:
        """Raise a ValueError if settings contradict each other."""
        if self.select not in METHODS:
            raise ProblemError(Parameter("select"), f" must be one of {', '.join(METHODS)}; got {self.select!r}.")
        for name, (method, _) in _OF_METHOD.items():
            if getattr(self, name) is not None and self.select != method:
                raise ProblemError(
                    Set(name, getattr(self, name)), " needs ", Set("select", method), f"; got {self.select!r}."
                )
        L0(self._own("criterion"))
        for name, least in (("cv", 2), ("pairs", 1)):
            if not (isinstance(self._own(name), int | np.integer) and self._own(name) >= least):
                raise ProblemError(
                    Parameter(name), f" must be an integer of at least {least}; got {self._own(name)!r}."
                )
        if not 0.5 < self._own("stable") <= 1:
            raise ValueError(f"stable must be above 0.5 and at most 1; got {self._own('stable')!r}.")
        model = self._template()
        if model.lambda_sparsity is not None:
            raise ProblemError.of(
                "{select=} replaces {lambda_sparsity=}. Omit one.",
                select=self.select,
                lambda_sparsity=model.lambda_sparsity,
            )
        if model.cycles == "none":
            raise ValueError(
                "cycles='none' leaves cyclic graphs, which cannot be scored. Use cycles='paper' or 'gentle'."
            )
        for name in ("lambda_sparsity", "lambda_dag", "threshold"):
            if getattr(self, name) is not None:
                self._check_grid(name, getattr(self, name), model)
        model.check_settings()

    def require_method_for(self, environments: bool) -> None:
        """Raise a ValueError if the method cannot choose with environments."""
        if environments and self.select == "cv":
            raise ProblemError.of(
                "{select='cv'} is not defined for environments: a held-out row says nothing about experiments "
                "on others. Use {select='bic'} or {select='stability'}."
            )

    def _check_grid(self, name: str, values: Any, model: Golem) -> None:
        """Raise a ValueError if the values of a parameter cannot be compared."""
        if name != "lambda_sparsity" and is_counted(model):
            raise ProblemError.of(
                "A grid of {name} needs {solver='adam'} or 'lbfgs'. Leave it out with {solver='order'}.", name=name
            )
        if getattr(self.estimator, name, None) is not None:
            raise ValueError(f"{name} is given both as a grid and in the estimator. Leave one of them out.")
        if np.ndim(values) == 0 or not len(values):
            raise ValueError(f"The grid of {name} must be a list of values to choose from; got {values!r}.")
        for value in values:
            clone(model).set_params(**{name: value}).check_settings()

    @property
    def missing(self) -> MissingChoice:
        """The treatment of missing values, as set in the estimator."""
        return (self.estimator or Golem()).missing

    def _own(self, name: str) -> Any:
        """Return a parameter of the method, or its default."""
        value = getattr(self, name)
        return _OF_METHOD[name][1] if value is None else value

    def _template(self) -> Golem:
        """Return the estimator, with threshold="lr" if its solver needs a threshold and none is set."""
        model = self.estimator or Golem()
        if not isinstance(model, Golem):
            raise ValueError(f"The estimator must be a golem.Golem; got {type(model).__name__}.")
        if not is_counted(model) and model.threshold is None:
            model = clone(model).set_params(threshold="lr")
        return model

    def _read(self, X: Any, environments: Any, targets: Targets | None) -> Table:
        """Return the table; record its columns."""
        self.require_method_for(environments is not None or targets is not None)
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # the last fit repeats them
            how: dict[str, Any] = {"missing": self.missing, "robust": self._template().settings.robust_moments}
            table = read_table(X, environments=environments, targets=targets, **how)
        self.require_method_for(bool(table.environments))
        self.record_columns(table)
        return table

    def _grid(self, model: Golem, moments: Table) -> list[Setting]:
        """Return the settings of the path."""
        penalties, dag = self.lambda_sparsity, self.lambda_dag
        if penalties is None:
            penalties = default_penalties(is_counted(model), moments.n, moments.d)
        if dag is None and self.select == "cv" and not is_counted(model) and model.lambda_dag is None:
            dag = DAG_PENALTIES
        return grid(penalties, (None,) if dag is None else dag, (None,) if self.threshold is None else self.threshold)
