"""Directions that the class leaves open, and random members: against every member of small classes."""

from __future__ import annotations

import numpy as np

from golem import Knowledge
from golem.directions.equivalence_class import open_edges, random_member
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges
from golem.simulate import simulate


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
