"""Precision of regressions on moments by EM: the number of complete rows that would be as precise, edge by edge.

Let S be the covariance of a node and its parents. With C_p rows of pattern p, whose observed columns are o, the
information about S is the sum over patterns of C_p / 2 tr(G_p dS G_p dS), where G_p is the inverse of S_oo, with zeros
elsewhere. The inverse of the information gives the variance of a smooth function of S. Divided into the variance that
one complete row would give, that is a number of rows. Only the columns of the family count. Others may say more about
its missing values, so the numbers are rather too low.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.missing import Patterns
from golem.runtime.types import Indices, Matrix, Vector


class FamilyRows(NamedTuple):
    """Numbers of complete rows that would be as precise, one per parent, shape (k,).

    `weights` are for the weights of the regression, `correlations` for the partial correlations of the node with each
    parent given the others. The latter are the same for both directions of a covered edge.
    """

    weights: Vector
    correlations: Vector


def edge_rows(children: Indices, causes: Indices, S: Matrix, patterns: Patterns) -> FamilyRows:
    """Return the numbers of rows of every edge, given as edges grouped by child."""
    found = FamilyRows(*np.full((2, len(children)), np.nan))
    for into in np.split(np.arange(len(children)), np.flatnonzero(np.diff(children)) + 1) if len(children) else ():
        family = np.append(children[into[0]], causes[into])
        own = family_rows(S[np.ix_(family, family)], patterns.selected(family))
        found.weights[into], found.correlations[into] = own
    return found


def family_rows(S: Matrix, patterns: Patterns) -> FamilyRows:
    """Return the numbers of rows of a node, the first column of S, and its parents, the others; NaN if S is singular.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> complete, partly = np.array([[True, True]]), np.array([[True, True], [False, True]])
    >>> family_rows(S, Patterns(complete, np.array([400]))).weights
    array([400.])
    >>> family_rows(S, Patterns(partly, np.array([100, 300]))).weights.round(6)  # rows without the child say nothing
    array([100.])
    """
    k = len(S) - 1
    if patterns.present.all():
        return FamilyRows(*np.full((2, k), float(patterns.counts.sum())))
    scale = np.sqrt(np.diagonal(S))
    R = S / np.outer(scale, scale)
    try:
        variance, K, inverse = np.linalg.inv(_information(R, patterns)), np.linalg.inv(R), np.linalg.inv(R[1:, 1:])
    except np.linalg.LinAlgError:
        return FamilyRows(*np.full((2, k), np.nan))
    if not (np.diagonal(K) > 0).all():  # singular up to rounding
        return FamilyRows(*np.full((2, k), np.nan))
    b = inverse @ R[1:, 0]
    weights = np.array([_bilinear(np.append(0, row), np.append(1, -b)) for row in inverse])
    of_weights = np.diagonal(inverse) * (R[0, 0] - R[1:, 0] @ b) / _quadratic(weights, variance)
    # rho_i = -K_0i / sqrt(K_00 K_ii), and dK = -K dS K.
    root = np.sqrt(K[0, 0] * np.diagonal(K)[1:])
    rho = -K[0, 1:] / root
    own = _bilinear(K[0], K[0]) / K[0, 0]
    slopes = [
        _bilinear(K[0], K[i]) / root[i - 1] + rho[i - 1] / 2 * (own + _bilinear(K[i], K[i]) / K[i, i])
        for i in range(1, k + 1)
    ]
    return FamilyRows(of_weights, (1 - rho**2) ** 2 / _quadratic(np.array(slopes), variance))


def _information(R: Matrix, patterns: Patterns) -> Matrix:
    """Return the information about the entries of the upper triangle of R."""
    q, m = len(R), len(patterns.counts)
    both = patterns.present[:, :, None] & patterns.present[:, None, :]
    alone = np.eye(q) * ~patterns.present[:, None, :]  # keeps the padded matrix regular
    G = np.where(both, np.linalg.inv(np.where(both, R, alone)), 0.0).reshape(m, q * q)
    products = ((G * patterns.counts[:, None]).T @ G).reshape(q, q, q, q)  # sums of G_ab G_cd
    i, j = np.triu_indices(q)
    a, b = (i[:, None], j[:, None]), (i, j)
    # An entry off the diagonal stands for two.
    twice = np.where(i == j, 1.0, 2.0)
    pairs = products[a[0], b[0], a[1], b[1]] + products[a[0], b[1], a[1], b[0]]
    return np.asarray(np.outer(twice, twice) / 4 * pairs)


def _bilinear(x: Vector, y: Vector) -> Vector:
    """Return the derivative of x' S y with respect to the entries of the upper triangle of S."""
    i, j = np.triu_indices(len(x))
    return np.where(i == j, x[i] * y[j], x[i] * y[j] + x[j] * y[i])


def _quadratic(gradients: Matrix, variance: NDArray[np.floating[Any]]) -> Vector:
    """Return g' V g for every gradient g."""
    return np.asarray(np.einsum("ka,ab,kb->k", gradients, variance, gradients))
