"""Outliers: rows far beyond the tails of the others, and what the weights would be without them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.assessment.diagnostics.finding import Finding, look_at
from golem.runtime.messages import shortened
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import regressions

# The tail of a residual is fitted between these quantiles, so that a few outliers do not change it.
_BEGIN, _END = 0.8, 0.95
_LEVEL = 0.01
_FEWEST_ROWS = 100
# A change of a standardized weight that matters.
_CHANGE = 0.1


def outlying_rows(residuals: Matrix) -> NDArray[np.intp]:
    """Return the numbers of the rows with a residual far beyond what an exponential tail would produce.

    The tail beyond the 80% quantile of each side of each column is fitted by the 95% quantile. A residual is an outlier
    if fewer than 0.01 residuals of the whole table would be expected so far out. The tails of normal, uniform, Laplace,
    exponential and Gumbel noise are not heavier than exponential, so that these produce few outliers.

    Parameters
    ----------
    residuals : ndarray of shape (n, d)
        Residuals of all nodes on their parents.

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(500, 3))
    >>> noise[[7, 90], 1] = 40
    >>> outlying_rows(noise)
    array([ 7, 90])
    """
    n, d = residuals.shape
    found = np.zeros(n, dtype=bool)
    for side in (residuals, -residuals):
        begin, end = np.quantile(side, [_BEGIN, _END], axis=0)
        scale = (end - begin) / np.log((1 - _BEGIN) / (1 - _END))
        # A column with few distinct values may have no tail to fit.
        beyond = (side - begin) / np.where(scale > 0, scale, np.inf)
        found |= (beyond > np.log(2 * n * d * (1 - _BEGIN) / _LEVEL)).any(axis=1)
    return np.nonzero(found)[0]


def find_outliers(
    graph: BoolMatrix, rows: Matrix, residuals: Matrix, names: tuple[str, ...], numbers: NDArray[np.intp]
) -> Finding:
    """Find outlying rows, and say how much the weights depend on them; rows have their numbers in the table."""
    if len(rows) < _FEWEST_ROWS:
        sentence = f"Outliers were not checked: this needs {_FEWEST_ROWS} complete rows, and there are {len(rows)}."
        return Finding("outliers", "note", sentence, look_at(graph))
    found = outlying_rows(residuals)
    if not len(found):
        return Finding("outliers", "ok", "No row is far beyond the tails of the others.")
    kept = np.delete(rows, found, axis=0)
    listed = shortened([str(numbers[row] + 1) for row in found], 5)
    one = len(found) == 1
    sentence = f"Row {listed} is an outlier" if one else f"{len(found)} of {len(rows)} rows are outliers ({listed})"
    before, after = (_standardized_weights(graph, part) for part in (rows, kept))
    change = np.abs(after - before)
    i, j = np.unravel_index(int(change.argmax()), change.shape)
    matters = bool(change[i, j] > _CHANGE)
    if matters:
        sentence += (
            f". Without {'it' if one else 'them'}, the standardized weight of {names[i]!r} -> {names[j]!r} would be "
            f"{after[i, j]:.2f} instead of {before[i, j]:.2f}"
        )
    remedy = f"Check {'it' if one else 'them'} (row 1 is the first row of data), and compare with a fit without "
    remedy += "it." if one else "them."
    return Finding("outliers", "warning" if matters else "note", f"{sentence}.", remedy)


def _standardized_weights(graph: BoolMatrix, rows: Matrix) -> Matrix:
    """Return the least-squares weights for columns of unit variance; zero where a column does not vary."""
    scale = rows.std(axis=0)
    weights = regressions(graph, np.cov(rows.T, ddof=0)).matrix
    return np.asarray(weights * scale[:, None] / np.where(scale > 0, scale, np.inf))
