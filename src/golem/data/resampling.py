"""Units of a part of a table that can be drawn: rows, or shards of rows; bootstrap, folds and halves as moments.

For cross-validation, the moments of all folds but one are the sum of the moments of these folds. Moments from EM do not
add up: with missing values, EM is run on each half, on each resample and on all folds but one.
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

from golem.data.checks import DataWarning
from golem.data.coded_tables import CodedTable
from golem.data.moments import Moments
from golem.data.normal_scores import normal_scores
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import warn_user
from golem.runtime.types import Array, Matrix

# What is drawn: "halves" are random halves of the rows.
Unit = Literal["rows", "shards", "halves"]
# The moments of what is drawn and, where they may be needed, its rows or a function that returns them.
Drawn = tuple[Moments, Matrix | Callable[[], Matrix | None] | None]
# Rows are weighted in blocks that fit into the processor's cache.
_BLOCK_NUMBERS = 1 << 17
# A sample of the rows has so many blocks of consecutive rows.
BLOCKS, ROWS_PER_BLOCK = 20, 500
# With fewer shards the frequencies are coarse, and the intervals too narrow.
FEW_SHARDS = 20
_MORE_SHARDS = f"Read the files in {FEW_SHARDS} or more shards, better 100."
_SHUFFLE = "Shuffle the rows of the files, with the labels in a column, or leave out the bootstrap."


def units_of(
    moments: Moments,
    rows: Array | None,
    shards: Sequence[Moments] = (),
    ranked: bool = False,
    groups: NDArray[np.intp] | None = None,
) -> Units:
    """Return what can be drawn from, given all rows or the moments of shards; raise a ValueError if there is nothing.

    Missing values are treated as in the moments. `ranked` says that the moments are those of the normal scores. Rows
    of the same group, such as a unit of a panel, are drawn together.
    """
    if shards:
        return Shards(moments, tuple(shards))
    given = all_rows(moments, rows)
    if given is None:
        raise ValueError(
            "Moments of all rows cannot be resampled. Give the rows, or a list of moments of shards "
            "(golem.readers.shards_from_file)."
        )
    kind = CodedRows if not moments.coding.is_numeric else IncompleteRows if np.isnan(given).any() else Rows
    values = normal_scores(given, moments.coding) if ranked else given
    return kind(moments, values, given if ranked else None, groups)


def all_rows(moments: Moments, rows: Array | None) -> Matrix | None:
    """Return the coded rows that moments are of, as floats; None if there are none, or only a sample of them."""
    if rows is None:
        return None
    values = np.asarray(to_numpy(rows), dtype=float)
    absent = np.isnan(values).any(axis=1)
    by_em = moments.missing is not None and moments.missing.method == "em"
    values = values[~absent] if absent.any() and not by_em else values
    return values if len(values) == moments.rows else None


def require_shards(count: int, label: str = "") -> None:
    """Raise a ValueError if there is one shard to draw from, and warn if there are few; `label` of an environment."""
    what, advice = (f" of environment {label!r}", _SHUFFLE) if label else ("", _MORE_SHARDS)
    if count == 1:
        raise ValueError(f"One shard{what} cannot be resampled. {advice}")
    if count < FEW_SHARDS:
        warn_user(
            f"With only {count} shards{what}, frequencies are coarse and intervals too narrow. {advice}", DataWarning
        )


class Units(ABC):
    """Rows, or shards of rows, that can be drawn; `moments` are the moments of all of them.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> units = Rows(Moments.from_rows(X), X)
    >>> [(train.n, test.n) for train, (test, _) in units.folds(3, np.random.default_rng(0))]
    [(6, 4), (7, 3), (7, 3)]
    """

    unit: ClassVar[Unit]
    # The smallest number of units per half and per fold, and what messages call them.
    _least_in_half: ClassVar[int]
    _least_in_fold: ClassVar[int]
    _words: ClassVar[tuple[str, str]]
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

    def rows(self, which: NDArray[np.intp]) -> Matrix | None:
        """Return the rows of some units, or None if only their moments are known."""
        return None

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Return a bootstrap resample, which counts as half of its rows."""
        groups = self.row_groups()
        if groups is None:
            which = rng.integers(len(self), size=len(self))
        else:
            which = np.concatenate([groups[k] for k in rng.integers(len(groups), size=len(groups))])
        return as_half(self.repeated(which)), functools.partial(self.rows, which)

    def row_groups(self) -> list[NDArray[np.intp]] | None:
        """Return the units that are drawn together; None if each is drawn by itself."""
        return None

    def halves(self, pairs: int, rng: np.random.Generator, block: int = 1) -> Iterator[Drawn]:
        """Yield random complementary halves (Shah and Samworth 2013) of blocks of units; an odd one is left out.

        Single units are dealt by their content, so that the halves do not depend on the order of the rows. Neighbours
        that depend on each other stay together in blocks.
        """
        self._require(2 * self._least_in_half, "Halves")
        blocks = self.row_groups()
        if blocks is None:
            order = self.by_content() if block == 1 else np.arange(len(self))
            blocks = np.array_split(order, max(2, len(self) // block))
        half = len(blocks) // 2
        for _ in range(pairs):
            shuffled = rng.permutation(len(blocks))
            for chosen in (shuffled[:half], shuffled[half : 2 * half]):
                which = np.concatenate([blocks[k] for k in chosen])
                yield self.part(which), functools.partial(self.rows, which)

    def by_content(self) -> NDArray[np.intp]:
        """Return the numbers of the units in an order that does not depend on how they are given, if it is known."""
        return np.arange(len(self))

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Drawn]]:
        """Shuffle the units into folds; yield the moments without each fold, and the fold."""
        folds = [self.part(fold) for fold in self._dealt(count, rng)]
        for k, fold in enumerate(folds):
            yield merged(folds[:k] + folds[k + 1 :]), (fold, None)

    def _dealt(self, count: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
        """Assign the units to folds at random."""
        self._require(count * self._least_in_fold, f"{count} folds")
        return np.array_split(rng.permutation(len(self)), count)

    def _require(self, least: int, what: str) -> None:
        if len(self) < least:
            units, size = self._words
            raise ValueError(f"{what} need at least {least} {units}; got {size} = {len(self)}.")


@dataclass(frozen=True, eq=False)
class RowsInMemory(Units):
    """Rows in memory, with the rows as they were given if `values` are their normal scores."""

    moments: Moments
    values: Matrix
    given: Matrix | None = None
    groups: NDArray[np.intp] | None = None
    unit: ClassVar[Unit] = "rows"
    _least_in_half, _least_in_fold, _words = 3, 2, ("rows", "n_samples")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def rows(self, which: NDArray[np.intp]) -> Matrix:
        """Return some rows as they were given; they may have missing values."""
        return np.asarray((self.values if self.given is None else self.given)[which])

    def row_groups(self) -> list[NDArray[np.intp]] | None:
        """Return the rows of each group."""
        if self.groups is None:
            return None
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)

    def by_content(self) -> NDArray[np.intp]:
        """Return the rows sorted by their `content_keys`."""
        given = self.values if self.given is None else self.given
        return np.argsort(content_keys(given.T), kind="stable")


@dataclass(frozen=True, eq=False)
class Rows(RowsInMemory):
    """Rows of numbers without missing values.

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


class _EstimatedByEM(RowsInMemory):
    """Rows whose moments do not add up, because EM estimates them where values are missing."""

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Drawn]]:
        """Yield the moments without each fold, and the fold: with its rows if values are missing.

        A fold may have too few rows for EM, so it has the moments of all rows. The likelihood of its observed values
        needs the rows.
        """
        dealt = self._dealt(count, rng)
        for k, fold in enumerate(dealt):
            train, rows = self.part(np.concatenate(dealt[:k] + dealt[k + 1 :])), self.values[fold]
            incomplete = np.isnan(rows).any()
            yield train, (with_rows_counted(self.moments, len(fold)), rows) if incomplete else (self.part(fold), None)


@dataclass(frozen=True, eq=False)
class IncompleteRows(_EstimatedByEM):
    """Rows of numbers with missing values (NaN); the moments of each resample are estimated by EM.

    The replicates of a bootstrap therefore include the uncertainty due to missing values. EM starts from the moments of
    all rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:20, 1] = np.nan
    >>> rows = IncompleteRows(Moments.from_rows(X, missing="em"), X)
    >>> 85 < rows.draw(np.random.default_rng(1))[0].n < 95  # half of about 180 rows that have both
    True
    """

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows, some taken several times."""
        return Moments.by_em(self.values[which], self.moments.names, self.moments)

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows, each taken once; by EM if values are missing."""
        if np.isnan(self.values[which]).any():
            return self.repeated(which)
        return Moments.from_rows(self.values[which], self.moments.names)


@dataclass(frozen=True, eq=False)
class CodedRows(_EstimatedByEM):
    """Coded rows of a table with categories, of which random halves are drawn.

    A half varies around all rows as much as a bootstrap resample does, and counts as many rows as it has. A resample
    repeats rows, and discrete scores would take the repetitions for evidence.
    """

    unit: ClassVar[Unit] = "halves"

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows; they have the columns of all levels."""
        table = CodedTable(self.moments.coding, self.values[which])
        return table.moments("em" if np.isnan(table.rows).any() else "error")

    repeated = part

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Return a random half of the rows."""
        self._require(2 * self._least_in_half, "Halves")
        which = rng.permutation(len(self))[: len(self) // 2]
        return self.part(which), functools.partial(self.rows, which)


@dataclass(frozen=True, eq=False)
class Shards(Units):
    """Blocks of rows, given by their moments; drawing them with replacement is a block bootstrap."""

    moments: Moments
    shards: tuple[Moments, ...]
    unit: ClassVar[Unit] = "shards"
    _least_in_half, _least_in_fold, _words = 2, 1, ("shards", "shards")

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self.shards)

    def weighted(self, counts: NDArray[np.int64]) -> Moments:
        """Return the moments of the shards, each taken `counts` times."""
        taken = zip(self.shards, map(int, counts), strict=True)
        return merged([dataclasses.replace(m, n=m.n * w, scatter=m.scatter * w) for m, w in taken if w])

    def repeated(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some shards, some taken several times."""
        return self.weighted(np.bincount(which, minlength=len(self)))

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some shards, each taken once."""
        return merged([self.shards[k] for k in which])


def content_keys(columns: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    """Return a hash of the ranks of the values of each row, for a table with its columns in rows, shape (d, n).

    Columns are told apart by how often their values occur, so that neither units nor the order or the names of the
    columns matter. The keys of two sets of columns add up to those of both.
    """
    order = columns.argsort(axis=1)
    ascending = np.take_along_axis(columns, order, axis=1)
    ranks = np.ones(columns.shape, dtype=np.uint64)  # of the sorted values; missing ones share the last
    rises = (ascending[:, 1:] != ascending[:, :-1]) & ~np.isnan(ascending[:, :-1])
    ranks[:, 1:] += rises.cumsum(axis=1, dtype=np.uint64)
    bits = np.empty_like(ranks)
    np.put_along_axis(bits, order, mixed_bits(ranks), axis=1)
    bits = mixed_bits(bits ^ mixed_bits(bits.sum(axis=1, dtype=np.uint64))[:, None])
    return np.asarray(bits.sum(axis=0, dtype=np.uint64))


def mixed_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well-mixed hashes of numbers (SplitMix64, Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of the rows of all parts."""
    return functools.reduce(operator.add, parts)


def as_half(moments: Moments) -> Moments:
    """Return the same mean and covariance with half the number of rows.

    An estimate from a resample has about twice the variance of an estimate from the data: that of the data around the
    truth plus that of the resample around the data. A score expects this variance from n/2 rows.
    """
    return with_rows_counted(moments, half_of(moments.n))


def with_rows_counted(moments: Moments, n: int) -> Moments:
    """Return the same mean and covariance with another number of rows."""
    patterns = None if moments.patterns is None else moments.patterns.scaled(n / moments.n)
    return dataclasses.replace(moments, n=n, scatter=moments.scatter * (n / moments.n), patterns=patterns)


def half_of(n: int) -> int:
    """Return the number of rows assigned to a resample of n rows."""
    return max(3, n // 2)


def row_sample(n: int) -> NDArray[np.intp]:
    """Return the numbers of rows that represent a large table: all of n rows, or blocks spread evenly over it.

    Blocks, not single rows, so that dependence between neighbouring rows can still be seen.

    Examples
    --------
    >>> len(row_sample(300)), len(row_sample(10**6))
    (300, 10000)
    """
    if n <= BLOCKS * ROWS_PER_BLOCK:
        return np.arange(n)
    starts = np.linspace(0, n - ROWS_PER_BLOCK, BLOCKS).astype(np.intp)
    return (starts[:, None] + np.arange(ROWS_PER_BLOCK)).ravel()
