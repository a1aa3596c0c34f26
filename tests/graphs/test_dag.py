"""Graphs against brute force over all small DAGs."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem.graphs.dag import cpdag, is_dag, member_of_class, topological_order
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag
from golem.simulate import random_dag


def v_structures(adjacency):
    """Set of colliders i -> k <- j with i, j not adjacent."""
    linked = adjacency | adjacency.T
    d = len(adjacency)
    return {
        (i, j, k)
        for i in range(d)
        for j in range(i + 1, d)
        for k in range(d)
        if adjacency[i, k] and adjacency[j, k] and not linked[i, j]
    }


def equivalence_class(adjacency, dags):
    """Members of a Markov equivalence class: equal skeletons and v-structures (Verma and Pearl 1990)."""
    skeleton, colliders = adjacency | adjacency.T, v_structures(adjacency)
    return [g for g in dags if np.array_equal(g | g.T, skeleton) and v_structures(g) == colliders]


def meek_closure(pdag):
    """Direct every undirected edge whose direction follows from the others (Meek 1995, rules 1 to 4)."""
    graph = Pdag.from_matrix(pdag)
    graph.close(fourth=True)
    return graph.matrix()


@pytest.mark.parametrize("d", [2, 3, 4])
def test_cpdag_is_the_union_of_the_equivalence_class(d, all_dags):
    dags = all_dags(d)
    for dag in dags:
        union = np.logical_or.reduce(equivalence_class(dag, dags))
        np.testing.assert_array_equal(cpdag(dag), union)


def test_cpdag_agrees_with_meeks_rules_on_larger_graphs():
    for seed in range(60):
        dag = random_dag(9, ["ER1", "ER2", "ER4", "SF2"][seed % 4], seed)
        pattern = dag | dag.T
        for i, j, k in v_structures(dag):
            pattern[k, i] = pattern[k, j] = False
        np.testing.assert_array_equal(cpdag(dag), meek_closure(pattern))


def test_meek_closure_with_knowledge_leaves_exactly_what_members_disagree_on(all_dags):
    dags = all_dags(4)
    for dag in dags[::7]:
        members = equivalence_class(dag, dags)
        pattern = cpdag(dag)
        undirected = np.argwhere(pattern & pattern.T)
        if not len(undirected):
            continue
        i, j = undirected[0]
        agreeing = [member for member in members if member[i, j]]
        pattern[j, i] = False
        np.testing.assert_array_equal(meek_closure(pattern), np.logical_or.reduce(agreeing))


def test_a_member_of_a_class_has_that_class(all_dags):
    for dag in [*all_dags(4)[::3], *(random_dag(15, "ER2", seed) for seed in range(20))]:
        pattern = cpdag(dag)
        member = member_of_class(pattern)
        assert is_dag(member)
        np.testing.assert_array_equal(cpdag(member), pattern)
    square = np.zeros((4, 4), dtype=bool)
    for i in range(4):
        square[i, (i + 1) % 4] = square[(i + 1) % 4, i] = True
    with pytest.raises(ValueError, match="not a CPDAG"):
        member_of_class(square)


@given(st.integers(0, 2**16 - 1))
def test_is_dag_and_order_agree_with_networkx(bits):
    adjacency = np.array([bool(bits >> k & 1) for k in range(16)]).reshape(4, 4)
    expected = nx.is_directed_acyclic_graph(nx.from_numpy_array(adjacency, create_using=nx.DiGraph))
    assert is_dag(adjacency) == expected
    if expected:
        position = np.argsort(topological_order(adjacency))
        assert all(position[i] < position[j] for i, j in np.argwhere(adjacency))
    else:
        with pytest.raises(ValueError, match="cycle"):
            topological_order(adjacency)


@pytest.mark.parametrize("seed", range(20))
def test_a_preferred_order_is_changed_where_edges_demand_it(seed):
    dag, preferred = random_dag(12, "ER1", seed), np.random.default_rng(seed).permutation(12)
    graph = nx.from_numpy_array(dag, create_using=nx.DiGraph)
    order = topological_order(dag, preferred)
    assert order.tolist() == list(nx.lexicographical_topological_sort(graph, np.argsort(preferred).__getitem__))
    np.testing.assert_array_equal(topological_order(dag, order), order)


def test_cpdag_is_fast_at_3200_nodes():
    dag = random_dag(3200, "ER4", 0)
    began = time.perf_counter()
    result = cpdag(dag)
    assert time.perf_counter() - began < 5
    np.testing.assert_array_equal(result | result.T, dag | dag.T)


@pytest.mark.parametrize("bad", [np.ones((2, 3)), np.array([[0, np.nan], [0, 0]]), np.ones(4)])
def test_a_matrix_that_is_no_graph_is_refused(bad):
    with pytest.raises(ValueError, match=r"square|NaN"):
        is_dag(bad)


def test_lists_of_edges_and_matrices_say_the_same():
    for seed in range(20):
        dag = random_dag(12, ["ER1", "ER2", "ER4", "SF2"][seed % 4], seed)
        shuffled = np.random.default_rng(seed).permutation(np.argwhere(dag))
        edges = Edges(shuffled[:, 0], shuffled[:, 1], len(dag))
        np.testing.assert_array_equal(edges.matrix(), dag)
        np.testing.assert_array_equal(edges.matrix(edges.find_reversible()), dag & cpdag(dag).T)
        np.testing.assert_array_equal(edges.order(), topological_order(dag))
