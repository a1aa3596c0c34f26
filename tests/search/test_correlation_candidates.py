"""Candidates of the order search: lists that refer to each other, and answers that do not depend on threads."""

from __future__ import annotations

import numpy as np
import pytest

from correlation_search import search_orders
from golem.graphs.edges import Edges
from golem.score.gaussian_columns import GaussianColumns
from golem.score.sparsity import L0
from golem.search import order_kernel_arrays as kernels
from golem.search import order_search
from golem.search.engines import correlation_candidates as candidates
from golem.search.engines.correlation_candidates import candidate_lists
from golem.search.search_order import engine_of
from golem.simulate import simulate


@pytest.mark.parametrize("d", [5, 70])
def test_lists_contain_the_connected_nodes_and_their_correlations(d):
    rng = np.random.default_rng(0)
    S = np.corrcoef(rng.normal(size=(d, 2 * d)))
    connected = rng.random((d, d)) < 0.05
    connected[3] = True  # a hub, which sees all nodes
    lists = candidate_lists(S, connected, connected, None)
    for j in range(d):
        row = slice(lists.first[j], lists.first[j + 1])
        nodes, back = lists.slots[kernels.NODE, row], lists.slots[kernels.BACK, row]
        m = len(nodes)
        assert set(np.flatnonzero(connected[j] | connected[:, j])) - {j} <= set(nodes)
        np.testing.assert_array_equal(lists.slots[kernels.NODE, lists.first[nodes] + back], j)
        block = lists.blocks[lists.corner[j] : lists.corner[j] + m * m].reshape(m, m)
        np.testing.assert_array_equal(block, S[np.ix_(nodes, nodes)])


def test_lists_made_from_earlier_ones_are_the_same_as_new_ones():
    rng = np.random.default_rng(1)
    d = 70
    S = np.corrcoef(rng.normal(size=(d, 2 * d)))
    connected = rng.random((d, d)) < 0.03
    before = candidate_lists(S, connected, connected, None)
    for hub in (False, True):
        connected[5, 9] = connected[40, 60] = True
        connected[12] |= hub
        found, expected = (candidate_lists(S, connected, connected, None, given) for given in (before, None))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        before = found


def test_hubs_do_not_make_all_nodes_candidates(monkeypatch):
    d = 300
    S, connected = np.eye(d), np.eye(d, k=1, dtype=bool)
    connected[:3, :200] = True
    lists = candidate_lists(S, connected, connected, None)
    assert np.median(np.diff(lists.first)) == 5
    # Where the memory is bounded, some hubs share one matrix.
    monkeypatch.setattr(candidates, "_MOST_NUMBERS", 1.0)
    monkeypatch.setattr(candidates, "_FEW_NUMBERS", 0.0)
    lists = candidate_lists(S, connected, connected, None)
    assert (np.diff(lists.first) == d).sum() in (1, 2, 3)
    assert len(lists.blocks) <= 2 * d**2


@pytest.mark.parametrize("ridge", [1e-12, 0.1])
def test_inverses_are_symmetric_and_accurate(ridge):
    R = np.corrcoef(np.random.default_rng(2).normal(size=(300, 600)))
    inverse = candidates._inverse(R, ridge)
    np.testing.assert_allclose(inverse @ (R + ridge * np.eye(300)), np.eye(300), atol=1e-9)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_the_number_of_threads_does_not_change_the_answer(monkeypatch):
    n, d = 300, 100
    S = np.cov(simulate(d, n, "ER2", "gaussian-nv", random_state=0).data.T, bias=True)
    found = []
    for cores in (1, 3):
        for module in (candidates, order_search):
            monkeypatch.setattr(module, "available_cores", lambda cores=cores: cores)
        found.append(search_orders(S, n, L0().penalties(n, d)))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    np.testing.assert_array_equal(found[0].order, found[1].order)
    assert found[0].perturbations == found[1].perturbations


def test_residual_variances_are_accurate_near_collinearity():
    # With all nodes as a start, dozens of nearly collinear parents are added and dropped.
    drawn = simulate(50, 1000, "ER10", "gaussian-nv", random_state=1, standardize=True)
    score = GaussianColumns(np.cov(drawn.data.T, bias=True), 1000, L0().penalties(1000, 50))
    children, causes = np.nonzero(~np.eye(50, dtype=bool))
    chosen, r = candidates.choose_parents(engine_of(score, None, None).problem, Edges(causes, children, 50), False)
    Z = drawn.data - drawn.data.mean(axis=0)
    Z /= Z.std(axis=0)
    for j in range(50):
        parents = Z[:, chosen.causes[chosen.children == j]]
        residual = Z[:, j] - parents @ np.linalg.lstsq(parents, Z[:, j], rcond=None)[0]
        np.testing.assert_allclose(r[j], np.mean(residual**2), rtol=1e-3)


def test_no_other_parent_in_the_place_of_a_chosen_one_lowers_the_cost():
    n, d = 100, 14
    rng = np.random.default_rng(4)
    S = np.corrcoef(rng.normal(size=(d, 3)) @ rng.normal(size=(3, n)) + rng.normal(size=(d, n)))  # three factors
    score = GaussianColumns(S, n, L0().penalties(n, d))
    empty = Edges.from_matrix(np.zeros((d, d), dtype=bool))
    chosen, r = candidates.choose_parents(engine_of(score, None, None).problem, empty, False)
    for j in range(d):
        parents = chosen.causes[chosen.children == j].tolist()
        for dropped in parents:
            for added in set(range(d)) - {j, *parents}:
                others = [added, *(p for p in parents if p != dropped)]
                swapped = 1 - S[j, others] @ np.linalg.solve(S[np.ix_(others, others)], S[others, j])
                assert swapped > r[j] - 1e-6
