"""Directions by noise variances: how much worse the members of the class with the other direction fit."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from golem.directions.best_members import rises_of_cost
from golem.directions.members import Component, Family
from golem.runtime.types import Matrix, Vector
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.regression import Regressions, family_variances

# A direction has evidence if all members with the other one have a deviance higher by this (odds of e to 1).
LEAST_EVIDENCE = 2.0


def evidence_in_variances(
    fit: Regressions, S: Matrix, n: int, likelihood: Likelihood, found: Iterable[Component]
) -> Vector:
    """Return the evidence of the noise model for the direction of each edge, shape (e,).

    Free noise variances have no evidence for any direction. With equal or tied ones, the evidence is the deviance by
    which the best member of the equivalence class with the other direction is worse than the best one with this
    direction; at least 0, and 0 where all members agree.

    Parameters
    ----------
    fit : Regressions
        The edges, and the residual variances at the least-squares weights.
    S : ndarray of shape (d, d)
        The covariance.
    n : int
        Number of rows.
    likelihood : Likelihood
        The noise model.
    found : iterable of Component
        The components of the CPDAG, with the directions of `fit`.
    """
    evidence = np.zeros(len(fit.children))
    if isinstance(likelihood, GaussianNV):
        return evidence
    rises = rises_of_deviance(found, fit.residual_variances, S, n, likelihood)
    for k, (i, j) in enumerate(zip(fit.causes.tolist(), fit.children.tolist(), strict=True)):
        other = rises.get((j, i), math.inf)
        if math.isfinite(other):
            evidence[k] = max(other - rises[i, j], 0.0)
    return evidence


def rises_of_deviance(
    found: Iterable[Component], r: Vector, S: Matrix, n: int, likelihood: Likelihood
) -> dict[tuple[int, int], float]:
    """Return for each direction i -> j how much higher the deviance of the best member with it is; inf if none has it.

    The deviance is compared with that of the given member, in which all nodes have the residual variances `r`, of shape
    (d,). If the mean and the spread of tied variances are estimated, they are those of this member.
    """
    if isinstance(likelihood, GaussianEV):
        # The deviance grows with the sum of all residual variances.
        rises, whole = rises_of_cost(found, lambda families: family_variances(S, families)), float(r.sum())
        return {way: n * len(r) * math.log1p(rise / whole) for way, rise in rises.items()}
    if isinstance(likelihood, GaussianTied) and not likelihood.is_fixed:
        centre, v = likelihood.prior(r)
        likelihood = GaussianTied(likelihood.n, math.sqrt(max(float(v) - 2 / likelihood.n, 0.0)), float(centre))

    def costs(families: list[Family]) -> Vector:
        return np.asarray(2 * n * likelihood.on_dag(family_variances(S, families)[:, None]))

    return rises_of_cost(found, costs)
