"""Oracles for the search with local scores: all DAGs of four nodes, the fast search, masks."""

from __future__ import annotations

import numpy as np
import pytest

from golem.data.moments import Moments
from golem.score.sparsity import L0
from golem.simulate import simulate
from golem.solvers.order.free_order import OrderProblem, find_exact
from golem.solvers.order.local_scores import Counts, gaussian_blocks
from golem.solvers.order.local_search import search_local
from golem.solvers.solution import Status


def gaussian_score(d, n=300, seed=0, columns_per_node=1, **options):
    rows = simulate(d * columns_per_node, n, "ER2", "gaussian-nv", random_state=seed).data
    first = np.arange(d + 1) * columns_per_node
    return gaussian_blocks([np.cov(rows.T, bias=True)], [n], first=first, **options)


def environments_score(d, seed=0):
    """Node j uses the pooled matrix without environment j, and its own matrix if j is odd."""
    matrices = [np.cov(simulate(d, 100, "ER2", "gaussian-nv", random_state=seed + e).data.T) for e in range(d)]
    pooled = [np.mean(matrices[:e] + matrices[e + 1 :], axis=0) for e in range(d)]
    rows = np.repeat([100.0, 100.0 * (d - 1)], d)
    terms = [(d + j, j) if j % 2 else (d + j,) for j in range(d)]
    return gaussian_blocks([*matrices, *pooled], rows, terms=terms)


def counts_score(d, n=300, seed=0, kind="bdeu"):
    latent = simulate(d, n, "ER1", "gaussian-nv", random_state=seed).data
    levels = 2 + np.arange(d) % 3
    codes = [np.searchsorted(np.quantile(x, np.arange(1, k) / k), x) for x, k in zip(latent.T, levels, strict=True)]
    return Counts(np.stack(codes, axis=1), levels, kind)


def cost_of(score, graph):
    return sum(score.cost(j, np.flatnonzero(graph[:, j]).tolist()) for j in range(len(graph)))


SMALL = {
    "one column": gaussian_score(4, sparsity=L0("bic")),
    "two columns": gaussian_score(4, columns_per_node=2, seed=1),
    "environments": environments_score(4, seed=2),
    "bdeu": counts_score(4, seed=3),
    "bic": counts_score(4, seed=4, kind="bic"),
}


@pytest.mark.parametrize("score", SMALL.values(), ids=SMALL)
def test_no_dag_of_four_nodes_has_a_lower_score(score, all_dags):
    rng = np.random.default_rng(0)
    dags = [(dag, cost_of(score, dag)) for dag in all_dags(4)]
    for _ in range(4):
        required = np.zeros((4, 4), dtype=bool)
        required[tuple(rng.permutation(4)[:2])] = True
        allowed = required | (rng.random((4, 4)) < 0.7)
        lowest = min(cost for dag, cost in dags if not (dag & ~allowed).any() and not (required & ~dag).any())
        found = search_local(score, allowed=allowed, required=required)
        assert found.score == pytest.approx(lowest, abs=1e-6)
        assert found.score == pytest.approx(cost_of(score, found.graph), abs=1e-6)
        assert not (found.graph & ~allowed).any()
        assert found.graph[required].all()
    found = search_local(score)
    assert found.status is Status.EXACT
    assert found.score == pytest.approx(min(cost for _, cost in dags), abs=1e-6)


def test_single_columns_have_the_graph_of_the_exact_search_with_free_variances():
    moments = Moments.from_rows(simulate(8, 500, "ER2", "gaussian-nv", random_state=5).data)
    expected = find_exact(OrderProblem(moments, L0().penalties(500, 8)))[0]
    found = search_local(gaussian_blocks([moments.covariance], [500]))
    np.testing.assert_array_equal(found.graph, expected.graph)
    assert found.score == pytest.approx(expected.score + 500 * np.log(moments.variances).sum(), abs=1e-3)


def test_edges_are_sorted_and_point_forward_in_the_order():
    found = search_local(gaussian_score(7, seed=6))
    rank = np.argsort(found.order)
    assert np.all(rank[found.causes] < rank[found.children])
    assert np.array_equal(np.lexsort((found.causes, found.children)), np.arange(len(found.causes)))


def test_categories_with_more_combinations_than_rows_are_not_parents():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (30, 4))
    codes[:, 3] = codes[:, :3].sum(axis=1) % 4
    found = search_local(Counts(codes, np.full(4, 4), "bdeu", 50.0))
    assert found.graph.sum(axis=0).max() <= 2
    assert found.status is Status.SEARCHED


def test_contradictory_masks_are_refused():
    cycle = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    for masks in ({"required": cycle}, {"required": np.triu(cycle), "allowed": ~cycle}):
        with pytest.raises(ValueError, match="must be allowed and must not form a cycle"):
            search_local(SMALL["bdeu"], **masks)
