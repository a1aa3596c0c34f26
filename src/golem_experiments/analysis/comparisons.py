"""Comparisons of methods on the same data: over all rows, and setting by setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from golem_experiments.analysis.inference import MIN_SEEDS, Mean, is_lower, mean, within
from golem_experiments.analysis.tables import average, distinct, done, paired, shared, where
from golem_experiments.engine.store import TIMEOUT
from golem_experiments.experiment import Table

# Errors per node: a difference that is visible in the figures of the paper, where SHDs reach several, and a large one.
VISIBLE, LARGE = 0.1, 0.25
# Shares of the settings that count as "most" and "consistently".
MOST, CONSISTENTLY = 0.5, 0.9
# Seconds that no method is below.
_NO_TIME = 1e-9


def difference(table: Table, metric: str, first: str, second: str, **values: Any) -> str:
    """Write a paired difference: first minus second."""
    return f"{first} - {second}: {paired(table, metric, first, second, **values).signed()}"


def means(table: Table, metric: str, methods: Sequence[str], **values: Any) -> str:
    """Write the mean of each method on the data sets that all of them have completed."""
    rows = where(table, **values)
    common = shared(rows, methods)
    text = ", ".join(f"{name} {average(common, metric, method=name)}" for name in methods)
    complete, most = len(common) // len(methods), max(len(where(rows, method=name)) for name in methods)
    return text if complete == most else f"{text} (on {complete} of {most} data sets)"


def better(table: Table, metric: str, first: str, second: str, *, higher: bool = False, **values: Any) -> bool | None:
    """Return whether the first method is better than the second, worse (False), or neither with confidence (None)."""
    outcome = is_lower(paired(table, metric, first, second, **values))
    return None if outcome is None else outcome != higher


@dataclass(frozen=True)
class Settings:
    """Numbers of settings in which a method is better, is worse, or in which the data do not decide.

    `few` of the undecided settings have fewer seeds than any decision needs.
    """

    better: int
    worse: int
    open: int
    few: int = 0

    @classmethod
    def count(cls, outcomes: Iterable[tuple[bool | None, int]]) -> Settings:
        """Count outcomes and their numbers of seeds, one pair per setting."""
        pairs = list(outcomes)
        found = [outcome for outcome, _ in pairs]
        few = sum(seeds < MIN_SEEDS for _, seeds in pairs)
        return cls(found.count(True), found.count(False), found.count(None), few)

    @property
    def total(self) -> int:
        """Number of settings."""
        return self.better + self.worse + self.open

    def __str__(self) -> str:
        return f"better in {self.better} of {self.total} settings, worse in {self.worse}, undecided in {self.open}"

    @property
    def reason(self) -> str:
        """Why a claim about settings is undecided, if it is."""
        parts = []
        if self.open > self.few:
            parts.append(f"{self.open - self.few} of {self.total} settings are too close to decide.")
        if self.few:
            parts.append(f"{self.few} of {self.total} settings have fewer than {MIN_SEEDS} seeds.")
        return " ".join(parts)

    def judge(self, share: float) -> bool | None:
        """Return whether more than a share is better; False if too many are worse for the undecided ones to matter."""
        if self.better and self.better > share * self.total:
            return True
        return False if self.worse and self.worse >= (1 - share) * self.total else None


def count_settings(
    table: Table, metric: str, ours: Sequence[str], others: Sequence[str], by: Sequence[str]
) -> Settings:
    """Count the settings in which one of our methods has a lower metric than all others, and the reverse.

    A setting is decided on the data sets that all methods have completed.
    """
    rows = shared(table, [*ours, *others])
    found = [where(rows, **cell) for cell in settings(table, by)]
    return Settings.count((_one_beats_all(some, metric, ours, others), len(distinct(some, "seed"))) for some in found)


def count_pairs(table: Table, metric: str, ours: Sequence[str], others: Sequence[str], by: Sequence[str]) -> Settings:
    """Count settings and pairs of one of our methods and another one, by which of the two has the lower metric."""
    return Settings.count(
        (better(table, metric, first, second, **cell), seeds)
        for cell in settings(table, by)
        for first in ours
        for second in others
        if (seeds := paired(table, metric, first, second, **cell).count)
    )


@dataclass(frozen=True)
class TimeRatio:
    """The time of one method over that of another: the mean of log2 over seeds.

    `stopped` says that runs of the one were stopped, so that the ratio is a lower bound.
    """

    log2: Mean
    stopped: bool

    def __str__(self) -> str:
        return f"{2**self.log2.value:.3g}{' or more (stopped)' if self.stopped else ''}"

    def reaches(self, ratio: float) -> bool | None:
        """Return whether the ratio is at least a given one; a lower bound below it decides nothing."""
        outcome = within(self.log2, math.log2(ratio), math.inf)
        return None if self.stopped and outcome is False else outcome


def time_ratio(table: Table, first: str, second: str) -> TimeRatio | None:
    """Return the time of the second method over that of the first, on the data sets of one cell that both have tried.

    Only times on the same hardware are compared. Runs of the second method that were stopped count with the time until
    then. None if there is no such data set.
    """
    times: dict[str, dict[Any, float]] = {first: {}, second: {}}
    for name, seconds in times.items():
        for row in where(done(table), method=name):
            seconds[row["seed"], row.get("hardware")] = max(float(row["fit_seconds"] or 0), _NO_TIME)
    stopped = {
        (row["seed"], row.get("hardware")): float(row["seconds"] or 0)
        for row in where(table, method=second, status=TIMEOUT)
    }
    times[second] |= stopped
    both = [place for place in times[first] if place in times[second]]
    if not both:
        return None
    ratios = [math.log2(times[second][place] / times[first][place]) for place in both]
    return TimeRatio(mean(ratios), any(place in stopped for place in both))


def _one_beats_all(table: Table, metric: str, ours: Sequence[str], others: Sequence[str]) -> bool | None:
    outcomes = {(a, b): better(table, metric, a, b) for a in ours for b in others}
    if any(all(outcomes[a, b] for b in others) for a in ours):
        return True
    return False if any(all(outcomes[a, b] is False for a in ours) for b in others) else None


def settings(table: Table, by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations of values of some columns that the table has."""
    found = dict.fromkeys(tuple(row[name] for name in by) for row in table)
    return [dict(zip(by, values, strict=True)) for values in found]
