"""FGS: fast greedy equivalence search (Ramsey et al. 2017), after the GES of Chickering (2002)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from golem.baselines.base import Baseline
from golem.baselines.fgs_search import EdgeScores, GreedySearch
from golem.data.checks import most_parents
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.types import Matrix
from golem.score.objective import graph_bic


@dataclass(eq=False, repr=False)
class FGS(Baseline):
    """Learn a Markov equivalence class by greedy search with the Gaussian BIC.

    Starting from the empty graph, the search inserts the edge that lowers the score most, among all edges that can be
    added to any member of the present class. When no insertion lowers the score, it deletes edges in the same way. With
    n rows, residual variances r_v and k_v parents of node v, the score is, up to a constant,

        sum over v of  n log r_v + k_v (penalty_discount log n + 2 log((d - 1 - q) / q)),   q = structure_prior,

    where the last term, the log odds against an edge if nodes have q parents on average, is used only if q > 0. All
    members of a class have the same score, so directions within a class stay open. With many rows the result is the
    class of the true graph, if the data are faithful to it (Chickering 2002).

    The paper used the FGS of Tetrad with its cg-bic-score. Without categorical columns this is the BIC with a structure
    prior of this form, by default with q = 1. `FGS(structure_prior=1)` is close to it, except for Tetrad's limits on
    the number of edges per node and its order of equally good steps. Versions of Tetrad count the prior once or twice;
    here it counts twice, as a log prior probability does in units of -2 log-likelihood.

    Parameters
    ----------
    penalty_discount : float
        Factor of log n in the penalty per edge; 1 is the BIC. Larger values give fewer edges.
    structure_prior : float
        Expected number of parents per node, below d - 1; 0 for no prior. With many columns the BIC alone adds false
        edges.
    max_parents : int, optional
        Largest number of parents per node; by default (n - 2) / 2, so that residual variances exist. A smaller value
        bounds the number of operators, which grows exponentially with the size of cliques.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges. The search starts from the class of the required edges and visits only classes
        with a member that obeys the knowledge; `adjacency_` is such a member.

    Attributes
    ----------
    cpdag_ : ndarray of shape (d, d), bool
        The equivalence class; an edge in both directions is undirected. Knowledge directs none of its edges.
    adjacency_ : ndarray of shape (d, d), bool
        An arbitrary member of the class.
    bic_ : float
        BIC of the class, -2 log-likelihood + (edges + noise variances + intercepts) log n, for any penalty_discount.
    n_scores_ : int
        Number of regressions; each gives the gain of one edge or of all edges into a node.
    moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.

    Examples
    --------
    >>> from golem.metrics import shd_c
    >>> from golem.simulate import simulate
    >>> drawn = simulate(6, n=2000, graph="ER1", random_state=3)
    >>> model = FGS().fit(drawn.data)
    >>> shd_c(drawn.sem.adjacency, model.adjacency_)
    0.0
    """

    penalty_discount: float = 1.0
    _: KW_ONLY
    structure_prior: float = 0.0
    max_parents: int | None = None

    def _check_parameters(self) -> None:
        if not 0 <= self.penalty_discount < np.inf:
            raise ValueError(f"penalty_discount must be at least 0 and finite; got {self.penalty_discount}.")
        if not 0 <= self.structure_prior < np.inf:
            raise ValueError(f"structure_prior must be at least 0 and finite; got {self.structure_prior}.")
        if self.max_parents is not None and not self.max_parents >= 0:
            raise ValueError(f"max_parents must be at least 0; got {self.max_parents}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        penalty = self._penalty(moments.n, moments.d)
        most = most_parents(moments.n) if self.max_parents is None else self.max_parents
        scores = EdgeScores(moments.standardized().covariance, moments.n, penalty)
        search = GreedySearch(scores, most, knowledge)
        self._set_class(search.run().matrix(), search.member())
        self.n_scores_ = scores.computed
        self.bic_ = graph_bic(self.adjacency_, moments.covariance, moments.n)

    def _penalty(self, n: int, d: int) -> float:
        """Return the penalty per edge in units of -2 log-likelihood."""
        penalty = self.penalty_discount * np.log(n)
        if self.structure_prior > 0:
            if self.structure_prior >= d - 1:
                raise ValueError(
                    f"structure_prior, the expected number of parents per node, must be below {d - 1} for {d} columns; "
                    f"got {self.structure_prior}."
                )
            penalty += 2 * np.log((d - 1 - self.structure_prior) / self.structure_prior)
        return float(penalty)
