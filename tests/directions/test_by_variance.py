"""Directions by noise variances: against every member of the class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from golem import Golem, Moments
from golem.data.table import Table
from golem.diagnostics import edge_loss
from golem.directions.by_variance import evidence_in_variances
from golem.directions.equivalence_class import components
from golem.model.linear_sem import LinearSEM
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied
from golem.score.regression import regressions
from golem.score.score_settings import ScoreSettings
from golem.score.table_score import score_of
from golem.simulate import simulate


def evidence(fit, S, n, likelihood, known=()):
    """Return the evidence for each edge, if some edges are known."""
    edges = fit.edges
    given = np.array([(i, j) in known for i, j in zip(edges.causes, edges.children, strict=True)], dtype=bool)
    found = components(edges, edges.find_reversible(), given, np.arange(edges.d))
    table = Table.single(Moments.from_covariance(S, n))
    score = replace(score_of(table, ScoreSettings(noise="auto")), likelihood=likelihood)
    return evidence_in_variances(score, fit, found)


@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianTied(60, tau=0.3), GaussianTied(60, tau=0.3, centre=0.0)])
@pytest.mark.parametrize("with_knowledge", [False, True])
def test_evidence_is_the_loss_of_the_best_member_with_the_other_direction(likelihood, with_knowledge, members_of):
    n, compared = 60, 0
    for seed in range(40):
        drawn = simulate(4, n, "ER1.5", "gaussian-nv", random_state=seed, weight_scale=0.5)
        S = Moments.from_rows(drawn.data).covariance
        members = members_of(drawn.sem.adjacency)

        def deviance(graph, likelihood=likelihood, S=S):
            r = regressions(graph, S).residual_variances
            return 2 * n * float(likelihood.on_dag(r))

        fit = regressions(min(members, key=deviance), S)
        known = [(int(fit.causes[0]), int(fit.children[0]))] if with_knowledge else []
        members = [member for member in members if all(member[edge] for edge in known)]
        if isinstance(likelihood, GaussianTied) and likelihood.centre is None:
            # The prior stays that of the best member.
            fixed = replace(likelihood, centre=float(np.log(fit.residual_variances).mean()))
            deviance.__defaults__ = fixed, S
        found = evidence(fit, S, n, likelihood, known)
        for k, edge in enumerate(zip(fit.causes, fit.children, strict=True)):
            along, against = ([deviance(m) for m in members if m[edge] == way] for way in (True, False))
            expected = max(min(against) - min(along), 0.0) if against else 0.0
            assert found[k] == pytest.approx(expected, abs=1e-5)
            compared += bool(against)
    assert compared > 20


def test_free_variances_are_evidence_for_no_open_direction():
    fit = regressions(simulate(6, 2, "ER1", random_state=1).sem.adjacency, np.eye(6))
    assert fit.edges.find_reversible().any()
    assert evidence(fit, np.eye(6), 100, GaussianNV()) == pytest.approx(0, abs=1e-9)


def hub(leaves, triangle):
    """Return a model in which node 0 causes node 1 strongly and many leaves weakly; one leaf can cause the next."""
    B = np.zeros((leaves + 2, leaves + 2))
    B[0, 1], B[0, 2:] = 1.0, 0.2
    B[2, 3] = 0.2 * triangle
    return LinearSEM(B, np.ones(len(B)))


@pytest.mark.parametrize("triangle", [False, True])
def test_many_members_with_little_evidence_do_not_hide_strong_evidence(triangle):
    """Members with a weak edge reversed are all better than any member with the strong edge reversed."""
    sem, n = hub(200, triangle), 100
    fit = regressions(sem.adjacency, sem.covariance)
    assert fit.edges.find_reversible().all()
    ends = zip(fit.causes.tolist(), fit.children.tolist(), strict=True)
    found = dict(zip(ends, evidence(fit, sem.covariance, n, GaussianEV()), strict=True))
    turned = sem.adjacency.copy()
    turned[0, 1], turned[1, 0] = False, True
    r = regressions(turned, sem.covariance).residual_variances
    expected = n * sem.d * (np.log(r.sum()) - np.log(sem.d))
    assert found[0, 1] == pytest.approx(expected)
    assert found[0, 1] > 10
    assert sum(0 < value < 2 for value in found.values()) > 190


def test_the_record_of_an_edge_has_the_loss_of_its_reversal():
    rng, B = np.random.default_rng(0), np.zeros((160, 160))
    for j in range(1, 160):
        B[max(j - 1 - rng.integers(3), 0), j] = 0.7
    model = Golem("ev").fit(LinearSEM(B, np.ones(160)).sample(400, rng))
    judged = [edge for edge in model.edges_ if edge.direction_from == "variances"]
    assert len(judged) > 100
    for edge in judged[::40]:
        assert edge.direction_strength == pytest.approx(edge_loss(model, edge.source, edge.target).reverse, abs=1e-4)
