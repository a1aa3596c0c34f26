"""Which graphs generate a distribution: against regressions for DAGs, and the algebra of appendix A for the 3-cycle."""

import numpy as np
import pytest

from golem.graphs.dag import cpdag, is_dag
from golem.model.linear_sem import LinearSEM
from golem.simulate import random_weights
from golem_experiments.attainable import (
    ATTAINED,
    attain,
    attain_with_equal_variances,
    candidate_families,
    dags_up_to_relabelling,
    digraphs,
    families,
    graphs_of,
    has_triangle,
    largest_sine,
    scaled,
    support_family,
    tangent_rank,
)
from golem_experiments.statements import (
    check_appendix_a,
    check_equal_variances,
    check_lemma,
    check_theorems,
    quartic_has_root,
)


def model(edges, nodes, rng, equal=False):
    graph = np.zeros((nodes, nodes), dtype=bool)
    for i, j in edges:
        graph[i, j] = True
    return LinearSEM(random_weights(graph, rng), np.ones(nodes) if equal else rng.uniform(1, 2, nodes) ** 2)


def dag_generates(graph, covariance):
    """Decide by regressions: the determinants agree where the residual variances are the noise variances."""
    logs = 0.0
    for j in range(len(graph)):
        parents = np.flatnonzero(graph[:, j])
        explained = covariance[j, parents] @ np.linalg.solve(
            covariance[np.ix_(parents, parents)], covariance[parents, j]
        )
        logs += np.log(covariance[j, j] - explained)
    return abs(logs - np.linalg.slogdet(covariance)[1]) < 1e-9


def test_counts_of_graphs_are_the_known_ones():
    assert [len(dags_up_to_relabelling(d)) for d in (1, 2, 3, 4)] == [1, 2, 6, 31]
    assert sum(map(is_dag, digraphs(4))) == 543
    assert sum(len(graphs) for graphs in families(4).values()) == 4096


def test_columns_that_change_places_make_graphs_alike():
    for family, _ in list(families(3).items()):
        for graph in graphs_of(family, 3):
            assert support_family(graph) == family


@pytest.mark.parametrize("edges", dags_up_to_relabelling(3))
def test_dags_are_judged_as_by_regressions(edges, rng):
    sem = model(edges, 3, rng)
    found = {g.tobytes() for one in attain(sem.precision, len(edges)) if one.attained for g in graphs_of(one.family, 3)}
    expected = {
        g.tobytes() for g in digraphs(3) if is_dag(g) and g.sum() <= len(edges) and dag_generates(g, sem.covariance)
    }
    assert {g for g in found if is_dag(np.frombuffer(g, dtype=bool).reshape(3, 3))} == expected


def test_the_zeros_of_theta_rule_out_no_graph_that_generates_it(rng):
    sem = model(((0, 1), (1, 2), (1, 3)), 4, rng)
    theta = scaled(sem.precision)
    left = set(candidate_families(theta, 3))
    members = [g for g in digraphs(4) if is_dag(g) and np.array_equal(cpdag(g), cpdag(sem.adjacency))]
    assert len(members) == 4
    assert {support_family(g) for g in members} <= left


def test_the_quartic_and_the_search_agree(rng):
    row = check_appendix_a(rng, draws=30)
    assert row["agree"] == 30
    assert 0 < row["attained"] < 30


def test_a_distribution_of_the_cycle_solves_the_quartic(rng):
    for _ in range(20):
        # Q has the rows (a, 0, b), (c, d, 0), (0, e, f).
        Q = rng.uniform(0.3, 2, (3, 3)) * np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
        assert quartic_has_root(Q @ Q.T)


def test_theorems_hold_on_a_diamond_and_a_triangle(rng):
    diamond = check_theorems(model(((0, 1), (0, 2), (1, 3), (2, 3)), 4, rng), rng)
    assert not diamond["triangle"]
    assert diamond["cyclic"] == 0
    assert diamond["is_markov_class"]
    assert diamond["fewest_edges"] == 4
    triangle = check_theorems(model(((0, 1), (0, 2), (1, 2)), 3, rng), rng)
    assert triangle["triangle"]
    assert triangle["acyclic"] == 6
    assert triangle["cyclic"] > 0
    assert triangle["full_dimension"]
    assert triangle["largest_sine"] < 1e-9
    assert triangle["excess_likelihood"] < 1e-9


def test_a_triangle_is_seen_whatever_its_directions():
    assert has_triangle(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool))
    assert not has_triangle(np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool))


def test_lemma_1_on_all_dags(rng):
    row = check_lemma(3, rng)
    assert row["graphs"] == 25
    assert row["largest"] < 1e-14


@pytest.mark.parametrize("edges", [((0, 1),), ((0, 1), (1, 2)), ((0, 1), (0, 2), (1, 2))])
def test_equal_variances_leave_one_dag_and_some_cyclic_graphs(edges, rng):
    row = check_equal_variances(model(edges, 3, rng, equal=True), rng)
    assert row["is_truth"]
    assert row["acyclic"] == 1
    assert row["cyclic"] > 0


def test_equal_variances_of_two_variables_give_the_graphs_of_appendix_e():
    b0 = 1.5
    theta = np.array([[1 + b0**2, -b0], [-b0, 1.0]])
    graphs = [
        graph.astype(int).tolist() for graph, residual in attain_with_equal_variances(theta) if residual <= ATTAINED
    ]
    assert graphs == [[[0, 1], [0, 0]], [[0, 1], [1, 0]]]


def test_tangent_spaces_of_equivalent_chains_agree_and_those_of_a_collider_do_not():
    chain, fork, collider = (
        np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]]),
        np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]]),
    )
    sem = LinearSEM(0.8 * chain, np.ones(3))
    theta = sem.precision
    bases = {}
    for name, graph in (("chain", chain), ("fork", fork)):
        one = next(a for a in attain(theta, 2) if a.family == support_family(graph.astype(bool)))
        assert one.attained
        rank, bases[name] = tangent_rank(one.Q, one.Q != 0)
        assert rank == 5
    assert largest_sine(bases["chain"], bases["fork"]) < 1e-9
    M = np.eye(3) - 0.8 * collider
    assert largest_sine(tangent_rank(M, M != 0)[1], bases["chain"]) > 0.1
