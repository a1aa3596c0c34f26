"""Parts of the rows: folds that leave one out, and complementary halves, as moments.

The rows are looked at once for the folds: what is left when one of K folds is out is the sum of the other K - 1.
Where only moments of shards are there, as from `golem.readers.shards_from_file`, shards take the place of rows. Moments
from EM do not add up: where rows lack values, EM is run on each half and on all folds but one, and the fold left out
is kept as rows, of which what is observed has a likelihood.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.runtime.types import Matrix


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with names, or shards of rows, that can be divided.

    Parameters
    ----------
    units : ndarray of shape (n, d) or sequence of Moments
        What is drawn: rows, or shards whose rows stay together. Values that rows lack are NaN.
    names : tuple of str
        Column names.
    whole : Moments, optional
        Moments of all rows, from which EM starts where rows lack values.

    Examples
    --------
    >>> sample = Sample(np.random.default_rng(0).normal(size=(10, 2)), ("a", "b"))
    >>> [(train.n, test.n) for train, test in sample.folds(3, np.random.default_rng(0))]
    [(6, 4), (7, 3), (7, 3)]
    """

    units: Matrix | Sequence[Moments]
    names: tuple[str, ...]
    whole: Moments | None = None

    @property
    def unit(self) -> str:
        """What is drawn, in a word."""
        return "rows" if isinstance(self.units, np.ndarray) else "shards"

    def moments(self, which: NDArray[np.intp]) -> Moments:
        """Moments of some of the units."""
        if not isinstance(self.units, np.ndarray):
            return merged([self.units[k] for k in which])
        rows = self.units[which]
        if np.isnan(rows).any():
            return Moments.by_em(rows, self.names, self.whole)
        return Moments.from_rows(rows, self.names, shift=None if self.incomplete else self.units[0])

    @functools.cached_property
    def incomplete(self) -> bool:
        """Whether rows lack values."""
        return isinstance(self.units, np.ndarray) and bool(np.isnan(self.units).any())

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Moments, Moments | Matrix]]:
        """Yield the moments without a fold, and those of the fold or its rows where some lack values.

        The units are shuffled and dealt out.

        Raises
        ------
        ValueError
            If there are too few units.
        """
        self._require(2 * count if self.unit == "rows" else count, f"{count} folds")
        dealt = np.array_split(rng.permutation(len(self.units)), count)
        if self.incomplete:
            assert isinstance(self.units, np.ndarray)
            for k, part in enumerate(dealt):
                yield self.moments(np.concatenate(dealt[:k] + dealt[k + 1 :])), self.units[part]
            return
        folds = [self.moments(part) for part in dealt]
        for k, fold in enumerate(folds):
            yield merged(folds[:k] + folds[k + 1 :]), fold

    def halves(self, pairs: int, rng: np.random.Generator) -> Iterator[Moments]:
        """Yield the moments of complementary halves, two a pair (Shah and Samworth 2013); an odd unit is left out.

        Raises
        ------
        ValueError
            If there are too few units.
        """
        self._require(6 if self.unit == "rows" else 4, "halves")
        half = len(self.units) // 2
        for _ in range(pairs):
            shuffled = rng.permutation(len(self.units))
            yield self.moments(shuffled[:half])
            yield self.moments(shuffled[half : 2 * half])

    def _require(self, least: int, what: str) -> None:
        if len(self.units) < least:
            raise ValueError(
                f"{what} need at least {least} {self.unit}; got {'n_samples' if self.unit == 'rows' else 'shards'} = "
                f"{len(self.units)}"
            )
