"""Values that look like something else than a measurement: marks of missing values, numbers of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.runtime.messages import shortened
from golem.runtime.types import Matrix, Vector

_FEWEST_OTHERS = 10
_FEWEST_VALUES = 5


def find_odd_values(names: tuple[str, ...], rows: Matrix) -> Finding:
    """Name values that stand for a missing one, and columns that count the rows.

    The first is a value that occurs more than once, at an end of its column, and is farther from all others than these
    are from each other. The second is a column of equally spaced numbers, each once.
    """

    def written(value: float) -> str:
        return repr(float(value)).removesuffix(".0")  # every digit: it is looked for as it stands in the file

    marks: dict[float, list[int]] = defaultdict(list)
    counters = []
    for name, column in zip(names, rows.T, strict=True):
        for value, count in _marks(column):
            marks[value].append(count)
        if _counts(column):
            counters.append(repr(name))
    told, remedies = [], []
    if marks:
        cells = [
            f"{written(value)} in {sum(counts)} cells of {_columns(len(counts))}" for value, counts in marks.items()
        ]
        told.append(f"{shortened(cells, 3)}, farther from all other values than these are from each other")
        options = " ".join(f"--na {written(value)}" for value in list(marks)[:3])
        remedies.append(f"If that marks missing values, {options} --missing em reads it so.")
    if counters:
        told.append(f"{_columns(len(counters))} of equally spaced numbers, each once: {shortened(counters, 3)}")
        remedies.append(
            "Drop numbers of rows (--drop); where it is time, rows that follow each other are not independent."
        )
    if not told:
        return Finding(
            "odd-values", "ok", "No value looks like a mark for a missing one, and no column counts the rows."
        )
    return Finding("odd-values", "warning", f"Odd: {'; '.join(told)}.", " ".join(remedies))


def _marks(column: Vector) -> Iterator[tuple[float, int]]:
    """Yield the smallest and the largest value of a column where it looks like a mark, and how often it occurs."""
    for value in (column.min(), column.max()):
        others = column[column != value]
        count = len(column) - len(others)
        if count < 2 or len(others) < _FEWEST_OTHERS or len(np.unique(others)) < _FEWEST_VALUES:
            continue
        if np.abs(others - value).min() > others.max() - others.min():
            yield float(value), count


def _counts(column: Vector) -> bool:
    """Tell whether a column has equally spaced numbers, each once."""
    if len(column) < _FEWEST_OTHERS:
        return False
    steps = np.diff(np.sort(column))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0))


def _columns(count: int) -> str:
    return f"{count} {'column' if count == 1 else 'columns'}"
