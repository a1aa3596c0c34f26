"""GolemCV: a Golem whose penalties and threshold are chosen from the data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from golem.assessment.selection.path_scores import PenaltyPath, by_criterion, by_folds, by_halves
from golem.assessment.selection.paths import Setting, default_penalties, grid
from golem.data.checks import DataWarning, require_learnable
from golem.data.inputs import read_data, read_knowledge
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import Sample, are_shards, merged, read_sample
from golem.estimator.golem import Golem, is_counted
from golem.runtime.progress import Counter
from golem.runtime.types import BoolMatrix
from golem.score.sparsity import L0, Criterion

Method = Literal["bic", "cv", "stability"]
METHODS: tuple[Method, ...] = ("bic", "cv", "stability")
# A parameter that belongs to one method, and its default there.
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
    """What was chosen, among what: `chosen` are parameters of Golem, `path` the rows of the table."""

    method: Method
    chosen: dict[str, Any]
    path: list[dict[str, Any]]


class GolemCV(BaseEstimator):
    """Learn a graph at penalties and a threshold chosen from the data.

    A path of graphs is learned, from high penalties to low ones, and one point of it is chosen:

    - "bic": by an information criterion of the refitted graph on all rows, 2 n L + penalty on the edges. One pass.
    - "cv": by the held-out Gaussian likelihood in K folds; of the settings within one standard error of the best
      (of the differences, fold by fold) that with the fewest edges is taken.
    - "stability": by how well graphs from complementary halves of the rows agree with that of all rows
      (`golem.assessment.selection.stability`); of agreements that hardly differ from the best that with the fewest
      edges is taken. Tells in addition how often each edge came back. Where they nowhere agree by more than noise
      would, the choice is by "mbic", with a warning.

    Settings that are equally good, because they give the same graphs, are neighbours, and the middle one is taken.

    With solver="order" the path goes over the penalty per edge. With "lbfgs" and "adam" it goes over the weight
    of the l1 norm and, with "cv", that of the DAG penalty; at each point the raw weights become a graph by
    threshold="lr", a likelihood ratio, unless the estimator or `threshold` say otherwise.

    Parameters
    ----------
    estimator : Golem, optional
        All other settings; `Golem()` by default.
    select : {"bic", "cv", "stability"}
        How to choose.
    lambda_sparsity : sequence of float, optional
        The grid. Order: lambda in S(B) = L(B) + lambda (number of edges), by default penalties 2 n lambda from
        AIC's 2 to twice that of "mbic". Adam and L-BFGS: weights of ||B||_1, by default 0.002 to 0.1.
    lambda_dag : sequence of float, optional
        Weights of h(B) (Adam, L-BFGS); by default the estimator's own or, with "cv", 1, 5 and 25.
    threshold : sequence of float or "lr", optional
        Thresholds (Adam, L-BFGS); by default the estimator's own or "lr".
    criterion : {"mbic", "ebic", "bic"}, optional
        The penalty per edge with "bic"; by default "mbic", k (log n + 2 log d), which is the EBIC that Foygel and Drton
        (2010) give for graphs (see `golem.score.sparsity.L0`).
    cv : int, optional
        Number of folds; by default 5. Rows are shuffled first.
    pairs : int, optional
        Number of pairs of halves; by default 25, so 50 fits of the path.
    stable : float, optional
        Share of the halves from which on an edge counts as stable; by default 0.75.
    random_state : int, Generator or None
        Seed of folds and halves; without one it is 0.
    n_jobs : int, optional
        Processes for folds and halves; by default 1, -1 for all cores.
    callback : callable, optional
        Called with the number of paths done and of all.

    Attributes
    ----------
    estimator_ : Golem
        The model at the chosen setting, learned from all rows. Its attributes (`weights_`, `adjacency_`, `cpdag_`,
        `undecided_`, `sem_`, `moments_`, `solution_`, ...) are attributes of this object as well.
    best_params_ : dict
        The chosen parameters of Golem.
    best_score_ : float
        The score of the choice: the criterion (lower is better), the mean held-out log-likelihood of a row, or the
        agreement of halves and whole (higher is better).
    path_ : list of dict
        A row a setting, ready for `pandas.DataFrame`: the parameters, `edges` on all rows, `score` and `chosen`;
        `edge_penalty`, 2 n lambda (order); with "cv" `standard_error` of the score's distance from the best; with
        "stability" `stable_edges` and `expected_false`, a bound on how many of these are false
        (`golem.assessment.selection.stability.Frequencies.expected_false`).
    adjacency_frequency_, direction_frequency_ : ndarray of shape (d, d)
        Shares of the halves that join two nodes, and that have i -> j, at the chosen setting ("stability").
    stable_ : ndarray of shape (d, d), bool
        Edges of the graph whose adjacency frequency is at least `stable` ("stability").
    selection_ : Selection
        Method, choice and path together, as graph.json has them.

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

    def __init__(
        self,
        estimator: Golem | None = None,
        select: Method = "bic",
        *,
        lambda_sparsity: Sequence[float] | None = None,
        lambda_dag: Sequence[float] | None = None,
        threshold: Sequence[float | Literal["lr"]] | None = None,
        criterion: Criterion | None = None,
        cv: int | None = None,
        pairs: int | None = None,
        stable: float | None = None,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        callback: Counter | None = None,
    ) -> None:
        self.estimator = estimator
        self.select = select
        self.lambda_sparsity = lambda_sparsity
        self.lambda_dag = lambda_dag
        self.threshold = threshold
        self.criterion = criterion
        self.cv = cv
        self.pairs = pairs
        self.stable = stable
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the path, choose, and learn the graph at the choice.

        Parameters
        ----------
        X : array, DataFrame (pandas, Polars), PyArrow table, or sequence of Moments
            Data, samples in rows; or the moments of shards of them, such as those of
            `golem.readers.shards_from_file`, which then are dealt out whole to folds and halves. For "bic" a single
            `Moments` or a tensor do as well.
        y : None
            Ignored, there for scikit-learn.
        """
        for attribute in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute)  # none of an earlier fit may stay
        chosen = self.choose(X).chosen
        self.best_params_, self.path_ = chosen, self.selection_.path
        (self.best_score_,) = (row["score"] for row in self.path_ if row["chosen"])
        self.estimator_ = clone(self._template()).set_params(**chosen).fit(merged(X) if are_shards(X) else X)
        self.estimator_.selection_ = self.selection_
        for name, value in vars(self.estimator_).items():
            if name.endswith("_") and name not in ("n_features_in_", "feature_names_in_"):
                setattr(self, name, value)
        if self.select == "stability":
            self.stable_: BoolMatrix = self.adjacency_ & (self.adjacency_frequency_ >= self._own("stable"))
        return self

    def choose(self, X: Any) -> Selection:
        """Learn the path and choose; what is chosen are parameters for `Golem.set_params`."""
        self.check_settings()
        moments, sample = self._read(X)
        template = self._template()
        # Names become masks once for all fits of the path.
        template = clone(template).set_params(knowledge=read_knowledge(template.knowledge, moments.names))
        with warnings.catch_warnings():  # the last fit gives them
            warnings.simplefilter("ignore", DataWarning)
            require_learnable(moments, uses_scale=template.noise == "ev" or not is_counted(template))
        settings = self._grid(template, moments)
        path = PenaltyPath(template, moments, settings, sample, self.n_jobs, self.callback)
        if self.select == "bic":
            scored = by_criterion(path, L0(self._own("criterion")))
        elif self.select == "cv":
            scored = by_folds(path, self._own("cv"), self._rng())
        else:
            scored = by_halves(path, self._own("pairs"), self._own("stable"), self._rng())
        if scored.frequencies is not None:
            self.adjacency_frequency_ = scored.frequencies.adjacency
            self.direction_frequency_ = scored.frequencies.direction
        rows, best = scored.rows, scored.best
        for k, (row, setting) in enumerate(zip(rows, settings, strict=True)):
            penalty = {"edge_penalty": 2 * moments.n * setting.lambda_sparsity} if is_counted(template) else {}
            rows[k] = setting.parameters | penalty | row | {"chosen": k == best}
        own = {} if template.threshold is None else {"threshold": template.threshold}
        self.selection_ = Selection(self.select, own | settings[best].parameters, rows)
        return self.selection_

    def score(self, X: Any, y: None = None) -> float:
        """Mean Gaussian log-likelihood of a row of X under the fitted model; higher is better."""
        check_is_fitted(self, "estimator_")
        moments = X if isinstance(X, Moments) else read_data(self, X, reset=False)[0]
        return float(self.estimator_.score(moments))

    def plot(self, **options: Any) -> Any:
        """Draw the graph; see `Golem.plot`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.plot(**options)

    def diagnose(self, X: Any = None, *, refit: bool | None = None) -> Any:
        """Check what the graph rests on; see `golem.diagnose`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.diagnose(X, refit=refit)

    def report(self, path: Any, **options: Any) -> Any:
        """Write a page to explore the graph; see `Golem.report`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.report(path, **options)

    def check_settings(self) -> None:
        """Raise a ValueError where settings contradict each other."""
        if self.select not in METHODS:
            raise ValueError(f"select must be one of {', '.join(METHODS)}; got {self.select!r}")
        for name, (method, _) in _OF_METHOD.items():
            if getattr(self, name) is not None and self.select != method:
                raise ValueError(f"{name}={getattr(self, name)!r} with select={self.select!r}: it is for {method!r}")
        L0(self._own("criterion"))
        for name, least in (("cv", 2), ("pairs", 1)):
            if not (isinstance(self._own(name), int | np.integer) and self._own(name) >= least):
                raise ValueError(f"{name} must be a whole number of at least {least}; got {self._own(name)!r}")
        if not 0.5 < self._own("stable") <= 1:
            raise ValueError(f"stable must be above 0.5 and at most 1; got {self._own('stable')!r}")
        model = self._template()
        if model.lambda_sparsity is not None:
            raise ValueError(
                f"lambda_sparsity={model.lambda_sparsity!r} is fixed, and select={self.select!r} is to choose it; "
                "leave one of them out"
            )
        if model.cycles == "none":
            raise ValueError("cycles='none' leaves cyclic graphs, which have no likelihood to choose by")
        for name in ("lambda_dag", "threshold"):
            if getattr(self, name) is not None and is_counted(model):
                raise ValueError(f"a grid of {name} is for solver='adam' and 'lbfgs'; the order solver has none")
            if getattr(self, name) is not None and getattr(self.estimator, name, None) is not None:
                raise ValueError(f"{name} is given both as a grid and in the estimator; leave one of them out")
        for name in ("lambda_sparsity", "lambda_dag", "threshold"):
            values = getattr(self, name)
            if values is not None and np.ndim(values) == 0:
                raise ValueError(f"the grid of {name} is a list of values to choose from; got {values!r}")
            if values is not None and not len(values):
                raise ValueError(f"the grid of {name} is empty")
            for value in () if values is None else values:
                clone(model).set_params(**{name: value}).check_settings()
        model.check_settings()

    @property
    def missing(self) -> MissingChoice:
        """What is done about missing values, as the estimator has it."""
        return Golem().missing if self.estimator is None else self.estimator.missing

    def _own(self, name: str) -> Any:
        """Return a parameter of the method, or its default."""
        value = getattr(self, name)
        return _OF_METHOD[name][1] if value is None else value

    def _template(self) -> Golem:
        """Return the estimator, with a likelihood ratio as the threshold where it has a use for one and none is set."""
        model = Golem() if self.estimator is None else self.estimator
        if not isinstance(model, Golem):
            raise ValueError(f"the estimator is a golem.Golem; got {type(model).__name__}")
        if not is_counted(model) and model.threshold is None:
            model = clone(model).set_params(threshold="lr")
        return model

    def _read(self, X: Any) -> tuple[Moments, Sample | None]:
        """Return the moments of all rows, and what can be divided."""
        moments, sample = read_sample(self, X)
        if sample is None and self.select != "bic":
            raise ValueError(
                f"select={self.select!r} divides rows, which moments of all of them do not have; use select='bic', or "
                "give the rows, or moments of shards of them (golem.readers.shards_from_file)"
            )
        return moments, sample

    def _grid(self, model: Golem, moments: Moments) -> list[Setting]:
        """Return the settings of the path."""
        penalties = self.lambda_sparsity
        if penalties is None:
            penalties = default_penalties(is_counted(model), moments.n, moments.d)
        dag: Sequence[float | None] = (None,)
        if self.lambda_dag is not None:
            dag = self.lambda_dag
        elif self.select == "cv" and not is_counted(model) and model.lambda_dag is None:
            dag = DAG_PENALTIES
        return grid(penalties, dag, (None,) if self.threshold is None else self.threshold)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(0 if self.random_state is None else self.random_state)
