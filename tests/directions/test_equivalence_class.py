"""Directions that the class leaves open: against every member of small classes."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Knowledge, Moments
from golem.directions.equivalence_class import evidence_in_variances, open_edges, random_member
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied
from golem.score.regression import regressions
from golem.simulate import simulate


@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianTied(60, tau=0.3), GaussianTied(60, tau=0.3, centre=0.0)])
def test_evidence_is_the_loss_of_the_best_member_with_the_other_direction(likelihood, members_of):
    n, compared = 60, 0
    for seed in range(40):
        drawn = simulate(4, n, "ER1", "gaussian-nv", random_state=seed, weight_scale=0.5)
        S = Moments.from_rows(drawn.data).covariance

        def deviance(graph, S=S):
            r = regressions(graph, S).residual_variances
            return 2 * n * float(likelihood.on_dag(r))

        members = members_of(drawn.sem.adjacency)
        fit = regressions(min(members, key=deviance), S)
        undirected = fit.edges.find_reversible()
        found = evidence_in_variances(fit, S, n, likelihood, undirected)
        assert not found[~undirected].any()
        for k in np.flatnonzero(undirected):
            others = [deviance(member) for member in members if not member[fit.causes[k], fit.children[k]]]
            assert found[k] == pytest.approx(min(others) - deviance(fit.graph), abs=1e-5)
            compared += 1
    assert compared > 20


def test_free_variances_are_evidence_for_no_open_direction(rng):
    graph = simulate(6, 2, "ER1", random_state=1).sem.adjacency
    fit = regressions(graph, np.eye(6))
    undirected = fit.edges.find_reversible()
    assert not evidence_in_variances(fit, np.eye(6), 100, GaussianNV(), undirected).any()


def test_knowledge_closes_the_directions_on_which_all_members_that_obey_it_agree(all_dags, members_of):
    for graph in all_dags(4)[::23]:
        for i, j in np.argwhere(graph):
            knowledge = Knowledge.of(4, forbidden=[(int(j), int(i))])
            obeying = [member for member in members_of(graph) if not member[j, i]]
            expected = graph & np.any([~member for member in obeying], axis=0)
            edges = Edges.from_matrix(graph)
            found = edges.matrix(open_edges(edges, edges.find_reversible(), knowledge))
            np.testing.assert_array_equal(found, expected)


def test_random_members_keep_the_class_and_reach_all_of_it():
    rng = np.random.default_rng(0)
    for seed in range(30):
        graph = simulate(8, 2, "ER1", random_state=seed).sem.adjacency
        undecided = graph & cpdag(graph).T
        member = random_member(graph, undecided, rng)
        np.testing.assert_array_equal(cpdag(member), cpdag(graph))
    clique = np.triu(np.ones((3, 3), dtype=bool), k=1)
    assert len({random_member(clique, clique, rng).tobytes() for _ in range(200)}) == 6
