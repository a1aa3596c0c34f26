"""`Table`: what golem learns from. Variables, and one or more parts with moments and, where they are at hand, rows.

A part is the rows of one environment, with the columns that the experiment changed; most tables have one part.
Gaussian scores need only the moments of each part, so tables are read in one pass and add up as moments do. Rows are
there for what needs rows: counts, shapes of the noise, experiments, resampling, checks.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from golem.data.coded_tables import parts_with_used_levels
from golem.data.missing import Missing
from golem.data.moments import Moments
from golem.data.resampling import Drawn, Unit, require_shards
from golem.data.series import Series
from golem.data.table_part import Gaussian
from golem.data.table_part import Part as Part
from golem.data.table_part import RowSource as RowSource
from golem.data.targets import mean_shifts, require_same_columns, resolve_targets
from golem.data.unusable import Unusable, unusable_variables, with_determined
from golem.data.variables import Coding
from golem.graphs.interventional import Intervention as Intervention
from golem.runtime.arrays import to_numpy
from golem.runtime.types import Indices, Matrix, Vector

Intercepts = Literal["separate", "shared"]
INTERVENTIONS: tuple[Intervention, ...] = ("soft", "hard")
INTERCEPTS: tuple[Intercepts, ...] = ("separate", "shared")


@dataclass(frozen=True, eq=False)
class Table:
    """Variables and the parts of their rows.

    Parameters
    ----------
    parts : tuple of Part
        One per environment; all have the same variables.
    is_named : bool
        Whether the columns have names of their own, and not x0, x1, ...
    robust_note : str
        Whether the moments are those of ranks, and why; empty if this was not asked.
    series : Series or None
        How the rows follow each other, and which variables are lags of others; None for independent rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> control, knockout = (Moments.from_rows(rng.normal(size=(n, 2)), ["A", "B"]) for n in (50, 20))
    >>> both = Table.of({"control": control, "ko": knockout}, {"control": [], "ko": ["A"]})
    >>> both.n, both.targets, both.without(0)
    (70, ((), (0,)), (0,))
    """

    parts: tuple[Part, ...]
    is_named: bool = True
    robust_note: str = ""
    series: Series | None = None

    @classmethod
    def single(cls, moments: Moments, rows: RowSource = None, is_named: bool = True) -> Table:
        """Return a table with one part."""
        return cls((Part("", moments, rows=rows),), is_named)

    @classmethod
    def of(cls, parts: Mapping[Any, Moments], targets: Mapping[Any, Any] | None) -> Table:
        """Return the table of environments with these moments and targets, in the order of `targets`.

        Targets are variables by name or number. Raise a ValueError for labels or variables that do not exist.
        """
        return cls.of_parts([Part(str(label), moments) for label, moments in parts.items()], targets)

    @classmethod
    def of_parts(cls, parts: Sequence[Part], targets: Mapping[Any, Any] | None, is_named: bool = True) -> Table:
        """Return the table of these parts, in the order of `targets` and with the variables in the order of the first.

        See `of`; the targets of the parts are replaced.
        """
        if not parts:
            raise ValueError("There are no environments. Give at least one, with its rows.")
        names = require_same_columns({part.label: part.moments.variables for part in parts})
        by_label = {part.label: part for part in parts}
        resolved = resolve_targets(targets, list(by_label), names)
        ordered = [replace(by_label[label].reordered(names), targets=own) for label, own in resolved.items()]
        if other := [part.label for part in ordered if part.moments.coding != ordered[0].moments.coding]:
            raise ValueError(
                f"Categories have other levels in environment {other[0]!r} than in {ordered[0].label!r}. Read the rows "
                "of all environments together."
            )
        return cls(tuple(ordered), is_named)

    @property
    def coding(self) -> Coding:
        """The variables."""
        return self.parts[0].moments.coding

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.parts[0].moments.variables

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n(self) -> int:
        """Number of rows of all parts."""
        return sum(part.moments.n for part in self.parts)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the environments."""
        return tuple(part.label for part in self.parts)

    @property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """The variables that each environment changes."""
        return tuple(part.targets for part in self.parts)

    @property
    def has_environments(self) -> bool:
        """Whether the rows come from labelled environments."""
        return bool(self.parts[0].label)

    @property
    def environments(self) -> tuple[Part, ...]:
        """The parts that are labelled environments."""
        return self.parts if self.has_environments else ()

    @property
    def lags(self) -> Indices:
        """How many steps back each variable lies, shape (d,); 0 for the present."""
        return np.zeros(self.d, dtype=np.intp) if self.series is None else self.series.lags_of(self.names)

    @property
    def past(self) -> Indices:
        """The numbers of the variables that are lags of others: they are given, and have no causes."""
        return np.flatnonzero(self.lags)

    @property
    def missing(self) -> Missing | None:
        """The missing values of all parts and their treatment; None if there were none."""
        gaps = [part.moments.missing for part in self.parts if part.moments.missing is not None]
        return functools.reduce(lambda left, right: left + right, gaps) if gaps else None

    @property
    def named_targets(self) -> dict[str, list[str]]:
        """The names of the targets by label, as in targets.json."""
        return {part.label: [self.names[j] for j in part.targets] for part in self.parts}

    def __repr__(self) -> str:
        parts = f"{len(self.parts)} environments, " if self.has_environments else ""
        return f"Table({parts}{self.n} rows, {self.d} columns)"

    def without(self, node: int) -> tuple[int, ...]:
        """Return the parts, by number, that do not target a variable."""
        return tuple(e for e, part in enumerate(self.parts) if node not in part.targets)

    def groups(self) -> dict[tuple[int, ...], list[int]]:
        """Return the variables by the set of parts that do not target them."""
        found: dict[tuple[int, ...], list[int]] = {}
        for j in range(self.d):
            found.setdefault(self.without(j), []).append(j)
        return found

    def reordered(self, names: Sequence[str]) -> Table:
        """Return the same table with the variables in another order; raise a ValueError for other names."""
        return replace(self, parts=tuple(part.reordered(names) for part in self.parts))

    def selected(self, variables: Sequence[int]) -> Table:
        """Return the same table with some of the variables, by number."""
        return replace(self, parts=tuple(part.selected(variables) for part in self.parts))

    def renamed(self, names: Sequence[str]) -> Table:
        """Return the same moments of variables with other names, without rows."""
        series = (
            None if self.series is None else replace(self.series, renamed=tuple(zip(names, self.names, strict=True)))
        )
        return replace(self.with_moments(part.moments.renamed(names) for part in self.parts), series=series)

    def without_rows(self) -> Table:
        """Return the same moments, without rows."""
        return self.with_moments(part.moments for part in self.parts)

    def kept(self) -> Table:
        """Return the table with a copy of its rows, which later changes of the data do not reach."""
        return replace(self, parts=tuple(replace(part, rows=part.copied_rows()) for part in self.parts))

    def with_moments(self, moments: Iterable[Moments]) -> Table:
        """Return a table with other moments of each part, and without rows."""
        pairs = zip(self.parts, moments, strict=True)
        return replace(self, parts=tuple(replace(part, moments=own, rows=None, shards=()) for part, own in pairs))

    def with_ranks(self) -> Table:
        """Return the same rows with the moments of their normal scores, in each part; see `golem.data.normal_scores`.

        What is drawn from it has moments of the same scores and raw rows; resamples themselves cannot be ranked.
        """
        return replace(self, parts=tuple(part.with_ranks() for part in self.parts))

    @property
    def is_ranked(self) -> bool:
        """Whether the moments are those of normal scores."""
        return self.parts[0].ranked

    def aligned(self, names: Sequence[str]) -> Table:
        """Return the table with the columns of a fit, matched by name or by position; see `Part.aligned`."""
        return replace(self, parts=tuple(part.aligned(names) for part in self.parts))

    @property
    def unit(self) -> Unit:
        """What is drawn in a resample: rows, shards of rows, or halves of the rows."""
        return self.parts[0].units.unit

    @property
    def is_incomplete(self) -> bool:
        """Whether values are missing, and EM estimates moments."""
        return any(part.is_incomplete for part in self.parts)

    def require_resampling(self) -> None:
        """Raise a ValueError if there is nothing to draw from, and warn if there are few shards."""
        counts = {part.label: len(part.units) for part in self.parts}
        least = min(counts, key=counts.__getitem__)
        if self.unit == "shards":
            require_shards(counts[least], least)

    def draw(self, rng: np.random.Generator) -> Table:
        """Return a bootstrap resample of each part; a resample counts as half of its rows."""
        return self._drawn([part.units.draw(rng) for part in self.parts])

    def halves(self, pairs: int, rng: np.random.Generator, block: int = 1) -> Iterator[Table]:
        """Yield random complementary halves of each part; rows that depend on their neighbours stay in blocks."""
        streams = zip(self.parts, self._streams(rng), strict=True)
        for halves in zip(*[part.units.halves(pairs, own, block) for part, own in streams], strict=True):
            yield self._drawn(halves)

    def counting(self, share: float) -> Table:
        """Return a table that counts only a share of the rows, because rows depend on each other or are too many."""
        return replace(self, parts=tuple(part.counting(share) for part in self.parts))

    def folds(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Table, Table]]:
        """Yield each part without one of its folds, and the folds left out; see `log_likelihood`.

        They are without rows, except for folds with missing values, which have the moments of all rows.
        """
        drawn = [part.units.folds(count, own) for part, own in zip(self.parts, self._streams(rng), strict=True)]
        for folds in zip(*drawn, strict=True):
            yield self._drawn([(rest, None) for rest, _ in folds]), self._drawn([fold for _, fold in folds])

    def _streams(self, rng: np.random.Generator) -> list[np.random.Generator]:
        """Return a generator per part."""
        if not self.has_environments:
            return [rng]
        return [np.random.default_rng(rng.integers(2**63)) for _ in self.parts]

    def _drawn(self, drawn: Sequence[Drawn]) -> Table:
        """Return some of the rows of each part, without the levels that none of them has."""
        parts = [part.drawn(one) for part, one in zip(self.parts, drawn, strict=True)]
        used = parts_with_used_levels([part.moments for part in parts])
        return replace(self, parts=tuple(part.recoded(own) for part, own in zip(parts, used, strict=True)))

    def log_likelihood(self, model: Gaussian) -> float:
        """Return the log-likelihood of the observed values of all rows."""
        return sum(part.log_likelihood(model) for part in self.parts)

    @property
    def values(self) -> Matrix:
        """The coded rows of a table without environments; a ValueError if only moments are known."""
        (part,) = self.parts
        rows = part.read_rows()
        if rows is None:
            raise ValueError("Only the moments of the table are known, not its rows.")
        return np.asarray(to_numpy(rows), dtype=float)

    def unusable(self) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned, and categories that others determine."""
        moments = self.moments()
        return with_determined(unusable_variables(moments), moments, self.names)

    def __add__(self, other: Table) -> Table:
        """Return the moments of the rows of both; environments with the same label must have equal targets."""
        mine, others = self.named_targets, other.named_targets
        if wrong := [label for label in mine if label in others and sorted(mine[label]) != sorted(others[label])]:
            raise ValueError(f"Environment {wrong[0]!r} has different targets in the two parts. Make them equal.")
        parts = {part.label: part.moments for part in self.parts}
        for part in other.parts:
            moments = part.moments.reordered(self.names)
            parts[part.label] = parts[part.label] + moments if part.label in parts else moments
        return Table.of(parts, mine | others)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the moments, and of labels and targets if there are any; see `Moments.fingerprint`."""
        if not self.has_environments:
            return self.parts[0].moments.fingerprint
        targets = self.named_targets
        parts = sorted((part.label, sorted(targets[part.label]), part.moments.fingerprint) for part in self.parts)
        return f"sha256:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"

    def pooled(
        self, which: Sequence[int], intercepts: Intercepts = "separate", columns: Indices | None = None
    ) -> Moments:
        """Return the moments of some environments taken together, with n = degrees of freedom; of all columns or some.

        With separate intercepts, the scatter is the sum of the scatters of the environments, each about its own mean,
        and n is the sum of (rows - 1). With shared ones it is the scatter about the common mean, and n is one less than
        the number of rows. The mean is that of all rows. Without environments, these are the moments of the rows.
        """
        if not self.has_environments:
            whole = self.parts[0].moments
            return whole if columns is None else whole.of_columns(columns, _numbers(whole, columns))
        rows, means = self._rows_and_means(which)
        shift, coding = self._columns[0].shift, self.coding
        if columns is None:
            scatter = self._scatter(which)
        else:
            block, means, shift = np.ix_(columns, columns), means[:, columns], shift[columns]
            scatter = functools.reduce(np.add, (self._columns[e].scatter[block] for e in which))
            coding = _numbers(self._columns[0], columns)
        offset = rows @ means / rows.sum()
        freedom = int(rows.sum()) - len(rows)
        if intercepts == "shared":
            away = (means - offset) * np.sqrt(rows)[:, None]
            scatter, freedom = scatter + away.T @ away, int(rows.sum()) - 1
        return Moments(freedom, shift, offset, scatter, coding.column_names, coding=coding)

    def variances(self, which: Sequence[int], intercepts: Intercepts = "separate") -> Vector:
        """Return the variances of `pooled`, without the covariances."""
        if not self.has_environments:
            return self.parts[0].moments.variances
        rows, means = self._rows_and_means(which)
        total = sum(np.diagonal(self._columns[e].scatter) for e in which)
        if intercepts == "shared":
            away = means - rows @ means / rows.sum()
            return np.asarray((total + rows @ away**2) / (rows.sum() - 1))
        return np.asarray(total / (rows.sum() - len(rows)))

    def intercepts(self, weights: Matrix) -> Vector:
        """Return the intercept of each node, given B: its mean minus what its parents explain.

        The means are those of the rows of all environments that do not target the node.
        """
        found = self._columns[0].shift - self._columns[0].shift @ weights
        for which, nodes in self.groups().items():
            rows, means = self._rows_and_means(which)
            mean = rows @ means / rows.sum()
            found[nodes] += mean[nodes] - mean @ weights[:, nodes]
        return np.asarray(found)

    def _rows_and_means(self, which: Sequence[int]) -> tuple[Vector, Matrix]:
        """Return the numbers of rows and the means of some environments, relative to a shift near the data."""
        parts, shift = [self._columns[e] for e in which], self._columns[0].shift
        means = np.array([(part.shift - shift) + part.offset for part in parts])
        return np.array([part.n for part in parts], dtype=float), means

    def moments(self, intercepts: Intercepts = "separate") -> Moments:
        """Return the moments of all rows: their number, their mean, and the covariance of `pooled`."""
        if not self.has_environments:
            return self.parts[0].moments
        pool = self.pooled(range(len(self.parts)), intercepts)
        return replace(pool, n=self.n, scatter=pool.scatter * (self.n / pool.n), missing=self.missing)

    def present_moments(self, intercepts: Intercepts = "separate") -> Moments:
        """Return the moments of the variables in the present, given the past; without lags, those of all variables."""
        whole, past = self.moments(intercepts), self.past
        if not len(past):
            return whole
        S, present = whole.covariance, np.flatnonzero(self.lags == 0)
        cross = S[np.ix_(past, present)]
        left = S[np.ix_(present, present)] - cross.T @ np.linalg.lstsq(S[np.ix_(past, past)], cross, rcond=None)[0]
        names = tuple(self.names[j] for j in present)
        return Moments(whole.n, np.zeros(len(names)), np.zeros(len(names)), left * whole.n, names)

    @property
    def _columns(self) -> list[Moments]:
        """The moments of each part."""
        return [part.moments for part in self.parts]

    def _scatter(self, which: Iterable[int]) -> Matrix:
        """Return the sum of the scatters of some environments.

        Sums over blocks of environments are kept, so that a hundred sets which each leave out one environment take some
        hundred additions, not ten thousand. Differences of sums would lose digits if an intervention has a large scale.
        """
        chosen, total = frozenset(which), np.zeros_like(self._columns[0].scatter)
        if len(chosen) == len(self.parts):  # needed once: the sums over blocks would stay in memory
            for part in self._columns:
                total += part.scatter
            return total
        waiting = [(0, len(self.parts))]
        while waiting:
            first, last = waiting.pop()
            inside = chosen.intersection(range(first, last))
            if len(inside) == last - first:
                total += self._block(first, last)
            elif inside:
                middle = (first + last) // 2
                waiting += [(middle, last), (first, middle)]
        return total

    @functools.cached_property
    def _blocks(self) -> dict[tuple[int, int], Matrix]:
        return {}

    def _block(self, first: int, last: int) -> Matrix:
        """Return the sum of the scatters of consecutive environments."""
        if last - first == 1:
            return self._columns[first].scatter
        if (first, last) not in self._blocks:
            middle = (first + last) // 2
            self._blocks[first, last] = self._block(first, middle) + self._block(middle, last)
        return self._blocks[first, last]

    def shifts(self) -> Matrix:
        """Return how far the mean of each environment is from the observational mean, in standard deviations within.

        The shape is (environments, d); of a category, the shift of the level that shifts most. Without observational
        rows outside an environment, its mean is compared with that of the other environments; the only observational
        environment has shift 0.
        """
        rows, means = self._rows_and_means(range(len(self.parts)))
        return mean_shifts(rows, means, self.targets, np.sqrt(self.moments().variances), self.coding.first)


def _numbers(moments: Moments, columns: Indices) -> Coding:
    """Return the coding of some columns, each taken for a number of its own."""
    return Coding.numeric(tuple(moments.names[j] for j in columns))
