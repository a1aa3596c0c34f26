"""The pairwise measure by which DirectLiNGAM finds the column that causes the others (compiled with numba).

Import this module only where a search runs, because it imports numba.
"""

from __future__ import annotations

import math

import numpy as np

from golem.runtime.types import Array
from golem.search.jit import allocating_entry, entry

# Hyvärinen's (1998) maximum entropy approximation:
# H(u) = H(Gauss) - K1 (E log cosh u - GAMMA)^2 - K2 (E u exp(-u^2/2))^2.
_K1, _K2, _GAMMA = 79.047, 7.4129, 0.37457
_GAUSSIAN_ENTROPY = (1 + math.log(2 * math.pi)) / 2
_LOG_2 = math.log(2)


@entry
def entropy(x: Array, y: Array, slope: float, scale: float) -> float:
    """Approximate the entropy of (x - slope y) / scale, which has mean 0 and variance 1."""
    n = len(x)
    log_cosh = odd = 0.0
    for k in range(n):
        u = (x[k] - slope * y[k]) / scale
        size = abs(u)
        log_cosh += size + math.log1p(math.exp(-2 * size))
        odd += u * math.exp(-u * u / 2)
    log_cosh = log_cosh / n - _LOG_2
    return float(_GAUSSIAN_ENTROPY - _K1 * (log_cosh - _GAMMA) ** 2 - _K2 * (odd / n) ** 2)


@allocating_entry
def most_exogenous(Z: Array, R: Array, is_candidate: Array) -> int:
    """Return the most likely cause of all others among the candidates (Hyvärinen and Smith 2013).

    For standardized rows z_i, z_j, let r_ij be the standardized residual of z_i on z_j. The difference of the mutual
    informations of both directions is

        I_ij = H(z_j) + H(r_ij) - H(z_i) - H(r_ji) = -I_ji,

    negative if j -> i fits better. The result is the candidate with the smallest sum over j of min(0, I_ij)^2. Sums
    only grow, so we always extend the smallest one; when it is complete, no other can be smaller. Most pairs are never
    visited.
    """
    d = len(Z)
    alone = np.empty(d)
    for i in range(d):
        alone[i] = entropy(Z[i], Z[i], 0.0, 1.0)
    sums = np.zeros(d)
    left = np.full(d, d - 1)
    seen = np.eye(d, dtype=np.bool_)
    while True:
        i = -1
        for k in range(d):
            if is_candidate[k] and (i < 0 or sums[k] < sums[i]):
                i = k
        if left[i] == 0:
            return i
        # Strongly correlated pairs differ most between directions and decide soonest.
        j = -1
        for k in range(d):
            if not seen[i, k] and (j < 0 or abs(R[i, k]) > abs(R[i, j])):
                j = k
        scale = math.sqrt(1 - R[i, j] ** 2)
        i_given_j, j_given_i = entropy(Z[i], Z[j], R[i, j], scale), entropy(Z[j], Z[i], R[i, j], scale)
        difference = alone[j] + i_given_j - alone[i] - j_given_i
        sums[i if difference < 0 else j] += difference**2
        seen[i, j] = seen[j, i] = True
        left[i] -= 1
        left[j] -= 1
