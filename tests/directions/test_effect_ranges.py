"""Ranges of total effects: against all members of the class, and against all graphs that unclaimed colliders allow."""

import numpy as np
import pytest

from golem.directions.effect_ranges import EffectRanges, implied_covariance, open_signs
from golem.directions.equivalence_class import open_after
from golem.graphs.edges import Edges
from golem.model.linear_sem import LinearSEM, total_effects
from golem.score.regression import regress_edges


def drawn_model(adjacency, rng):
    """Return a model with random weights and noise variances."""
    d = len(adjacency)
    return LinearSEM(adjacency * rng.uniform(0.5, 1.5, (d, d)) * rng.choice([-1, 1], (d, d)), rng.uniform(0.5, 2, d))


def effects_of(graph, covariance):
    """Return the total effects in a graph with least-squares weights."""
    edges = Edges.from_matrix(graph).by_child()
    return total_effects(edges.matrix(regress_edges(edges.children, edges.causes, covariance).weights))


def test_the_range_is_that_over_all_members_that_agree_with_the_claims(all_dags, members_of):
    rng = np.random.default_rng(0)
    graphs = [dag for dag in all_dags(4) if dag.sum() >= 3]
    for k in rng.permutation(len(graphs))[:150]:
        sem = drawn_model(graphs[k], rng)
        edges = Edges.from_matrix(graphs[k])
        claimed = rng.random(len(edges)) < 0.25
        links = open_after(edges, edges.find_reversible(), claimed)
        agreeing = [dag for dag in members_of(graphs[k]) if dag[edges.causes[claimed], edges.children[claimed]].all()]
        effects = np.array([effects_of(dag, sem.covariance) for dag in agreeing])
        ranges = EffectRanges(edges, links, sem.covariance)
        for i, j in zip(*np.nonzero(~np.eye(4, dtype=bool)), strict=True):
            low, high = ranges.of(i, j)
            expected = effects[:, i, j].min(), effects[:, i, j].max()
            np.testing.assert_allclose((low.item(), high.item()), expected, atol=1e-9)
            assert np.abs(expected).max() < 1e-9 or i in ranges.reaching(j)


def test_a_sign_is_open_if_members_that_agree_with_the_claims_differ(all_dags, members_of):
    rng, open_ones = np.random.default_rng(2), 0
    graphs = [dag for dag in all_dags(4) if dag.sum() >= 3]
    for k in rng.permutation(len(graphs))[:150]:
        sem = drawn_model(graphs[k], rng)
        edges = Edges.from_matrix(graphs[k]).by_child()
        claimed = rng.random(len(edges)) < 0.25
        links = open_after(edges, edges.find_reversible(), claimed)
        weights = []
        for dag in members_of(graphs[k]):
            if dag[edges.causes[claimed], edges.children[claimed]].all():
                own = Edges.from_matrix(dag).by_child()
                B = own.matrix(regress_edges(own.children, own.causes, sem.covariance).weights)
                weights.append((B + B.T)[edges.causes, edges.children])
        expected = (np.min(weights, axis=0) < 0) & (np.max(weights, axis=0) > 0)
        own = sem.weights[edges.causes, edges.children]
        assert open_signs(edges, links, own, sem.noise_variances).tolist() == expected.tolist()
        open_ones += expected.sum()
    assert open_ones > 20


def colliders(dag, ignored=None):
    """Return the unshielded colliders of a graph, without those that contain an ignored edge."""
    joined, ignored = dag | dag.T, np.zeros_like(dag) if ignored is None else ignored | ignored.T
    return {
        (a, c, b)
        for c in range(len(dag))
        for a in np.flatnonzero(dag[:, c])
        for b in np.flatnonzero(dag[:, c])
        if a < b and not joined[a, b] and not ignored[a, c] and not ignored[b, c]
    }


def test_a_link_that_the_class_directs_is_open_in_both_directions(all_dags):
    rng = np.random.default_rng(1)
    graphs = [dag for dag in all_dags(4) if dag.sum() >= 3 and colliders(dag)]
    for k in rng.permutation(len(graphs))[:60]:
        sem, edges = drawn_model(graphs[k], rng), Edges.from_matrix(graphs[k])
        claimed = rng.random(len(edges)) < 0.3
        ranges = EffectRanges(edges, ~claimed, sem.covariance)
        doubted = edges.matrix(~claimed & ~open_after(edges, edges.find_reversible(), claimed))
        for dag in all_dags(4):
            same = np.array_equal(dag | dag.T, graphs[k] | graphs[k].T)
            if (
                not same
                or colliders(dag, doubted) != colliders(graphs[k], doubted)
                or not dag[edges.causes[claimed], edges.children[claimed]].all()
            ):
                continue
            for i in range(4):
                used = [i, *np.flatnonzero(dag[:, i])]
                S = sem.covariance
                slopes = np.linalg.solve(S[np.ix_(used, used)], S[used])[0]
                reached = total_effects(dag / 8)[i] != 0
                for j in np.flatnonzero(np.arange(4) != i):
                    low, high = ranges.of(i, j)
                    assert low.item() - 1e-9 <= (slopes[j] if reached[j] else 0) <= high.item() + 1e-9


def effect_range(covariance, edges, links, source, target):
    low, high = EffectRanges(edges, links, covariance).of(source, target)
    return low.item(), high.item()


def test_an_arrow_has_one_effect_and_a_link_a_range_with_zero():
    S, one = np.array([[1.0, 2.0], [2.0, 5.0]]), Edges(np.array([0]), np.array([1]), 2)
    assert effect_range(S, one, np.array([False]), 0, 1) == (2.0, 2.0)
    assert effect_range(S, one, np.array([False]), 1, 0) == (0.0, 0.0)
    assert effect_range(S, one, np.array([True]), 0, 1) == (0.0, 2.0)
    assert effect_range(S, one, np.array([True]), 1, 0) == pytest.approx((0.0, 0.4))


def test_several_columns_per_node_give_an_effect_per_column():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 4))
    x[:, 3] += x[:, :2] @ [1.0, -2.0] + 0.5 * x[:, 2]
    edges = Edges(np.array([0, 1]), np.array([2, 2]), 3)
    ranges = EffectRanges(edges, np.zeros(2, dtype=bool), np.cov(x.T), [np.array([0, 1]), np.array([2]), np.array([3])])
    low, high = ranges.of(0, 2)
    slopes = np.linalg.lstsq(x[:, :2] - x[:, :2].mean(0), x[:, 3] - x[:, 3].mean(), rcond=None)[0]
    np.testing.assert_allclose(low[:, 0], slopes)
    np.testing.assert_array_equal(low, high)


def test_too_many_sets_of_parents_leave_the_effect_unknown(monkeypatch):
    monkeypatch.setattr("golem.directions.effect_ranges.MOST_SETS", 2)
    star = Edges(np.zeros(3, dtype=int), np.array([1, 2, 3]), 4)
    assert np.isnan(effect_range(np.eye(4), star, np.ones(3, dtype=bool), 0, 1)).all()


def test_the_implied_covariance_of_some_nodes_is_that_of_the_whole_model():
    weights = np.triu(np.full((5, 5), 0.5), 1)
    sem, edges = LinearSEM(weights, np.arange(1.0, 6)), Edges.from_matrix(weights != 0)
    found = implied_covariance(edges, np.full(len(edges), 0.5), sem.noise_variances, [0, 1, 2])
    np.testing.assert_allclose(found, sem.covariance[:3, :3])


def test_a_direction_that_follows_but_is_given_as_a_link_is_in_doubt():
    # Of a -> b --- c, the class directs b -> c. If this is a link nevertheless, c may be a cause of b.
    S = LinearSEM([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]], [1, 1, 1]).covariance
    chain = Edges(np.array([0, 1]), np.array([1, 2]), 3)
    low, high = effect_range(S, chain, np.array([False, True]), 1, 2)
    assert (low, high) == pytest.approx((0, 1))
    assert effect_range(S, chain, np.array([False, False]), 1, 2) == pytest.approx((1, 1))
