"""The part of a table that comes from one environment: its moments, and its rows where they are at hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from golem.data.coded_tables import CodedTable
from golem.data.gaussian_em import observed_log_likelihood
from golem.data.moments import Moments
from golem.data.normal_scores import normal_scores
from golem.data.panels import UnitMeans
from golem.data.resampling import Drawn, Units, all_rows, units_of, with_rows_counted
from golem.data.table_errors import other_width
from golem.data.targets import naming_environment
from golem.runtime.arrays import to_numpy
from golem.runtime.names import column_names, positions
from golem.runtime.problems import ProblemError
from golem.runtime.types import Array, Indices, Matrix, Vector

# Coded rows of shape (r, d), or a function that reads them if they are needed; None if only moments are known.
RowSource = Array | Callable[[], Array | None] | None


class Gaussian(Protocol):
    """A model of numbers that are normally distributed, such as a LinearSEM."""

    @property
    def mean(self) -> Vector:
        """Means of the columns."""

    @property
    def covariance(self) -> Matrix:
        """Covariance of the columns."""

    def log_likelihood(self, data: Moments, /) -> float:
        """Return the log-likelihood of all rows."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of a table that come from one environment.

    Parameters
    ----------
    label : str
        Name of the environment; empty if the table has no environments.
    moments : Moments
        Of the columns of the variables.
    targets : tuple of int
        The variables that the environment changes; empty for observational data.
    rows : array of shape (r, d), or a function that returns one, or None
        Coded rows (see `golem.data.variables`), which may have missing values; all of them, or a sample.
    shards : tuple of Moments
        The moments of blocks of rows, to resample where the rows are not in memory.
    ranked : bool
        Whether the moments are those of the normal scores of the rows; see `with_ranks`.
    groups : ndarray of shape (r,), or None
        The number of the unit of each row, or of its block in a series: these are drawn together.
    unit_means : UnitMeans or None
        What intercepts of units take from the moments of rows, which are centred.
    """

    label: str
    moments: Moments
    targets: tuple[int, ...] = ()
    rows: RowSource = None
    shards: tuple[Moments, ...] = ()
    ranked: bool = False
    groups: Indices | None = None
    unit_means: UnitMeans | None = None

    def read_rows(self) -> Array | None:
        """Return the rows, which are read now if they are not in memory; None if only moments are known."""
        rows = self.rows() if callable(self.rows) else self.rows
        if rows is not None and (rows.ndim != 2 or rows.shape[1] != len(self.moments.variables)):
            expected = f"(rows, {len(self.moments.variables)})"
            raise ValueError(f"The rows must have shape {expected}, as their moments do; got {tuple(rows.shape)}.")
        return rows

    def copied_rows(self) -> Matrix | None:
        """Return a copy of the rows, in memory."""
        rows = self.read_rows()
        return None if rows is None else np.array(to_numpy(rows), dtype=float)

    def reordered(self, names: Sequence[str]) -> Part:
        """Return the same part with the variables in another order; raise a ValueError for other names."""
        moments, own = self.moments.reordered(names), self.moments.variables
        return self if moments is self.moments else self._with(moments, positions(moments.variables, own))

    def selected(self, variables: Sequence[int]) -> Part:
        """Return the same part with some of the variables, by number."""
        return self._with(self.moments.selected([self.moments.variables[j] for j in variables]), variables)

    def _with(self, moments: Moments, variables: Sequence[int]) -> Part:
        """Return the part with the moments of some variables, given their numbers."""
        place = {j: k for k, j in enumerate(variables)}
        targets = tuple(sorted(place[j] for j in self.targets if j in place))
        shards = tuple(shard.selected(moments.variables) for shard in self.shards)
        rows = self._changed(lambda rows: rows[:, list(variables)])
        means = None if self.unit_means is None else self.unit_means.reordered(np.asarray(variables))
        return replace(self, moments=moments, targets=targets, rows=rows, shards=shards, unit_means=means)

    def _changed(self, change: Callable[[Array], Array]) -> RowSource:
        """Return the rows after a change, which is made when they are read."""

        def read() -> Array | None:
            rows = self.read_rows()
            return None if rows is None else change(rows)

        return None if self.rows is None else read

    def recoded(self, moments: Moments) -> Part:
        """Return the same rows with moments that have other levels, and coded as these are."""
        if moments is self.moments:
            return self
        before, after = self.moments.coding, moments.coding
        return replace(self, moments=moments, rows=self._changed(lambda rows: before.recoded(rows, after)))

    def renamed(self, names: Sequence[str]) -> Part:
        """Return the same part with other names of the variables."""
        if tuple(names) == self.moments.variables:
            return self
        shards = tuple(shard.renamed(names) for shard in self.shards)
        return replace(self, moments=self.moments.renamed(names), shards=shards)

    def aligned(self, names: Sequence[str]) -> Part:
        """Return the part with the columns of a fit: by name, or by position if either side has no names of its own.

        Raise a ValueError if the columns are others.
        """
        own, names = self.moments.variables, tuple(names)
        if len(own) != len(names):
            raise other_width(len(own), len(names))
        return self.renamed(names) if column_names(None, len(own)) in (names, own) else self.reordered(names)

    @functools.cached_property
    def units(self) -> Units:
        """The rows or shards to draw from; a ValueError if there are none, or only a sample of the rows."""
        with naming_environment(self.label):
            return units_of(self.moments, self.read_rows(), self.shards, self.ranked, self.groups)

    def drawn(self, drawn: Drawn) -> Part:
        """Return some of the rows of this part, given what `units` has drawn."""
        moments = drawn[0] if self.unit_means is None else self.unit_means.corrected(drawn[0])
        return replace(self, moments=moments, rows=drawn[1], shards=(), groups=None)

    def counting(self, share: float) -> Part:
        """Return the part with a share of its rows: of categories some rows, and else moments that count fewer."""
        n = max(3, round(self.moments.n * share))
        if self.moments.coding.is_discrete and self.has_all_rows:
            units = self.units
            which = np.sort(units.by_content()[:n])
            return self.drawn((units.part(which), units.rows(which)))
        return replace(self, moments=with_rows_counted(self.moments, n))

    def all_rows(self) -> Matrix | None:
        """Return the coded rows that the moments are of; None if not all of them are at hand."""
        return None if self.shards else all_rows(self.moments, self.read_rows())

    @property
    def is_in_memory(self) -> bool:
        """Whether the rows are in memory, all of them."""
        return self.rows is not None and not callable(self.rows) and self.has_all_rows

    @property
    def has_all_rows(self) -> bool:
        """Whether the rows that the moments are of are at hand."""
        return self.all_rows() is not None

    def with_ranks(self) -> Part:
        """Return the same rows with the moments of their normal scores; a ValueError if not all rows are at hand."""
        if self.ranked:
            return self
        rows, moments = self.all_rows(), self.moments
        if rows is None:
            raise ProblemError.of(
                "{robust='ranks'} needs all rows in memory, and there are only moments or a sample of the rows. Use "
                "{robust='off'}."
            )
        if moments.coding.is_discrete:
            raise ProblemError.of("{robust='ranks'} needs numbers, and all columns are categories. Use {robust='off'}.")
        scores = CodedTable(moments.coding, normal_scores(rows, moments.coding))
        found = scores.moments("em" if np.isnan(rows).any() else "error")
        return replace(self, moments=replace(found, missing=moments.missing), ranked=True)

    @property
    def is_incomplete(self) -> bool:
        """Whether values are missing, and EM has estimated the moments."""
        return self.moments.patterns is not None

    def log_likelihood(self, model: Gaussian) -> float:
        """Return the log-likelihood of the observed values: from the rows if values are missing."""
        rows = self.read_rows() if self.is_incomplete else None
        if rows is None:
            return model.log_likelihood(self.moments)
        return observed_log_likelihood(np.asarray(to_numpy(rows), dtype=float), model.mean, model.covariance)
