"""Dependent rows: copies of others, rows that depend on those before them, and rows in groups that were shuffled."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import ROWS_IN_ORDER, Verdict, note, ok, warning
from golem.data.dependence import HARMLESS, LEVEL, REMEDY, dependence
from golem.data.moments import Moments
from golem.data.resampling import mixed_bits
from golem.runtime.problems import KeepOne, Text
from golem.runtime.types import Matrix, Vector

# Rows are taken for copies if this is an accident with a smaller probability.
_LEVEL_OF_COPIES = 1e-3
# Columns with a more frequent value, such as counts with many zeros, agree too often by chance.
_LARGEST_SHARE = 0.1
# Rows that agree in one column agree so many times as often in another, and at least so many do.
_RATIO, _FEWEST = 5, 10
# If neighbours are more alike than this, one column is nearly a function of the other, such as its logarithm.
_ALIKE = 0.5
# Numbers compared, rows times pairs of columns; with more, only the first columns are checked.
_MOST_COMPARED = 10**8
# What a check found, and the effective number of rows if it is smaller.
Dependent = tuple[Verdict | None, int | None]


def find_dependent_rows(checked: CheckedModel) -> Verdict | None:
    """Check whether rows are copies of others, depend on the rows before them, or come in groups."""
    return checked.once(_dependent_rows)[0]


def effective_rows(checked: CheckedModel) -> int | None:
    """Return the number of independent rows that have as much information, if it is smaller than that of all rows."""
    return checked.once(_dependent_rows)[1]


def _dependent_rows(checked: CheckedModel) -> Dependent:
    """Choose between what the tests find, which may see the same problem."""
    rows, values, names, moments = checked.rows, checked.values, checked.number_names, checked.moments
    if rows is None:
        return None, None
    repeated, left = find_repetition(rows, moments, has_numbers=values is not None)
    if values is None:
        return repeated, left
    dependent, effective = find_dependence(names, values, moments)
    if left is None and effective is None and (found := find_groups(names, values, moments)) is not None:
        return found
    # Copies in neighbouring rows look dependent as well.
    return (dependent, effective) if repeated.level == "ok" or (left is None and effective) else (repeated, left)


def find_dependence(names: tuple[str, ...], rows: Matrix, moments: Moments) -> Dependent:
    """Check whether rows depend on the rows before them.

    The rows may be some of those behind the moments, such as the complete ones; the effective number is for all.
    """
    found = dependence(names, rows)
    if found is None:
        return None, None
    if not found.is_found:
        numbers = f"largest rank autocorrelation {abs(found.lag1):.2f}; portmanteau test: p = {found.p_value:.2g}"
        return ok(f"Neighbouring rows do not depend strongly on each other ({numbers}, not below {LEVEL:.0e})."), None
    effective = max(2, round(found.share * moments.n))
    sentence = found.sentence(len(names), moments.rows, effective)
    if found.share >= HARMLESS:
        return note(sentence, REMEDY), None
    sentence += " Standard errors are therefore too small. Bootstrap intervals are too narrow and frequencies too high."
    return warning(sentence, REMEDY, ROWS_IN_ORDER), effective


def find_groups(names: tuple[str, ...], rows: Matrix, moments: Moments) -> tuple[Verdict, int] | None:
    """Find rows in groups, such as several rows per person, whatever their order; None if there are none.

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
                return _in_groups(names[some[j]], names[some[k]], groups, moments), groups
    return None


def _largest_share(column: Vector) -> float:
    """Return the share of the rows that have the most frequent value."""
    return float(np.unique(column, return_counts=True)[1].max()) / len(column)


def _is_smooth(values: Vector) -> bool:
    """Return whether neighbours in a sequence are alike."""
    centred = values - values.mean()
    return float(centred[1:] @ centred[:-1]) > _ALIKE * float(centred @ centred)


def _in_groups(one: str, other: str, groups: int, moments: Moments) -> Verdict:
    """Say in which columns the groups are seen."""
    return warning(
        f"Rows seem to come in groups, such as several rows per person: rows that have the same {one!r} have the same "
        f"{other!r} far more often than others. There are {groups} pairs of these values, so the {moments.rows} rows "
        f"may carry as little information as {groups} independent ones. Standard errors are then too small, intervals "
        "too narrow and frequencies too high.",
        "If so, use one row per group, such as its mean. Shuffling does not repair it.",
    )


def find_repetition(
    rows: NDArray[np.generic], moments: Moments, has_numbers: bool = False
) -> tuple[Verdict, int | None]:
    """Check whether rows are copies of others; also return the number of rows without copies if it is much smaller.

    If every combination of values is in a multiple of k rows, this is an accident with a probability of about k^(1 - m)
    for m combinations. The order of the rows says nothing, because tables of categories are often sorted. In a designed
    experiment the multiples are replicates. Its columns are exactly independent, as those of a sample hardly ever are.

    Of rows of numbers, some alone can be copies. Rounded numbers agree by chance, but then more rows agree in all
    columns but one: (1 - q) / q times as many for a column that agrees with probability q if the others do. So the
    number of rows that have copies is compared with that of rows that differ from another one in a single column.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Numbers and codes of categories; they may be some of those behind the moments.
    moments : Moments
        Those of the table, whose rows are named.
    has_numbers : bool
        Whether a column is a number.
    """
    numbers = _random_numbers(rows)
    _, first, counts = np.unique(numbers.sum(axis=1), return_index=True, return_counts=True)
    n, copies = len(rows), int(np.gcd.reduce(counts))
    if copies > 1 and (1 - len(counts)) * math.log(copies) <= math.log(_LEVEL_OF_COPIES):
        if _is_balanced(rows):
            return ok("The rows are those of a balanced design, in which replicates cannot be told from copies."), None
        left = n // copies
        why = f"seem to be copies of others, because every combination of values is in a multiple of {copies} rows."
        remedy = Text(f"Keep one of {copies} copies: ", KeepOne(None if left == len(counts) else copies), ".")
    elif has_numbers and _has_copies(numbers[first], int((counts > 1).sum())):
        left, why = len(counts), "are exact copies of others. Rounding does not explain so many."
        remedy = Text("Keep one row of each: ", KeepOne(), ".")
    else:
        return ok("The rows are not copies of a smaller table."), None
    effective = round(left / n * moments.n)
    sentence = (
        f"{n - left} of {n} rows {why} The {moments.rows} rows carry at most as much information as about "
        f"{effective} independent ones."
    )
    if left >= HARMLESS * n:
        return note(sentence, remedy), None
    sentence += " Weak edges may be wrong, standard errors are too small, and strengths and frequencies are too high."
    return warning(sentence, remedy), effective


def _random_numbers(rows: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return a random number per column and value, shape (n, d), whose sums over columns tell rows apart.

    The numbers are those of SplitMix64 (Steele, Lea and Flood 2014). A column is left out by a subtraction.
    """
    keys = np.random.default_rng(0).integers(0, 2**64, size=rows.shape[1], dtype=np.uint64)
    return mixed_bits((rows.astype(np.float64) + 0.0).view(np.uint64) + keys)  # -0.0 + 0.0 is 0.0


def _has_copies(distinct: NDArray[np.uint64], repeated: int) -> bool:
    """Return whether too many of the distinct rows, given by their random numbers, are in the table more than once."""
    if 0.5**repeated > _LEVEL_OF_COPIES:
        return False
    close = int(_differ_in_one_column(distinct).sum())
    return bool(bdtrc(repeated - 1, repeated + close, 0.5) <= _LEVEL_OF_COPIES)


def _differ_in_one_column(distinct: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of distinct rows agree with another one in all columns but one, shape (m,)."""
    total, found = distinct.sum(axis=1), np.zeros(len(distinct), dtype=bool)
    for column in distinct.T:
        _, place, counts = np.unique(total - column, return_inverse=True, return_counts=True)
        found |= counts[place] > 1
    return found


def _is_balanced(rows: NDArray[np.generic]) -> bool:
    """Return whether every two columns are exactly independent: each pair of levels has its expected number of rows."""
    from scipy.stats.contingency import crosstab

    levels = sorted(len(np.unique(column)) for column in rows.T)
    if math.prod(levels[-2:]) > len(rows):
        return False
    tables = (crosstab(a, b).count for a, b in itertools.combinations(rows.T, 2))
    return all((len(rows) * one == np.outer(one.sum(axis=1), one.sum(axis=0))).all() for one in tables)
