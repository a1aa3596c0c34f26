"""Gaussian EM for the columns of tables with categories, of which others may determine some.

EM needs columns that are linearly independent. The scores of categories are bounded, so they do not.
"""

from __future__ import annotations

import numpy as np

from golem.data.moments import Moments
from golem.data.patterns import Patterns
from golem.data.unusable import unusable_in_rows
from golem.runtime.progress import Counter
from golem.runtime.types import Matrix

# In standard deviations: values that differ by less are equal, and smaller coefficients are zero.
_EQUAL = 1e-6


def coded_moments_by_em(X: Matrix, names: tuple[str, ...], progress: Counter | None = None) -> Moments:
    """Return the moments of the columns of a coding, with missing values (NaN), by EM.

    Columns that others determine are left out of EM. They are linear functions of the others, so their moments follow.
    Of columns that determine each other, EM uses those with the fewest missing values.
    """
    order = np.argsort(np.isnan(X).sum(axis=0), kind="stable")
    found = unusable_in_rows(X[:, order], tuple(names[j] for j in order))
    suspects = [names.index(column.name) for column in found if column.kind != "empty"]
    complete = X[~np.isnan(X).any(axis=1)]
    if not suspects or not len(complete):
        return Moments.by_em(X, names, progress=progress)
    centre, scale = complete.mean(axis=0), np.nanstd(X, axis=0)
    scale[scale == 0] = 1.0
    coefficients = _coefficients((X - centre) / scale, suspects)
    left_out = list(coefficients)
    kept = [j for j in range(len(names)) if j not in coefficients]
    own = Moments.by_em(X[:, kept], tuple(names[j] for j in kept), progress=progress, checked=True)
    T = np.eye(len(names))
    T[left_out] = np.array(list(coefficients.values())).reshape(-1, len(names))
    T = scale[:, None] * T[:, kept] / scale[kept]
    mean = centre + T @ (own.mean - centre[kept])
    scatter, patterns = T @ own.scatter @ T.T, Patterns.of(np.isnan(X))
    return Moments(own.n, mean, np.zeros(len(names)), scatter, names, own.missing, patterns=patterns)


def _coefficients(Z: Matrix, suspects: list[int]) -> dict[int, Matrix]:
    """Return the coefficients of the suspects on all other columns, for those that they determine in all rows.

    The columns are centred and scaled. Rows with other missing values may contradict the complete rows.
    """
    complete = Z[~np.isnan(Z).any(axis=1)]
    others = [j for j in range(Z.shape[1]) if j not in suspects]
    fitted = np.linalg.lstsq(complete[:, others], complete[:, suspects], rcond=None)[0]
    found = {}
    for j, own in zip(suspects, fitted.T, strict=True):
        weights = np.zeros(Z.shape[1])
        weights[others] = np.where(np.abs(own) > _EQUAL, own, 0.0)
        used = np.flatnonzero(weights)
        error = np.abs(Z[:, j] - Z[:, used] @ weights[used])  # NaN where one of the values is missing
        if not (error > _EQUAL).any():
            found[j] = weights
    return found
