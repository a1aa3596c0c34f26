"""Which noise variances the data speak for: equal, tied by a common prior, or free.

All three are scored on one scale, that of the deviance. With l_j = log r_j the log residual variances of a graph,
m_j = log S_jj the log variances of the columns, and v = tau^2 + 2/n,

    fit(graph) = n sum_j l_j + penalty of the graph
    equal      = fit + sum_j (l_j - mu)^2 / (2/n) + d log(2/n) + log d
    tied       = fit + sum_j (l_j - mu)^2 / v + d log v + 2 log d                    v estimated
    free       = fit + the lesser of  d log 2 + d                                    scales are arbitrary
                                      sum_j (m_j - mu')^2 / v' + d log v' + 2 log d  columns were brought to one scale

`equal` and `tied` are the marginal likelihood with the variances integrated out (`GaussianTied`), and log d for each
number estimated from the d nodes. `free` says that noise variances are unrelated: either their logarithms carry the
information of a single row, v = 2, which makes it the BIC's log n a variance; or it is the columns' own variances that
lie together, as after standardizing, and those of the noise follow from the graph. docs/noise.md has the derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import BoolMatrix, Vector
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.regression import regressions
from golem.score.sparsity import L0

NoiseKind = Literal["equal", "tied", "free"]
# The log variance of one row is known to about sqrt(2): a prior this wide is worth a single row.
_UNIT_INFORMATION = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class NoiseChoice:
    """What noise="auto" chose, and why.

    Parameters
    ----------
    kind : {"equal", "tied", "free"}
        The choice: the alternative with the lowest score.
    tau : float
        Estimated standard deviation of the log noise variances in the chosen graph: 0 where they are equal, 0.7 where
        a typical pair differs by a factor of 2.
    scores : mapping of str to float
        The score of each alternative in units of the deviance, at the best graph met on the way; a difference of 10 is
        strong evidence.
    standardized : bool
        Whether the variances were left free because the columns have been brought to one scale.
    likelihood : Likelihood
        The noise model that was chosen, its prior fixed at the estimates.
    graphs : mapping of str to ndarray of shape (d, d), bool
        The best graph under each alternative.
    """

    kind: NoiseKind
    tau: float
    scores: Mapping[NoiseKind, float]
    standardized: bool
    likelihood: Likelihood
    graphs: Mapping[NoiseKind, BoolMatrix]

    @property
    def margin(self) -> float:
        """How far the next alternative lies behind, in units of the deviance; infinite where there was no choice."""
        others = [score for kind, score in self.scores.items() if kind != self.kind]
        return min(others, default=float("inf")) - self.scores[self.kind]

    def __repr__(self) -> str:
        scores = ", ".join(f"{kind}: {score:.1f}" for kind, score in self.scores.items())
        return f"NoiseChoice({self.kind!r}, tau={self.tau:.3f}, scores={{{scores}}}: {self.reason})"

    @property
    def reason(self) -> str:
        """The choice in a sentence for the user."""
        if self.kind == "equal":
            return (
                "The noise variances are equal as far as the data can tell; the scales of the columns give the order."
            )
        if self.kind == "tied":
            # Two draws from N(mu, tau^2) differ by 0.95 tau in the median.
            return (
                f"The noise variances lie together (a typical pair differs by a factor of {np.exp(0.95 * self.tau):.3g}"
                f", tau = {self.tau:.2f}), so that the scales of the columns help to find the order."
            )
        if self.standardized:
            return (
                "The variances of the columns lie together more closely than those of the noise, as in standardized "
                "data: the scales say nothing about the order, and the noise variances were left free."
            )
        return (
            f"The noise variances lie far apart (tau = {self.tau:.2f}): the scales of the columns say nothing about "
            "the order, and the noise variances were left free."
        )


class NoiseScores:
    """The scores of graphs under the three assumptions."""

    def __init__(self, moments: Moments, sparsity: L0, likelihood: GaussianTied) -> None:
        self.moments, self.sparsity, self.likelihood = moments, sparsity, likelihood
        self._floor = np.finfo(float).eps * moments.variances
        self._residuals: dict[bytes, Vector] = {}

    def residuals(self, graph: BoolMatrix) -> Vector:
        """Residual variances of a graph, kept from vanishing where n <= d."""
        key = graph.tobytes()
        if key not in self._residuals:
            r = regressions(graph, self.moments.covariance).residual_variances
            self._residuals[key] = np.maximum(r, self._floor)
        return self._residuals[key]

    def equal(self, graph: BoolMatrix) -> float:
        """Score with tau = 0."""
        return self._tied(graph, GaussianTied(self.moments.n, tau=0.0)) + float(np.log(len(graph)))

    def tied(self, graph: BoolMatrix) -> float:
        """Score with tau estimated."""
        return self._tied(graph, self.likelihood) + 2 * float(np.log(len(graph)))

    def free(self, graph: BoolMatrix) -> tuple[float, bool]:
        """Score with free variances, and whether it is because the columns have been brought to one scale."""
        d = len(graph)
        mu, v = self.likelihood.prior(self.moments.variances)
        away = np.log(self.moments.variances) - mu
        common = float(np.sum(away**2 / v) + d * np.log(v) + 2 * np.log(d))
        arbitrary = d * float(np.log(_UNIT_INFORMATION) + 1)
        fit = float(self.moments.n * np.log(self.residuals(graph)).sum()) + self._penalty(graph)
        return fit + min(common, arbitrary), common < arbitrary

    def choose(self, candidates: list[BoolMatrix], free_graph: BoolMatrix) -> tuple[BoolMatrix, NoiseChoice]:
        """Choose a graph: the best of the candidates under tied variances, or the given one with free variances."""
        free, standardized = self.free(free_graph)
        best: dict[NoiseKind, BoolMatrix] = {
            "tied": min(candidates, key=self.tied),
            "equal": min(candidates, key=self.equal),
            "free": free_graph,
        }
        scores: dict[NoiseKind, float] = {"tied": self.tied(best["tied"])}
        if self.likelihood.tau is None:
            scores |= {"equal": self.equal(best["equal"]), "free": free}
        kind = min(scores, key=lambda name: scores[name])
        mu, v = self.likelihood.prior(self.residuals(best[kind]))
        tau = 0.0 if kind == "equal" else float(np.sqrt(max(v - 2 / self.moments.n, 0.0)))
        likelihoods: dict[str, Likelihood] = {
            "equal": GaussianEV(),
            "tied": GaussianTied(self.moments.n, tau, float(mu)),
            "free": GaussianNV(),
        }
        return best[kind], NoiseChoice(kind, tau, scores, kind == "free" and standardized, likelihoods[kind], best)

    def _tied(self, graph: BoolMatrix, likelihood: GaussianTied) -> float:
        return 2 * self.moments.n * float(likelihood.on_dag(self.residuals(graph))) + self._penalty(graph)

    def _penalty(self, graph: BoolMatrix) -> float:
        return self.sparsity.graph_penalty(graph.sum(axis=0), self.moments.n)
