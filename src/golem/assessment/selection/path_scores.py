"""Three scores of a path: an information criterion, the held-out likelihood, the agreement of halves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from golem.assessment.edge_frequencies import edge_frequencies
from golem.assessment.second_search import fit_quietly
from golem.data.checks import DataWarning
from golem.data.table import Table
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.runtime.messages import warn_user
from golem.runtime.problems import Set, Text
from golem.runtime.progress import Counter
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.likelihood import GaussianTied
from golem.score.noise_choice import NoiseScores
from golem.score.sparsity import L0


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """A path of settings for a model, and the table to fit it to."""

    model: Golem
    table: Table
    settings: list[Setting]
    n_jobs: int | None = None
    callback: Counter | None = None

    def fits(self, parts: int = 0) -> Iterator[Golem]:
        """Yield the model fitted to all rows, per setting; so many parts of the rows follow."""
        fitted = fit_path(self.model, self.table, self.settings, self.table.n)
        return self._progressing(fitted, 0, 1, parts)

    def on_parts(self, task: Callable[..., Any], parts: Iterable[tuple[Any, ...]], count: int) -> list[Any]:
        """Run a task on parts of the rows, here or in processes, in order."""
        from joblib import Parallel, delayed

        arguments = ((self.model, *part, self.settings, self.table.n) for part in parts)
        results = Parallel(self.n_jobs, return_as="generator")(delayed(task)(*one) for one in arguments)
        return list(self._progressing(results, len(self.settings), len(self.settings), count))

    def _progressing(self, results: Iterator[Any], before: int, each: int, parts: int) -> Iterator[Any]:
        """Report the number of graphs learned so far to the callback, and that of all rows and parts together."""
        for done, result in enumerate(results, start=1):
            if self.callback is not None:
                self.callback(before + each * done, len(self.settings) * (1 + parts))
            yield result


@dataclass(frozen=True, eq=False)
class Scored:
    """One row per setting of a path, the position of the best, and the frequencies of its edges in halves."""

    rows: list[dict[str, Any]]
    best: int
    frequencies: Frequencies | None = None


def by_criterion(path: PenaltyPath, criterion: L0) -> Scored:
    """Score the path on all rows by an information criterion."""
    n, d = path.table.n, path.table.d
    rows = [{"edges": int(one.adjacency_.sum()), "score": information_criterion(one, criterion)} for one in path.fits()]
    strict = [True] * len(rows)
    if is_counted(path.model) and n <= d:
        # The likelihood is unbounded then, and a criterion would always prefer the lowest penalties.
        least = float(criterion.penalties(n, d)[1]) * (1 - 1e-9)
        strict = [2 * n * setting.lambda_sparsity >= least for setting in path.settings]
    return Scored(rows, middle_of_the_best([(keeps, -row["score"]) for keeps, row in zip(strict, rows, strict=True)]))


def by_folds(path: PenaltyPath, count: int, rng: np.random.Generator) -> Scored:
    """Score the path by the likelihood of held-out folds."""
    edges = [int(one.adjacency_.sum()) for one in path.fits(count)]
    scores = np.array(path.on_parts(held_out_scores, path.table.folds(count, rng), count))
    mean = scores.mean(axis=0)
    behind = scores[:, [int(mean.argmax())]] - scores
    error = behind.std(axis=0, ddof=1) / np.sqrt(count)
    near = behind.mean(axis=0) <= error
    rows = [
        {"edges": e, "score": float(s), "standard_error": float(d)} for e, s, d in zip(edges, mean, error, strict=True)
    ]
    return Scored(rows, middle_of_the_best(list(zip(near, np.negative(edges), mean, strict=True))))


def by_halves(path: PenaltyPath, pairs: int, stable: float, rng: np.random.Generator) -> Scored:
    """Score the path by how well graphs from complementary halves agree with those of all rows."""
    whole = list(path.fits(2 * pairs))
    graphs = path.on_parts(graphs_on_path, ((half,) for half in path.table.halves(pairs, rng)), 2 * pairs)
    found = [Frequencies.of(at_setting) for at_setting in zip(*graphs, strict=True)]
    rows = [
        {
            "edges": int(fitted.adjacency_.sum()),
            "score": one.agreement(fitted.adjacency_),
            "stable_edges": one.stable(stable),
            "expected_false": one.expected_false(stable),
        }
        for fitted, one in zip(whole, found, strict=True)
    ]
    highest = max(row["score"] for row in rows)
    if highest <= CONFIRMED:
        best = middle_of_the_best([(-information_criterion(fitted, L0()),) for fitted in whole])
        if highest > -np.inf:
            said = (
                f"The graphs of halves of the rows agree with that of all rows by at most {highest:.2f}, no more than "
                "pure noise would. No penalty is confirmed, so the one with the lowest mbic was chosen, as with "
            )
            warn_user(Text(said, Set("select", "bic"), "."), DataWarning)
    else:
        least = highest - NO_DIFFERENCE * (1 - highest)
        best = middle_of_the_best([(row["score"] >= least, -row["edges"]) for row in rows])
    return Scored(rows, best, found[best])


# The agreement that edges of pure noise reach. If one passes on all rows, with z^2 above the penalty, then half of them
# have z / sqrt(2) with variance 1/2, which passes about every second time at the lowest penalties, else less often.
CONFIRMED = 0.5
# Agreements that differ by less, as a share of the distance to full agreement, count as equal
# (benchmarks/selection.md has other tolerances).
NO_DIFFERENCE = 0.05


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Frequencies of edges in the halves, at one setting; see `golem.assessment.edge_frequencies`.

    Examples
    --------
    >>> forward, none = np.array([[0, 1], [0, 0]], dtype=bool), np.zeros((2, 2), dtype=bool)
    >>> found = Frequencies.of([forward, forward.T, none])
    >>> found.adjacency.round(2)
    array([[0.  , 0.67],
           [0.67, 0.  ]])
    """

    adjacency: Matrix
    direction: Matrix

    @classmethod
    def of(cls, graphs: Sequence[BoolMatrix]) -> Frequencies:
        """Count the edges of PDAGs."""
        return cls(*edge_frequencies(graphs))

    def agreement(self, graph: BoolMatrix) -> float:
        """Return how far a graph agrees with those of the halves on adjacencies, beyond chance; 1 if all are the same.

        This is Cohen's (1960) kappa over all pairs of nodes and all halves, (o - e) / (1 - e): with f the frequency of
        a pair and g whether the graph joins it, o is the mean of g f + (1 - g)(1 - f), and e its value for the same
        numbers of edges placed at random. Minus infinity if all graphs are empty or all complete.
        """
        f, g = self._pairs, (graph | graph.T)[np.triu_indices(len(graph), 1)]
        expected = float(f.mean() * g.mean() + (1 - f.mean()) * (1 - g.mean()))
        if expected == 1:
            return -np.inf
        return (float(np.where(g, f, 1 - f).mean()) - expected) / (1 - expected)

    def stable(self, least: float) -> int:
        """Return the number of pairs joined in at least this share of the graphs."""
        return int((self._pairs >= least).sum())

    def expected_false(self, least: float) -> float:
        """Return a bound on the expected number of stable pairs that halves join no more often than the average pair.

        q^2 / ((2 least - 1) p), with q the mean number of edges and p the number of pairs (Meinshausen and Buehlmann
        2010; Shah and Samworth 2013, theorem 1). It is informative if p is far above q^2, not for graphs of few nodes.
        """
        f = self._pairs
        return float(f.sum()) ** 2 / ((2 * least - 1) * len(f))

    @property
    def _pairs(self) -> Matrix:
        return np.asarray(self.adjacency[np.triu_indices(len(self.direction), 1)])


# The default path starts at the penalty of AIC and ends at this multiple of the penalty of "mbic".
_LEAST_PENALTY, _MOST_PENALTY = 2.0, 2.0
_PENALTIES_BELOW, _PENALTIES_ABOVE = 9, 3
L1_PENALTIES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)


@dataclass(frozen=True)
class Setting:
    """A point of the grid: parameters of Golem for all rows. None keeps the setting of the estimator."""

    lambda_sparsity: float
    lambda_dag: float | None = None
    threshold: float | Literal["lr"] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def for_rows(self, n: int, of: int, counted: bool) -> Setting:
        """Return the equivalent setting for n of all rows.

        An edge keeps its penalty in units of the deviance, 2 n lambda. A penalty on weights scales with the noise of
        the gradient, 1 / sqrt(n).
        """
        factor = of / n if counted else float(np.sqrt(of / n))
        return Setting(self.lambda_sparsity * factor, self.lambda_dag, self.threshold)


def grid(
    lambda_sparsity: Sequence[float], lambda_dag: Sequence[float | None], threshold: Sequence[Any]
) -> list[Setting]:
    """Return all settings, the highest penalty per edge first."""
    penalties = sorted({float(value) for value in lambda_sparsity}, reverse=True)
    return [Setting(*values) for values in itertools.product(penalties, lambda_dag, threshold)]


def default_penalties(counted: bool, n: int, d: int) -> list[float]:
    """Return penalties per edge from AIC's to twice that of "mbic", as lambda = penalty / (2n); or l1 weights."""
    if not counted:
        return list(L1_PENALTIES)
    usual = float(L0().penalties(n, d)[1])
    below = np.geomspace(min(_LEAST_PENALTY, usual / 2), usual, _PENALTIES_BELOW)
    above = np.geomspace(usual, _MOST_PENALTY * usual, _PENALTIES_ABOVE + 1)[1:]
    return [float(penalty) / (2 * n) for penalty in (*below, *above)]


def fit_path(model: Golem, table: Table, settings: Sequence[Setting], all_rows: int) -> Iterator[Golem]:
    """Yield a fitted model per setting; settings that differ only in the threshold share one solve.

    Each fit starts afresh, so that on all rows it is what `Golem` gives for these parameters. Warm starts from the
    sparser neighbour save little time and end in worse minima of the paper's score (docs/compare.md). On a part of
    the rows the search has effort="fast" unless the model sets an effort, because its graphs are only compared.
    """
    if table.n < all_rows and model.solver == "order" and model.noise != "ev" and model.effort is None:
        model = clone(model).set_params(effort="fast")
    fitted: dict[tuple[float, float | None], Golem] = {}
    for setting in settings:
        own = setting.for_rows(table.n, all_rows, is_counted(model))
        key = (own.lambda_sparsity, own.lambda_dag)
        if key not in fitted:
            fitted[key] = fit_quietly(clone(model).set_params(**own.parameters), table.without_rows())
            yield fitted[key]
        else:
            yield fitted[key].with_threshold(own.threshold)  # type: ignore[arg-type]


def held_out_scores(model: Golem, train: Table, test: Table, settings: Sequence[Setting], all_rows: int) -> list[float]:
    """Return the mean log-likelihood of the observed values of a held-out row, per setting."""
    path = fit_path(model, train, settings, all_rows)
    return [test.log_likelihood(one.sem_) / test.n for one in path]


def graphs_on_path(model: Golem, table: Table, settings: Sequence[Setting], all_rows: int) -> list[BoolMatrix]:
    """Return the graph at every setting, as a PDAG: undecided edges have both directions."""
    graphs = (one.graph_ for one in fit_path(model, table, settings, all_rows))
    return [graph.partially_directed(graph.directed_by("none")) for graph in graphs]


def middle_of_the_best(scores: Sequence[tuple[float, ...]]) -> int:
    """Return the position of the highest score; of several equal ones the middle one, or the one before the middle.

    Penalties with the same graphs have the same score. The middle one is most likely to give this graph on other rows.
    """
    ties = [k for k, score in enumerate(scores) if score == max(scores)]
    return ties[(len(ties) - 1) // 2]


def information_criterion(model: Golem, penalty: L0) -> float:
    """Return the deviance 2 n L of the refitted graph + the penalty of the whole graph; lower is better.

    With noise="auto" graphs of one path may have different noise models: the score is then the lowest of the three
    that `golem.score.noise_choice` compares.
    """
    graph, moments = model.adjacency_, model.moments_
    n, parents = moments.n, graph.sum(axis=0)
    if model.noise_choice_ is None:
        edges = float(penalty.penalties(n, moments.d)[parents].sum())
        return model.fit_.score.penalized(penalty).total(graph) - edges + penalty.graph_penalty(parents, n)
    scores = NoiseScores(moments, penalty, GaussianTied(n))
    return min(scores.equal(graph), scores.tied(graph), scores.free(graph)[0])
