"""Partially directed graphs: rules near a change, contradictions, and directed members."""

import numpy as np
import pytest

from golem.graphs.dag import cpdag, is_dag
from golem.graphs.pdag import Pdag, bits_of, bits_to_columns, column_bits, members
from golem.simulate import random_dag


def arrows(graph):
    matrix = graph.matrix()
    return {(int(a), int(b)) for a, b in np.argwhere(matrix & ~matrix.T)}


def made(d, arrows=(), lines=()):
    graph = Pdag(d)
    for a, b in arrows:
        graph.add_arrow(a, b)
    for a, b in lines:
        graph.add_line(a, b)
    return graph


def test_bits_and_matrices_are_inverses(rng):
    nodes = sorted(rng.choice(200, 30, replace=False).tolist())
    assert list(members(bits_of(nodes))) == nodes
    matrix = rng.random((70, 70)) < 0.1
    np.fill_diagonal(matrix, False)
    np.testing.assert_array_equal(bits_to_columns(column_bits(matrix)), matrix)
    np.testing.assert_array_equal(Pdag.from_matrix(matrix).matrix(), matrix)


def test_changing_an_edge_replaces_it():
    graph = made(3, arrows=[(0, 1)], lines=[(1, 2)])
    graph.add_arrow(1, 0)
    graph.add_line(1, 2)
    graph.add_arrow(2, 1)
    assert arrows(graph) == {(1, 0), (2, 1)}
    copy = graph.copy()
    copy.remove(0, 1)
    assert arrows(graph) == {(1, 0), (2, 1)}
    assert arrows(copy) == {(2, 1)}


def test_closing_from_the_nodes_of_a_change_is_enough():
    # What is directed follows from the collider at its one end, step by step along the chain.
    d = 40
    graph = made(d, arrows=[(0, 2), (1, 2)], lines=[(k, k + 1) for k in range(2, d - 1)])
    changed = graph.close(1 << 2)
    assert arrows(graph) == {(0, 2), (1, 2)} | {(k, k + 1) for k in range(2, d - 1)}
    assert list(members(changed)) == list(range(2, d))


@pytest.mark.parametrize(
    ("directed", "lines", "follows", "triple"),
    [
        ([(0, 1)], [(1, 2)], (1, 2), (0, 1, 2)),  # rule 1
        ([(1, 3), (2, 3)], [(0, 1), (0, 2), (0, 3)], (0, 3), (1, 0, 2)),  # rule 3
        ([(1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)], (0, 3), (1, 0, 3)),  # rule 4
    ],
)
def test_rules_that_rest_on_a_triple_skip_it_when_it_is_ambiguous(directed, lines, follows, triple):
    graph = made(4, directed, lines)
    graph.close(fourth=True)
    assert follows in arrows(graph)
    x, y, z = triple
    graph = made(4, directed, lines)
    graph.close(ambiguous={(y, x): 1 << z, (y, z): 1 << x}, fourth=True)
    assert follows not in arrows(graph)


def test_an_edge_that_follows_both_ways_is_left_open_and_unused():
    # 0 -> 1 - 2 <- 3 directs 1 - 2 both ways; 2 - 4 must not follow from it.
    graph = made(5, arrows=[(0, 1), (3, 2)], lines=[(1, 2), (2, 4)])
    graph.add_line(3, 4)
    graph.close()
    assert graph.matrix()[1, 2]
    assert graph.matrix()[2, 1]
    assert not graph.neighbours[1] >> 2 & 1
    assert arrows(graph) == {(0, 1), (3, 2)}


def test_an_arrow_of_tests_that_would_close_a_cycle_is_left_open():
    # 4 -> 0 asks for 0 -> 1 (rule 1), but 1 -> 2 -> 3 -> 0 leads back; as 0 and 2 are not joined, rule 2 is blind.
    directed = [(4, 0), (1, 2), (2, 3), (3, 0)]
    open_graph = made(5, directed, [(0, 1)])
    open_graph.close(ambiguous={})
    assert arrows(open_graph) == set(directed)
    assert open_graph.leads_to(1, 0)
    assert not open_graph.leads_to(0, 1)


def test_the_numbers_of_the_nodes_do_not_matter_even_for_contradictions(rng):
    for _ in range(200):
        d = 7
        matrix = rng.random((d, d)) < 0.35
        np.fill_diagonal(matrix, False)
        matrix |= matrix.T & (rng.random((d, d)) < 0.6)
        order = rng.permutation(d)
        plain, moved = Pdag.from_matrix(matrix), Pdag.from_matrix(matrix[np.ix_(order, order)])
        plain.close(ambiguous={}, fourth=True)
        moved.close(ambiguous={}, fourth=True)
        np.testing.assert_array_equal(moved.matrix(), plain.matrix()[np.ix_(order, order)])


def test_an_ambiguous_triple_may_become_a_collider_in_a_member():
    # 0 -> 2 - 1 and 3 -> 1 leave no room for 2 - 1 unless one of the triples may be a collider.
    graph = made(4, arrows=[(0, 2), (3, 1)], lines=[(1, 2)])
    assert graph.extension() is None
    parents = graph.extension({(2, 0): 1 << 1, (2, 1): 1 << 0})
    assert parents == [0, 1 << 3, 1 << 0 | 1 << 1, 0]


def test_a_member_of_a_large_class_is_found_quickly():
    graph = Pdag.from_matrix(cpdag(random_dag(1500, "ER2", 0)))
    parents = graph.extension()
    assert parents is not None
    dag = bits_to_columns(parents)
    assert is_dag(dag)
    np.testing.assert_array_equal(cpdag(dag), graph.matrix())
