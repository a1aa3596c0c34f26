"""Checks of the columns: enough rows, and no columns or levels that are rare, nearly constant or follow from others."""

from __future__ import annotations

import numpy as np

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, note, ok
from golem.data.coded_tables import counts_in_moments
from golem.runtime.messages import counted, quoted, shortened
from golem.score.sparsity import L0

_WARN_BELOW, _NOTE_BELOW = 1.5, 5.0
_WORST_CONDITION = 1e8
_NEAR_DUPLICATE = 0.995
_DETERMINED = 0.999
_DIGITS_LOST = 1e-7
_MOSTLY_ONE_VALUE = 0.95
# Levels with fewer rows are rare.
_RARE = 5
# With more columns, factorizations of their correlations take longer than all other checks.
_LARGEST_FACTORED = 1000


def find_rows(checked: CheckedModel) -> Verdict:
    """Check the number of rows against the number of columns, with one column per level but the reference level."""
    moments, variables, noise = checked.moments, checked.table.d, 0.0
    n, d = moments.n, moments.d
    columns, levels = f"{d} columns", ""
    if checked.table.coding.categories:
        columns = counted(variables, "variable")
        levels = f" The variables count as {d} columns: a category has one per level except its reference level."
    if n >= _NOTE_BELOW * d:
        return ok(f"There are {moments.rows_in_words} for {columns}.{levels}")
    if checked.is_linear:
        noise = pairs_of_noise(n, d, checked.model.edge_penalty_)
    more = f" Columns of pure noise would give {noise:.0f} edges or more." if noise >= 1.5 else ""
    return Verdict(
        "warning" if n < _WARN_BELOW * d else "note",
        f"There are only {moments.rows_in_words} for {columns}, so weak edges and directions are uncertain."
        f"{more}{levels}",
        "Use more rows or fewer columns, or check the edges with a bootstrap.",
    )


def find_sample(checked: CheckedModel) -> Verdict | None:
    """Say that the checks used a sample of the complete rows of the model, if these are more than the given number."""
    missing = checked.moments.missing
    total = checked.moments.n if missing is None else missing.rows_read - missing.rows
    if checked.rows is None or len(checked.rows) >= total:
        return None
    return note(
        f"The checks that need rows used a sample of {len(checked.rows)} of {total} complete rows. Row numbers are "
        "those in the sample."
    )


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


def find_conditioning(checked: CheckedModel) -> Verdict | None:
    """Check that the correlation matrix can be inverted accurately."""
    moments = checked.moments
    if not checked.is_linear:
        return None
    if moments.n <= moments.d:
        return ok("With so few rows the correlation matrix is always singular.")
    if moments.d > _LARGEST_FACTORED:
        return _not_checked(moments.d, "how accurately the correlation matrix can be inverted")
    values = np.linalg.eigvalsh(moments.standardized().covariance)
    condition = float(values[-1] / max(values[0], np.finfo(float).tiny))
    if condition < _WORST_CONDITION:
        return ok(f"The condition number of the correlation matrix is {condition:.2g}.")
    return note(
        f"The correlation matrix is nearly singular (condition number {condition:.1e}), so regressions on many columns "
        "lose half of their digits.",
        "Drop columns that repeat others.",
    )


def find_near_duplicates(checked: CheckedModel) -> Verdict | None:
    """Find pairs of numbers that are almost copies of each other."""
    if len(checked.numbers) < 2:
        return None
    moments = checked.moments.selected(checked.number_names)
    inverse = 1 / np.sqrt(moments.variances)
    R = np.abs(moments.covariance)
    R *= inverse
    R *= inverse[:, None]
    close = np.argwhere(np.triu(R > _NEAR_DUPLICATE, k=1))
    if not len(close):
        return ok(f"No two columns have a correlation above {_NEAR_DUPLICATE}.")
    close = close[np.argsort(-R[tuple(close.T)])]
    pairs = [f"{moments.names[i]!r} and {moments.names[j]!r} ({R[i, j]:.4f})" for i, j in close]
    return note(
        f"The correlation of {counted(len(close), 'pair')} of columns is above {_NEAR_DUPLICATE}, so an edge of one "
        f"may belong to the other: {shortened(pairs, 3)}.",
        "Keep one column of each pair if both measure the same thing.",
    )


def find_combinations(checked: CheckedModel) -> Verdict | None:
    """Find columns that are almost linear combinations of several others."""
    moments = checked.moments
    n, d = moments.n, moments.d
    if not checked.is_linear:
        return None
    if n <= d + 1:
        return ok("With so few rows every column is a combination of others.")
    if d > _LARGEST_FACTORED:
        return _not_checked(d, "whether columns are nearly linear combinations of several others")
    S = moments.standardized().covariance
    unexplained = np.minimum(1 / np.diagonal(np.linalg.inv(S)) * (n - 1) / (n - d), 1.0)
    no_duplicate = np.abs(S - np.eye(d)).max(axis=0) <= _NEAR_DUPLICATE
    bad = np.nonzero((unexplained < 1 - _DETERMINED) & no_duplicate)[0]
    if not len(bad):
        return ok(f"No column is determined by several others (R2 above {_DETERMINED}).")
    named = [f"{moments.names[j]!r} (R2 {1 - unexplained[j]:.5f})" for j in bad[np.argsort(unexplained[bad])]]
    return note(
        f"{len(bad)} of {d} columns are nearly linear combinations of others: {shortened(named, 3)}.",
        "Drop totals whose parts are in the table.",
    )


def _not_checked(d: int, what: str) -> Verdict:
    """Return the finding of a check that would take too long."""
    # The fit itself warns of columns that are so close to combinations of others that rounding matters.
    return note(f"Not checked, because there are {d} columns: {what}.", "Check fewer columns.")


def find_near_constant(checked: CheckedModel) -> Verdict | None:
    """Find columns that hardly vary: compared with their mean, or except for a few rows."""
    if not checked.is_linear:
        return None
    moments, rows = checked.moments, checked.rows
    small = np.sqrt(moments.variances) < _DIGITS_LOST * np.abs(moments.mean)
    tiny = [repr(moments.names[j]) for j in np.nonzero(small)[0]]
    same = []
    for name, column in [] if rows is None else zip(moments.names, rows.T, strict=True):
        # A value with such a share is also the median.
        share = float((column == np.sort(column)[len(column) // 2]).mean())
        if share > _MOSTLY_ONE_VALUE:
            same.append(f"{name!r} has the same value in {share:.1%} of the rows")
    if not tiny and not same:
        return ok(f"No column is nearly constant{' compared with its mean' if rows is None else ''}.")
    parts, remedies = [], []
    if same:
        parts.append(_few_other_rows(same).finding)
        remedies.append(_few_other_rows(same).remedy)
    if tiny:
        varies, its = ("varies", "its") if len(tiny) == 1 else ("vary", "their")
        parts.append(f"{shortened(tiny, 3)} {varies} by less than {_DIGITS_LOST:.0e} of {its} mean.")
        remedies.append(f"Subtract the mean of {shortened(tiny, 3)}.")
    return note(" ".join(parts), " ".join(remedies))


def find_frequent_levels(checked: CheckedModel) -> Verdict | None:
    """Find categories with one level in nearly all rows."""
    levels, n = counts_in_moments([checked.moments]), checked.moments.n
    if not levels:
        return None
    most = {name: max(own.items(), key=lambda item: item[1]) for name, own in levels.items()}
    named = [
        f"{name!r} is {level!r} in {rows / n:.1%} of the rows"
        for name, (level, rows) in most.items()
        if rows > _MOSTLY_ONE_VALUE * n
    ]
    return (
        _few_other_rows(named)
        if named
        else ok(f"No category has one level in more than {_MOSTLY_ONE_VALUE:.0%} of the rows.")
    )


def _few_other_rows(named: list[str]) -> Verdict:
    """Say what follows from variables that have one value in nearly all rows."""
    its, it = ("its", "it") if len(named) == 1 else ("their", "them")
    return note(f"{shortened(named, 3)}, so {its} edges depend on the few other rows.", f"Consider dropping {it}.")


def find_rare_levels(checked: CheckedModel) -> Verdict | None:
    """Find levels with few rows, or only one."""
    levels = counts_in_moments([checked.moments])
    if not levels:
        return None

    def below(least: int) -> list[str]:
        """Describe the levels with fewer rows, per category that has any."""
        found = {name: [level for level, n in own.items() if n < least] for name, own in levels.items()}
        return [f"{name!r} ({quoted(own, 4)})" for name, own in found.items() if own]

    listed, single = below(_RARE), below(2)
    if not listed:
        return ok(f"Every level has at least {_RARE} rows.")
    return note(
        f"{shortened(listed, 4)} {'has' if len(listed) == 1 else 'have'} levels with fewer than {_RARE} rows. The "
        "coefficients of these levels are very uncertain."
        + (f" Levels with only one row, whose effects cannot be seen: {shortened(single, 4)}." if single else ""),
        "Merge them with similar levels.",
    )
