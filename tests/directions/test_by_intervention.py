"""Directions by interventions: margins against brute force over the members of the class."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from golem.directions.by_intervention import FALSE_CHANGES, LEAST_MARGIN, directions_by_intervention
from golem.directions.equivalence_class import components
from golem.directions.experiments import Experiments
from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.model.linear_sem import LinearSEM


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


def judge(dag, experiments, *scores):
    edges = Edges.from_matrix(dag)
    reversible, nothing = edges.find_reversible(), np.zeros(dag.sum(), dtype=bool)
    found = components(edges, reversible, nothing, np.arange(edges.d))
    return edges, directions_by_intervention(edges, reversible, found, experiments, scores)


def family(member, j):
    return j, tuple(np.flatnonzero(member[:, j]).tolist())


def evidence_of_changes(experiments, members, component):
    """Return -2 log p of the changes of every mechanism of some members, 0 where too many would be false."""
    families = {family(member, j) for member in members for j in component}
    p = {one: experiments.changes(one, component) for one in families}
    ordered = np.sort(np.concatenate(list(p.values())))
    level = max((x for k, x in enumerate(ordered, 1) if x <= FALSE_CHANGES * k / len(ordered)), default=-1)
    return {one: -2 * np.log(own.min()) if len(own) and own.min() <= level else 0.0 for one, own in p.items()}


def members_of_class(dag):
    pairs = np.argwhere(dag)
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            other[(j, i) if flip else (i, j)] = True
        if is_dag(other) and (cpdag(other) == cpdag(dag)).all():
            yield other


@pytest.mark.parametrize("seed", range(6))
def test_the_strength_is_the_smallest_margin_of_the_best_member_with_the_other_direction(seed):
    rng = np.random.default_rng(seed)
    tree = np.zeros((4, 4), dtype=bool)  # its class is one component
    for j in range(1, 4):
        tree[rng.integers(j), j] = True
    sem = LinearSEM(tree * rng.uniform(0.3, 1.0, (4, 4)), rng.uniform(1, 2, 4))
    targets = [(), (0,), (1, 2)]
    tables = [sem.change(T, variance=1.5).sample(200, rng) for T in targets]
    experiments, cost = Experiments(tables, targets), score_of(tables, targets, "soft")
    members = list(members_of_class(tree))
    changes = evidence_of_changes(experiments, members, range(4))
    deviance = [sum(cost(j, np.flatnonzero(member[:, j])) for j in range(4)) for member in members]
    changed = [sum(changes[family(member, j)] for j in range(4)) for member in members]
    edges, evidence = judge(members[int(np.argmin(deviance))], experiments, cost)
    open_in_class = interventional_reversible(edges, targets, "soft")
    for k, (i, j) in enumerate(zip(edges.causes, edges.children, strict=True)):
        with_it = np.array([member[i, j] for member in members])
        margins = [np.array(total)[~with_it].min() - np.array(total)[with_it].min() for total in (deviance, changed)]
        expected = 0.0 if open_in_class[k] else max(min(margins), 0.0)
        assert evidence.strength[k] == pytest.approx(expected, abs=1e-6)
        assert evidence.decided[k] >= (expected >= LEAST_MARGIN)


def test_a_mean_shift_with_separate_means_decides_nothing():
    chain = LinearSEM([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1])
    rng = np.random.default_rng(0)
    targets = [(), (0,), (1,)]
    tables = [chain.sample(300, rng), *(chain.change(T, shift=5.0).sample(300, rng) for T in targets[1:])]
    both = [score_of(tables, targets, "soft", penalty) for penalty in (True, False)]
    assert not judge(chain.adjacency, Experiments(tables, targets), *both)[1].strength.any()
    tables[2] = chain.change([1], variance=4.0).sample(300, rng)
    both = [score_of(tables, targets, "soft", penalty) for penalty in (True, False)]
    assert judge(chain.adjacency, Experiments(tables, targets), *both)[1].decided.all()
