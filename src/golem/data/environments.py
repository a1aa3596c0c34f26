"""Environments: tables of the same columns from different experiments, with the columns that each experiment changed.

Gaussian scores need only the moments of each environment, so environments are read in one pass, and parts of them add
up as moments do.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from golem.data.moments import Moments
from golem.data.targets import resolve_targets
from golem.data.unusable import is_constant
from golem.graphs.interventional import Intervention as Intervention
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import ProblemError, Set
from golem.runtime.types import Indices, Matrix, Vector

Intercepts = Literal["separate", "shared"]
INTERVENTIONS: tuple[Intervention, ...] = ("soft", "hard")
INTERCEPTS: tuple[Intercepts, ...] = ("separate", "shared")
LEAST_ROWS = 3


@dataclass(frozen=True, eq=False)
class Environments:
    """Moments and intervention targets of several environments.

    Parameters
    ----------
    labels : tuple of str
        Names of the environments.
    moments : tuple of Moments
        The moments of each environment, all with the same columns.
    targets : tuple of tuple of int
        The columns that each environment changes; empty for observational data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> control, knockout = (Moments.from_rows(rng.normal(size=(n, 2)), ["A", "B"]) for n in (50, 20))
    >>> both = Environments.of({"control": control, "ko": knockout}, {"control": [], "ko": ["A"]})
    >>> both.n, both.targets, both.without(0)
    (70, ((), (0,)), (0,))
    """

    labels: tuple[str, ...]
    moments: tuple[Moments, ...]
    targets: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, parts: Mapping[Any, Moments], targets: Mapping[Any, Any] | None) -> Environments:
        """Return the environments with these moments and targets, in the order of `targets`.

        Targets are columns by name or number. Raise a ValueError for labels or columns that do not exist.
        """
        if not parts:
            raise ValueError("There are no environments. Give at least one, with its rows.")
        found = {str(label): moments for label, moments in parts.items()}
        names = next(iter(found.values())).names
        for label, moments in found.items():
            if sorted(moments.names) != sorted(names):
                raise ValueError(
                    f"Environment {label!r} has the columns {quoted(moments.names)}, but the first one has "
                    f"{quoted(names)}. All environments need the same columns."
                )
        resolved = resolve_targets(targets, list(found), names)
        ordered = tuple(found[label].reordered(names) for label in resolved)
        return cls(tuple(resolved), ordered, tuple(resolved.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return self.moments[0].names

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def n(self) -> int:
        """Number of rows of all environments."""
        return sum(part.n for part in self.moments)

    @property
    def named_targets(self) -> dict[str, list[str]]:
        """The names of the targets by label, as in targets.json."""
        pairs = zip(self.labels, self.targets, strict=True)
        return {label: [self.names[j] for j in some] for label, some in pairs}

    def __repr__(self) -> str:
        return f"Environments({len(self.labels)} environments, {self.n} rows, {self.d} columns)"

    def without(self, node: int) -> tuple[int, ...]:
        """Return the environments, by number, that do not target a column."""
        return tuple(e for e, some in enumerate(self.targets) if node not in some)

    def groups(self) -> dict[tuple[int, ...], list[int]]:
        """Return the columns by the set of environments that do not target them."""
        found: dict[tuple[int, ...], list[int]] = {}
        for j in range(self.d):
            found.setdefault(self.without(j), []).append(j)
        return found

    def reordered(self, names: Sequence[str]) -> Environments:
        """Return the same environments with the columns in another order."""
        place = {name: j for j, name in enumerate(names)}
        targets = tuple(tuple(sorted(place[self.names[j]] for j in some)) for some in self.targets)
        return Environments(self.labels, tuple(part.reordered(names) for part in self.moments), targets)

    def selected(self, columns: Sequence[int]) -> Environments:
        """Return the same environments with some of the columns."""
        place = {j: k for k, j in enumerate(columns)}
        names = [self.names[j] for j in columns]
        targets = tuple(tuple(sorted(place[j] for j in some if j in place)) for some in self.targets)
        return Environments(self.labels, tuple(part.selected(names) for part in self.moments), targets)

    def __add__(self, other: Environments) -> Environments:
        """Return the environments with the rows of both; environments with the same label must have equal targets."""
        mine, others = self.named_targets, other.named_targets
        if wrong := [label for label in mine if label in others and sorted(mine[label]) != sorted(others[label])]:
            raise ValueError(f"Environment {wrong[0]!r} has different targets in the two parts. Make them equal.")
        parts = dict(zip(self.labels, self.moments, strict=True))
        for label, part in zip(other.labels, other.moments, strict=True):
            part = part.reordered(self.names)
            parts[label] = parts[label] + part if label in parts else part
        return Environments.of(parts, mine | others)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of labels, targets and moments; see `Moments.fingerprint`."""
        parts = sorted(
            (label, sorted(some), part.fingerprint)
            for (label, some), part in zip(self.named_targets.items(), self.moments, strict=True)
        )
        return f"sha256:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"

    def pooled(
        self, which: Sequence[int], intercepts: Intercepts = "separate", columns: Indices | None = None
    ) -> Moments:
        """Return the moments of some environments taken together, with n = degrees of freedom; of all columns or some.

        With separate intercepts, the scatter is the sum of the scatters of the environments, each about its own mean,
        and n is the sum of (rows - 1). With shared ones it is the scatter about the common mean, and n is one less than
        the number of rows. The mean is that of all rows.
        """
        rows, means = self._rows_and_means(which)
        shift, names = self.moments[0].shift, self.names
        if columns is None:
            scatter = self._scatter(which)
        else:
            block, means, shift = np.ix_(columns, columns), means[:, columns], shift[columns]
            scatter = functools.reduce(np.add, (self.moments[e].scatter[block] for e in which))
            names = tuple(names[j] for j in columns)
        offset = rows @ means / rows.sum()
        freedom = int(rows.sum()) - len(rows)
        if intercepts == "shared":
            away = (means - offset) * np.sqrt(rows)[:, None]
            scatter, freedom = scatter + away.T @ away, int(rows.sum()) - 1
        return Moments(freedom, shift, offset, scatter, names)

    def variances(self, which: Sequence[int], intercepts: Intercepts = "separate") -> Vector:
        """Return the variances of `pooled`, without the covariances."""
        rows, means = self._rows_and_means(which)
        total = sum(np.diagonal(self.moments[e].scatter) for e in which)
        if intercepts == "shared":
            away = means - rows @ means / rows.sum()
            return np.asarray((total + rows @ away**2) / (rows.sum() - 1))
        return np.asarray(total / (rows.sum() - len(rows)))

    def intercepts(self, weights: Matrix) -> Vector:
        """Return the intercept of each node, given B: its mean minus what its parents explain.

        The means are those of the rows of all environments that do not target the node.
        """
        found = self.moments[0].shift - self.moments[0].shift @ weights
        for which, nodes in self.groups().items():
            rows, means = self._rows_and_means(which)
            mean = rows @ means / rows.sum()
            found[nodes] += mean[nodes] - mean @ weights[:, nodes]
        return np.asarray(found)

    def _rows_and_means(self, which: Sequence[int]) -> tuple[Vector, Matrix]:
        """Return the numbers of rows and the means of some environments, relative to a shift near the data."""
        parts, shift = [self.moments[e] for e in which], self.moments[0].shift
        means = np.array([(part.shift - shift) + part.offset for part in parts])
        return np.array([part.n for part in parts], dtype=float), means

    def together(self, intercepts: Intercepts = "separate") -> Moments:
        """Return the moments of all rows: their number, their mean, and the covariance of `pooled`."""
        pool = self.pooled(range(len(self.moments)), intercepts)
        gaps = [part.missing for part in self.moments if part.missing is not None]
        missing = functools.reduce(lambda left, right: left + right, gaps) if gaps else None
        return dataclasses.replace(pool, n=self.n, scatter=pool.scatter * (self.n / pool.n), missing=missing)

    def _scatter(self, which: Iterable[int]) -> Matrix:
        """Return the sum of the scatters of some environments.

        Sums over blocks of environments are kept, so that a hundred sets which each leave out one environment take some
        hundred additions, not ten thousand. Differences of sums would lose digits if an intervention has a large scale.
        """
        chosen, total = frozenset(which), np.zeros((self.d, self.d))
        if len(chosen) == len(self.moments):  # needed once: the sums over blocks would stay in memory
            for part in self.moments:
                total += part.scatter
            return total
        waiting = [(0, len(self.moments))]
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
            return self.moments[first].scatter
        if (first, last) not in self._blocks:
            middle = (first + last) // 2
            self._blocks[first, last] = self._block(first, middle) + self._block(middle, last)
        return self._blocks[first, last]

    def shifts(self) -> Matrix:
        """Return how far the mean of each environment is from the observational mean, in standard deviations within.

        The shape is (environments, d). Without observational rows outside an environment, its mean is compared with
        that of the other environments; the only observational environment has shift 0.
        """
        everything = range(len(self.moments))
        scale = np.sqrt(self.together().variances)
        found = np.zeros((len(self.moments), self.d))
        for e in everything:
            others = [k for k in everything if k != e and not self.targets[k]]
            others = others or [k for k in everything if k != e and self.targets[e]]
            if others:
                rows, means = self._rows_and_means([e, *others])
                away: Vector = means[0] - rows[1:] @ means[1:] / rows[1:].sum()
                found[e] = np.divide(away, scale, out=np.zeros(self.d), where=scale > 0)
        return found

    def require_learnable(self, intervention: Intervention) -> None:
        """Raise a ValueError for environments from which no graph can be learned."""
        require_rows(dict(zip(self.labels, (part.n for part in self.moments), strict=True)))
        if always := [name for j, name in enumerate(self.names) if not self.without(j)]:
            raise ValueError(
                f"Column {quoted(always)} is a target in every environment, so nothing shows what it depends on "
                "otherwise. Add an environment that does not change it, or drop the column."
            )
        self._require_variation(intervention)

    def _require_variation(self, intervention: Intervention) -> None:
        """Raise a ValueError for columns that are constant in an environment, except for its hard targets."""
        flat = [is_constant(part) for part in self.moments]
        for label, constant, targets in zip(self.labels, flat, self.targets, strict=True):
            fixed_here = np.flatnonzero(constant).tolist()
            if soft := [self.names[j] for j in fixed_here if j in targets and intervention == "soft"]:
                raise ProblemError(
                    f"Column {quoted(soft)} is constant in environment {label!r}, which targets it. If the experiment "
                    "sets it to a value, whatever its causes are, use ",
                    Set("intervention", "hard"),
                    ".",
                )
            if wrong := [self.names[j] for j in fixed_here if j not in targets]:
                raise ValueError(
                    f"Column {quoted(wrong)} is constant in environment {label!r}. Drop the column or the environment, "
                    "or name the column among the targets of that environment if the experiment sets it to a value."
                )
        for which, nodes in self.groups().items():
            # A column that varies in one environment varies in the pool.
            fixed = np.flatnonzero(np.all([flat[e] for e in which], axis=0))
            if len(fixed):
                raise ValueError(
                    f"Column {quoted([self.names[j] for j in fixed])} is constant in all environments "
                    f"that do not target {self.names[nodes[0]]!r}. Add an environment in which both vary."
                )


def require_rows(sizes: Mapping[str, int]) -> None:
    """Raise a ValueError for environments with too few rows."""
    if small := [f"{label!r} ({counted(n, 'row')})" for label, n in sizes.items() if n < LEAST_ROWS]:
        raise ValueError(
            f"Environments with fewer than {LEAST_ROWS} rows: {shortened(small)}. Add rows, or leave them out."
        )
