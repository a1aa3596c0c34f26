"""Tables with so many columns that their covariance would not fit into memory: standardized columns instead.

Correlations are computed from the columns when they are needed, for the pairs that need them.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.data.normal_scores import scores_of_columns
from golem.data.resampling import content_keys
from golem.data.table import Part, Table
from golem.data.table_errors import require_finite
from golem.data.variables import Coding
from golem.runtime.problems import ProblemError
from golem.runtime.threads import in_chunks
from golem.runtime.types import BoolVector, Indices, Matrix, Vector

# From this number of columns on, tables are read as standardized columns unless the user says otherwise.
WIDE_FROM = 5000
# Covariances of at most so many columns are computed where a method needs them.
_MOST_IN_MATRIX = 4000
# Columns that are read at a time.
_AT_ONCE = 2048
_DIGITS = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class WideMoments(Moments):
    """The moments of very many columns, without their scatter.

    Parameters
    ----------
    columns : ndarray of shape (D, n)
        Standardized columns, in rows, in single precision; columns that are equal up to order are shared.
    place : ndarray of shape (d,)
        The row of `columns` of each variable.
    deviations : ndarray of shape (d,)
        The standard deviations.
    """

    columns: NDArray[np.float32]
    place: Indices
    deviations: Vector
    # What searches have found out about the columns, by what they were asked.
    memory: dict[Any, Any] = field(default_factory=dict)
    has_scatter = False

    @property
    def standardized_columns(self) -> NDArray[np.float32]:
        """The standardized columns of the variables, in their order; a copy only if they are not in this order."""
        if len(self.place) == len(self.columns) and np.array_equal(self.place, np.arange(len(self.place))):
            return self.columns
        return self.columns[self.place]

    @functools.cached_property
    def covariance(self) -> Matrix:
        """The covariance of few columns; a ValueError for many."""
        if self.d > _MOST_IN_MATRIX:
            raise ProblemError.of(
                f"This needs the covariances of all pairs of {self.d} columns, which are not computed with "
                "{statistics='sparse'}. Choose fewer columns, or use {statistics='dense'}."
            )
        X = self.columns[self.place].astype(float) * self.deviations[:, None]
        return np.asarray(X @ X.T / self.n)

    @property
    def variances(self) -> Vector:
        """Column variances, divided by n."""
        return self.deviations**2

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the number of rows, the names, the means, the deviations, and the correlations of neighbours."""
        digest = hashlib.sha256("\n".join((str(self.n), *self.names)).encode())
        Z = self.standardized_columns
        near = np.einsum("ij,ij->i", Z[:-1], Z[1:], dtype=float) / self.n
        for values in (self.mean / self.deviations, np.log(self.deviations), near):
            digest.update(np.rint(values * 10.0**_DIGITS).astype("<i8").tobytes())
        return f"sha256:{digest.hexdigest()}"

    def of_columns(self, index: Indices, coding: Coding) -> WideMoments:
        """Return the moments of some of the columns, by number."""
        index = np.asarray(index)
        return replace(
            self,
            shift=self.shift[index],
            offset=self.offset[index],
            names=coding.column_names,
            coding=coding,
            place=self.place[index],
            deviations=self.deviations[index],
            memory={},
        )

    def __add__(self, other: Moments) -> Moments:
        raise ProblemError.of("Tables with {statistics='sparse'} cannot be merged. Read all rows as one table.")


def read_wide(values: Any, names: Sequence[str], is_named: bool, ranks: bool = False) -> Table:
    """Return the table of an array of shape (n, d), which may be mapped from a file, as standardized columns."""
    n, d = values.shape
    Z, means, deviations = np.empty((d, n), dtype=np.float32), np.empty(d), np.empty(d)
    coding = Coding.numeric(tuple(names))

    def read(a: int, b: int) -> None:
        block = np.array(values[:, a:b].T, dtype=float, order="C")
        if not np.isfinite(block).all():
            _refuse_gaps(block, names[a:b])
        if ranks:
            block = scores_of_columns(block, d)
        means[a:b] = block.mean(axis=1)
        block -= means[a:b, None]
        deviations[a:b] = np.sqrt(np.einsum("ij,ij->i", block, block) / n)
        # A constant column stays constant up to rounding, and is refused by name.
        block /= np.where(deviations[a:b] > 0, deviations[a:b], 1.0)[:, None]
        Z[a:b] = block

    in_chunks(read, d, _AT_ONCE)
    moments = WideMoments(
        n=n,
        shift=means,
        offset=np.zeros(d),
        scatter=np.zeros((0, 0)),
        names=coding.column_names,
        coding=coding,
        columns=Z,
        place=np.arange(d),
        deviations=deviations,
    )
    return Table((Part("", moments, ranked=ranks),), is_named)


def ranked_columns(Z: NDArray[np.float32]) -> tuple[NDArray[np.float32], BoolVector]:
    """Return the standardized normal scores of standardized columns, and which of the columns they change."""
    scores, changed = Z.copy(), np.zeros(len(Z), dtype=bool)

    def rank(a: int, b: int) -> None:
        before = Z[a:b].astype(float)
        block = scores_of_columns(before, len(Z))
        changed[a:b] = (block != before).any(axis=1)
        block = block[changed[a:b]]
        block -= block.mean(axis=1, keepdims=True)
        scores[a:b][changed[a:b]] = block / np.sqrt((block**2).mean(axis=1, keepdims=True))

    in_chunks(rank, len(Z), _AT_ONCE)
    return scores, changed


def rows_by_content(Z: NDArray[np.float32]) -> Indices:
    """Return the rows in an order that does not depend on how they are given."""
    keys: list[NDArray[np.uint64]] = []
    in_chunks(lambda a, b: keys.append(content_keys(Z[a:b])), len(Z), _AT_ONCE)
    return np.argsort(np.sum(keys, axis=0, dtype=np.uint64), kind="stable")


def _refuse_gaps(block: Matrix, names: Sequence[str]) -> None:
    """Raise a ValueError for missing or infinite values."""
    if np.isnan(block).any():
        first = names[int(np.flatnonzero(np.isnan(block).any(axis=1))[0])]
        raise ProblemError.of(
            f"Column {first!r} has missing values, and tables with very many columns must be complete. Drop the rows "
            "or columns with missing values, fill them in, or, if memory allows, use {statistics='dense'}."
        )
    require_finite(np.ascontiguousarray(block.T), tuple(names))
