"""Verdicts on claims that compare methods: this one is better than that one, on the same data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from golem.experiments.analysis.inference import Mean, all_hold, is_lower, within
from golem.experiments.analysis.tables import average, distinct, paired, where
from golem.experiments.experiment import Table, Verdict

# Errors a node that one would see in the figures of the paper, where SHDs reach several: less is no difference.
VISIBLE = 0.1
# Errors a node that are taken as a large margin.
LARGE = 0.25
# Shares of the settings that are taken as "most" and "consistently".
MOST, CONSISTENTLY = 0.5, 0.9


def present(table: Table, methods: Iterable[str]) -> list[str]:
    """Those of the methods that the table has."""
    there = set(distinct(table, "method"))
    return [name for name in methods if name in there]


def is_there(table: Table, *methods: str) -> bool:
    """Tell whether the table has rows of all these methods."""
    return set(methods) <= set(distinct(table, "method"))


def not_run(claim: str, table: Table, *methods: str) -> Verdict:
    """Leave a claim undecided, and name the methods that it is about and that were not run."""
    return Verdict(claim, missing(table, *methods) or "Nothing that it is about was run", None)


def missing(table: Table, *methods: str) -> str:
    """Name those of the methods that were not run."""
    absent = [name for name in dict.fromkeys(methods) if not is_there(table, name)]
    return f"Not run: {', '.join(absent)}" if absent else ""


def difference(table: Table, metric: str, first: str, second: str, **values: Any) -> str:
    """Write a paired difference: first minus second."""
    return f"{first} - {second}: {paired(table, metric, first, second, **values).signed()}"


def means(table: Table, metric: str, methods: Sequence[str], **values: Any) -> str:
    """Write the mean of each method."""
    return ", ".join(f"{name} {average(table, metric, method=name, **values)}" for name in methods)


def better(table: Table, metric: str, first: str, second: str, *, higher: bool = False, **values: Any) -> bool | None:
    """Tell whether the first method is better than the second for sure, worse for sure (False), or neither (None)."""
    outcome = is_lower(paired(table, metric, first, second, **values))
    return None if outcome is None else outcome != higher


def claim_better(
    claim: str, table: Table, metric: str, pairs: Sequence[tuple[str, str]], *, margin: float = 0.0, **values: Any
) -> Verdict:
    """Judge the claim that in each pair of methods the first has the lower metric, by a margin or more.

    All pairs must agree. One that does not refutes the claim; a method that was not run leaves it undecided.
    """
    outcomes: list[bool | None] = []
    parts = []
    for first, second in pairs:
        found = paired(table, metric, first, second, **values)
        outcomes.append(below(found, margin))
        if found.count:
            parts.append(f"{first} - {second}: {found.signed()}")
    if not parts:
        return not_run(claim, table, *(name for pair in pairs for name in pair))
    measured = f"{metric_label(metric)}: {'; '.join(parts)}"
    if absent := missing(table, *(name for pair in pairs for name in pair)):
        measured += f". {absent}"
    if margin:
        measured += f". Asked for: lower by {margin:g} or more"
    return Verdict(claim, measured, all_hold(outcomes))


def below(found: Mean, margin: float) -> bool | None:
    """Tell whether a difference is below zero by a margin or more, for sure; not so (False), or neither (None)."""
    return within(found, float("-inf"), -margin) if margin else is_lower(found)


@dataclass(frozen=True)
class Settings:
    """Settings in which a comparison comes out for sure one way, for sure the other way, or neither."""

    better: int
    worse: int
    open: int

    @property
    def total(self) -> int:
        """Number of settings."""
        return self.better + self.worse + self.open

    def __str__(self) -> str:
        return (
            f"better in {self.better} of {self.total} settings, worse in {self.worse}, neither for sure in {self.open}"
        )

    def judge(self, share: float) -> bool | None:
        """Tell whether more than a share is better, or too much is worse for that whatever the open ones are."""
        if self.better and self.better > share * self.total:
            return True
        return False if self.worse and self.worse >= (1 - share) * self.total else None


def count_settings(
    table: Table, metric: str, ours: Sequence[str], others: Sequence[str], by: Sequence[str]
) -> Settings:
    """Count the settings where one of some methods has a lower metric than all others for sure, and the other way."""
    found = [_one_beats_all(where(table, **cell), metric, ours, others) for cell in settings(table, by)]
    return Settings(found.count(True), found.count(False), found.count(None))


def count_pairs(table: Table, metric: str, ours: Sequence[str], others: Sequence[str], by: Sequence[str]) -> Settings:
    """Count settings and pairs of methods, one of each kind, where the first has the lower metric for sure."""
    found = [
        better(table, metric, first, second, **cell)
        for cell in settings(table, by)
        for first in ours
        for second in others
        if paired(table, metric, first, second, **cell).count
    ]
    return Settings(found.count(True), found.count(False), found.count(None))


def _one_beats_all(table: Table, metric: str, ours: Sequence[str], others: Sequence[str]) -> bool | None:
    outcomes = {(a, b): better(table, metric, a, b) for a in ours for b in others}
    if any(all(outcomes[a, b] for b in others) for a in ours):
        return True
    return False if any(all(outcomes[a, b] is False for a in ours) for b in others) else None


def settings(table: Table, by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations of values of some columns that the table has."""
    found = dict.fromkeys(tuple(row[name] for name in by) for row in table)
    return [dict(zip(by, values, strict=True)) for values in found]


def metric_label(metric: str) -> str:
    """Name a metric in a sentence."""
    from golem.experiments.analysis.figures import LABELS

    return LABELS.get(metric, metric)


def join(claim: str, *parts: Verdict) -> Verdict:
    """Judge a claim that is true when its parts are; each part names where it looks."""
    measured = ". ".join(f"{part.claim}: {part.measured.removesuffix('.')}" for part in parts)
    return Verdict(claim, measured, all_hold(part.holds for part in parts))
