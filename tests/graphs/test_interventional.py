"""The interventional class against brute force over all DAGs of 4 nodes, by scores and by its definition in words."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.graphs.interventional import deciding_sets, interventional_reversible

D = 4
SUBSETS = [frozenset(chosen) for size in range(D) for chosen in itertools.combinations(range(D), size)]
OBSERVATIONAL = [[()], [(), (0,)], [(), (0, 1, 2), (1, 2, 3)]]
EXPERIMENTAL = [[(0,), (1,)], [(0,), (0,), (1,)], [(0, 1), (2, 3)], [(0, 1), (1, 2), (2, 3)], [(0, 1, 2), (3,), (0, 3)]]


@cache
def all_dags():
    pairs = list(itertools.combinations(range(D), 2))
    found = []
    for state in itertools.product((0, 1, 2), repeat=len(pairs)):
        matrix = np.zeros((D, D), dtype=bool)
        for (i, j), kind in zip(pairs, state, strict=True):
            matrix[i, j], matrix[j, i] = kind == 1, kind == 2
        if is_dag(matrix):
            found.append(matrix)
    return np.array(found)


def draw_covariances(dags, targets, intervention, rng):
    """One generic covariance per DAG and environment: only the mechanisms of targets differ between environments."""
    shape = (len(dags), D, D)
    base, variances = rng.uniform(0.5, 1.5, shape), rng.uniform(0.5, 2.0, shape[:2])
    found = []
    for chosen in targets:
        B, omega = base * dags, variances.copy()
        for j in chosen:
            B[:, :, j] = rng.uniform(0.5, 1.5, shape[:2]) * dags[:, :, j] if intervention == "soft" else 0
            omega[:, j] = rng.uniform(0.5, 2.0, len(dags))
        A = np.linalg.inv(np.eye(D) - B)
        found.append(np.swapaxes(A, 1, 2) @ (omega[:, :, None] * A))
    return np.array(found)


def local_scores(S, targets, intervention):
    """Scores of node j with parents P on each family of covariances: sums of n log(residual variance)."""
    scores = {}
    for j in range(D):
        free = [e for e, chosen in enumerate(targets) if j not in chosen]
        terms = [(len(free), S[free].mean(axis=0))]
        terms += [(1, S[e]) for e in range(len(targets)) if e not in free and intervention == "soft"]
        for P in SUBSETS:
            if j not in P:
                p = sorted(P)
                ratio = [
                    np.linalg.det(T[:, [*p, j]][:, :, [*p, j]]) / np.linalg.det(T[:, p][:, :, p]) for _, T in terms
                ]
                scores[j, P] = sum(n * np.log(r) for (n, _), r in zip(terms, ratio, strict=True))
    return scores


def equivalent_by_scores(targets, intervention):
    """Two DAGs are equivalent if each fits the distributions of the other as well as the other does."""
    dags = all_dags()
    S = draw_covariances(dags, targets, intervention, np.random.default_rng(0))
    scores = local_scores(S, targets, intervention)
    parents = [[frozenset(np.flatnonzero(dag[:, j]).tolist()) for j in range(D)] for dag in dags]
    total = np.array([sum(scores[j, P[j]] for j in range(D)) for P in parents])  # [candidate, generating graph]
    fits = total <= np.diagonal(total) + 1e-11
    return fits & fits.T


def equivalent_by_definition(targets, intervention):
    """Tell the same by the characterisations of the two papers."""
    dags = all_dags()
    keys = []
    sets = [frozenset(chosen) for chosen in targets]
    if intervention == "soft":  # the unions of pairs of environments (Yang et al. 2018, theorem 3.14)
        sets = [a | b for a, b in itertools.combinations(sets, 2)]
    for dag in dags:
        decided = [(i, j) for i, j in np.argwhere(dag).tolist() if any((i in T) != (j in T) for T in sets)]
        keys.append((cpdag(dag).tobytes(), tuple(decided)))
    return np.array([[a == b for b in keys] for a in keys])


@pytest.mark.parametrize("intervention", ["soft", "hard"])
@pytest.mark.parametrize("targets", [*OBSERVATIONAL, *EXPERIMENTAL], ids=str)
def test_the_class_is_that_of_brute_force(targets, intervention):
    dags, same = all_dags(), equivalent_by_scores(targets, intervention)
    assert (same == equivalent_by_definition(targets, intervention)).all()
    for dag, members in zip(dags, same, strict=True):
        edges = Edges.from_matrix(dag)
        directed = dags[members].all(axis=0)[edges.causes, edges.children]
        assert (interventional_reversible(edges, targets, intervention) == ~directed).all()


@pytest.mark.parametrize("targets", OBSERVATIONAL, ids=str)
def test_hard_and_soft_agree_with_an_observational_environment(targets):
    for dag in all_dags()[::7]:
        edges = Edges.from_matrix(dag)
        hard, soft = (interventional_reversible(edges, targets, kind) for kind in ("hard", "soft"))
        assert (hard == soft).all()


def test_a_node_that_is_always_a_target_is_refused():
    with pytest.raises(ValueError, match="Node 2 is a target in every environment"):
        deciding_sets([(0, 2), (2,)], 3, "hard")
    with pytest.raises(ValueError, match="from 0 to 2; got 3"):
        deciding_sets([(), (3,)], 3, "soft")
