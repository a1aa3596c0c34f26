"""The combination of evidence: against the members of small classes that have the claimed directions."""

import numpy as np

from golem.directions.by_shape import ShapeEvidence
from golem.directions.learned_graph import decide
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges


def shown(edges, decisions):
    """Return the graph to show."""
    graph = edges.matrix()
    turned = decisions.reversed
    graph[edges.causes[turned], edges.children[turned]] = False
    graph[edges.children[turned], edges.causes[turned]] = True
    return graph


def mask(edges, pairs):
    """Return which edges are among some pairs."""
    return np.array([(i, j) in pairs for i, j in zip(edges.causes, edges.children, strict=True)], dtype=bool)


def test_claims_by_shape_direct_what_follows_and_nothing_else(all_dags, members_of):
    rng, turned = np.random.default_rng(0), 0
    for adjacency in all_dags(4)[::5]:
        members = members_of(adjacency)
        edges, open_edges = Edges.from_matrix(adjacency), Edges.from_matrix(adjacency).find_reversible()
        if not open_edges.any():
            continue
        best = members[rng.integers(len(members))]
        chosen = rng.permutation([(i, j) for i, j in np.argwhere(best) if any(m[j, i] for m in members)])[:2]
        claims = tuple((int(i), int(j)) for i, j in chosen)
        found = decide(edges, open_edges, [], ShapeEvidence(claims))
        graph, left = shown(edges, found), [m for m in members if all(m[claim] for claim in claims)]
        assert graph.tobytes() in {member.tobytes() for member in left}
        agreed = np.all(left, axis=0)
        directed = np.array(
            [bool(agreed[i, j] or agreed[j, i]) for i, j in zip(edges.causes, edges.children, strict=True)]
        )
        np.testing.assert_array_equal(found.by_shape, directed & open_edges)
        np.testing.assert_array_equal(found.undecided, ~directed & open_edges)
        assert not found.by_variance.any()
        turned += int(found.reversed.sum())
    assert turned > 10


def test_edges_that_are_not_claimed_keep_their_direction():
    # Two chains: the claim is about the first, the second stays as it was.
    adjacency = np.zeros((6, 6), dtype=bool)
    adjacency[[0, 1, 4, 4], [1, 2, 3, 5]] = True
    edges = Edges.from_matrix(adjacency)
    found = decide(edges, edges.find_reversible(), [], ShapeEvidence(((2, 1),)))
    graph = shown(edges, found)
    assert graph[[2, 1], [1, 0]].all()  # 1 -> 0 follows, or there would be a collider
    assert graph[[4, 4], [3, 5]].all()
    assert found.undecided.sum() == 2 == found.by_shape.sum()


def test_shape_counts_where_variances_agree_and_neither_where_they_contradict():
    adjacency = np.zeros((5, 5), dtype=bool)
    adjacency[[0, 1, 3], [1, 2, 4]] = True
    edges = Edges.from_matrix(adjacency)
    open_edges = edges.find_reversible()
    variances = [(0, 1), (1, 2), (3, 4)]
    agreeing = decide(edges, open_edges, variances, ShapeEvidence(((0, 1),)))
    np.testing.assert_array_equal(agreeing.by_shape, mask(edges, {(0, 1), (1, 2)}))
    np.testing.assert_array_equal(agreeing.by_variance, mask(edges, {(3, 4)}))
    against = decide(edges, open_edges, variances, ShapeEvidence(((1, 0),)))
    assert against.conflicts == ((0, 1),)
    assert not against.reversed.any()
    np.testing.assert_array_equal(against.undecided, mask(edges, {(0, 1), (1, 2)}))
    np.testing.assert_array_equal(against.by_variance, mask(edges, {(3, 4)}))


def test_claims_by_variance_turn_the_edges_of_the_graph_shown():
    adjacency = np.zeros((5, 5), dtype=bool)
    adjacency[[0, 1, 3], [1, 2, 4]] = True
    edges = Edges.from_matrix(adjacency)
    found = decide(edges, edges.find_reversible(), [(2, 1)], ShapeEvidence())
    graph = shown(edges, found)
    assert graph[[2, 1, 3], [1, 0, 4]].all()  # 1 -> 0 follows, and the other edge is as it was
    np.testing.assert_array_equal(found.by_variance, mask(edges, {(0, 1), (1, 2)}))
    np.testing.assert_array_equal(found.undecided, mask(edges, {(3, 4)}))


def test_claims_that_no_member_has_together_are_dropped_in_their_component():
    """0 - 1 - 2 - 3 has no member with 0 -> 1 and 3 -> 2, which would meet at a collider; 4 - 5 is not concerned."""
    adjacency = np.zeros((6, 6), dtype=bool)
    adjacency[[0, 1, 2, 4], [1, 2, 3, 5]] = True
    edges = Edges.from_matrix(adjacency)
    found = decide(edges, edges.find_reversible(), [(0, 1), (3, 2), (5, 4)], ShapeEvidence())
    graph = shown(edges, found)
    np.testing.assert_array_equal(cpdag(graph), cpdag(adjacency))
    np.testing.assert_array_equal(found.by_variance, mask(edges, {(4, 5)}))
    assert graph[5, 4]
