"""Choose between equal, tied and free noise variances.

All three are scored in units of the deviance. With l_j = log r_j, the log residual variances of a graph,
m_j = log S_jj, the log variances of the columns, and v = tau^2 + 2/n,

    fit(graph) = n sum_j l_j + penalty of the graph
    equal      = fit + sum_j (l_j - mu)^2 / (2/n) + d log(2/n) + log d
    tied       = fit + sum_j (l_j - mu)^2 / v + d log v + 2 log d                    v estimated
    free       = fit + the lesser of  d log 2 + d                                    arbitrary scales
                                      sum_j (m_j - mu')^2 / v' + d log v' + 2 log d  columns scaled to similar variances

`equal` and `tied` are the marginal likelihood with the variances integrated out (`GaussianTied`), plus log d for each
parameter estimated from the d nodes. `free` treats the noise variances as unrelated. Either the prior on their
logarithms carries the information of a single row, v = 2, which amounts to the BIC's log n per variance. Or the
variances of the columns are similar, as in standardized data, and the graph determines those of the noise.
docs/how.md has the derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import BoolMatrix, Vector
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.regression import Regressions, regressions
from golem.score.solution import TIE
from golem.score.sparsity import L0

NoiseKind = Literal["equal", "tied", "free"]
# One row determines a log variance up to about sqrt(2): a prior with this variance carries as much information.
_UNIT_INFORMATION = 2.0
# Differences of scores below this are not evidence.
_EQUAL = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class NoiseChoice:
    """The choice of noise="auto", and the reason for it.

    Parameters
    ----------
    kind : {"equal", "tied", "free"}
        The alternative with the lowest score.
    tau : float
        Estimated standard deviation of the log noise variances in the chosen graph: 0 if they are equal, 0.7 if a
        typical pair differs by a factor of 2.
    scores : mapping of str to float
        The score of the best graph found for each alternative, in units of the deviance. A difference of 10 is very
        strong evidence.
    standardized : bool
        Whether the variances are free because the columns have similar variances.
    likelihood : Likelihood
        The chosen noise model, with its prior fixed at the estimates.
    graphs : mapping of str to ndarray of shape (d, d), bool
        The best graph found for each alternative.
    """

    kind: NoiseKind
    tau: float
    scores: Mapping[NoiseKind, float]
    standardized: bool
    likelihood: Likelihood
    graphs: Mapping[NoiseKind, BoolMatrix]

    @property
    def margin(self) -> float:
        """Difference to the next best score, in units of the deviance; infinite if there was no choice."""
        others = [score for kind, score in self.scores.items() if kind != self.kind]
        return min(others, default=float("inf")) - self.scores[self.kind]

    def __repr__(self) -> str:
        scores = ", ".join(f"{kind}: {score:.1f}" for kind, score in self.scores.items())
        return f"NoiseChoice({self.kind!r}, tau={self.tau:.3f}, scores={{{scores}}}: {self.reason})"

    @property
    def reason(self) -> str:
        """The choice as a sentence for the user."""
        if self.kind == "equal":
            return (
                "The data are consistent with equal noise variances, so golem uses the scales of the columns to choose "
                "the graph."
            )
        # Two draws from N(mu, tau^2) differ by 0.95 tau in the median.
        factor = f"in the fitted model, a typical pair differs by a factor of {np.exp(0.95 * self.tau):.3g}"
        if self.kind == "tied":
            return (
                f"The noise variances are similar ({factor}), so golem uses the scales of the columns to choose the "
                "graph."
            )
        if self.standardized:
            cause = "The variances of the columns are more similar than those of the noise, as in standardized data."
        else:
            cause = f"The noise variances are far apart ({factor})."
        return f"{cause} So golem does not use the scales of the columns to choose the graph (free noise variances)."


class NoiseScores:
    """The scores of graphs under the three assumptions."""

    def __init__(self, moments: Moments, sparsity: L0, likelihood: GaussianTied) -> None:
        self.moments, self.sparsity, self.likelihood = moments, sparsity, likelihood
        self._floor = np.finfo(float).eps * moments.variances
        self._residuals: dict[bytes, Vector] = {}

    def residuals(self, graph: BoolMatrix) -> Vector:
        """Return the residual variances of a graph, positive even if n <= d."""
        key = np.packbits(graph).tobytes()
        if key not in self._residuals:
            self.remember(regressions(graph, self.moments.covariance))
        return self._residuals[key]

    def remember(self, fitted: Regressions) -> None:
        """Keep the residual variances of a graph, so that they are not computed again."""
        key = np.packbits(fitted.graph).tobytes()
        self._residuals.setdefault(key, np.maximum(fitted.residual_variances, self._floor))

    def equal(self, graph: BoolMatrix) -> float:
        """Return the score with tau = 0."""
        return self._tied(graph, GaussianTied(self.moments.n, tau=0.0)) + float(np.log(len(graph)))

    def tied(self, graph: BoolMatrix) -> float:
        """Return the score with tau estimated."""
        return self._tied(graph, self.likelihood) + 2 * float(np.log(len(graph)))

    def free(self, graph: BoolMatrix) -> tuple[float, bool]:
        """Return the score with free variances, and whether the columns having similar variances explains it."""
        common, arbitrary = self.similar_columns(), len(graph) * float(np.log(_UNIT_INFORMATION) + 1)
        fit = float(self.moments.n * np.log(self.residuals(graph)).sum()) + self._penalty(graph)
        return fit + min(common, arbitrary), common < arbitrary

    def similar_columns(self) -> float:
        """Return what free variances add to the fit if the columns have similar variances."""
        d = self.moments.d
        mu, v = self.likelihood.prior(self.moments.variances)
        away = np.log(self.moments.variances) - mu
        return float(np.sum(away**2 / v) + d * np.log(v) + 2 * np.log(d))

    @property
    def scales_are_equal(self) -> bool:
        """Whether the variances are free whatever the graph, because the columns are standardized.

        `tied` adds at least d log(2/n) + 2 log d to the fit, and free variances add no more. So no graph can have a
        lower score with tied variances than the best one has with free variances.
        """
        least = self.moments.d * float(np.log(2 / self.moments.n)) + 2 * float(np.log(self.moments.d))
        return (
            self.likelihood.tau is None and self.likelihood.centre is None and self.similar_columns() < least + _EQUAL
        )

    def choose(self, candidates: list[BoolMatrix], free_graph: BoolMatrix) -> tuple[BoolMatrix, NoiseChoice]:
        """Choose a graph: the best candidate with equal or tied variances, or the given one with free variances."""
        free, standardized = self.free(free_graph)
        best: dict[NoiseKind, BoolMatrix] = {
            "tied": self._best(candidates, self.tied),
            "equal": self._best(candidates, self.equal),
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

    def _best(self, candidates: list[BoolMatrix], score: Callable[[BoolMatrix], float]) -> BoolMatrix:
        """Return the candidate with the lowest score; of several within rounding, the first by its edges."""
        scores = [score(graph) for graph in candidates]
        limit = min(scores) + self.moments.n * TIE
        tied = [graph for graph, value in zip(candidates, scores, strict=True) if value <= limit]
        return max(tied, key=lambda graph: graph.tobytes())

    def _tied(self, graph: BoolMatrix, likelihood: GaussianTied) -> float:
        return 2 * self.moments.n * float(likelihood.on_dag(self.residuals(graph))) + self._penalty(graph)

    def _penalty(self, graph: BoolMatrix) -> float:
        return self.sparsity.graph_penalty(graph.sum(axis=0), self.moments.n)
