"""The rows from which directions by noise shape are learned, and the tables for which they cannot be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.data.dependence import without_sorting
from golem.runtime.types import Matrix

FEWEST_ROWS = 100
# A column is coarse if it has fewer distinct values, or if one of them has more than this share of the rows.
_FEWEST_VALUES, _LARGEST_SHARE = 30, 0.1
COARSE_REASON = (
    f"the undecided edges involve columns with fewer than {_FEWEST_VALUES} distinct values, or with one value in more "
    f"than {_LARGEST_SHARE:.0%} of the rows"
)
# A larger correlation of a column with itself one row later means that the rows depend on each other.
_LARGEST_LAG, _LAG_ERRORS = 0.2, 5.0


def standardized_rows(rows: Matrix) -> Matrix:
    """Return the complete rows with columns of mean 0 and variance 1; a constant column is 0."""
    chosen = rows[~np.isnan(rows).any(axis=1)]
    if not len(chosen):
        return chosen
    centred = chosen - chosen.mean(axis=0)
    scale = np.abs(centred).max(axis=0)  # squares of large units would overflow
    centred /= np.where(scale > 0, scale, 1.0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


def coarse_columns(Z: Matrix) -> NDArray[np.bool_]:
    """Return which columns repeat values too often for the shape of a continuous noise, shape (d,)."""
    ordered = np.sort(np.ascontiguousarray(Z.T), axis=1)
    coarse = np.zeros(len(ordered), dtype=bool)
    # Most columns of a table of measurements repeat no value.
    repeats = np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)
    for j in np.flatnonzero(repeats | (ordered.shape[1] < max(_FEWEST_VALUES, 1 / _LARGEST_SHARE))):
        ends = np.flatnonzero(np.diff(ordered[j], append=np.inf))
        counts = np.diff(ends, prepend=-1)
        coarse[j] = len(counts) < _FEWEST_VALUES or counts.max() > _LARGEST_SHARE * len(Z)
    return coarse


def why_unusable(Z: Matrix) -> str:
    """Return why directions cannot be learned from standardized rows, or an empty string if they can."""
    n = len(Z)
    if n < FEWEST_ROWS:
        return f"it needs {FEWEST_ROWS} complete rows, and there are {n}"
    # A column that numbers or sorts the rows does not make them dependent.
    _, others = without_sorting(Z)
    lags = np.abs(np.einsum("ij,ij->j", others[1:], others[:-1])) / n
    if lags.max(initial=0.0) > max(_LARGEST_LAG, _LAG_ERRORS / np.sqrt(n)):
        return (
            "neighbouring rows depend on each other. If independent rows were only sorted, shuffle them and run again. "
            "Do not shuffle a time series or groups: that hides the dependence and does not repair it"
        )
    return ""
