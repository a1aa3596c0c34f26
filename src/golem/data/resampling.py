"""Resampling of rows, or of shards of rows: bootstrap, folds and halves, all returned as moments.

For cross-validation, the moments of all folds but one are the sum of the moments of these folds. Moments from EM do not
add up: with missing values, EM is run on each half, on each resample and on all folds but one. The fold left out
is then returned as rows, because its likelihood needs the observed values.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from golem.data.checks import DataWarning
from golem.data.inputs import numpy_rows, read_data, reader_for
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table_errors import other_width
from golem.runtime.names import column_names, positions
from golem.runtime.types import Matrix
from golem.runtime.user_warnings import warn_user

# Rows are weighted in blocks that fit into the processor's cache.
_BLOCK_NUMBERS = 1 << 17
# With fewer shards the frequencies are coarse, and the intervals too narrow.
FEW_SHARDS = 20
_MORE_SHARDS = f"Read the files in {FEW_SHARDS} or more shards, better 100."


def resampler(data: Any, missing: MissingChoice = "error", names: tuple[str, ...] | None = None) -> Sample:
    """Return the rows or shards to draw from; `missing` says how to treat missing values.

    With names, the columns are put in that order. If the data or the model have no names of their own, columns are
    matched by position.
    """
    if isinstance(data, Moments):
        raise ValueError(
            "Moments of all rows cannot be resampled. Give the rows, or a list of moments of shards "
            "(golem.readers.shards_from_file)."
        )
    sample = read_sample(reader_for(missing), data)[1]
    assert sample is not None  # only moments of all rows cannot be drawn from
    if isinstance(sample, Shards):
        require_shards(len(sample))
    return sample if names is None else with_columns(sample, names)


def require_shards(count: int, what: str = "", advice: str = _MORE_SHARDS) -> None:
    """Raise a ValueError if there is one shard to draw from, and warn if there are few; `what` says of what."""
    if count == 1:
        raise ValueError(f"One shard{what} cannot be resampled. {advice}")
    if count < FEW_SHARDS:
        warn_user(
            f"With only {count} shards{what}, frequencies are coarse and intervals too narrow. {advice}", DataWarning
        )


def with_columns(sample: Sample, names: tuple[str, ...]) -> Sample:
    """Put the columns in the order of the names, or rename them if either side has no names of its own."""
    own = sample.moments.names
    if own == names:
        return sample
    if len(own) != len(names):
        raise other_width(len(own), len(names))
    by_position = column_names(None, len(names)) in (names, own)

    def changed(moments: Moments) -> Moments:
        return moments.renamed(names) if by_position else moments.reordered(names)

    if isinstance(sample, Shards):
        return Shards(tuple(map(changed, sample.parts)))
    assert isinstance(sample, Rows | IncompleteRows)
    moments = changed(sample.moments)
    values = sample.values if by_position else sample.values[:, positions(names, own)]
    return dataclasses.replace(sample, moments=moments, values=values)


def read_sample(estimator: BaseEstimator, data: Any) -> tuple[Moments, Sample | None]:
    """Return the moments of all rows and the sample to draw from, or None if only moments are given.

    See `golem.data.inputs.read_data` for the role of the estimator.
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
    """Return whether the data are a list of moments of shards."""
    return isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(part, Moments) for part in data)


def rows_of_moments(moments: Moments, values: Matrix) -> Rows | IncompleteRows:
    """Return the rows of a file as a sample, with missing values treated as in its moments."""
    absent = np.isnan(values)
    if absent.any() and moments.missing is not None and moments.missing.method == "em":
        return IncompleteRows(moments, values)
    complete = values[~absent.any(axis=1)] if absent.any() else values
    return Rows(Moments.from_rows(complete, moments.names), complete)


class Sample(ABC):
    """Rows, or shards of rows, that can be resampled; `moments` are the moments of all of them.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> sample = Rows(Moments.from_rows(X), X)
    >>> [(train.n, test.n) for train, test in sample.folds(3, np.random.default_rng(0))]
    [(6, 4), (7, 3), (7, 3)]
    """

    unit: ClassVar[Literal["rows", "shards"]]
    # The smallest number of units per half and per fold.
    _least_in_half: ClassVar[int]
    _least_in_fold: ClassVar[int]
    is_incomplete: ClassVar[bool] = False  # whether EM estimates the moments of resamples
    moments: Moments

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of units."""

    @abstractmethod
    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some units, each taken once."""

    @abstractmethod
    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some units, some taken several times."""

    def draw(self, rng: np.random.Generator) -> Moments:
        """Return the moments of a bootstrap resample."""
        return self.draw_with_rows(rng)[0]

    def draw_with_rows(self, rng: np.random.Generator) -> tuple[Moments, Callable[[], Matrix | None]]:
        """Return the moments of a bootstrap resample, and a function that returns its rows if they are in memory."""
        which = rng.integers(len(self), size=len(self))
        return as_half(self.repeated(which)), functools.partial(self.rows, which)

    def rows(self, which: NDArray[np.intp]) -> Matrix | None:
        """Return the rows of some units, or None if only their moments are known."""
        return None

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Moments | Matrix]]:
        """Shuffle the units into folds; yield the moments without each fold, and the moments or rows of the fold."""
        folds = [self.part(part) for part in self._dealt(count, rng)]
        for k, fold in enumerate(folds):
            yield merged(folds[:k] + folds[k + 1 :]), fold

    def halves(self, pairs: int, rng: np.random.Generator) -> Iterator[Moments]:
        """Yield the moments of random complementary halves (Shah and Samworth 2013); an odd unit is left out."""
        self._require(2 * self._least_in_half, "Halves")
        half = len(self) // 2
        for _ in range(pairs):
            shuffled = rng.permutation(len(self))
            yield self.part(shuffled[:half])
            yield self.part(shuffled[half : 2 * half])

    def _dealt(self, count: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
        """Assign the units to folds at random."""
        self._require(count * self._least_in_fold, f"{count} folds")
        return np.array_split(rng.permutation(len(self)), count)

    def _require(self, least: int, what: str) -> None:
        if len(self) < least:
            size = "n_samples" if self.unit == "rows" else "shards"
            raise ValueError(f"{what} need at least {least} {self.unit}; got {size} = {len(self)}.")


@dataclass(frozen=True, eq=False)
class RowsInMemory(Sample):
    """Rows in memory."""

    moments: Moments
    values: Matrix
    unit = "rows"
    _least_in_half, _least_in_fold = 3, 2

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def rows(self, which: NDArray[np.intp]) -> Matrix:
        """Return some rows, which may have missing values."""
        return np.asarray(self.values[which])


@dataclass(frozen=True, eq=False)
class Rows(RowsInMemory):
    """Rows without missing values.

    A resample is a vector w of multinomial counts with scatter X_c' diag(w) X_c: no rows are copied.

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
        """Rows minus the mean of all rows. Resampled means are close to it, so subtracting them loses no digits."""
        return np.asarray(self.values - self.moments.shift - self.moments.offset)

    def weighted(self, counts: NDArray[np.int64]) -> Moments:
        """Return the moments of the rows, each taken `counts` times."""
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
        """Return the moments of some rows, some taken several times."""
        return self.weighted(np.bincount(which, minlength=len(self)))

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows, each taken once."""
        return Moments.from_rows(self.values[which], self.moments.names, shift=self.values[0])


@dataclass(frozen=True, eq=False)
class IncompleteRows(RowsInMemory):
    """Rows with missing values (NaN); the moments of each resample are estimated by EM.

    The replicates of a bootstrap therefore include the uncertainty due to missing values. EM starts from the moments of
    all rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:20, 1] = np.nan
    >>> rows = IncompleteRows(Moments.from_rows(X, missing="em"), X)
    >>> 85 < rows.draw(np.random.default_rng(1)).n < 95  # half of about 180 rows that have both
    True
    """

    is_incomplete = True

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows, some taken several times."""
        return Moments.by_em(self.values[which], self.moments.names, self.moments)

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows, each taken once; by EM if values are missing."""
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
    """Blocks of rows, given by their moments; drawing them with replacement is a block bootstrap."""

    parts: tuple[Moments, ...]
    moments: Moments = dataclasses.field(init=False)
    unit = "shards"
    _least_in_half, _least_in_fold = 2, 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", merged(self.parts))

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self.parts)

    def weighted(self, counts: NDArray[np.int64]) -> Moments:
        """Return the moments of the shards, each taken `counts` times."""
        taken = zip(self.parts, map(int, counts), strict=True)
        return merged([dataclasses.replace(m, n=m.n * w, scatter=m.scatter * w) for m, w in taken if w])

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some shards, some taken several times."""
        return self.weighted(np.bincount(which, minlength=len(self)))

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some shards, each taken once."""
        return merged([self.parts[k] for k in which])


def merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of the rows of all parts."""
    return functools.reduce(operator.add, parts)


def as_half(moments: Moments) -> Moments:
    """Return the same mean and covariance with half the number of rows.

    An estimate from a resample has about twice the variance of an estimate from the data: that of the data around the
    truth plus that of the resample around the data. A score expects this variance from n/2 rows.
    """
    n = half_of(moments.n)
    patterns = None if moments.patterns is None else moments.patterns.scaled(n / moments.n)
    return dataclasses.replace(moments, n=n, scatter=moments.scatter * (n / moments.n), patterns=patterns)


def half_of(n: int) -> int:
    """Return the number of rows assigned to a resample of n rows."""
    return max(3, n // 2)
