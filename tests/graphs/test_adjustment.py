"""Adjustment sets against regressions on population covariances, and their definitions on all small DAGs."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from golem.graphs.dag import adjustment_set
from golem.simulate import random_sem


def regression_on(S, effect, columns):
    return np.linalg.solve(S[np.ix_(columns, columns)], S[columns, effect])[0]


def asymptotic_variance(S, cause, effect, others):
    """Variance of the coefficient of the cause, times n: residual variance of effect over that of cause."""

    def residual(j, on):
        return S[j, j] - S[j, on] @ np.linalg.solve(S[np.ix_(on, on)], S[on, j]) if on else S[j, j]

    return residual(effect, [cause, *others]) / residual(cause, others)


@pytest.mark.parametrize("seed", range(12))
def test_regressions_on_the_sets_give_the_total_effects(seed):
    sem = random_sem(9, "ER2", "gaussian-nv", random_state=seed)
    S, effects = sem.covariance, np.linalg.inv(np.eye(9) - sem.weights)
    graph = nx.from_numpy_array(sem.adjacency, create_using=nx.DiGraph)
    pairs = [(i, j) for i, j in itertools.permutations(range(9), 2) if j in nx.descendants(graph, i)]
    assert pairs
    for i, j in pairs:
        variances = {}
        for kind in ("optimal", "minimal", "parents"):
            chosen = adjustment_set(sem.adjacency, i, j, kind)
            assert regression_on(S, j, [i, *chosen]) == pytest.approx(effects[i, j], rel=1e-6, abs=1e-6)
            variances[kind] = asymptotic_variance(S, i, j, chosen)
        # Henckel et al.: no valid set has a smaller variance than the optimal one.
        assert variances["optimal"] <= min(variances.values()) * (1 + 1e-9)


def test_no_valid_set_beats_the_optimal_one_and_no_subset_of_the_minimal_one_is_valid():
    for seed in range(4):
        sem = random_sem(6, "ER2", "gaussian-nv", random_state=seed)
        S, effects = sem.covariance, np.linalg.inv(np.eye(6) - sem.weights)
        graph = nx.from_numpy_array(sem.adjacency, create_using=nx.DiGraph)
        for i, j in itertools.permutations(range(6), 2):
            if j not in nx.descendants(graph, i):
                continue
            rest = [k for k in range(6) if k not in (i, j)]
            subsets = [list(s) for size in range(5) for s in itertools.combinations(rest, size)]
            valid = [
                s
                for s in subsets
                if abs(regression_on(S, j, [i, *s]) - effects[i, j]) < 1e-9 * (1 + abs(effects[i, j]))
            ]
            best = asymptotic_variance(S, i, j, adjustment_set(sem.adjacency, i, j))
            assert best <= min(asymptotic_variance(S, i, j, s) for s in valid) * (1 + 1e-9)
            minimal = set(adjustment_set(sem.adjacency, i, j, "minimal"))
            assert not any(set(s) < minimal for s in valid)


def test_minimal_sets_block_every_back_door(all_dags):
    """On every DAG of 4 nodes, by networkx's d-separation in the graph without the cause's causal edges."""
    for adjacency in all_dags(4):
        graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
        for i, j in itertools.permutations(range(4), 2):
            if j not in nx.descendants(graph, i):
                continue
            chosen = adjustment_set(adjacency, i, j, "minimal")
            cut = graph.copy()
            cut.remove_edges_from([(i, k) for k in graph.successors(i) if k == j or j in nx.descendants(graph, k)])
            assert nx.is_d_separator(cut, {i}, {j}, set(chosen))
            for node in chosen:
                assert not nx.is_d_separator(cut, {i}, {j}, set(chosen) - {node})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1, 0), "No directed path"), ((0, 0), "same variable"), ((0, 1, "smallest"), "kind must be one of")],
)
def test_what_has_no_set_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        adjustment_set(np.array([[False, True], [False, False]]), *arguments)
