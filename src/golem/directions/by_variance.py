"""Directions by noise variances: how much worse the members of the class with the other direction fit."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from golem.directions.best_members import rises_of_cost
from golem.directions.members import Component
from golem.runtime.types import Vector
from golem.score.regression import Regressions
from golem.score.table_score import NodeScore

# A direction has evidence if all members with the other one have a deviance higher by this (odds of e to 1).
LEAST_EVIDENCE = 2.0


def evidence_in_variances(score: NodeScore, fit: Regressions, found: Iterable[Component]) -> Vector:
    """Return the evidence of the noise model for the direction of each edge, shape (e,).

    Free noise variances have no evidence for any direction. With equal or tied ones, the evidence is the deviance by
    which the best member of the equivalence class with the other direction is worse than the best one with this
    direction; at least 0, and 0 where all members agree.

    Parameters
    ----------
    score : NodeScore
        The score, with its noise model.
    fit : Regressions
        The edges, and the residual variances at the least-squares weights.
    found : iterable of Component
        The components of the CPDAG, with the directions of `fit`.
    """
    evidence = np.zeros(len(fit.children))
    rises = rises_of_deviance(score, fit, found)
    for k, (i, j) in enumerate(fit.edges.pairs()):
        other = rises.get((j, i), math.inf)
        if math.isfinite(other):
            evidence[k] = max(other - rises[i, j], 0.0)
    return evidence


def rises_of_deviance(score: NodeScore, fit: Regressions, found: Iterable[Component]) -> dict[tuple[int, int], float]:
    """Return for each direction i -> j how much higher the deviance of the best member with it is; inf if none has it.

    The deviance is compared with that of the graph of `fit`.
    """
    rises = rises_of_cost(found, score.family_costs(fit))
    return {way: score.rise_of_deviance(rise, fit) for way, rise in rises.items()}
