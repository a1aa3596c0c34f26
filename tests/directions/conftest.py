"""All equivalence classes of small graphs, and random components."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from golem.directions.equivalence_class import components
from golem.graphs.dag import cpdag
from golem.graphs.edges import Edges


@pytest.fixture(scope="session")
def members_of(all_dags):
    """Return a function that returns every DAG of the class of a graph with 4 nodes."""
    classes = collections.defaultdict(list)
    for dag in all_dags(4):
        classes[cpdag(dag).tobytes()].append(dag)
    return lambda graph: classes[cpdag(graph).tobytes()]


@pytest.fixture(scope="session")
def random_component():
    """Return a function that draws a DAG whose edges are all reversible, and its only component."""

    def draw(m, density, rng, known=0):
        """Give each node a parent, and each parent of this parent with probability `density`."""
        drawn, names = np.zeros((m, m), dtype=bool), rng.permutation(m)
        for j in range(1, m):
            i = rng.integers(j)
            drawn[:, j] = drawn[:, i] & (rng.random(m) < density)
            drawn[i, j] = True
        dag = np.zeros_like(drawn)
        dag[np.ix_(names, names)] = drawn
        edges = Edges.from_matrix(dag)
        given = np.isin(np.arange(len(edges)), rng.permutation(len(edges))[:known])
        (component,) = components(edges, edges.find_reversible(), given, np.arange(m))
        assert len(component.edges) == dag.sum()
        return dag, component

    return draw
