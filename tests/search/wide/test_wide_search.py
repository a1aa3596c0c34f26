"""The search over very many columns against brute force, and against the search with a covariance."""

from __future__ import annotations

import numpy as np
import pytest

from golem.data.normal_scores import normal_scores, scores_of_columns
from golem.data.variables import Coding
from golem.data.wide_columns import WideMoments, read_wide
from golem.graphs.edges import Edges
from golem.score.gaussian_columns import GaussianColumns
from golem.score.sparsity import L0
from golem.search.order_kernel_arrays import POSITION
from golem.search.search_order import search_order
from golem.search.wide import column_kernels, screening
from golem.search.wide.candidates import find_candidates, simple_problem
from golem.search.wide.search import WideLists, WideSearch
from golem.search.wide.solve import WideEffort, class_directions, learn_wide
from golem.simulate import simulate


def columns(d: int, n: int, seed: int, graph: str = "ER1") -> np.ndarray:
    """Return the standardized columns of a random graph, in rows."""
    X = simulate(d, n, graph, random_state=seed).data.T
    X = X - X.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(X / X.std(axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def search() -> WideSearch:
    """Return a search of 80 columns that has ended."""
    Z = columns(80, 300, 3)
    penalty = float(np.log(300) + 2 * np.log(80))
    found = find_candidates(Z, [str(j) for j in range(80)], penalty, 149, "cpu", lambda stage, share: None)
    lists = WideLists.of(found.one, found.other, found.likely, 80)
    search = WideSearch(Z, np.arange(300), lists, simple_problem(300, 80, penalty, 149))
    search.begin(np.argsort(found.explained))
    search.climb()
    search.perturb(np.arange(80), 4)
    return search


def moments_of(X: np.ndarray) -> WideMoments:
    """Return a table as standardized columns."""
    moments = read_wide(X, [f"x{j}" for j in range(X.shape[1])], False).parts[0].moments
    assert isinstance(moments, WideMoments)
    return moments


def test_screening_finds_all_large_correlations_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "_CPU_BLOCK", (16, 40))  # several blocks
    Z = columns(100, 200, 0)
    found = screening.screen(Z, Z, 0.15, "cpu")
    R = np.corrcoef(Z.astype(float))
    expected = {(i, j) for i, j in np.argwhere(np.triu(np.abs(R) > 0.15, 1)).tolist()}
    assert sorted(zip(found.one.tolist(), found.other.tolist(), strict=True)) == sorted(expected)
    assert np.allclose(found.r, R[found.one, found.other], atol=1e-6)


def test_screening_of_dense_tables_keeps_the_strongest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "MOST_PER_NODE", 3)
    monkeypatch.setattr(screening, "_CPU_BLOCK", (16, 40))
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 200)) + 2 * rng.normal(size=200)
    Z = ((Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True)).astype(np.float32)
    found = screening.screen(Z, Z, 0.1, "cpu")
    R = np.abs(np.corrcoef(Z.astype(float))) - np.eye(60)
    pairs = set(zip(found.one.tolist(), found.other.tolist(), strict=True))
    for j in range(60):
        for i in np.argsort(-R[j])[:3].tolist():
            assert (min(i, j), max(i, j)) in pairs


def test_correlations_of_some_rows_are_those_of_numpy() -> None:
    Z, rows = columns(6, 203, 1), np.arange(0, 203, 2)
    ids, R = np.arange(6), np.zeros((6, 6))
    lists = WideLists.of(*np.triu_indices(6, 1), np.ones(15, dtype=bool), 6)
    search = WideSearch(Z, rows, lists, simple_problem(len(rows), 6, 5.0, 5))
    R[np.repeat(ids, 5), lists.others] = search.candidates.targets
    expected = np.corrcoef(Z[:, rows].astype(float))
    assert np.allclose(R + np.eye(6), expected, atol=1e-12)
    block = search.candidates.blocks[search.candidates.corner[2] :][:25].reshape(5, 5)
    others = np.delete(ids, 2)
    assert np.allclose(block, expected[np.ix_(others, others)], atol=1e-12)


def test_costs_are_those_of_least_squares(search: WideSearch) -> None:
    edges, n = search.edges, 300
    Z = columns(80, 300, 3).astype(float)
    for j in range(80):
        parents = Z[edges.causes[edges.children == j]]
        rest = Z[j] - np.linalg.lstsq(parents.T, Z[j], rcond=None)[0] @ parents if len(parents) else Z[j]
        expected = n * np.log(np.mean(rest**2)) + search.edge_penalty * len(parents)
        assert search.shared.values[0, j] == pytest.approx(expected, abs=1e-3)


def test_edges_point_forward_in_the_order(search: WideSearch) -> None:
    place = search.shared.nodes[POSITION]
    assert np.all(place[search.edges.causes] < place[search.edges.children])
    assert len(np.unique(place)) == 80


@pytest.mark.parametrize(("n", "graph"), [(300, "ER1"), (300, "ER2"), (1000, "ER2")])
def test_score_is_as_good_as_with_a_covariance(n: int, graph: str) -> None:
    X = simulate(90, n, graph, random_state=1).data
    found = learn_wide(moments_of(X), L0(), WideEffort())
    dense = search_order(GaussianColumns(np.corrcoef(X.T), n, L0().penalties(n, 90)), effort="default")
    assert found.costs.sum() <= dense.score + 1e-3 * abs(dense.score)


def test_normal_scores_of_columns_are_those_of_a_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[:, 2], X[3, 4] = rng.exponential(size=400), 40.0
    expected = normal_scores(X[:, :3], Coding.numeric(["a", "b", "c"]))
    assert np.allclose(scores_of_columns(X.T[:3].copy(), 3), expected.T)
    assert abs(scores_of_columns(X.T.copy(), 6)[4, 3]) < 4


def test_labels_of_edges_are_those_of_the_class() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        adjacency = np.triu(rng.random((9, 9)) < 0.35, 1)
        order = rng.permutation(9)
        adjacency = adjacency[np.ix_(order, order)]
        edges = Edges.from_matrix(adjacency).by_child()
        assert np.array_equal(class_directions(edges), ~edges.find_reversible())


def test_reversal_of_a_collider_costs_one_edge() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(3, 2000))
    Z[2] += Z[0] + Z[1]
    Z = ((Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True)).astype(np.float32)
    lists = WideLists.of(*np.triu_indices(3, 1), np.ones(3, dtype=bool), 3)
    search = WideSearch(Z, np.arange(2000), lists, simple_problem(2000, 3, 9.0, 2))
    search.begin(np.arange(3))
    search.climb()
    assert set(search.edges.pairs()) == {(0, 2), (1, 2)}
    (loss,) = search.reversal_losses(np.array([0]), np.array([2]))
    gain = 2000 * np.log1p(-(np.mean(Z[0] * Z[1]) ** 2))  # of the edge between the causes
    assert loss == pytest.approx(9.0 + gain, abs=0.1)
    assert set(search.edges.pairs()) == {(0, 2), (1, 2)}  # searches with the reverse leave no trace


def test_candidates_include_parents_whose_effects_cancel() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 2000))
    Z[1] += Z[0]
    Z[2] += Z[1] - Z[0]  # no correlation of 0 and 2
    Z = ((Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True)).astype(np.float32)
    assert abs(np.mean(Z[0] * Z[2])) < 0.1
    found = find_candidates(Z, [str(j) for j in range(40)], 15.0, 100, "cpu", lambda stage, share: None)
    assert (0, 2) in set(zip(found.one[found.likely].tolist(), found.other[found.likely].tolist(), strict=True))


def test_inner_products_of_any_length() -> None:
    Z, one = columns(4, 21, 0), np.array([0, 1, 2])
    r = np.zeros(3)
    column_kernels.correlate_pairs(Z, Z, one, one + 1, r)
    assert np.allclose(r, [np.mean(Z[i].astype(float) * Z[i + 1]) for i in one])
