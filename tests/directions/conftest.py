"""All equivalence classes of small graphs."""

from __future__ import annotations

import collections

import pytest

from golem.graphs.dag import cpdag


@pytest.fixture(scope="session")
def members_of(all_dags):
    """Return a function that returns every DAG of the class of a graph with 4 nodes."""
    classes = collections.defaultdict(list)
    for dag in all_dags(4):
        classes[cpdag(dag).tobytes()].append(dag)
    return lambda graph: classes[cpdag(graph).tobytes()]
