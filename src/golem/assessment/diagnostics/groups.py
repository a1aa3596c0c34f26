"""Rows in groups, such as several rows per person, in any order: columns whose values repeat in the same rows."""

from __future__ import annotations

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.data.moments import Moments
from golem.runtime.types import Matrix, Vector

# Columns with a more frequent value, such as counts with many zeros, agree too often by chance.
_LARGEST_SHARE = 0.1
# Rows that agree in one column agree so many times as often in another, and at least so many do.
_RATIO, _FEWEST = 5, 10
# If neighbours are more alike than this, one column is nearly a function of the other, such as its logarithm.
_ALIKE = 0.5
# Numbers compared, rows times pairs of columns; with more, only the first columns are checked.
_MOST_COMPARED = 10**8


def find_groups(names: tuple[str, ...], rows: Matrix, moments: Moments) -> tuple[Finding, int] | None:
    """Find rows in groups, whatever their order; also return the number of groups, or None if there are none.

    A table with several rows per person often has columns that are constant for a person. Rows that agree in one of
    them then agree in another far more often than rows whose values in the first are only neighbours. Rounded numbers
    agree by chance, but then equal and neighbouring values do not differ in this.
    """
    some = [j for j in range(len(names)) if _largest_share(rows[:, j]) <= _LARGEST_SHARE]
    some = some[: max(2, int(np.sqrt(_MOST_COMPARED / len(rows))))]
    columns = rows[:, some]
    for j in range(len(some)):
        ordered = columns[np.argsort(columns[:, j], kind="stable")]
        equal = np.diff(ordered, axis=0) == 0
        same = equal[:, j]
        within, between = equal[same], equal[~same]
        often = (within.sum(axis=0) >= _FEWEST) & (
            within.sum(axis=0) * (len(between) + 1) > _RATIO * (between.sum(axis=0) + 1) * len(within)
        )
        first = ordered[np.concatenate([[True], ~same])]
        for k in np.flatnonzero(often).tolist():
            groups = len(np.unique(columns[:, [j, k]], axis=0))
            if k != j and groups <= len(rows) / 2 and not _is_smooth(first[:, k]):
                return _finding(names[some[j]], names[some[k]], groups, moments), groups
    return None


def _largest_share(column: Vector) -> float:
    """Return the share of the rows that have the most frequent value."""
    return float(np.unique(column, return_counts=True)[1].max()) / len(column)


def _is_smooth(values: Vector) -> bool:
    """Return whether neighbours in a sequence are alike."""
    centred = values - values.mean()
    return float(centred[1:] @ centred[:-1]) > _ALIKE * float(centred @ centred)


def _finding(one: str, other: str, groups: int, moments: Moments) -> Finding:
    """Say in which columns the groups are seen."""
    sentence = (
        f"Rows seem to come in groups, such as several rows per person: rows that have the same {one!r} have the same "
        f"{other!r} far more often than others. There are {groups} pairs of these values, so the {moments.rows} rows "
        f"may carry as little information as {groups} independent ones. Standard errors are then too small, intervals "
        "too narrow and frequencies too high."
    )
    remedy = "If so, use one row per group, such as its mean. Shuffling does not repair it."
    return Finding("dependent-rows", "warning", sentence, remedy)
