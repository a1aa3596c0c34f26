"""Checks of the columns: enough rows, and no columns that are nearly constant, copies or combinations of others."""

from __future__ import annotations

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.data.moments import Moments
from golem.runtime.messages import counted, shortened
from golem.runtime.types import Matrix
from golem.score.sparsity import L0

_WARN_BELOW, _NOTE_BELOW = 1.5, 5.0
_WORST_CONDITION = 1e8
_NEAR_DUPLICATE = 0.995
_DETERMINED = 0.999
_DIGITS_LOST = 1e-7
_MOSTLY_ONE_VALUE = 0.95
# With more columns, factorizations of their correlations take longer than all other checks.
_LARGEST_FACTORED = 1000


def find_rows(moments: Moments, edge_penalty: L0 | None = None) -> Finding:
    """Check the number of rows against the number of columns."""
    n, d = moments.n, moments.d
    if n >= _NOTE_BELOW * d:
        return Finding("rows", "ok", f"There are {moments.rows_in_words} for {d} columns.")
    noise = 0.0 if edge_penalty is None else pairs_of_noise(n, d, edge_penalty)
    more = f" Columns of pure noise would give {noise:.0f} edges or more." if noise >= 1.5 else ""
    return Finding(
        "rows",
        "warning" if n < _WARN_BELOW * d else "note",
        f"There are only {moments.rows_in_words} for {d} columns, so weak edges and directions are uncertain.{more}",
        "Use more rows or fewer columns, or check the edges with a bootstrap.",
    )


def find_sample(moments: Moments, complete: int) -> list[Finding]:
    """Say that the checks used a sample of the complete rows of the model, if these are more than the given number."""
    missing = moments.missing
    total = moments.n if missing is None else missing.rows_read - missing.rows
    if complete >= total:
        return []
    sentence = f"The checks that need rows used a sample of {complete} of {total} complete rows."
    sentence += " Row numbers are those in the sample."
    return [Finding("sample", "note", sentence)]


def pairs_of_noise(n: int, d: int, edge_penalty: L0) -> float:
    """Return the expected number of pairs of independent Gaussian columns whose correlation exceeds the penalty.

    An edge is kept if -n log(1 - r^2) exceeds the penalty p. Under independence, r sqrt((n - 2) / (1 - r^2)) has
    Student's t distribution with n - 2 degrees of freedom, whose tails are heavy if rows are few. Edges of nodes with
    several parents come on top.

    Examples
    --------
    >>> [round(pairs_of_noise(n, 25, L0()), 1) for n in (10, 40, 1000)]
    [3.1, 0.6, 0.1]
    """
    from scipy.special import stdtr

    if n < 3 or d < 2:
        return 0.0
    none, one = edge_penalty.penalties(n, d)[:2]
    t = np.sqrt((n - 2) * np.expm1((one - none) / n))
    return float(d * (d - 1) * stdtr(n - 2, -t))


def find_conditioning(moments: Moments) -> Finding:
    """Check that the correlation matrix can be inverted accurately."""
    if moments.n <= moments.d:
        return Finding("conditioning", "ok", "With so few rows the correlation matrix is always singular.")
    if moments.d > _LARGEST_FACTORED:
        return _not_checked("conditioning", moments.d, "how accurately the correlation matrix can be inverted")
    values = np.linalg.eigvalsh(moments.standardized().covariance)
    condition = float(values[-1] / max(values[0], np.finfo(float).tiny))
    if condition < _WORST_CONDITION:
        return Finding("conditioning", "ok", f"The condition number of the correlation matrix is {condition:.2g}.")
    return Finding(
        "conditioning",
        "note",
        f"The correlation matrix is nearly singular (condition number {condition:.1e}), so regressions on many columns "
        "lose half of their digits.",
        "Drop columns that repeat others.",
    )


def find_near_duplicates(moments: Moments) -> Finding:
    """Find pairs of columns that are almost copies of each other."""
    inverse = 1 / np.sqrt(moments.variances)
    R = np.abs(moments.covariance)
    R *= inverse
    R *= inverse[:, None]
    close = np.argwhere(np.triu(R > _NEAR_DUPLICATE, k=1))
    if not len(close):
        return Finding("near-duplicates", "ok", f"No two columns have a correlation above {_NEAR_DUPLICATE}.")
    close = close[np.argsort(-R[tuple(close.T)])]
    pairs = [f"{moments.names[i]!r} and {moments.names[j]!r} ({R[i, j]:.4f})" for i, j in close]
    return Finding(
        "near-duplicates",
        "note",
        f"The correlation of {counted(len(close), 'pair')} of columns is above {_NEAR_DUPLICATE}, so an edge of one "
        f"may belong to the other: {shortened(pairs, 3)}.",
        "Keep one column of each pair if both measure the same thing.",
    )


def find_determined(moments: Moments) -> Finding:
    """Find columns that are almost linear combinations of several others."""
    n, d = moments.n, moments.d
    if n <= d + 1:
        return Finding("deterministic", "ok", "With so few rows every column is a combination of others.")
    if d > _LARGEST_FACTORED:
        return _not_checked("deterministic", d, "whether columns are nearly linear combinations of several others")
    S = moments.standardized().covariance
    unexplained = np.minimum(1 / np.diagonal(np.linalg.inv(S)) * (n - 1) / (n - d), 1.0)
    no_duplicate = np.abs(S - np.eye(d)).max(axis=0) <= _NEAR_DUPLICATE
    bad = np.nonzero((unexplained < 1 - _DETERMINED) & no_duplicate)[0]
    if not len(bad):
        return Finding("deterministic", "ok", f"No column is determined by several others (R2 above {_DETERMINED}).")
    named = [f"{moments.names[j]!r} (R2 {1 - unexplained[j]:.5f})" for j in bad[np.argsort(unexplained[bad])]]
    return Finding(
        "deterministic",
        "note",
        f"{len(bad)} of {d} columns are nearly linear combinations of others: {shortened(named, 3)}.",
        "Drop totals whose parts are in the table.",
    )


def _not_checked(name: str, d: int, what: str) -> Finding:
    """Return the finding of a check that would take too long."""
    # The fit itself warns of columns that are so close to combinations of others that rounding matters.
    return Finding(name, "note", f"Not checked, because there are {d} columns: {what}.", "Check fewer columns.")


def find_near_constant(moments: Moments, rows: Matrix | None) -> Finding:
    """Find columns that hardly vary: compared with their mean, or except for a few rows."""
    small = np.sqrt(moments.variances) < _DIGITS_LOST * np.abs(moments.mean)
    tiny = [repr(moments.names[j]) for j in np.nonzero(small)[0]]
    same = []
    for name, column in [] if rows is None else zip(moments.names, rows.T, strict=True):
        # A value with such a share is also the median.
        share = float((column == np.sort(column)[len(column) // 2]).mean())
        if share > _MOSTLY_ONE_VALUE:
            same.append(f"{name!r} has the same value in {share:.1%} of the rows")
    if not tiny and not same:
        measure = " compared with its mean" if rows is None else ""
        return Finding("near-constant", "ok", f"No column is nearly constant{measure}.")
    parts, remedies = [], []
    if same:
        its, it = ("its", "it") if len(same) == 1 else ("their", "them")
        parts.append(f"{shortened(same, 3)}, so {its} edges depend on the few other rows.")
        remedies.append(f"Consider dropping {it}.")
    if tiny:
        varies, its = ("varies", "its") if len(tiny) == 1 else ("vary", "their")
        parts.append(f"{shortened(tiny, 3)} {varies} by less than {_DIGITS_LOST:.0e} of {its} mean.")
        remedies.append(f"Subtract the mean of {shortened(tiny, 3)}.")
    return Finding("near-constant", "note", " ".join(parts), " ".join(remedies))
