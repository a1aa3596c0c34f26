"""Directions by interventions: margins against brute force over the members of the class."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from golem.directions.by_intervention import LEAST_MARGIN, directions_by_intervention
from golem.directions.members import components
from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.model.linear_sem import LinearSEM
from golem.simulate import random_sem


def score_of(tables, targets, intervention, penalty=True):
    """Return cost(j, parents) from rows: n log(residual variance) on the pooled environments, and per soft target."""
    centred = [X - X.mean(axis=0) for X in tables]

    def cost(j, parents):
        parents = sorted(parents)
        terms = [np.concatenate([Z for Z, chosen in zip(centred, targets, strict=True) if j not in chosen])]
        if intervention == "soft":
            terms += [Z for Z, chosen in zip(centred, targets, strict=True) if j in chosen]
        total = 0.0
        for Z in terms:
            residual = Z[:, j] - Z[:, parents] @ np.linalg.lstsq(Z[:, parents], Z[:, j])[0]
            total += len(Z) * np.log(residual @ residual / len(Z)) + penalty * len(parents) * np.log(len(Z))
        return total

    return cost


def judge(dag, targets, intervention, *scores):
    edges = Edges.from_matrix(dag)
    reversible, nothing = edges.find_reversible(), np.zeros(dag.sum(), dtype=bool)
    found = components(edges, reversible, nothing, np.arange(edges.d))
    return edges, directions_by_intervention(edges, reversible, found, targets, intervention, scores)


def members_of_class(dag):
    pairs = np.argwhere(dag)
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            other[(j, i) if flip else (i, j)] = True
        if is_dag(other) and (cpdag(other) == cpdag(dag)).all():
            yield other


@pytest.mark.parametrize("intervention", ["hard", "soft"])
@pytest.mark.parametrize("seed", range(4))
def test_the_strength_is_the_margin_of_the_best_member_with_the_other_direction(intervention, seed):
    rng = np.random.default_rng(seed)
    sem = random_sem(4, "ER1.5", random_state=rng)
    targets = [(), (0,), (1, 2)]
    changed = [sem.change(T, variance=3.0) if intervention == "soft" else sem for T in targets]
    if intervention == "hard":
        changed = [sem.randomize(dict.fromkeys(T, (1.0, 1.0))) for T in targets]
    tables = [model.sample(200, rng) for model in changed]
    cost = score_of(tables, targets, intervention)
    totals = [
        (member, sum(cost(j, np.flatnonzero(member[:, j])) for j in range(4)))
        for member in members_of_class(sem.adjacency)
    ]
    dag = min(totals, key=lambda pair: pair[1])[0]
    lowest = min(total for _, total in totals)
    edges, evidence = judge(dag, targets, intervention, cost)
    open_in_class = interventional_reversible(edges, targets, intervention)
    for k, (i, j) in enumerate(zip(edges.causes, edges.children, strict=True)):
        others = [total for member, total in totals if not member[i, j]]
        expected = 0.0 if open_in_class[k] or not others else min(others) - lowest
        assert evidence.strength[k] == pytest.approx(expected, abs=1e-6)
        assert evidence.decided[k] == (bool(others) and expected >= LEAST_MARGIN)


def test_a_mean_shift_with_separate_means_decides_nothing():
    chain = LinearSEM([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1])
    rng = np.random.default_rng(0)
    targets = [(), (0,), (1,)]
    tables = [chain.sample(300, rng), *(chain.change(T, shift=5.0).sample(300, rng) for T in targets[1:])]
    both = [score_of(tables, targets, "soft", penalty) for penalty in (True, False)]
    penalized, supported = (judge(chain.adjacency, targets, "soft", *scores)[1] for scores in (both[:1], both))
    assert penalized.strength.max() > np.log(300)  # a penalty alone prefers targets as causes
    assert supported.strength.max() < 2
    assert not supported.decided.any()
    tables[2] = chain.change([1], variance=4.0).sample(300, rng)
    both = [score_of(tables, targets, "soft", penalty) for penalty in (True, False)]
    assert judge(chain.adjacency, targets, "soft", *both)[1].decided.all()
