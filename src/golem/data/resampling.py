"""Samples: rows, or shards of rows, that can be drawn again, dealt out to folds, or halved; what comes out are moments.

Complete rows and shards are looked at once for the folds: what is left when one of K folds is out is the sum of the
other K - 1. Moments from EM do not add up: where rows lack values, EM is run on each half, each resample and on all
folds but one, and the fold left out is kept as rows, of which what is observed has a likelihood.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from golem.data.checks import DataWarning
from golem.data.inputs import numpy_rows, read_data
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.runtime.names import column_names, positions
from golem.runtime.types import Matrix

# Rows are weighted in blocks that stay in the processor's cache.
_BLOCK_NUMBERS = 1 << 17
# With fewer blocks the frequencies are coarse, and the intervals too narrow.
FEW_SHARDS = 20


def resampler(data: Any, missing: MissingChoice = "error", names: tuple[str, ...] | None = None) -> Sample:
    """Find out what is to be drawn again: rows, those with missing values refused, left out or kept for EM; or shards.

    With names the columns are put in that order. Where either side has no names of its own, they stand for one another
    by their place.

    Raises
    ------
    ValueError
        If the data are neither, or their columns are others.
    """
    if isinstance(data, Moments):
        raise ValueError(
            "moments of all rows together cannot be resampled; give the rows, or a list of moments of shards "
            "(golem.readers.shards_from_file)"
        )
    reader = BaseEstimator()
    reader.missing = missing
    sample = read_sample(reader, data)[1]
    assert sample is not None  # only moments of all rows cannot be drawn from
    if isinstance(sample, Shards) and len(sample) < FEW_SHARDS:
        if len(sample) == 1:
            raise ValueError("one shard cannot be resampled; read the file in 20 or more")
        warnings.warn(
            f"{len(sample)} shards are few: frequencies are coarse and intervals too narrow. Read the files in "
            f"{FEW_SHARDS} or more, 100 if you can.",
            DataWarning,
            stacklevel=3,
        )
    if names is None:
        return sample
    if len(names) != sample.moments.d:
        raise ValueError(f"the data have {sample.moments.d} columns, and the model was fitted to {len(names)}")
    unnamed = column_names(None, len(names))
    return sample.renamed(names) if unnamed in (names, sample.moments.names) else sample.ordered(names)


def read_sample(estimator: BaseEstimator, data: Any) -> tuple[Moments, Sample | None]:
    """Read the moments of all rows, and what can be drawn from; None where there is nothing but these moments.

    The columns are noted on the estimator, and its `missing` obeyed, as in `golem.data.inputs.read_data`.
    """
    if are_shards(data):
        data = Shards(tuple(data))
    if isinstance(data, Sample):
        return read_data(estimator, data.moments)[0], data
    moments, rows = read_data(estimator, data, incomplete=True)
    if rows is None:
        return moments, None
    values = numpy_rows(rows)
    return moments, IncompleteRows(moments, values) if np.isnan(values).any() else Rows(moments, values)


def are_shards(data: Any) -> bool:
    """Tell moments of shards from anything else."""
    return isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(part, Moments) for part in data)


def rows_of_moments(moments: Moments, values: Matrix) -> Rows | IncompleteRows:
    """Rows of a file that was read, to be drawn again as its moments were made: by EM, or without incomplete rows."""
    absent = np.isnan(values)
    if absent.any() and moments.missing is not None and moments.missing.method == "em":
        return IncompleteRows(moments, values)
    complete = values[~absent.any(axis=1)] if absent.any() else values
    return Rows(Moments.from_rows(complete, moments.names), complete)


class Sample(ABC):
    """Rows, or shards whose rows stay together, of which some can be taken; `moments` are those of all.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> sample = Rows(Moments.from_rows(X), X)
    >>> [(train.n, test.n) for train, test in sample.folds(3, np.random.default_rng(0))]
    [(6, 4), (7, 3), (7, 3)]
    """

    unit: ClassVar[Literal["rows", "shards"]]
    # The fewest units of each half, and of each fold.
    _least_in_half: ClassVar[int]
    _least_in_fold: ClassVar[int]
    moments: Moments

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of units."""

    @abstractmethod
    def part(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the units, each once."""

    @abstractmethod
    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the units, some more than once."""

    @abstractmethod
    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same units with other names of the columns."""

    @abstractmethod
    def ordered(self, names: tuple[str, ...]) -> Self:
        """Return the same units with the columns in the order of these names."""

    def draw(self, rng: np.random.Generator) -> Moments:
        """Moments of as many units, drawn with replacement."""
        return as_half(self.repeated(rng.integers(len(self), size=len(self))))

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Moments | Matrix]]:
        """Yield the moments without a fold, and those of the fold or its rows where some lack values.

        The units are shuffled and dealt out.

        Raises
        ------
        ValueError
            If there are too few units.
        """
        folds = [self.part(part) for part in self._dealt(count, rng)]
        for k, fold in enumerate(folds):
            yield merged(folds[:k] + folds[k + 1 :]), fold

    def halves(self, pairs: int, rng: np.random.Generator) -> Iterator[Moments]:
        """Yield the moments of complementary halves, two a pair (Shah and Samworth 2013); an odd unit is left out.

        Raises
        ------
        ValueError
            If there are too few units.
        """
        self._require(2 * self._least_in_half, "halves")
        half = len(self) // 2
        for _ in range(pairs):
            shuffled = rng.permutation(len(self))
            yield self.part(shuffled[:half])
            yield self.part(shuffled[half : 2 * half])

    def _dealt(self, count: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
        """Deal out the units to folds."""
        self._require(count * self._least_in_fold, f"{count} folds")
        return np.array_split(rng.permutation(len(self)), count)

    def _require(self, least: int, what: str) -> None:
        if len(self) < least:
            size = "n_samples" if self.unit == "rows" else "shards"
            raise ValueError(f"{what} need at least {least} {self.unit}; got {size} = {len(self)}")


@dataclass(frozen=True, eq=False)
class _RowsAtHand(Sample):
    """Rows and their moments."""

    moments: Moments
    values: Matrix
    unit = "rows"
    _least_in_half, _least_in_fold = 3, 2

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

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
    """Rows without missing values.

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

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the rows, some more than once."""
        return self.weighted(np.bincount(which, minlength=len(self)))

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the rows, each once."""
        return Moments.from_rows(self.values[which], self.moments.names, shift=self.values[0])


@dataclass(frozen=True, eq=False)
class IncompleteRows(_RowsAtHand):
    """Rows that lack values (NaN); the moments of each resample are those of EM.

    So the replicates of a bootstrap vary by what the missing values leave open as well. EM starts from the moments of
    all rows, which are near.

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

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the rows, some more than once."""
        return Moments.by_em(self.values[which], self.moments.names, self.moments)

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the rows, each once; by EM where these lack values."""
        if np.isnan(self.values[which]).any():
            return self.repeated(which)
        return Moments.from_rows(self.values[which], self.moments.names)

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Matrix]]:
        """Yield the moments without a fold, and the rows of the fold."""
        dealt = self._dealt(count, rng)
        for k, fold in enumerate(dealt):
            yield self.part(np.concatenate(dealt[:k] + dealt[k + 1 :])), self.values[fold]


@dataclass(frozen=True, eq=False)
class Shards(Sample):
    """Blocks of rows, known by their moments; drawn with replacement they are a block bootstrap."""

    parts: tuple[Moments, ...]
    moments: Moments = dataclasses.field(init=False)
    unit = "shards"
    _least_in_half, _least_in_fold = 2, 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", merged(self.parts))

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self.parts)

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

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the shards, some more than once."""
        return self.weighted(np.bincount(which, minlength=len(self)))

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the shards, each once."""
        return merged([self.parts[k] for k in which])


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
