"""Missing values: the choice of a treatment, the record of what was done, and which values the rows have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from golem.data.table_errors import empty_columns, too_few_rows
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Drop, Parameter, ProblemError
from golem.runtime.types import BoolMatrix, Indices, Vector

MissingChoice = Literal["error", "drop", "em"]
CHOICES: tuple[MissingChoice, ...] = get_args(MissingChoice)
# A column is scarce if it has values in less than this share of the rows that the average pair of columns is worth.
_SCARCE = 0.5


@dataclass(frozen=True)
class Missing:
    """Number of missing values and how they were treated.

    Parameters
    ----------
    method : {"drop", "em"}
        Dropped rows, or Gaussian EM.
    rows : int
        Number of rows with missing values.
    cells : int
        Number of missing values.
    rows_read : int
        Number of all rows.
    columns : mapping of str to int
        Number of missing values per column, for columns that have any.
    rows_used : int, optional
        Number of complete rows that would estimate the moments as precisely as EM did (`rows_in_common`).
    iterations : int
        Number of EM steps.
    markers : mapping of str to mapping of str to int
        Number of cells per column and marker, for markers other than empty cells and the usual words: `*`, `?`, `.`,
        `-`, and those that the user named.
    """

    method: str
    rows: int
    cells: int
    rows_read: int
    columns: Mapping[str, int] = field(default_factory=dict)
    rows_used: int | None = None
    iterations: int = 0
    markers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, method: str, absent: BoolMatrix, names: Sequence[str], **more: Any) -> Missing:
        """Count the missing values of a table; `absent` has shape (n, d)."""
        counts = absent.sum(axis=0)
        columns = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
        return cls(method, int(absent.any(axis=1).sum()), int(counts.sum()), len(absent), columns, **more)

    def __add__(self, other: Missing) -> Missing:
        """Return the record of the rows of both; for EM, of two tables whose moments were estimated separately."""
        columns = dict(Counter(self.columns) + Counter(other.columns))
        cells, rows_read = self.cells + other.cells, self.rows_read + other.rows_read
        markers = add_markers(self.markers, other.markers)
        rows_used, iterations = None, max(self.iterations, other.iterations)
        if self.method == "em":
            rows_used = sum(one.rows_read if one.rows_used is None else one.rows_used for one in (self, other))
        rows = self.rows + other.rows
        return Missing(self.method, rows, cells, rows_read, columns, rows_used, iterations, markers)

    @property
    def empty(self) -> list[str]:
        """The columns without values."""
        return [name for name, count in self.columns.items() if count == self.rows_read]

    @property
    def scarce(self) -> dict[str, int]:
        """The columns that have far fewer values than the others, with their numbers of values; after EM only."""
        left = {name: self.rows_read - count for name, count in self.columns.items()}
        return {name: rows for name, rows in left.items() if rows < _SCARCE * (self.rows_used or 0)}

    def require_rows(self, n: int, em: bool = True) -> None:
        """Raise a ValueError if fewer than two complete rows are left; `em` says whether to advise Gaussian EM."""
        if n < 2 and self.empty:
            raise empty_columns(self.empty)
        if n < 2:
            raise too_few_rows(n, self.rows, em)

    @property
    def sentence(self) -> str:
        """One sentence for the user."""
        if not self.cells:
            return f"No values are missing in {self.rows_read} rows."
        verb = "is" if self.cells == 1 else "are"
        missing = f"{counted(self.cells, 'value')} {verb} missing in {self.rows} of {self.rows_read} rows"
        if self.markers:
            written = [f"{name!r}: {written_as(markers)}" for name, markers in self.markers.items()]
            missing += f" (markers in {shortened(written, 4)})"
        if self.method == "drop":
            return f"{missing}; these rows were dropped."
        scarce = [f"{name!r} is worth only about {counted(rows, 'row')}" for name, rows in self.scarce.items()]
        but = f", but column {shortened(scarce, 4)}" if scarce else ""
        return (
            f"{missing}; means and covariances were estimated by Gaussian EM ({self.iterations} steps). The "
            f"result is about as precise as that of {self.rows_used} complete rows{but}."
        )


def add_markers(
    first: Mapping[str, Mapping[str, int]], second: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Add the counts of markers per column."""
    names = dict.fromkeys([*first, *second])
    return {name: dict(Counter(first.get(name, {})) + Counter(second.get(name, {}))) for name in names}


def written_as(markers: Mapping[str, int]) -> str:
    """Describe the markers of a column."""
    return shortened([f"{marker!r} in {counted(count, 'cell')}" for marker, count in sorted(markers.items())], 3)


def require_choice(missing: str, in_parts: bool = False) -> None:
    """Raise a ValueError for an unknown treatment of missing values, or one that cannot read a table in parts."""
    if missing not in CHOICES:
        raise ProblemError(Parameter("missing"), f" must be one of {quoted(CHOICES)}; got {missing!r}.")
    if missing == "em" and in_parts:
        raise ProblemError.of(
            "{missing='em'} needs all rows in memory and supports neither shards nor clusters. Use {missing='drop'}."
        )


def rows_in_common(absent: BoolMatrix, names: Sequence[str]) -> int:
    """Return the number of complete rows that would estimate covariances as precisely as these rows, on average.

    The variance of a correlation is proportional to one over the number of rows that have both columns. The result is
    therefore the harmonic mean of these numbers over all pairs of columns. It ignores the information of other columns
    about missing values, so it is rather too low, and penalties per edge that depend on it are rather too high.

    Examples
    --------
    >>> rows_in_common(np.array([[False, False], [False, True], [False, False]]), "ab")
    2
    """
    present = (~absent).astype(float)
    common = present.T @ present
    pairs = np.triu_indices(len(common), 1) if len(common) > 1 else np.diag_indices(1)
    never = np.triu(common == 0, 1)
    if never.any():
        i, j = np.argwhere(never)[0]
        others = int(never.sum()) - 1
        more = f" (and {counted(others, 'other pair')})" if others else ""
        raise ProblemError(
            f"Columns {names[i]!r} and {names[j]!r}{more} are never observed together, so that their covariance is "
            "unknown. Drop columns: ",
            Drop([names[k] for k in _cover(never | never.T)]),
            ".",
        )
    return round(1 / float(np.mean(1 / common[pairs])))


def _cover(pairs: BoolMatrix) -> list[int]:
    """Return columns that are in every pair of a symmetric mask, (d, d): again and again the one in most pairs."""
    left, chosen = pairs.copy(), []
    while left.any():
        # Of columns in as many pairs, the last one: earlier columns are kept.
        j = len(left) - 1 - int(left.sum(axis=0)[::-1].argmax())
        left[j] = left[:, j] = False
        chosen.append(j)
    return sorted(chosen)


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct sets of columns that rows have values of.

    Parameters
    ----------
    present : ndarray of shape (m, d), bool
        Pattern p has a value of column j if entry [p, j] is true.
    counts : ndarray of shape (m,)
        Number of rows with each pattern, or how many independent ones they are worth.

    Examples
    --------
    >>> found = Patterns.of(np.array([[False, False], [False, True], [False, False]]))
    >>> found.counts.tolist(), found.selected(np.array([0])).counts.tolist()
    ([1.0, 2.0], [3.0])
    """

    present: BoolMatrix
    counts: Vector

    @classmethod
    def of(cls, absent: BoolMatrix) -> Patterns:
        """Return the patterns of a table; `absent` has shape (n, d)."""
        return _distinct(~absent, np.ones(len(absent)))

    def scaled(self, share: float) -> Patterns:
        """Return the same patterns with a share of the rows."""
        return Patterns(self.present, self.counts * share)

    def selected(self, columns: Indices) -> Patterns:
        """Return the patterns of some columns."""
        return _distinct(self.present[:, columns], self.counts)


def _distinct(present: BoolMatrix, counts: Vector) -> Patterns:
    """Merge equal patterns."""
    packed = np.packbits(present, axis=1)
    _, first, label = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return Patterns(present[first], np.asarray(np.bincount(label.ravel(), counts), dtype=float))
