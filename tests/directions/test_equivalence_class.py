"""Directions that the class leaves open: against every member of small classes."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Knowledge, Moments
from golem.directions.equivalence_class import open_edges, random_member, without_evidence
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied
from golem.score.regression import regressions
from golem.simulate import simulate


def members(graph, dags):
    """Every DAG of the class of a graph."""
    return [other for other in dags if np.array_equal(cpdag(other), cpdag(graph))]


@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianTied(60, tau=0.3), GaussianTied(60, tau=0.3, centre=0.0)])
def test_edges_without_evidence_point_the_other_way_in_a_member_that_is_nearly_as_likely(likelihood, all_dags):
    n, seen = 60, set()
    for seed in range(40):
        drawn = simulate(4, n, "ER1", "gaussian-nv", random_state=seed, weight_scale=0.5)
        S = Moments.from_rows(drawn.data).covariance

        def deviance(graph, S=S):
            r = regressions(graph, S).residual_variances
            return 2 * n * float(likelihood.on_dag(r))

        graph = min(members(drawn.sem.adjacency, all_dags(4)), key=deviance)
        near = [member for member in members(graph, all_dags(4)) if deviance(member) < deviance(graph) + 2]
        expected = graph & np.any([~member for member in near], axis=0)
        fit = regressions(graph, S)
        undirected = fit.edges.find_reversible()
        found = without_evidence(fit, S, n, likelihood, undirected)
        np.testing.assert_array_equal(fit.edges.matrix(found), expected)
        seen |= {bool(value) for value in found[undirected]}
    assert seen == {True, False}


def test_free_variances_are_evidence_for_no_open_direction(rng):
    graph = simulate(6, 2, "ER1", random_state=1).sem.adjacency
    fit = regressions(graph, np.eye(6))
    undirected = fit.edges.find_reversible()
    np.testing.assert_array_equal(without_evidence(fit, np.eye(6), 100, GaussianNV(), undirected), undirected)


def test_knowledge_closes_the_directions_on_which_all_members_that_obey_it_agree(all_dags):
    dags = all_dags(4)
    for graph in dags[::23]:
        for i, j in np.argwhere(graph):
            knowledge = Knowledge.of(4, forbidden=[(int(j), int(i))])
            obeying = [member for member in members(graph, dags) if not member[j, i]]
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
