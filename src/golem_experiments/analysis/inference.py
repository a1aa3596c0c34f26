"""Means over seeds, their intervals, and the rules by which an interval decides a claim.

A seed draws the same graph in cells that differ in noise, rows or scale, so the numbers of one seed are not
independent: `mean_over_seeds` treats them as one observation. Intervals are Student's t at 95%. A difference counts if
its interval excludes zero. A number counts as low, or as no different, if its interval lies within a margin that the
verdict states; this is refuted if the interval lies outside. Fewer than three seeds decide nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scipy.special import stdtrit

CONFIDENCE = 0.95
# Fewer seeds say too little about their spread.
MIN_SEEDS = 3
# Differences of equal numbers are this close to zero.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Mean:
    """A mean over seeds, its standard error (NaN for a single seed) and the number of seeds."""

    value: float
    error: float
    count: int
    degrees: float | None = None  # of freedom of the error; None: one less than the number of seeds

    def __str__(self) -> str:
        return self._written("")

    def signed(self) -> str:
        """Write a difference, with its sign."""
        return self._written("+")

    def _written(self, sign: str) -> str:
        if not self.count:
            return "none"
        value, error = (0.0 if abs(number) < _ROUNDING else number for number in (self.value, self.error))
        spread = f" ± {error:.2g}" if self.count > 1 else ""
        return f"{value:{sign}.3g}{spread}"

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the 95% interval of Student's t; infinite if there are fewer than three seeds."""
        if self.count < MIN_SEEDS:
            return -math.inf, math.inf
        degrees = self.count - 1 if self.degrees is None else self.degrees
        margin = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * self.error
        return self.value - margin, self.value + margin


def mean(values: Iterable[float]) -> Mean:
    """Return the mean and standard error of the finite values, one value per seed.

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


def mean_over_seeds(numbers: Iterable[tuple[Any, Any, float]]) -> Mean:
    """Return the mean of triples (cell, seed, value): first within cells, then over cells with equal weights.

    So a size with few seeds counts as much as one with many. Cells with fewer than `MIN_SEEDS` seeds say too little,
    and are left out if others have as many. The deviations of one seed from the means of its cells are added up for
    the standard error, because they are not independent. If all cells have the same seeds, this is the standard error
    of the means per seed. The count is the smallest number of seeds of a cell.

    Examples
    --------
    >>> print(mean_over_seeds([("d = 10", 0, 1.0), ("d = 20", 0, 3.0), ("d = 10", 1, 3.0), ("d = 20", 1, 5.0)]))
    3 ± 1
    >>> numbers = [("d = 10", seed, 1.0) for seed in range(12)] + [("d = 20", seed, 3.0) for seed in range(3)]
    >>> mean_over_seeds(numbers).value
    2.0
    """
    found: dict[Any, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, seed, value in numbers:
        if math.isfinite(value):
            found[cell][seed].append(value)
    cells = [{seed: math.fsum(own) / len(own) for seed, own in seeds.items()} for seeds in found.values()]
    cells = [one for one in cells if len(one) >= MIN_SEEDS] or cells
    if not cells:
        return Mean(math.nan, math.nan, 0)
    centres = [mean(one.values()) for one in cells]
    fewest = min(centre.count for centre in centres)
    deviations: dict[Any, float] = defaultdict(float)
    for one, centre in zip(cells, centres, strict=True):
        scale = len(cells) * math.sqrt(centre.count * max(centre.count - 1, 1))
        for seed, value in one.items():
            deviations[seed] += (value - centre.value) / scale
    error = math.sqrt(math.fsum(sum_**2 for sum_ in deviations.values())) if fewest > 1 else math.nan
    return Mean(math.fsum(centre.value for centre in centres) / len(cells), error, fewest)


def independent_difference(first: Mean, second: Mean) -> Mean:
    """Return the first mean minus the second, for data sets that have nothing in common (Welch).

    Examples
    --------
    >>> found = independent_difference(Mean(0.5, 0.03, 3), Mean(0.2, 0.04, 12))
    >>> print(found.signed(), f"{found.degrees:.1f}")
    +0.3 ± 0.05 9.8
    """
    error = math.hypot(first.error, second.error)
    spread = sum(one.error**4 / (one.count - 1) for one in (first, second) if one.count > 1)
    return Mean(
        first.value - second.value, error, min(first.count, second.count), error**4 / spread if spread else None
    )


def is_lower(difference: Mean) -> bool | None:
    """Return whether a difference is below zero; False if it is above, None if its interval does not decide."""
    low, high = difference.interval
    return True if high < -_ROUNDING else False if low > _ROUNDING else None


def is_higher(difference: Mean) -> bool | None:
    """Return whether a difference is above zero; False if it is below, None if its interval does not decide."""
    lower = is_lower(difference)
    return None if lower is None else not lower


def within(found: Mean, low: float, high: float) -> bool | None:
    """Return whether the interval of a number lies between bounds; False if outside, None if neither.

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
    """Join outcomes: True if all are True, False if one is False, otherwise None."""
    outcomes = list(outcomes)
    if False in outcomes:
        return False
    return None if not outcomes or None in outcomes else True
