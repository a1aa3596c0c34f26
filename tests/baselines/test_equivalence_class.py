"""The operators of greedy equivalence search against their definition."""

import random

import numpy as np
import pytest

from golem.baselines.equivalence_class import EquivalenceClass
from golem.baselines.fgs import EdgeScores
from golem.graphs.dag import cpdag, is_dag
from golem.graphs.pdag import bits_to_columns, members
from golem.simulate import random_sem


def total_score(dag, S, n, penalty):
    """BIC of a DAG up to a constant, by determinants: r_v = det S[v + parents] / det S[parents]."""
    score = penalty * dag.sum()
    for v in range(len(dag)):
        parents = np.nonzero(dag[:, v])[0]
        both = np.append(parents, v)
        block = np.linalg.slogdet(S[np.ix_(both, both)])[1]
        score += n * (block - np.linalg.slogdet(S[np.ix_(parents, parents)])[1])
    return score


def changed_by_definition(graph, edges_away, arrows):
    """Change the CPDAG as the operator says, and return a DAG with its colliders."""
    changed = graph.copy()
    for a, b in edges_away:
        changed.remove(a, b)
    for a, b in arrows:
        changed.add_arrow(a, b)
    parents = changed.extension()
    assert parents is not None
    dag = bits_to_columns(parents)
    assert is_dag(dag)
    return dag


@pytest.mark.parametrize("seed", range(24))
def test_every_operator_gives_the_class_and_the_score_of_its_definition(seed):
    draw = random.Random(seed)
    d, n, penalty = 3 + seed % 8, 500, 7.0
    S = random_sem(d, "ER2" if d > 4 else "ER1", random_state=seed).covariance
    scale = np.sqrt(np.diagonal(S))
    scores = EdgeScores(S / np.outer(scale, scale), n, penalty)
    graph = EquivalenceClass(d)
    counts = {"insert": 0, "delete": 0}
    for _ in range(250):
        x, y = draw.sample(range(d), 2)
        before = total_score(bits_to_columns(graph.extension()), S, n, penalty)
        common = graph.neighbours[y] & graph.adjacent[x]
        if not graph.adjacent[y] >> x & 1:
            clique = draw.choice(list(graph.cliques(graph.neighbours[y])))
            if not graph.may_insert(x, y, clique) or graph.open_path(y, x, clique):
                continue
            given = list(members(graph.parents[y] | clique))
            dag = changed_by_definition(graph, [], [(x, y)] + [(t, y) for t in members(clique & ~graph.adjacent[x])])
            graph.insert(x, y, clique)
            gain = scores.gains(y, given)[x]
            assert gain == pytest.approx(scores.gain(x, y, given), rel=1e-6, abs=1e-6)
            counts["insert"] += 1
        elif (graph.neighbours[y] | graph.parents[y]) >> x & 1 and draw.random() < 0.5:
            clique = draw.choice(list(graph.cliques(common)))
            given = list(members((graph.parents[y] | clique) & ~(1 << x)))
            turned = list(members(common & ~clique))
            dag = changed_by_definition(graph, [(x, y)], [(y, h) for h in turned] + [(x, h) for h in turned])
            graph.delete(x, y, clique)
            gain = -scores.gain(x, y, given)
            counts["delete"] += 1
        else:
            continue
        np.testing.assert_array_equal(graph.matrix(), cpdag(dag))
        assert before - total_score(dag, S, n, penalty) == pytest.approx(gain, rel=1e-5, abs=1e-4)
    assert min(counts.values()) >= 5


def test_open_paths_are_those_that_networkx_finds(rng):
    import networkx as nx

    from golem.simulate import random_dag

    for seed in range(60):
        graph = EquivalenceClass.from_matrix(cpdag(random_dag(9, "ER1", seed)))
        x, y, *others = rng.permutation(9).tolist()
        clique = sum(1 << v for v in others[:2])
        steps = nx.from_numpy_array(graph.matrix(), create_using=nx.DiGraph)
        steps.remove_nodes_from(others[:2])
        path = graph.open_path(y, x, clique)
        assert bool(path) == nx.has_path(steps, y, x)
        if path:
            assert path[0] == y
            assert path[-1] == x
            assert len(path) == nx.shortest_path_length(steps, y, x) + 1
            assert graph.is_open(path, clique)
            assert not graph.is_open(path, clique | 1 << path[-2])


def test_cliques_are_all_of_them(rng):
    import itertools

    from golem.simulate import random_dag

    for seed in range(20):
        graph = EquivalenceClass.from_matrix(cpdag(random_dag(7, "ER3", seed)))
        nodes = rng.choice(7, 5, replace=False).tolist()
        expected = {
            sum(1 << v for v in chosen)
            for size in range(6)
            for chosen in itertools.combinations(nodes, size)
            if all(graph.adjacent[a] >> b & 1 for a, b in itertools.combinations(chosen, 2))
        }
        found = list(graph.cliques(sum(1 << v for v in nodes)))
        assert set(found) == expected
        assert len(found) == len(expected)
        for largest in range(4):
            small = list(graph.cliques(sum(1 << v for v in nodes), largest))
            assert sorted(small) == sorted(clique for clique in expected if clique.bit_count() <= largest)
