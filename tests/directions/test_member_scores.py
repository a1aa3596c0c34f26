"""The best members with each direction: against lists of all members."""

import itertools

import numpy as np
import pytest

from golem.directions import class_members
from golem.directions.class_members import Blocks
from golem.directions.equivalence_class import Component
from golem.directions.member_scores import BestMembers, MemberScores, rises_of_cost
from golem.graphs.dag import is_dag


def all_members(dag, known=()):
    """Return the parents of all nodes in each member of the class of a DAG with all edges reversible."""
    pairs, undirected = np.argwhere(dag), dag | dag.T
    assert len(pairs) <= 11
    for flips in itertools.product((False, True), repeat=len(pairs)):
        member = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            member[(j, i) if flip else (i, j)] = True
        if is_dag(member) and all(member[edge] for edge in known) and not has_collider(member, undirected):
            yield [np.flatnonzero(column).tolist() for column in member.T]


def has_collider(member, undirected):
    """Return whether two parents of a node are not adjacent."""
    joined = undirected | np.eye(len(member), dtype=bool)
    return any(not joined[np.ix_(column, column)].all() for column in member.T)


def total(of, member):
    return sum(of[j, tuple(parents)] for j, parents in enumerate(member))


@pytest.mark.parametrize("known", [0, 1, 2])
@pytest.mark.parametrize("density", [0.0, 0.4, 0.8])
def test_directions_have_the_scores_of_the_best_members(known, density, random_component):
    rng, compared = np.random.default_rng(known), 0
    for _ in range(12):
        dag, component = random_component(int(rng.integers(2, 7)), density, rng, known)
        if dag.sum() > 11:
            continue
        members = list(all_members(dag, component.known))
        blocks = Blocks(component)
        scores = rng.normal(size=(3, len(blocks.families)))
        of = dict(zip(blocks.families, scores.T, strict=True))
        totals = np.array([total(of, member) for member in members])
        found, summed = BestMembers(blocks, scores), MemberScores(blocks, scores, np.logaddexp)
        assert blocks.is_complete
        np.testing.assert_allclose(np.logaddexp.reduce(summed.totals, axis=1), np.logaddexp.reduce(totals))
        best = found.parents(found.best())
        assert best == members[int(np.argmax(totals[:, 0]))]
        for k, edge in enumerate(component.edges):
            for way, (i, j) in enumerate((edge, edge[::-1])):
                having = [k for k, member in enumerate(members) if i in member[j]]
                if not having:
                    assert np.isneginf(found.directions[:, 2 * k + way]).all()
                    assert np.isneginf(summed.directions[:, 2 * k + way]).all()
                    assert not found.evidence()[:, k].any()
                    continue
                np.testing.assert_allclose(found.directions[:, 2 * k + way], totals[having].max(axis=0))
                np.testing.assert_allclose(summed.directions[:, 2 * k + way], np.logaddexp.reduce(totals[having]))
                chosen = found.best_with(2 * k + way)
                member = found.parents(chosen)
                assert member == members[having[int(np.argmax(totals[having, 0]))]]
                differing = [(j, a, b) for j, (a, b) in enumerate(zip(best, member, strict=True)) if a != b]
                assert found.differing(found.best(), chosen) == differing
                compared += 1
    assert compared > 20


def test_a_tree_has_one_member_per_node(random_component):
    rng = np.random.default_rng(0)
    dag, component = random_component(200, 0.0, rng)
    blocks = Blocks(component)
    scores = rng.normal(size=(1, len(blocks.families)))
    of, found = dict(zip(blocks.families, scores[0], strict=True)), BestMembers(blocks, scores)
    neighbours, totals, members = dag | dag.T, [], []
    for root in range(200):
        members.append([[] for _ in range(200)])
        waiting, reached = [root], {root}
        for i in waiting:
            for j in sorted(set(np.flatnonzero(neighbours[i]).tolist()) - reached):
                members[-1][j], reached = [i], reached | {j}
                waiting.append(j)
        totals.append(total(of, members[-1]))
    np.testing.assert_allclose(found.totals[0], totals)
    for k, (i, j) in enumerate(component.edges):
        along = [value for value, member in zip(totals, members, strict=True) if i in member[j]]
        against = [value for value, member in zip(totals, members, strict=True) if j in member[i]]
        assert found.evidence()[0, k] == pytest.approx(max(along) - max(against))


def complete(m):
    """Return the component of a complete graph."""
    return Component(np.arange(m), np.arange(0), [list(range(j)) for j in range(m)])


@pytest.mark.parametrize("m", [4, 5, 6])
def test_in_large_cliques_some_members_are_compared(m, monkeypatch):
    """With a low limit: true members, for every direction; all of them if the limit is exceeded by one node only."""
    rng, component = np.random.default_rng(m), complete(m)
    blocks = Blocks(component)
    scores = rng.normal(size=(1, len(blocks.families)))
    of, exact = dict(zip(blocks.families, scores[0], strict=True)), BestMembers(blocks, scores).directions[0]
    monkeypatch.setattr(class_members, "LARGEST_CLIQUE", 3)
    few = Blocks(component)
    found = BestMembers(few, np.array([[of[family] for family in few.families]]))
    if m == 4:
        np.testing.assert_allclose(found.directions[0], exact)
    else:
        assert (found.directions[0] < exact - 1e-9).any()
    assert (found.directions[0] <= exact + 1e-9).all()
    for direction, score in enumerate(found.directions[0]):
        edge = component.edges[direction // 2]
        i, j = edge if direction % 2 == 0 else edge[::-1]
        member = found.parents(found.best_with(direction))
        assert i in member[j]
        assert total(of, member) == pytest.approx(score)
        assert sorted(map(len, member)) == list(range(m))
        assert is_dag(np.array([[i in parents for parents in member] for i in range(m)]))


def test_in_large_cliques_each_node_is_moved_up_from_the_given_order():
    m, rng, costs = 15, np.random.default_rng(0), {}

    def cost(families):
        return np.array([costs.setdefault((j, frozenset(parents)), rng.random()) for j, parents in families])

    rises = rises_of_cost([complete(m)], cost)
    given = sum(costs[j, frozenset(range(j))] for j in range(m))
    for j in range(m):
        for i in range(j):
            order = [*range(i), j, *(k for k in range(i, m) if k != j)]
            moved = sum(costs[k, frozenset(order[: order.index(k)])] for k in range(m))
            assert rises[j, i] <= moved - given + 1e-9
