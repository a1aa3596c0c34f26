"""The components of an equivalence class: against all DAGs of small graphs."""

import numpy as np

from golem.directions.equivalence_class import components
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges


def components_of(adjacency):
    """Return the components of the class of a graph."""
    edges = Edges.from_matrix(adjacency)
    return components(edges, edges.find_reversible(), np.zeros(len(edges), dtype=bool), np.arange(edges.d))


def test_components_have_the_undirected_edges_and_the_directions_of_the_graph(all_dags):
    for adjacency in all_dags(4)[::7]:
        found = np.zeros((4, 4), dtype=bool)
        for component in components_of(adjacency):
            for j, parents in enumerate(component.parents):
                found[component.nodes[parents], component.nodes[j]] = True
            assert len(component.edges) == sum(map(len, component.parents))
            assert all(i < j and (i in component.parents[j] or j in component.parents[i]) for i, j in component.edges)
        np.testing.assert_array_equal(found, adjacency & cpdag(adjacency).T)


def test_nodes_of_a_component_have_the_same_parents_outside(all_dags):
    for adjacency in all_dags(4)[::7]:
        for component in components_of(adjacency):
            for node in component.nodes:
                outside = np.setdiff1d(np.flatnonzero(adjacency[:, node]), component.nodes)
                np.testing.assert_array_equal(outside, component.outside)
