"""The members of trees: the fast sums and maxima against a list of all members."""

import numpy as np
import pytest

from golem.directions import shape_scores
from golem.directions.members import components
from golem.directions.searched_members import SearchedMembers
from golem.directions.shape_scores import ComponentScores
from golem.directions.tree_members import TreeMembers
from golem.graphs.edges import Edges


def tree(m, rng, known=0):
    """Return the component of a random tree, some edges of which are known."""
    adjacency = np.zeros((m, m), dtype=bool)
    names = rng.permutation(m)
    for j in range(1, m):
        adjacency[names[rng.integers(j)], names[j]] = True
    edges = Edges.from_matrix(adjacency)
    given = np.isin(np.arange(m - 1), rng.permutation(m - 1)[:known])
    (component,) = components(edges, edges.find_reversible(), given, np.arange(m))
    return component


@pytest.mark.parametrize("known", [0, 1, 3])
def test_trees_give_what_a_list_of_their_members_gives(known):
    rng = np.random.default_rng(known)
    for m in (2, 5, 12, 30):
        component = tree(m, rng, min(known, m - 1))
        fast, listed = TreeMembers(component), SearchedMembers(component, lambda j, parents: 0.0)
        assert len(fast) == len(listed)
        scores = rng.normal(size=(4, len(fast.families)))
        of = dict(zip(fast.families, scores.T, strict=True))
        if not listed.families:
            continue  # everything is known
        totals = fast.totals(scores)
        expected = listed.totals(np.column_stack([of[family] for family in listed.families]))
        np.testing.assert_allclose(fast.evidence(totals), listed.evidence(expected), atol=1e-9)
        roots = [listed.parents(k).index([]) for k in range(len(listed))]  # the number of a member of a tree
        np.testing.assert_allclose(np.diff(totals[:, roots]), np.diff(expected), atol=1e-9)
        for k, root in enumerate(roots):
            assert fast.parents(root) == listed.parents(k)
            other = (k + int(rng.integers(1, len(roots)))) % len(roots)
            assert sorted(fast.differing(root, roots[other])) == listed.differing(k, other)
            edge = int(rng.integers(m - 1))
            np.testing.assert_array_equal(fast.opponents(edge, root)[roots], listed.opponents(edge, k))


def test_evidence_of_large_components_is_drawn_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    component = tree(40, rng)
    B = 0.8 * np.array([[parents >> i & 1 for parents in component.start] for i in range(40)])
    X = rng.normal(size=(400, 40)) @ np.linalg.inv(np.eye(40) - B)
    found = ComponentScores(component, X - X.mean(axis=0), 400)
    together = found.gaussian_evidence()
    monkeypatch.setattr(shape_scores, "_MOST_TOGETHER", 30)
    in_parts = found.gaussian_evidence()
    for share in (0.5, 0.95, 0.99):
        assert np.quantile(in_parts, share) == pytest.approx(np.quantile(together, share), rel=0.15)
