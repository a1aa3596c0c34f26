"""Sufficient statistics of a table for Gaussian likelihoods: number of rows, means and covariances.

One pass over a table computes its `Moments`. The cost of all later steps does not depend on the number of rows. The
moments of parts of the rows add up to the moments of all rows.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.gaussian_em import fit_gaussian
from golem.data.missing import Missing, MissingChoice, Patterns, require_choice, rows_in_common
from golem.data.table_errors import TOO_LARGE, require_finite, row_number, too_few_rows
from golem.data.table_input import float_rows, real_matrix, rows_and_names
from golem.data.unusable import unusable_error, unusable_in_rows
from golem.data.variables import NO_VARIABLES, Coding
from golem.runtime.arrays import divided, is_tensor, to_numpy
from golem.runtime.linear_algebra import gram
from golem.runtime.messages import counted, quoted
from golem.runtime.names import column_names
from golem.runtime.problems import names_remedies
from golem.runtime.progress import Counter
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Indices, Matrix, Vector

_BLOCK_BYTES = 2**30
_STRIP = 2048
_FIRST_ROWS, _CACHED_NUMBERS = 256, 1 << 19
_FINGERPRINT_DIGITS = 8
# Larger whole numbers are not exact in floats.
_MOST_ROWS = 2**53


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, mean and centred scatter of named columns.

    The mean is kept in two parts, a fixed `shift` near the data and the `offset` of the mean from it. Otherwise a
    column with mean 1e8 and variance 1 would lose half of its digits when means are subtracted or merged.

    Parameters
    ----------
    n : int
        Number of rows.
    shift, offset : ndarray of shape (d,)
        The mean is `shift + offset`.
    scatter : ndarray of shape (d, d)
        Sum over rows of the outer products of the centred row, X_c' X_c.
    names : tuple of str
        Column names.
    missing : Missing, optional
        Number of missing values and how they were treated, unless missing values are an error.
    coding : Coding
        The variables, whose columns are `names`; by default, every column is a variable, a number.
    patterns : Patterns, optional
        Which columns the rows have, if the moments were estimated by EM.
    lost : int
        Rows that do not count, because intercepts of the units of a panel were estimated; `n` is without them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) + 1e8
    >>> whole, parts = Moments.from_rows(X), Moments.from_rows(X[:30]) + Moments.from_rows(X[30:])
    >>> bool(np.allclose(whole.covariance, parts.covariance, rtol=1e-12))
    True
    """

    n: int
    shift: Vector
    offset: Vector
    scatter: Matrix
    names: tuple[str, ...]
    missing: Missing | None = None
    coding: Coding = NO_VARIABLES
    patterns: Patterns | None = None
    # Whether the products of all pairs of columns are known.
    has_scatter: ClassVar[bool] = True
    lost: int = 0

    def __post_init__(self) -> None:
        if not self.coding.variables:
            object.__setattr__(self, "coding", Coding.numeric(self.names))

    @classmethod
    def from_rows(
        cls,
        rows: ArrayLike,
        names: Sequence[str] | None = None,
        shift: ArrayLike | None = None,
        missing: MissingChoice = "error",
        progress: Counter | None = None,
    ) -> Moments:
        """Return the moments of an array of shape (n, d), samples in rows; `shift` defaults to the first row.

        The products of a torch tensor are computed on its device, in double precision. Missing values (NaN) are an
        error, their rows are dropped ("drop"), or the moments are estimated by Gaussian EM ("em"), with the number of
        rows that docs/how.md explains. `progress` is called with the number of EM steps and their maximum.
        """
        require_choice(missing)
        if is_tensor(rows):
            X = real_matrix(rows)
            if missing == "error" or not bool(X.isnan().any()):
                return cls._from_tensor(X, names, shift, missing)
            rows = to_numpy(X)
        X = float_rows(rows)
        names = column_names(names, X.shape[1])
        if missing != "error":
            return cls._despite_missing(X, names, shift, missing, progress)
        require_finite(X, names)
        shift = np.array(X[0] if shift is None else shift, dtype=float)
        centred = X - shift
        offset = centred.mean(axis=0)
        centred -= offset
        with blas_threads_for(X.shape[1]):
            scatter = gram(centred)
        return cls(len(X), shift, offset, scatter, names)

    @classmethod
    def _despite_missing(
        cls,
        X: Matrix,
        names: tuple[str, ...],
        shift: ArrayLike | None,
        missing: MissingChoice,
        progress: Counter | None,
    ) -> Moments:
        """Return the moments of the complete rows, or of all rows by EM."""
        absent = np.isnan(X)
        require_finite(np.where(absent, 0.0, X), names)
        complete = ~absent.any(axis=1)
        if missing == "drop" or complete.all():
            record = Missing.of(missing, absent, names)
            record.require_rows(int(complete.sum()))
            return replace(cls.from_rows(X[complete], names, shift), missing=record)
        return cls.by_em(X, names, progress=progress)

    @classmethod
    def by_em(
        cls,
        X: Matrix,
        names: tuple[str, ...],
        start: Moments | None = None,
        progress: Counter | None = None,
        checked: bool = False,
    ) -> Moments:
        """Return the moments of rows with missing values (NaN) by EM; `start`: moments of all rows if X is a part.

        What makes EM impossible is an error before the first step: columns that cannot be used, and pairs of columns
        that no row has together. `checked` says that the columns can be used.
        """
        absent = np.isnan(X)
        if start is None and not checked and (found := unusable_in_rows(X, names)):
            raise unusable_error(found)
        n = rows_in_common(absent, names)
        some = ~absent.all(axis=1)  # a row without any value has no information
        fit = fit_gaussian(X[some], names, None if start is None else (start.mean, start.covariance), progress)
        record = Missing.of("em", absent, names, rows_used=n, iterations=len(fit.log_likelihoods))
        return cls(n, fit.mean, np.zeros(len(names)), fit.covariance * n, names, record, patterns=Patterns.of(absent))

    @classmethod
    def _from_tensor(
        cls, X: Any, names: Sequence[str] | None, shift: ArrayLike | None, missing: MissingChoice
    ) -> Moments:
        """Return the moments of a torch tensor without missing values, in blocks of rows to save memory."""
        if X.shape[0] < 2:
            raise too_few_rows(X.shape[0])
        names = column_names(names, X.shape[1])
        n, block = X.shape[0], max(1, _BLOCK_BYTES // (8 * max(1, X.shape[1])))
        first = X[0].double()
        centre = first if shift is None else first.new_tensor(np.asarray(shift))
        offset = sum((X[k : k + block].double() - centre).sum(dim=0) for k in range(0, n, block)) / n
        if not bool(offset.isfinite().all()):
            require_finite(to_numpy(X), names)
        scatter = offset.new_zeros((X.shape[1], X.shape[1]))
        for k in range(0, n, block):
            # Subtract the shift first: shift + offset, as one number, would be rounded.
            centred = X[k : k + block].double() - centre - offset
            # The product is symmetric: compute one half in strips, and mirror it below.
            for j in range(0, X.shape[1], _STRIP):
                scatter[j : j + _STRIP, j:] += centred[:, j : j + _STRIP].T @ centred[:, j:]
        for j in range(0, X.shape[1], _STRIP):
            here, beyond = slice(j, j + _STRIP), slice(j + _STRIP, None)
            scatter[here, here] = (scatter[here, here] + scatter[here, here].T) / 2
            scatter[beyond, here] = scatter[here, beyond].T
        if not bool(scatter.diagonal().isfinite().all()):
            raise ValueError(TOO_LARGE)
        record = None if missing == "error" else Missing.of(missing, np.broadcast_to(np.False_, tuple(X.shape)), names)
        return cls(n, to_numpy(centre), to_numpy(offset), to_numpy(scatter), names, record)

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[NDArray[Any]],
        names: tuple[str, ...],
        place: Callable[[int], str] = row_number,
        missing: Literal["error", "drop"] = "error",
        markers: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Moments:
        """Return the moments of a batch of at least one row, given as d columns, to be merged with other batches.

        The rows are read once, in blocks that fit into the processor's cache. The scatter is the sum of outer products
        about a shift near the first rows, minus n times the outer product of the offset. `place` describes the place of
        a row for messages, and `markers` how missing cells are written, with their number per column and marker. With
        missing="drop", rows with NaN are dropped, possibly all of them.
        """
        n, d = len(columns[0]), len(columns)
        if missing == "drop":
            absent = np.column_stack([np.isnan(column) for column in columns])
            kept = np.nonzero(~absent.any(axis=1))[0]
            whole = cls(0, np.zeros(d), np.zeros(d), np.zeros((d, d)), names)
            if len(kept):
                columns = [column[kept] for column in columns] if len(kept) < n else columns
                whole = cls.from_columns(columns, names, lambda row: place(int(kept[row])))
            return replace(whole, missing=Missing.of("drop", absent, names, markers=markers or {}))
        with np.errstate(invalid="ignore", over="ignore"):
            shift = np.array([column[:_FIRST_ROWS].mean(dtype=float) for column in columns])
            length = min(n, max(_CACHED_NUMBERS // d, d))
            block, total, scatter = np.empty((d, length)), np.zeros(d), np.zeros((d, d))
            for begin in range(0, n, length):
                part = block[:, : min(length, n - begin)]
                for row, column, centre in zip(part, columns, shift, strict=True):
                    np.subtract(column[begin : begin + length], centre, out=row)
                total += part.sum(axis=1)
                scatter += part @ part.T
            offset = total / n
            scatter -= np.outer(offset, offset) * n
        if not np.isfinite(total).all():
            require_finite(np.column_stack(columns), names, place, markers)
        if not np.isfinite(np.diagonal(scatter)).all():
            raise ValueError(TOO_LARGE)
        return cls(n, shift, offset, scatter, names)

    @classmethod
    @names_remedies
    def from_table(cls, table: Any, missing: MissingChoice = "error") -> Moments:
        """Return the moments of a pandas, Polars or PyArrow table, or of an array; `missing` as for `from_rows`."""
        values, names = rows_and_names(table)
        return cls.from_rows(values, names, missing=missing)

    @classmethod
    def from_covariance(
        cls, covariance: ArrayLike, n: int, mean: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> Moments:
        """Return moments from a covariance matrix (divided by n, not n - 1) and the number of rows.

        Raises
        ------
        ValueError
            If the matrix is not square, finite, symmetric and positive semidefinite, or n < 2.
        """
        S = np.array(covariance, dtype=float)
        if S.ndim != 2 or S.shape[0] != S.shape[1]:
            raise ValueError(f"A covariance must be a square matrix; got shape {S.shape}.")
        names = column_names(names, len(S))
        if not np.isfinite(S).all():
            bad = [names[j] for j in np.nonzero(~np.isfinite(S).all(axis=0))[0]]
            raise ValueError(f"The covariance has NaN or infinite entries in columns {quoted(bad)}.")
        if n < 2 or n != int(n) or n > _MOST_ROWS:
            raise ValueError(
                f"n must be the number of rows behind the covariance, at least 2, at most 2^53; got n={n}."
            )
        scale = np.sqrt(np.maximum(np.diagonal(S), 0))
        unit = np.outer(scale, scale)
        asymmetry = np.abs(S - S.T)
        if np.any(asymmetry > 1e-8 * unit + 1e-300):
            i, j = np.unravel_index(np.argmax(asymmetry), S.shape)
            raise ValueError(
                f"The covariance is not symmetric: the two entries of {names[i]!r} and {names[j]!r} are {S[i, j]:.6g} "
                f"and {S[j, i]:.6g}."
            )
        S = (S + S.T) / 2
        correlation = np.divide(S, unit, out=np.zeros_like(S), where=unit > 0)
        negative = [names[j] for j in np.nonzero(np.diagonal(S) < 0)[0]]
        lowest = -1.0 if negative else np.linalg.eigvalsh(correlation)[0]
        if lowest < -1e-8:
            reason = f"lowest eigenvalue of the correlations {lowest:.3g}"
            if negative:
                reason = f"negative variance of {quoted(negative)}"
            raise ValueError(
                f"The covariance is not positive semidefinite ({reason}). Use complete rows: covariances of "
                "pairwise-complete data often have this problem."
            )
        centre = np.zeros(len(S)) if mean is None else np.array(mean, dtype=float)
        if centre.shape != (len(S),) or not np.isfinite(centre).all():
            raise ValueError(f"The mean must be finite and have shape ({len(S)},); got shape {centre.shape}.")
        return cls(int(n), centre, np.zeros(len(S)), S * n, names)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def rows(self) -> int:
        """Number of rows that were used; EM uses all rows, and n is the number of complete rows that are as precise."""
        by_em = self.missing is not None and self.missing.method == "em"
        return self.missing.rows_read if self.missing is not None and by_em else self.n + self.lost

    @property
    def rows_in_words(self) -> str:
        """Number of rows that were used and, if it is smaller, of complete rows that are as precise."""
        precise = f" (about as precise as {self.n} complete ones)" if self.n < self.rows else ""
        return f"{counted(self.rows, 'row')}{precise}"

    @property
    def mean(self) -> Vector:
        """Column means."""
        return self.shift + self.offset

    @functools.cached_property
    def covariance(self) -> Matrix:
        """Maximum likelihood covariance, scatter / n. The array is cached: copy it before you change it."""
        # Not marked as read-only, because numba would compile every kernel again for read-only arrays.
        return divided(self.scatter, self.n)

    @property
    def variances(self) -> Vector:
        """Column variances, divided by n."""
        return np.diagonal(self.scatter) / self.n

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the number of rows, the names, the means and the covariances, to about 8 digits.

        Further digits depend on the order of summation. Rows in memory and in a file have the same hash, except in the
        rare case of numbers on the border between two roundings. The hash detects other rows or columns, but not a
        change of one value in a billion.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> whole, parts = Moments.from_rows(X), Moments.from_rows(X[:20]) + Moments.from_rows(X[20:])
        >>> whole.fingerprint == parts.fingerprint != Moments.from_rows(X[1:]).fingerprint
        True
        """
        deviation = np.sqrt(self.variances)
        mean = [_to_digits(m, max(abs(m), s)) for m, s in zip(self.mean, deviation, strict=True)]
        content = {"n": self.n, "names": self.names, "mean": mean, "deviation": [_to_digits(s, s) for s in deviation]}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
        for i in range(self.d - 1):  # row by row, because thousands of columns have millions of pairs
            unit = deviation[i] * deviation[i + 1 :]
            above = np.divide(self.covariance[i, i + 1 :], unit, out=np.zeros_like(unit), where=unit > 0)
            digest.update(np.rint(above * 10.0**_FINGERPRINT_DIGITS).astype("<i8").tobytes())
        return f"sha256:{digest.hexdigest()}"

    def standardized(self) -> Moments:
        """Return the moments of the same columns with mean 0 and variance 1."""
        scale = np.sqrt(self.variances)
        S = self.covariance / np.outer(scale, scale)
        return replace(self, shift=np.zeros(self.d), offset=np.zeros(self.d), scatter=(S + S.T) / 2 * self.n)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables: of the columns, or of the categories and numbers that they belong to."""
        return self.coding.names

    def reordered(self, names: Sequence[str]) -> Moments:
        """Return the same moments with the variables in another order; raise a ValueError for other names."""
        names = tuple(names)
        if sorted(names) != sorted(self.variables):
            raise ValueError(f"The columns are {quoted(self.variables)}, not {quoted(names)}.")
        return self.selected(names)

    def selected(self, names: Sequence[str]) -> Moments:
        """Return the moments of some of the variables, in the order of their names."""
        names, coding = tuple(names), self.coding
        if names == self.variables:
            return self
        chosen = coding.selected(names)
        return self.of_columns(coding.columns_of(names), chosen)

    def renamed(self, names: Sequence[str]) -> Moments:
        """Return the same moments with other names of the variables."""
        coding = self.coding.renamed(names)
        return replace(self, names=coding.column_names, coding=coding)

    def of_columns(self, index: Indices, coding: Coding) -> Moments:
        """Return the moments of some of the columns, by number, which are those of another coding."""
        parts = self.shift[index], self.offset[index], self.scatter[np.ix_(index, index)]
        patterns = None if self.patterns is None else self.patterns.selected(index)
        return Moments(self.n, *parts, coding.column_names, self.missing, coding, patterns, self.lost)

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both (the merge of Chan, Golub and LeVeque around a common shift)."""
        if self.names != other.names or self.coding != other.coding:
            raise ValueError(
                f"Moments of different columns cannot be merged: {quoted(self.names)} and {quoted(other.names)}."
            )
        missing = self.missing + other.missing if self.missing and other.missing else self.missing or other.missing
        if not self.n or not other.n:  # all rows of a batch may have been dropped
            return replace(self if self.n else other, missing=missing)
        n = self.n + other.n
        # Shifts are near the data, so their difference is exact, while the difference of the means would be rounded.
        difference = (other.shift - self.shift) + (other.offset - self.offset)
        scatter = self.scatter + other.scatter
        between = np.outer(difference, difference)
        between *= self.n * other.n / n
        scatter += between
        offset = self.offset + difference * (other.n / n)
        lost = self.lost + other.lost
        return Moments(n, self.shift, offset, scatter, self.names, missing, self.coding, lost=lost)


def _to_digits(value: float, size: float) -> str:
    """Write a number with the precision of the digits of `size`."""
    exponent = int(f"{size:.{_FINGERPRINT_DIGITS}e}".partition("e")[2])
    # The sum with 0 turns -0 into 0.
    return f"{round(value / 10.0 ** (exponent - _FINGERPRINT_DIGITS)) + 0}e{exponent}"
