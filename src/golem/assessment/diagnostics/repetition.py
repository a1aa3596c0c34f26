"""Repeated rows: copies of others, as tables have them that were joined or stacked by mistake."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from golem.assessment.diagnostics.finding import Finding
from golem.data.dependence import HARMLESS
from golem.data.moments import Moments
from golem.runtime.problems import KeepOne, Text

# Rows are taken for copies if this is an accident with a smaller probability.
_LEVEL = 1e-3


def find_repetition(
    rows: NDArray[np.generic], moments: Moments, has_numbers: bool = False
) -> tuple[Finding, int | None]:
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
    if copies > 1 and (1 - len(counts)) * math.log(copies) <= math.log(_LEVEL):
        if _is_balanced(rows):
            sentence = "The rows are those of a balanced design, in which replicates cannot be told from copies."
            return Finding("dependent-rows", "ok", sentence), None
        left = n // copies
        why = f"seem to be copies of others, because every combination of values is in a multiple of {copies} rows."
        remedy = Text(f"Keep one of {copies} copies: ", KeepOne(None if left == len(counts) else copies), ".")
    elif has_numbers and _has_copies(numbers[first], int((counts > 1).sum())):
        left, why = len(counts), "are exact copies of others. Rounding does not explain so many."
        remedy = Text("Keep one row of each: ", KeepOne(), ".")
    else:
        return Finding("dependent-rows", "ok", "The rows are not copies of a smaller table."), None
    effective = round(left / n * moments.n)
    sentence = (
        f"{n - left} of {n} rows {why} The {moments.rows} rows carry at most as much information as about "
        f"{effective} independent ones."
    )
    if left >= HARMLESS * n:
        return Finding("dependent-rows", "note", sentence, remedy), None
    sentence += " Weak edges may be wrong, standard errors are too small, and strengths and frequencies are too high."
    return Finding("dependent-rows", "warning", sentence, remedy), effective


def _random_numbers(rows: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return a random number per column and value, shape (n, d), whose sums over columns tell rows apart.

    The numbers are those of SplitMix64 (Steele, Lea and Flood 2014). A column is left out by a subtraction.
    """
    keys = np.random.default_rng(0).integers(0, 2**64, size=rows.shape[1], dtype=np.uint64)
    x = (rows.astype(np.float64) + 0.0).view(np.uint64) + keys  # -0.0 + 0.0 is 0.0
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _has_copies(distinct: NDArray[np.uint64], repeated: int) -> bool:
    """Return whether too many of the distinct rows, given by their random numbers, are in the table more than once."""
    if 0.5**repeated > _LEVEL:
        return False
    close = int(_differ_in_one_column(distinct).sum())
    return bool(bdtrc(repeated - 1, repeated + close, 0.5) <= _LEVEL)


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
