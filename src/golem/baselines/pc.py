"""PC: a skeleton from tests of partial correlations, then colliders and Meek's rules; conservative by default."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from golem.baselines.base import Baseline
from golem.baselines.pc_search import FisherZ, decide_triples, direct_edges, find_separators, find_skeleton
from golem.data.checks import DataWarning
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.graphs.pdag import bits_to_columns
from golem.runtime.types import Matrix
from golem.runtime.user_warnings import warn_user
from golem.score.objective import graph_bic


@dataclass(eq=False, repr=False)
class PC(Baseline):
    """Learn a Markov equivalence class by tests of conditional independence (Spirtes and Glymour 1991).

    Two columns are joined unless a test accepts that their partial correlation given some set of neighbours of one of
    them is zero. A triple x - y - z with x and z not joined is a collider x -> y <- z if the sets that separate x and z
    do not contain y. Meek's rules then direct the edges that follow. By default a triple is decided only if all sets of
    neighbours of x or of z that separate them agree about y (Ramsey, Spirtes and Zhang 2006, as in the paper);
    otherwise it is ambiguous, and no rule uses it. The result does not depend on the order of the columns.

    On finite samples the tests can contradict each other. An edge that is claimed in both directions, or that would
    close a directed cycle, stays undirected and is listed in `conflicts_`. If no DAG has all the arrows found and no
    further colliders (except at ambiguous triples and edges in conflict), there is a warning and neither `adjacency_`
    nor `bic_`; `cpdag_` is then the result of the tests, but not an equivalence class.

    Parameters
    ----------
    alpha : float
        Level of each test, between 0 and 1: columns count as independent if the p-value is above it. Smaller values
        give fewer edges.
    conservative : bool
        Whether all separating sets of neighbours decide a triple. If False, a triple is a collider unless its middle is
        in a separating set of the size that removed the edge.
    max_conditioning : int, optional
        Largest conditioning set; by default limited only by the neighbours and the rows. The number of tests grows
        exponentially with it if nodes have many neighbours.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges. Pairs that are forbidden in both directions are not joined, required edges are not
        tested, and both direct edges before the tests do.

    Attributes
    ----------
    cpdag_ : ndarray of shape (d, d), bool
        The graph found; an edge in both directions is undirected.
    adjacency_ : ndarray of shape (d, d), bool
        An arbitrary DAG with these arrows; missing if there is none.
    bic_ : float
        BIC of `adjacency_`, -2 log-likelihood + (edges + noise variances + intercepts) log n.
    ambiguous_ : ndarray of shape (m, 3), int
        Ambiguous triples (end, middle, end).
    conflicts_ : ndarray of shape (m, 2), int
        Edges in conflict.
    n_tests_ : int
        Number of tests.
    moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.

    Examples
    --------
    >>> from golem.metrics import shd_c
    >>> from golem.simulate import simulate
    >>> drawn = simulate(6, n=2000, graph="ER1", random_state=3)
    >>> model = PC().fit(drawn.data)
    >>> shd_c(drawn.sem.adjacency, model.adjacency_)
    0.0
    """

    alpha: float = 0.01
    _: KW_ONLY
    conservative: bool = True
    max_conditioning: int | None = None

    def _check_parameters(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha, the level of a test, must be between 0 and 1; got {self.alpha}.")
        if self.max_conditioning is not None and not self.max_conditioning >= 0:
            raise ValueError(f"max_conditioning must be at least 0; got {self.max_conditioning}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        n = moments.n
        if n < 4:
            raise ValueError(f"PC needs at least 4 rows to test a correlation; got {n}.")
        most = min(moments.d - 2 if self.max_conditioning is None else self.max_conditioning, n - 4)
        test = FisherZ(moments.standardized().covariance, n, self.alpha, moments.names)
        adjacent, separators = find_skeleton(test, knowledge, most)
        if most == n - 4 and adjacent.sum(axis=0).max() > most + 1 and most != self.max_conditioning:
            warn_user(
                f"n = {n} rows allow tests given at most {most} columns, but some columns have more neighbours: expect "
                "false edges. Use more rows, a smaller alpha or a smaller max_conditioning.",
                DataWarning,
            )
        if self.conservative:
            separators = find_separators(test, adjacent, most)
        colliders, ambiguous = decide_triples(adjacent, separators, conservative=self.conservative)
        graph, parents = direct_edges(adjacent, colliders, ambiguous, knowledge)
        self.n_tests_ = test.count
        self.ambiguous_ = np.array(sorted(ambiguous), dtype=np.intp).reshape(-1, 3)
        self.conflicts_ = np.array(graph.conflicts(), dtype=np.intp).reshape(-1, 2)
        self._set_class(graph.matrix(), None if parents is None else bits_to_columns(parents))
        if parents is None:
            warn_user(
                "the tests contradict each other: no directed acyclic graph has all the arrows found and no further "
                "colliders. There is no adjacency_, and cpdag_ is the result of the tests. Try another alpha.",
                DataWarning,
            )
        else:
            self.bic_ = graph_bic(self.adjacency_, moments.covariance, n)
