"""Oracles for the search with all scores: all DAGs of four nodes, the exact search, other engines, masks."""

from __future__ import annotations

import numpy as np
import pytest

from correlation_search import search_orders
from golem.data.moments import Moments
from golem.score import node_scores
from golem.score.node_scores import Counts, gaussian_blocks
from golem.score.solution import Status
from golem.score.sparsity import L0
from golem.search import order_kernel_arrays
from golem.search import search_order as entry
from golem.search.engines import records
from golem.search.engines.records import empty_memo, empty_values
from golem.search.free_order import find_exact
from golem.search.order_problem import OrderProblem
from golem.search.search_order import engine_of, search_order
from golem.simulate import simulate, simulate_table


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
        found = search_order(score, allowed=allowed, required=required)
        assert found.score == pytest.approx(lowest, abs=1e-6)
        assert found.score == pytest.approx(cost_of(score, found.graph), abs=1e-6)
        assert not (found.graph & ~allowed).any()
        assert found.graph[required].all()
    found = search_order(score)
    assert found.status is Status.EXACT
    assert found.score == pytest.approx(min(cost for _, cost in dags), abs=1e-6)


def test_single_columns_have_the_graph_of_the_exact_search_with_free_variances():
    moments = Moments.from_rows(simulate(8, 500, "ER2", "gaussian-nv", random_state=5).data)
    expected = find_exact(OrderProblem(moments, L0().penalties(500, 8)))[0]
    found = search_order(gaussian_blocks([moments.covariance], [500]))
    np.testing.assert_array_equal(found.graph, expected.graph)
    assert found.score == pytest.approx(expected.score + 500 * np.log(moments.variances).sum(), abs=1e-3)


def test_edges_are_sorted_and_point_forward_in_the_order():
    found = search_order(gaussian_score(7, seed=6))
    rank = np.argsort(found.order)
    assert np.all(rank[found.edges.causes] < rank[found.edges.children])
    assert np.array_equal(np.lexsort((found.edges.causes, found.edges.children)), np.arange(len(found.edges)))


def test_categories_with_more_combinations_than_rows_are_not_parents():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (30, 4))
    codes[:, 3] = codes[:, :3].sum(axis=1) % 4
    found = search_order(Counts(codes, np.full(4, 4), "bdeu", 50.0))
    assert found.graph.sum(axis=0).max() <= 2
    assert found.status is Status.SEARCHED


def test_contradictory_masks_are_refused():
    cycle = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    for masks in ({"required": cycle}, {"required": np.triu(cycle), "allowed": ~cycle}):
        with pytest.raises(ValueError, match="must be allowed and must not form a cycle"):
            search_order(SMALL["bdeu"], **masks)


MEDIUM = {
    "one column": gaussian_score(7, sparsity=L0("ebic")),
    "two columns": gaussian_score(7, columns_per_node=2, seed=1),
    "environments": environments_score(7, seed=2),
    "bdeu": counts_score(7, seed=3),
    "bic": counts_score(7, n=2000, seed=4, kind="bic"),
}


@pytest.mark.parametrize("score", MEDIUM.values(), ids=MEDIUM)
def test_the_search_over_orders_finds_the_exact_minimum(score, monkeypatch):
    rng = np.random.default_rng(1)
    masks = [{}]
    for _ in range(3):
        required = np.zeros((7, 7), dtype=bool)
        required[rng.permutation(7)[:2], rng.permutation(7)[:2]] = True
        required = np.triu(required, 1)
        masks.append({"allowed": required | (rng.random((7, 7)) < 0.7), "required": required})
    exact, hits = [search_order(score, **mask) for mask in masks], []
    monkeypatch.setattr(entry, "LARGEST_EXACT", 0)
    for mask, best in zip(masks, exact, strict=True):
        found = search_order(score, **mask)
        assert found.score >= best.score - 1e-6
        hits.append(found.score < best.score + 1e-2)
        np.testing.assert_allclose(
            found.costs, [score.cost(j, np.flatnonzero(found.graph[:, j]).tolist()) for j in range(7)], atol=1e-4
        )
        assert not np.any(found.graph & ~mask.get("allowed", True))
        assert np.all(found.graph[mask.get("required", np.zeros((7, 7), dtype=bool))])
        rank = np.argsort(found.order)
        assert np.all(rank[found.edges.causes] < rank[found.edges.children])
    assert hits[0]
    assert sum(hits) >= 3


@pytest.mark.parametrize("score", [gaussian_score(12, 3000, columns_per_node=10), counts_score(12, n=60_000)])
def test_a_slow_exact_search_is_not_begun(score, monkeypatch):
    monkeypatch.setattr(type(score), "cost_table", lambda *_: pytest.fail("the table of all costs was computed"))
    assert search_order(score).status in (Status.AGREED, Status.SEARCHED)


def test_an_exact_search_that_the_time_limit_allows_is_made():
    score = gaussian_score(8)
    assert search_order(score, time_limit=10.0).status is Status.EXACT
    assert search_order(score, time_limit=score.table_seconds / 2).status is Status.TIME_LIMIT


def test_single_columns_have_the_score_of_the_fast_search():
    for d, graph in ((20, "ER2"), (70, "ER1")):
        S = np.cov(simulate(d, 500, graph, "gaussian-nv", random_state=d).data.T, bias=True)
        expected = search_orders(S, 500, L0().penalties(500, d))
        found = search_order(gaussian_blocks([S], [500]))
        assert found.score == pytest.approx(expected.score + 500 * np.log(np.diagonal(S)).sum(), abs=1e-2)


def test_a_search_that_runs_out_of_room_for_records_finds_the_same(monkeypatch):
    score = gaussian_score(25, seed=5)
    expected, forgotten = search_order(score), []
    forget = records.SharedRecords.forget
    monkeypatch.setattr(records, "search_memo", lambda engine: empty_memo(1 << 11, 1 << 17, empty_values(1)))
    monkeypatch.setattr(records.SharedRecords, "forget", lambda made: (forgotten.append(made), forget(made)))
    assert search_order(score).score == pytest.approx(expected.score, abs=1e-2)
    assert forgotten


def test_the_search_finds_the_lowest_score_that_is_known():
    drawn = simulate_table(20, 1000, "ER2", "discrete", random_state=9)
    found = search_order(Counts(drawn.rows.astype(np.int64), drawn.coding.levels, "bdeu", sparsity=L0("bic")))
    assert found.score < 29180.42  # of many searches with other seeds; most local optima are above 29200


def test_the_same_seed_gives_the_same_graph_and_a_start_is_used():
    score = gaussian_score(20, seed=7)
    first, again = search_order(score), search_order(score)
    np.testing.assert_array_equal(first.graph, again.graph)
    for start in (first.order, first.graph):
        assert search_order(score, starts=[start], effort="fast").score <= first.score + 1e-2


def test_starts_that_break_the_rules_are_adapted():
    score = gaussian_score(15, n=20, seed=9)
    full, required = np.triu(np.ones((15, 15), dtype=bool), 1), np.eye(15, k=-4, dtype=bool)
    for start in (full, np.arange(15)):
        found = search_order(
            score, starts=[start, "r2", "random"], required=required, allowed=~np.eye(15, k=1, dtype=bool)
        )
        assert found.graph[required].all()
        assert not found.graph[np.eye(15, k=1, dtype=bool)].any()
        assert found.graph.sum(axis=0).max() <= 9


def test_a_time_limit_and_an_interrupt_return_a_graph():
    score = gaussian_score(30, seed=8)
    found = search_order(score, time_limit=0.0)
    assert found.status is Status.TIME_LIMIT
    assert np.isfinite(found.score)

    def interrupt(progress):
        if np.isfinite(progress.score):
            raise KeyboardInterrupt

    # Progress is reported a few times per second, so the search has to take longer.
    score = gaussian_score(60, seed=8)
    found = search_order(score, effort="thorough", on_progress=interrupt)
    assert found.status is Status.INTERRUPTED
    assert found.score == pytest.approx(cost_of(score, found.graph), abs=1e-3)


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
@pytest.mark.parametrize("n", [90, 5000])
def test_counts_of_small_and_large_tables_give_the_costs_of_the_score(n, kind):
    d, rng = 13, np.random.default_rng(5)
    score = counts_score(d, n=n, seed=6, kind=kind)
    engine = engine_of(score, None, None)
    numbers = set()
    for j in range(d):
        first = rng.choice(np.delete(np.arange(d), j), size=j % 4, replace=False)
        position = np.where(np.isin(np.arange(d), [j, *first]), 0, 2)  # the first parents can only be removed
        position[j] = 1
        parents, cost, _ = engine.choose(j, first, position)
        numbers.add(len(parents))
        assert cost == pytest.approx(score.cost(j, parents.tolist()), abs=1e-6)
        everyone = np.full(d, -1)
        everyone[j] = 0
        parents, cost, _ = engine.choose(j, first[:0], everyone)
        assert cost == pytest.approx(score.cost(j, parents.tolist()), abs=1e-6)
    assert len(numbers) > 1


def test_kernels_and_scores_agree_when_a_column_is_determined_by_others():
    assert order_kernel_arrays.COLLINEAR == node_scores.COLLINEAR


def test_many_nodes_of_which_the_last_has_no_columns():
    """A category that has one level in a half of the rows has no columns there, and no edges."""
    X = simulate(70, 200, "ER2", random_state=2).data
    found = search_order(gaussian_blocks([np.cov(X.T)], [200], first=np.append(np.arange(71), 70)), effort="fast")
    assert len(found.edges) > 70
    assert 70 not in np.append(found.edges.causes, found.edges.children)
