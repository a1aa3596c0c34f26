"""Resampling: moments of rows, or of shards of rows, drawn again with replacement."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from golem.data.checks import DataWarning
from golem.data.inputs import read_data
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.runtime.arrays import is_tensor, to_numpy
from golem.runtime.names import column_names, positions
from golem.runtime.types import Matrix

# Rows are weighted in blocks that stay in the processor's cache.
_BLOCK_NUMBERS = 1 << 17
# With fewer blocks the frequencies are coarse, and the intervals too narrow.
FEW_SHARDS = 20


def resampler(data: Any, missing: MissingChoice = "error", names: tuple[str, ...] | None = None) -> Source:
    """Find out what is to be drawn again: rows, those with missing values refused, left out or kept for EM; or shards.

    With names the columns are put in that order. Where either side has no names of its own, they stand for one another
    by their place.

    Raises
    ------
    ValueError
        If the data are neither, or their columns are others.
    """
    source = _source(data, missing)
    if names is None:
        return source
    if len(names) != source.moments.d:
        raise ValueError(f"the data have {source.moments.d} columns, and the model was fitted to {len(names)}")
    unnamed = column_names(None, len(names))
    return source.renamed(names) if unnamed in (names, source.moments.names) else source.ordered(names)


def _source(data: Any, missing: MissingChoice) -> Source:
    """Read what is to be drawn again."""
    if isinstance(data, Rows | IncompleteRows | Shards):
        return data
    if isinstance(data, Moments):
        raise ValueError(
            "moments of all rows together cannot be resampled; give the rows, or a list of moments of shards "
            "(golem.readers.shards_from_file)"
        )
    if isinstance(data, list | tuple) and data and all(isinstance(part, Moments) for part in data):
        if len(data) == 1:
            raise ValueError("one shard cannot be resampled; read the file in 20 or more")
        if len(data) < FEW_SHARDS:
            warnings.warn(
                f"{len(data)} shards are few: frequencies are coarse and intervals too narrow. Read the files in "
                f"{FEW_SHARDS} or more, 100 if you can.",
                DataWarning,
                stacklevel=3,
            )
        return Shards(tuple(data))
    reader = BaseEstimator()
    reader.missing = missing
    moments, rows = read_data(reader, to_numpy(data) if is_tensor(data) else data, incomplete=True)
    assert rows is not None  # a table was given, and its incomplete rows are kept
    return IncompleteRows(moments, rows) if np.isnan(rows).any() else Rows(moments, rows)


def rows_of_moments(moments: Moments, values: Matrix) -> Rows | IncompleteRows:
    """Rows of a file that was read, to be drawn again as its moments were made: by EM, or without incomplete rows."""
    absent = np.isnan(values)
    if absent.any() and moments.missing is not None and moments.missing.method == "em":
        return IncompleteRows(moments, values)
    complete = values[~absent.any(axis=1)]
    return Rows(Moments.from_rows(complete, moments.names), complete)


@dataclass(frozen=True, eq=False)
class _RowsAtHand:
    """Rows and their moments."""

    moments: Moments
    values: Matrix
    unit: Literal["rows", "shards"] = "rows"

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same rows with other names."""
        return dataclasses.replace(self, moments=dataclasses.replace(self.moments, names=names))

    def ordered(self, names: tuple[str, ...]) -> Self:
        """Return the same rows with the columns in the order of these names."""
        moments = self.moments.reordered(names)
        if moments is self.moments:
            return self
        return dataclasses.replace(self, moments=moments, values=self.values[:, positions(names, self.moments.names)])


@dataclass(frozen=True, eq=False)
class Rows(_RowsAtHand):
    """Rows drawn with replacement.

    A resample is a vector w of counts, multinomial, and its scatter X_c' diag(w) X_c: no row is copied.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    >>> rows = Rows(Moments.from_rows(X), X)
    >>> twice_the_first = rows.weighted(np.array([2, 0, 1]))
    >>> twice_the_first.mean
    array([2.        , 2.66666667])
    """

    @functools.cached_property
    def _centred(self) -> Matrix:
        """Rows about the mean of all: resampled means lie so near that subtracting them costs no digits."""
        return np.asarray(self.values - self.moments.shift - self.moments.offset)

    def weighted(self, counts: NDArray[np.int64]) -> Moments:
        """Moments of each row taken so many times."""
        X, d, n = self._centred, self.moments.d, int(counts.sum())
        scatter, total = np.zeros((d, d)), np.zeros(d)
        length = max(1, _BLOCK_NUMBERS // d)
        for begin in range(0, len(X), length):
            block, w = X[begin : begin + length], counts[begin : begin + length]
            weighed = block * w[:, None]
            total += weighed.sum(axis=0)
            scatter += weighed.T @ block
        offset = total / n
        scatter = (scatter + scatter.T) / 2 - np.outer(offset, offset) * n
        return Moments(n, self.moments.shift, self.moments.offset + offset, scatter, self.moments.names)

    def draw(self, rng: np.random.Generator) -> Moments:
        """Moments of as many rows, drawn with replacement."""
        n = len(self.values)
        return as_half(self.weighted(np.bincount(rng.integers(n, size=n), minlength=n)))


@dataclass(frozen=True, eq=False)
class IncompleteRows(_RowsAtHand):
    """Rows that lack values (NaN), drawn with replacement; the moments of each resample are those of EM.

    So the replicates vary by what the missing values leave open as well. EM starts from the moments of all rows, which
    are near.

    Parameters
    ----------
    moments : Moments
        Those of all rows, by EM.
    values : ndarray of shape (n, d)
        The rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:20, 1] = np.nan
    >>> rows = IncompleteRows(Moments.from_rows(X, missing="em"), X)
    >>> 85 < rows.draw(np.random.default_rng(1)).n < 95  # half of about 180 rows that have both
    True
    """

    def draw(self, rng: np.random.Generator) -> Moments:
        """Moments of as many rows, drawn with replacement."""
        n = len(self.values)
        drawn = self.values[rng.integers(n, size=n)]
        return as_half(Moments.by_em(drawn, self.moments.names, self.moments))


@dataclass(frozen=True, eq=False)
class Shards:
    """Blocks of rows, known by their moments, drawn with replacement (a block bootstrap)."""

    parts: tuple[Moments, ...]
    unit: Literal["rows", "shards"] = "shards"

    @functools.cached_property
    def moments(self) -> Moments:
        """Moments of all shards together."""
        return merged(self.parts)

    def renamed(self, names: tuple[str, ...]) -> Shards:
        """Return the same shards with other names of the columns."""
        return Shards(tuple(dataclasses.replace(part, names=names) for part in self.parts))

    def ordered(self, names: tuple[str, ...]) -> Shards:
        """Return the same shards with the columns in the order of these names."""
        return Shards(tuple(part.reordered(names) for part in self.parts))

    def weighted(self, counts: NDArray[np.int64]) -> Moments:
        """Moments of each shard taken so many times."""
        taken = zip(self.parts, map(int, counts), strict=True)
        return merged([dataclasses.replace(m, n=m.n * w, scatter=m.scatter * w) for m, w in taken if w])

    def draw(self, rng: np.random.Generator) -> Moments:
        """Moments of as many shards, drawn with replacement."""
        K = len(self.parts)
        return as_half(self.weighted(np.bincount(rng.integers(K, size=K), minlength=K)))


Source = Rows | IncompleteRows | Shards


def merged(parts: Sequence[Moments]) -> Moments:
    """Moments of all rows of some parts."""
    return functools.reduce(lambda first, second: first + second, parts)


def as_half(moments: Moments) -> Moments:
    """Return the same mean and covariance, said to come from half as many rows.

    An estimate from a resample varies around that from the data by about what the latter varies around the truth. Taken
    as one from n/2 rows, its variance is what a score expects of so many.
    """
    n = half_of(moments.n)
    return dataclasses.replace(moments, n=n, scatter=moments.scatter * (n / moments.n))


def half_of(n: int) -> int:
    """Return the number of rows that a resample of n is said to come from."""
    return max(3, n // 2)
