"""Which values the rows of a table have: the distinct patterns, and the number of rows with each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from golem.runtime.types import BoolMatrix, Indices, Vector


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
