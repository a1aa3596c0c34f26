"""What the rows of a table allow to say: means over seeds, intervals, and one rule for every verdict.

A seed draws the same graph in cells that differ in noise, rows or scale, so that numbers of one seed are not
independent: they are averaged first, and the standard error is that of the seeds' means. Intervals are those of
Student's t at 95%. A difference counts where its interval leaves out zero. That there is no difference, or that a
number is low, counts where the interval lies within a margin that the verdict states, and is refuted where it lies
beyond. Fewer than three seeds decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scipy.special import stdtrit

# The share of intervals that hold what they are for.
CONFIDENCE = 0.95
# Fewer seeds say too little of their spread.
MIN_SEEDS = 3


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its standard error (NaN of a single one) and the number of seeds."""

    value: float
    error: float
    count: int

    def __str__(self) -> str:
        return self._written("")

    def signed(self) -> str:
        """Write a difference, with its sign."""
        return self._written("+")

    def _written(self, sign: str) -> str:
        if not self.count:
            return "none"
        spread = f" ± {self.error:.2g}" if self.count > 1 else ""
        return f"{self.value:{sign}.3g}{spread}"

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the 95% interval of Student's t; without bounds where there are fewer than three seeds."""
        if self.count < MIN_SEEDS:
            return -math.inf, math.inf
        margin = float(stdtrit(self.count - 1, (1 + CONFIDENCE) / 2)) * self.error
        return self.value - margin, self.value + margin


def mean(values: Iterable[float]) -> Mean:
    """Mean and standard error of the finite ones of some numbers, one a seed.

    Examples
    --------
    >>> print(mean([1.0, 2.0, 3.0, float("nan")]))
    2 ± 0.58
    """
    finite = [value for value in values if math.isfinite(value)]
    n = len(finite)
    if not n:
        return Mean(math.nan, math.nan, 0)
    centre = math.fsum(finite) / n
    spread = math.fsum((value - centre) ** 2 for value in finite)
    return Mean(centre, math.sqrt(spread / (n - 1) / n) if n > 1 else math.nan, n)


def mean_over_seeds(numbers: Iterable[tuple[Any, float]]) -> Mean:
    """Mean of numbers that come with their seed: first within seeds, then over them.

    Examples
    --------
    >>> print(mean_over_seeds([(0, 1.0), (0, 3.0), (1, 4.0)]))
    3 ± 1
    """
    return mean(seed_means(numbers).values())


def seed_means(numbers: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    """Mean of the finite numbers of each seed."""
    found: dict[Any, list[float]] = {}
    for seed, value in numbers:
        if math.isfinite(value):
            found.setdefault(seed, []).append(value)
    return {seed: math.fsum(values) / len(values) for seed, values in found.items()}


def is_lower(difference: Mean) -> bool | None:
    """Tell whether a difference is below zero, above it (False), or neither for sure (None)."""
    low, high = difference.interval
    return True if high < 0 else False if low > 0 else None


def is_higher(difference: Mean) -> bool | None:
    """Tell whether a difference is above zero, below it (False), or neither for sure (None)."""
    lower = is_lower(difference)
    return None if lower is None else not lower


def within(found: Mean, low: float, high: float) -> bool | None:
    """Tell whether a number lies between bounds for sure, outside them (False), or neither (None).

    Examples
    --------
    >>> within(Mean(0.02, 0.01, 12), -0.1, 0.1), within(Mean(0.3, 0.05, 12), -0.1, 0.1)
    (True, False)
    >>> within(Mean(0.09, 0.05, 12), -0.1, 0.1) is None
    True
    """
    if found.count < MIN_SEEDS:
        return None
    bottom, top = found.interval
    if low <= bottom and top <= high:
        return True
    return False if top < low or bottom > high else None


def all_hold(outcomes: Iterable[bool | None]) -> bool | None:
    """Join outcomes: True where all are, False where one is, else None."""
    outcomes = list(outcomes)
    if False in outcomes:
        return False
    return None if not outcomes or None in outcomes else True
