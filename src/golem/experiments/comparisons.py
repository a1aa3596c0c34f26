"""Verdicts on claims that compare methods: this one is better than that one, on the same data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from golem.experiments.experiment import Table, Verdict
from golem.experiments.tables import Mean, average, distinct, is_lower, paired, where

NOT_RUN = "The methods it is about were not run."


def present(table: Table, methods: Iterable[str]) -> list[str]:
    """Those of the methods that the table has."""
    there = set(distinct(table, "method"))
    return [name for name in methods if name in there]


def is_there(table: Table, *methods: str) -> bool:
    """Tell whether the table has rows of all these methods."""
    return set(methods) <= set(distinct(table, "method"))


def difference(table: Table, metric: str, first: str, second: str, **values: Any) -> str:
    """Write a paired difference: first minus second."""
    found = paired(table, metric, first, second, **values)
    return f"{first} - {second}: {signed(found)}"


def signed(found: Mean) -> str:
    """Write a difference with its sign."""
    return f"{found.value:+.3g} ± {found.error:.2g}" if found.count else "none"


def means(table: Table, metric: str, methods: Sequence[str], **values: Any) -> str:
    """Write the mean of each method."""
    return ", ".join(f"{name} {average(table, metric, method=name, **values)}" for name in methods)


def better(table: Table, metric: str, first: str, second: str, *, higher: bool = False, **values: Any) -> bool | None:
    """Tell whether the first method is better than the second for sure, worse for sure (False), or neither (None)."""
    outcome = is_lower(paired(table, metric, first, second, **values))
    return None if outcome is None else outcome != higher


def claim_better(claim: str, table: Table, metric: str, pairs: Sequence[tuple[str, str]], **values: Any) -> Verdict:
    """Judge the claim that in each pair of methods the first has the lower metric; all pairs must agree."""
    pairs = [pair for pair in pairs if is_there(table, *pair)]
    if not pairs:
        return Verdict(claim, NOT_RUN, None)
    outcomes = [better(table, metric, first, second, **values) for first, second in pairs]
    measured = "; ".join(difference(table, metric, first, second, **values) for first, second in pairs)
    holds = False if False in outcomes else None if None in outcomes else True
    return Verdict(claim, f"{metric_label(metric)}: {measured}", holds)


def cells_won(
    table: Table, metric: str, ours: Sequence[str], others: Sequence[str], by: Sequence[str]
) -> tuple[int, int, int]:
    """Count the cells where the best mean of some methods is below, and equal to, the best of others; and all cells."""
    won = level = total = 0
    for cell in distinct_cells(table, by):
        best = [min((_mean(table, metric, name, cell) for name in group), default=math.nan) for group in (ours, others)]
        if all(map(math.isfinite, best)):
            total += 1
            won += best[0] < best[1]
            level += best[0] == best[1]
    return won, level, total


def distinct_cells(table: Table, by: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations of values of some columns that the table has."""
    found = dict.fromkeys(tuple(row[name] for name in by) for row in table)
    return [dict(zip(by, values, strict=True)) for values in found]


def metric_label(metric: str) -> str:
    """Name a metric in a sentence."""
    from golem.experiments.figures import LABELS

    return LABELS.get(metric, metric)


def _mean(table: Table, metric: str, method: str, cell: dict[str, Any]) -> float:
    value = average(where(table, **cell), metric, method=method).value
    return math.inf if math.isnan(value) else value


def join(claim: str, *parts: Verdict) -> Verdict:
    """Judge a claim that is true when its parts are; each part names where it looks."""
    measured = ". ".join(f"{part.claim}: {part.measured}" for part in parts)
    outcomes = [part.holds for part in parts]
    return Verdict(claim, measured, False if False in outcomes else None if None in outcomes else True)
