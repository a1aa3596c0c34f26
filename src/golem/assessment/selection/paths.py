"""Paths: graphs along a grid of penalties and thresholds, from all rows or from a part of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from golem.assessment.second_search import fit_quietly
from golem.data.table import Table
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.runtime.types import BoolMatrix
from golem.score.likelihood import GaussianTied
from golem.score.noise_choice import NoiseScores
from golem.score.sparsity import L0

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
    sparser neighbour save little time and end in worse minima of the paper's score (docs/selection.md). On a part of
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
    return [one.pdag_ for one in fit_path(model, table, settings, all_rows)]


def middle_of_the_best(scores: Sequence[tuple[float, ...]]) -> int:
    """Return the position of the highest score; of several equal ones the middle one, or the one before the middle.

    Penalties with the same graphs have the same score. The middle one is most likely to give this graph on other rows.
    """
    ties = [k for k, score in enumerate(scores) if score == max(scores)]
    return ties[(len(ties) - 1) // 2]


def information_criterion(model: Golem, penalty: L0) -> float:
    """Return the deviance 2 n L of the refitted graph + the penalty on its edges; lower is better.

    With noise="auto" graphs of one path may have different noise models: the score is then the lowest of the three
    that `golem.score.noise_choice` compares.
    """
    graph, moments = model.adjacency_, model.moments_
    if model.noise_choice_ is None:
        return model.fit_.score.penalized(penalty).total(graph)
    n, parents = moments.n, graph.sum(axis=0)
    scores = NoiseScores(moments, penalty, GaussianTied(n))
    lowest = min(scores.equal(graph), scores.tied(graph), scores.free(graph)[0])
    edges = float(penalty.penalties(n, moments.d)[parents].sum())
    return lowest - penalty.graph_penalty(parents, n) + edges
