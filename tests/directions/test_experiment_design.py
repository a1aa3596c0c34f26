"""What experiments would decide, against brute force over the members of a class."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from golem.assessment import next_experiment as experiment_design
from golem.assessment.next_experiment import expected_decisions
from golem.directions.equivalence_class import open_after
from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.simulate import random_dag


def members_of_class(dag, known):
    """All DAGs with the same class as `dag` that agree with it about the known edges."""
    pairs = np.argwhere(dag)
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            other[(j, i) if flip else (i, j)] = True
        if (other & known == known).all() and is_dag(other) and (cpdag(other) == cpdag(dag)).all():
            yield other


@pytest.mark.parametrize("seed", range(12))
def test_means_and_minima_are_those_over_all_members(seed):
    dag = random_dag(5, "ER1.5" if seed % 2 else "ER1", random_state=seed)
    if seed >= 10:  # a complete graph, and a complete graph with a known direction
        dag = np.triu(np.ones((4, 4), dtype=bool), 1)
    edges = Edges.from_matrix(dag)
    reversible = edges.find_reversible()
    fixed = np.zeros(len(edges), dtype=bool)
    fixed[:1] = seed in (3, 7, 11)
    undecided = open_after(edges, reversible, fixed)
    found = list(members_of_class(dag, edges.matrix(fixed)))
    for v in range(edges.d):
        counts = []
        for member in found:
            after = Edges.from_matrix(member)
            still = open_after(after, after.find_reversible(), edges.matrix(fixed)[after.causes, after.children])
            decided = ~interventional_reversible(after, [(), (v,)])
            still = open_after(after, still, decided & still)
            counts.append(int(undecided.sum() - still.sum()))
        mean, least, sampled = expected_decisions(edges, undecided)
        assert mean[v] == pytest.approx(np.mean(counts))
        assert least[v] == min(counts)
        assert not sampled


def test_random_members_give_the_same_means(monkeypatch):
    dag = np.triu(np.ones((5, 5), dtype=bool), 1)
    dag[0, 4] = dag[1, 4] = False
    edges = Edges.from_matrix(dag)
    undecided = edges.find_reversible()
    exact, _, _ = expected_decisions(edges, undecided)
    monkeypatch.setattr(experiment_design, "MOST_MEMBERS", 5)
    drawn, _, sampled = expected_decisions(edges, undecided, random_state=1)
    assert sampled
    np.testing.assert_allclose(drawn, exact, rtol=0.05)
    again, _, _ = expected_decisions(edges, undecided, random_state=1)
    assert (drawn == again).all()
