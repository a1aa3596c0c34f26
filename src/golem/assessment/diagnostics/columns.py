"""The columns: enough rows, and columns that are not nearly constant, copies, or combinations of each other."""

from __future__ import annotations

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.data.moments import Moments
from golem.runtime.messages import shortened
from golem.runtime.types import Matrix

_WARN_BELOW, _NOTE_BELOW = 1.5, 5.0
_WORST_CONDITION = 1e8
_NEAR_DUPLICATE = 0.995
_DETERMINED = 0.999
_DIGITS_LOST = 1e-7
_MOSTLY_ONE_VALUE = 0.95


def find_rows(moments: Moments) -> Finding:
    """Tell whether rows are few beside the columns."""
    n, d = moments.n, moments.d
    numbers = f"n = {n} rows for d = {d} columns"
    if n >= _NOTE_BELOW * d:
        return Finding("rows", "ok", f"{numbers}.")
    return Finding(
        "rows",
        "warning" if n < _WARN_BELOW * d else "note",
        f"{numbers}: weak edges and directions are uncertain, and a missing edge says little.",
        "More rows or fewer columns help; a bootstrap shows which edges hold.",
    )


def find_conditioning(moments: Moments) -> Finding:
    """Tell whether the correlations can be inverted with digits to spare."""
    if moments.n <= moments.d:
        return Finding(
            "conditioning", "ok", "With no more rows than columns the correlations are singular as a matter of course."
        )
    values = np.linalg.eigvalsh(moments.standardized().covariance)
    condition = float(values[-1] / max(values[0], np.finfo(float).tiny))
    if condition < _WORST_CONDITION:
        return Finding("conditioning", "ok", f"The condition number of the correlations is {condition:.1e}.")
    return Finding(
        "conditioning",
        "note",
        f"The correlations are nearly singular (condition number {condition:.1e}): regressions on many columns lose "
        "half of their digits.",
        "Drop columns that repeat others.",
    )


def find_near_duplicates(moments: Moments) -> Finding:
    """Name pairs of columns that are almost copies."""
    R = np.abs(moments.standardized().covariance)
    close = np.argwhere(np.triu(R > _NEAR_DUPLICATE, k=1))
    if not len(close):
        return Finding("near-duplicates", "ok", f"No two columns correlate beyond {_NEAR_DUPLICATE}.")
    close = close[np.argsort(-R[tuple(close.T)])]
    pairs = [f"{moments.names[i]!r} and {moments.names[j]!r} ({R[i, j]:.4f})" for i, j in close]
    return Finding(
        "near-duplicates",
        "note",
        f"{len(close)} {'pair' if len(close) == 1 else 'pairs'} of columns correlate beyond {_NEAR_DUPLICATE}: "
        f"{shortened(pairs, 3)}; an edge of one may belong to the other.",
        "Keep one of each pair if they measure the same thing.",
    )


def find_determined(moments: Moments) -> Finding:
    """Name columns that are almost linear combinations of several others."""
    n, d = moments.n, moments.d
    if n <= d + 1:
        return Finding(
            "deterministic", "ok", "Not checked: with so few rows every column is a combination of the others."
        )
    S = moments.standardized().covariance
    unexplained = np.minimum(1 / np.diagonal(np.linalg.inv(S)) * (n - 1) / (n - d), 1.0)
    alone = np.abs(S - np.eye(d)).max(axis=0) <= _NEAR_DUPLICATE
    bad = np.nonzero((unexplained < 1 - _DETERMINED) & alone)[0]
    if not len(bad):
        return Finding("deterministic", "ok", f"No column is determined by several others (R2 beyond {_DETERMINED}).")
    named = [f"{moments.names[j]!r} (R2 {1 - unexplained[j]:.5f})" for j in bad[np.argsort(unexplained[bad])]]
    return Finding(
        "deterministic",
        "note",
        f"{len(bad)} of {d} columns are nearly linear combinations of others: {shortened(named, 3)}.",
        "Drop totals that stand beside their parts.",
    )


def find_near_constant(moments: Moments, rows: Matrix | None) -> Finding:
    """Name columns that hardly vary: beside their mean, or but for a few rows."""
    small = np.sqrt(moments.variances) < _DIGITS_LOST * np.abs(moments.mean)
    named = [
        f"{name!r} (varies by {_DIGITS_LOST:.0e} of its mean)"
        for name, bad in zip(moments.names, small, strict=True)
        if bad
    ]
    if rows is not None:
        for j, name in enumerate(moments.names):
            # Of sorted values a most common one with this share must stand in the middle.
            ordered = np.sort(rows[:, j])
            share = float((ordered == ordered[len(ordered) // 2]).mean())
            if share > _MOSTLY_ONE_VALUE:
                named.append(f"{name!r} (one value in {share:.1%} of the rows)")
    if not named:
        return Finding("near-constant", "ok", "No column is nearly constant.")
    return Finding(
        "near-constant",
        "note",
        f"Nearly constant: {shortened(named, 3)}; a few rows decide all of the edges there.",
        "Drop such columns, or subtract what they share.",
    )
