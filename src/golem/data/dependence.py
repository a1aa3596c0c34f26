"""Dependent rows: rows that depend on those before them, as in time series, and how many rows that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.special import chdtrc

from golem.data.checks import DataWarning
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import quoted, warn_user
from golem.runtime.problems import Text
from golem.runtime.types import Array, BoolVector, Matrix, Vector

LEVEL = 1e-4
# If a larger share of the rows is independent, the others are worth a note only.
HARMLESS = 0.9
# With fewer rows per lag, the test would reject too often.
_LAGS, _ROWS_PER_LAG, _LAGS_OF_SUM = 10, 20, 1000
_FEWEST_ROWS, _FEWEST_STEPS = 30, 10
# A fit checks so many of its first rows at least, and of longer tables no more numbers than this.
_FEWEST_CHECKED, _MOST_NUMBERS = 300, 40_000
REMEDY = Text.of(
    "If the rows are a time series, learn lags ({lags='auto'}). If they come in groups, name the column ({unit=...}). "
    "Shuffling hides the dependence and does not repair it. If independent rows were only sorted, ignore this."
)


@dataclass(frozen=True)
class Dependence:
    """Rank autocorrelations of the columns, and what they mean for the number of rows.

    Parameters
    ----------
    column, lag1 : str, float
        The column with the largest rank autocorrelation at lag 1, in absolute value.
    columns : int
        Number of columns whose rows depend on those before them.
    p_value : float
        Smallest p-value of the portmanteau test over all columns, times their number.
    rows, effective_rows : int
        Number of rows, and of independent rows that would estimate correlations as precisely.
    """

    column: str
    lag1: float
    columns: int
    p_value: float
    rows: int
    effective_rows: int

    @property
    def is_found(self) -> bool:
        """Whether independent rows would hardly ever look like this."""
        return self.p_value < LEVEL

    @property
    def share(self) -> float:
        """The effective number of rows as a share of all."""
        return self.effective_rows / self.rows

    def sentence(self, columns: int, rows: int, effective: int) -> str:
        """Say what was found in so many columns, and what it means for a table of so many rows."""
        p = "p < 1e-16" if self.p_value < 1e-16 else f"p = {self.p_value:.0e}"
        return (
            f"Neighbouring rows depend on each other in {self.columns} of {columns} numeric columns (portmanteau test, "
            f"{p}; the rank autocorrelation of {self.column!r} at lag 1 is {self.lag1:.2f}). The {rows} rows carry at "
            f"most as much information as about {effective} independent ones."
        )


def dependence(names: tuple[str, ...], rows: Matrix) -> Dependence | None:
    """Test whether rows depend on the rows before them; None if there are too few rows.

    The autocorrelations are those of ranks, because two outliers in neighbouring rows would dominate others. Of a table
    that is sorted by a column, what this column explains is removed first: sorting does not make rows dependent. The
    test is that of Ljung and Box (1978) on each column, with a Bonferroni correction. The correlation of two columns
    with autocorrelations r_k and s_k has the variance of n / (1 + 2 sum_k r_k s_k) independent rows (Bartlett 1935).
    The effective number of rows is the harmonic mean of these over all pairs of columns.
    """
    n = len(rows)
    if n < _FEWEST_ROWS or rows.shape[1] < 2:
        return None
    Z = _ranks(rows)
    others, Z = without_sorting(Z - Z.mean(axis=0))
    norm = np.linalg.norm(Z, axis=0)
    varies = norm > 1e-8 * n
    names = tuple(names[j] for j in np.flatnonzero(others)[varies])
    Z = Z[:, varies] / norm[varies]
    if not names:
        return None
    lags = np.arange(1, min(_LAGS, n // _ROWS_PER_LAG) + 1)
    r = np.array([np.einsum("ij,ij->j", Z[k:], Z[:-k]) for k in lags])
    Q = n * (n + 2) * np.sum(r**2 / (n - lags)[:, None], axis=0)
    p = np.minimum(chdtrc(len(lags), Q) * len(names), 1.0)
    j, lowest = int(np.abs(r[0]).argmax()), float(p.min())
    sorting = int((~others & (np.ptp(rows, axis=0) > 0)).sum())
    effective = n if lowest >= LEVEL else _effective_rows(Z[:, p < LEVEL], sorting, rows.shape[1])
    return Dependence(names[j], float(r[0, j]), int((p < LEVEL).sum()), lowest, n, effective)


def _effective_rows(Z: Matrix, sorting: int, d: int) -> int:
    """Return the effective number of rows, given the dependent columns of d, with mean 0 and norm 1.

    `sorting` columns sort the rows, as time does, so their autocorrelations are nearly 1. Those of other columns are 0
    up to noise.
    """
    n = len(Z)
    r = _autocorrelations(Z, min(n // 4, _LAGS_OF_SUM))
    products = ((r.sum(axis=1) + sorting) ** 2 - np.sum(r**2, axis=1) - sorting**2) / (d * (d - 1))
    # Beyond the first lag without a dependence there is only noise.
    end = int((products < 2 / n).argmax()) if (products < 2 / n).any() else len(products)
    return max(2, round(n / max(1.0, 1 + 2 * float(products[:end].sum()))))


def warn_of_dependent_rows(names: Sequence[str], rows: Array, n: int) -> None:
    """Warn if neighbouring rows of numbers depend on each other so much that n of them are worth far fewer.

    Also warn of columns that number the rows, or are time. Of a long table, the first rows are checked, without
    incomplete ones.
    """
    some = np.asarray(to_numpy(rows[: max(_FEWEST_CHECKED, _MOST_NUMBERS // max(len(names), 1))]), dtype=float)
    if numbering := [name for name, column in zip(names, some.T, strict=True) if _counts_up(column)]:
        one = len(numbering) == 1
        warn_user(
            f"{quoted(numbering, 3)} {'has' if one else 'have'} equally spaced values in the order of the rows, as row "
            f"numbers and time have. Drop row numbers. If {'it is' if one else 'they are'} time, the rows are not "
            "independent.",
            DataWarning,
        )
    found = dependence(tuple(names), some[~np.isnan(some).any(axis=1)])
    if found is not None and found.is_found and found.share < HARMLESS:
        said = found.sentence(len(names), n, max(2, round(found.share * n)))
        overstated = f"{said} Edges, directions and their strengths are therefore overstated. "
        warn_user(Text(overstated, REMEDY), DataWarning)


def _counts_up(column: Vector) -> bool:
    """Return whether a column counts the rows up or down, in equal steps or, where rows were dropped, multiples."""
    steps = np.diff(column[~np.isnan(column)])
    if len(steps) < _FEWEST_STEPS or not (steps[0] * steps > 0).all():
        return False
    multiples = steps / steps[np.abs(steps).argmin()]
    return bool(np.median(multiples) < 1.5) and np.allclose(multiples, np.rint(multiples), rtol=0.0, atol=1e-6)


def without_sorting(Z: Matrix) -> tuple[BoolVector, Matrix]:
    """Return which centred columns do not sort the rows, shape (d,), and what those that do leave of them."""
    steps = np.diff(Z, axis=0)
    is_sorted = np.asarray((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0))
    kept = Z[:, ~is_sorted]
    if is_sorted.any():
        by = Z[:, is_sorted]
        kept = kept - by @ np.linalg.lstsq(by, kept, rcond=None)[0]
    return ~is_sorted, kept


def _ranks(rows: Matrix) -> Matrix:
    """Return the ranks in each column, 1 to n, shape (n, d); equal values share the mean of their ranks."""
    columns = np.ascontiguousarray(rows.T)
    order = np.argsort(columns, axis=1)
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, len(rows) + 1), axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    for j in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        _, inverse, counts = np.unique(columns[j], return_inverse=True, return_counts=True)
        ranks[j] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks.T


def _autocorrelations(Z: Matrix, lags: int) -> Matrix:
    """Return the autocorrelations of columns of norm 1 at lags 1 to `lags`, shape (lags, d)."""
    size = fft.next_fast_len(len(Z) + lags, real=True)
    return np.column_stack([fft.irfft(np.abs(fft.rfft(column, size)) ** 2, size)[1 : lags + 1] for column in Z.T])
