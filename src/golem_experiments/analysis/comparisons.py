"""Comparisons of methods on the same data: over all rows, and setting by setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from golem_experiments.analysis.inference import MIN_SEEDS, Mean, is_lower, mean, within
from golem_experiments.analysis.tables import average, distinct, paired, shared, where
from golem_experiments.engine.store import DONE, TIMEOUT
from golem_experiments.experiment import Row, Table

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
class Times:
    """Seconds of two methods on the same data sets, in the same place, and how many runs of each were stopped.

    A run that was stopped counts with the time until then. So the ratio of the second time to the first is a lower
    bound if runs of the second method were stopped, and an upper bound if runs of the first were.
    """

    seconds: tuple[tuple[float, float], ...]
    stopped: tuple[int, int]

    def __str__(self) -> str:
        return f"{2**self.log2.value:.3g}{' or more (stopped)' if self.stopped[1] else ''}"

    @property
    def log2(self) -> Mean:
        """Mean over seeds of the logarithm of the ratio."""
        return mean(math.log2(second / first) for first, second in self.seconds)

    def reaches(self, ratio: float) -> bool | None:
        """Return whether the ratio is at least a given one; bounds that could be on the other side decide nothing."""
        outcome = within(self.log2, math.log2(ratio), math.inf)
        return None if (outcome and self.stopped[0]) or (outcome is False and self.stopped[1]) else outcome


def hardware(row: Row) -> str:
    """Return the processor, its cores and threads, and the GPU if the run used one."""
    return str(row.get("hardware"))


def processor(row: Row) -> str:
    """Return the processor alone, so that a method on a GPU can be compared with another one beside it."""
    return hardware(row).rpartition("; ")[2].partition(",")[0]


def matched_times(table: Table, first: str, second: str, place: Callable[[Row], str] = hardware) -> Times | None:
    """Return the times of two methods in a cell, on the seeds that both have run in the same place; None if none."""
    own, other = ({row["seed"]: row for row in where(table, method=name)} for name in (first, second))
    seconds, stopped = [], [0, 0]
    for pair in ((own[seed], other[seed]) for seed in own if seed in other):
        states = [row["status"] for row in pair]
        alike = place(pair[0]) == place(pair[1])
        if alike and set(states) <= {DONE, TIMEOUT} and DONE in states:
            seconds.append((seconds_of(pair[0]), seconds_of(pair[1])))
            stopped = [count + (state == TIMEOUT) for count, state in zip(stopped, states, strict=True)]
    return Times(tuple(seconds), (stopped[0], stopped[1])) if seconds else None


def seconds_of(row: Row) -> float:
    """Return the time of the method; for a task that was stopped, the time until then."""
    return max(float(row["fit_seconds" if row["status"] == DONE else "seconds"] or 0), _NO_TIME)


def _one_beats_all(table: Table, metric: str, ours: Sequence[str], others: Sequence[str]) -> bool | None:
    outcomes = {(a, b): better(table, metric, a, b) for a in ours for b in others}
    if any(all(outcomes[a, b] for b in others) for a in ours):
        return True
    return False if any(all(outcomes[a, b] is False for a in ours) for b in others) else None


def settings(table: Table, by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations of values of some columns that the table has."""
    found = dict.fromkeys(tuple(row[name] for name in by) for row in table)
    return [dict(zip(by, values, strict=True)) for values in found]
