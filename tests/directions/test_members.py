"""Members of an equivalence class: against all DAGs of small graphs."""

import numpy as np

from golem.directions.members import components
from golem.graphs.edges import Edges


def components_of(adjacency, known=()):
    """Return the components of the class of a graph, in which some edges are known."""
    edges = Edges.from_matrix(adjacency)
    given = np.array([(i, j) in known for i, j in zip(edges.causes, edges.children, strict=True)], dtype=bool)
    return components(edges, edges.find_reversible(), given, np.arange(edges.d))


def graph_of(component, member, adjacency):
    """Return the DAG with the directions of a member."""
    graph = adjacency.copy()
    for j, parents in enumerate(member):
        graph[component.nodes, component.nodes[j]] = [parents >> i & 1 for i in range(len(member))]
    return graph


def test_all_members_are_found_and_nothing_else(all_dags, members_of):
    sizes = set()
    for adjacency in all_dags(4)[::7]:
        expected = {dag.tobytes() for dag in members_of(adjacency)}
        graphs = [adjacency]
        for component in components_of(adjacency):
            members = component.members(lambda j, parents: float(parents))
            graphs = [graph_of(component, member, graph) for member in members for graph in graphs]
        assert len(graphs) == len(expected)
        assert {graph.tobytes() for graph in graphs} == expected
        sizes.add(len(expected))
    assert {1, 2, 3, 4, 24} <= sizes  # 24: the complete graph


def test_members_with_known_edges(all_dags, members_of):
    for adjacency in all_dags(4)[::11]:
        for i, j in np.argwhere(adjacency):
            graphs = [adjacency]
            for component in components_of(adjacency, {(i, j)}):
                members = component.members(lambda j, parents: 0.0)
                graphs = [graph_of(component, member, graph) for member in members for graph in graphs]
            assert {graph.tobytes() for graph in graphs} == {
                dag.tobytes() for dag in members_of(adjacency) if dag[i, j]
            }


def test_nodes_of_a_component_have_the_same_parents_outside(all_dags):
    for adjacency in all_dags(4)[::7]:
        for component in components_of(adjacency):
            for node in component.nodes:
                outside = np.setdiff1d(np.flatnonzero(adjacency[:, node]), component.nodes)
                np.testing.assert_array_equal(outside, component.outside)
