"""Dependent rows: rows that depend on those before them, as in time series, and how many rows that leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.special import chdtrc

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.diagnostics.repetition import HARMLESS, find_repetition
from golem.data.moments import Moments
from golem.runtime.types import Matrix, Vector

_LEVEL = 1e-4
# With fewer rows per lag, the test would reject too often.
_LAGS, _ROWS_PER_LAG, _LAGS_OF_SUM = 10, 20, 1000
_FEWEST_ROWS = 30


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


def dependence(names: tuple[str, ...], rows: Matrix) -> Dependence | None:
    """Test whether rows depend on the rows before them; None if there are too few rows.

    The autocorrelations are those of ranks, because two outliers in neighbouring rows would dominate others. Of a table
    that is sorted by a column, what this column explains is removed first: sorting does not make rows dependent. The
    test is that of Ljung and Box (1978) on each column, with a Bonferroni correction. The correlation of two columns
    with autocorrelations r_k and s_k has the variance of n / (1 + 2 sum_k r_k s_k) independent rows (Bartlett 1935).
    The effective number of rows is the harmonic mean of these over all pairs of columns.
    """
    n = len(rows)
    names, Z = _without_sorting(names, rows)
    if n < _FEWEST_ROWS or len(names) < 2:
        return None
    r = _autocorrelations(Z, min(n // 4, _LAGS_OF_SUM))
    lags = np.arange(1, min(_LAGS, n // _ROWS_PER_LAG) + 1)
    Q = n * (n + 2) * np.sum(r[: len(lags)] ** 2 / (n - lags)[:, None], axis=0)
    p = np.minimum(chdtrc(len(lags), Q) * len(names), 1.0)
    d, j = len(names), int(np.abs(r[0]).argmax())
    products = (r.sum(axis=1) ** 2 - np.sum(r**2, axis=1)) / (d * (d - 1))
    # Beyond the first lag without a dependence there is only noise.
    end = int((products < 2 / n).argmax()) if (products < 2 / n).any() else len(products)
    effective = n / max(1.0, 1 + 2 * float(products[:end].sum()))
    return Dependence(names[j], float(r[0, j]), int((p < _LEVEL).sum()), float(p.min()), n, max(2, round(effective)))


def find_dependent_rows(
    names: tuple[str, ...], numbers: Matrix, rows: Matrix, moments: Moments
) -> tuple[Finding | None, int | None]:
    """Check whether rows are copies of others, or depend on the rows before them.

    `numbers` are the numeric columns of the rows, which may be some of those behind the moments. Also return the
    effective number of all rows if it is smaller.
    """
    repeated, left = find_repetition(rows, moments, has_numbers=True)
    dependent, effective = find_dependence(names, numbers, moments)
    # Copies in neighbouring rows look dependent as well.
    return (dependent, effective) if repeated.level == "ok" or (left is None and effective) else (repeated, left)


def find_dependence(names: tuple[str, ...], rows: Matrix, moments: Moments) -> tuple[Finding | None, int | None]:
    """Check whether rows depend on the rows before them; also return the effective number of rows if it is smaller.

    The rows may be some of those behind the moments, such as the complete ones; the effective number is for all.
    """
    found = dependence(names, rows)
    if found is None:
        return None, None
    if found.p_value >= _LEVEL:
        numbers = f"largest rank autocorrelation {abs(found.lag1):.2f}; portmanteau test: p = {found.p_value:.2g}"
        sentence = f"Neighbouring rows do not depend strongly on each other ({numbers}, not below {_LEVEL:.0e})."
        return Finding("dependent-rows", "ok", sentence), None
    share = found.effective_rows / found.rows
    is_harmless, effective = share >= HARMLESS, max(2, round(share * moments.n))
    p = "p < 1e-16" if found.p_value < 1e-16 else f"p = {found.p_value:.0e}"
    sentence = (
        f"Neighbouring rows depend on each other in {found.columns} of {len(names)} numeric columns (portmanteau test, "
        f"{p}; the rank autocorrelation of {found.column!r} at lag 1 is {found.lag1:.2f}). The {moments.rows} rows "
        f"carry as much information as about {effective} independent ones."
    )
    if not is_harmless:
        sentence += (
            " Standard errors are therefore too small. Bootstrap intervals are too narrow and frequencies too high."
        )
    remedy = (
        "If the rows are a time series or come in groups, trust only strong edges, or use rows that are further apart. "
        "Shuffling hides the dependence and does not repair it. If independent rows were only sorted, ignore this."
    )
    finding = Finding("dependent-rows", "note" if is_harmless else "warning", sentence, remedy)
    return finding, None if is_harmless else effective


def _without_sorting(names: tuple[str, ...], rows: Matrix) -> tuple[tuple[str, ...], Matrix]:
    """Return the ranks of the columns with mean 0 and norm 1, without what columns that sort the rows explain."""
    Z: Matrix = np.column_stack([_ranks(column) for column in rows.T])
    Z -= Z.mean(axis=0)
    steps = np.diff(Z, axis=0)
    is_sorted = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    others = np.asarray(~is_sorted)
    kept = Z[:, others]
    if is_sorted.any():
        by = Z[:, is_sorted]
        kept = kept - by @ np.linalg.lstsq(by, kept, rcond=None)[0]
    norm = np.linalg.norm(kept, axis=0)
    varies = norm > 1e-8 * len(rows)
    listed = [name for name, is_other in zip(names, others, strict=True) if is_other]
    return tuple(name for name, v in zip(listed, varies, strict=True) if v), kept[:, varies] / norm[varies]


def _ranks(column: Vector) -> Vector:
    """Return the ranks of a column, 1 to n; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def _autocorrelations(Z: Matrix, lags: int) -> Matrix:
    """Return the autocorrelations of columns of norm 1 at lags 1 to `lags`, shape (lags, d)."""
    size = fft.next_fast_len(len(Z) + lags, real=True)
    return np.column_stack([fft.irfft(np.abs(fft.rfft(column, size)) ** 2, size)[1 : lags + 1] for column in Z.T])
