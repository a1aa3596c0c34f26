"""Values that are probably not measurements: codes for missing values, and row numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.runtime.messages import quoted, shortened
from golem.runtime.types import Matrix, Vector

_FEWEST_OTHERS = 10
_FEWEST_VALUES = 5


def find_odd_values(names: tuple[str, ...], rows: Matrix) -> Finding:
    """Find values that may stand for missing ones, and columns that may number the rows.

    The first is a value that occurs more than once, at an end of its column, and is farther from all others than these
    are from each other. The second is a column of equally spaced values, each of which occurs once.
    """

    def written(value: float) -> str:
        return repr(float(value)).removesuffix(".0")  # every digit, as the user will search the file for it

    codes: dict[float, dict[str, int]] = defaultdict(dict)
    for name, column in zip(names, rows.T, strict=True):
        for value, count in _codes(column):
            codes[value][name] = count
    numbering = [name for name, column in zip(names, rows.T, strict=True) if _numbers_rows(column)]
    parts, remedies = [], []
    if codes:
        cells = [f"{written(code)} in {sum(n.values())} cells of {quoted(list(n), 3)}" for code, n in codes.items()]
        parts.append(f"{shortened(cells, 3)}, far from all other values")
        options = " ".join(f"--na {written(value)}" for value in list(codes)[:3])
        remedies.append(f"If they mark missing values, use {options} --missing em.")
    if numbering:
        parts.append(f"equally spaced values in {quoted(numbering, 3)}")
        remedies.append("Drop row numbers (--drop); if the column is time, the rows are not independent.")
    if not parts:
        sentence = "No value looks like a code for missing values, and no column looks like row numbers."
        return Finding("odd-values", "ok", sentence)
    sentence = f"Some values may not be measurements: {'; '.join(parts)}."
    return Finding("odd-values", "warning", sentence, " ".join(remedies))


def _codes(column: Vector) -> Iterator[tuple[float, int]]:
    """Yield the smallest and the largest value of a column if it looks like a code, and how often it occurs."""
    for value in (column.min(), column.max()):
        others = column[column != value]
        count = len(column) - len(others)
        if count < 2 or len(others) < _FEWEST_OTHERS or len(np.unique(others)) < _FEWEST_VALUES:
            continue
        if np.abs(others - value).min() > others.max() - others.min():
            yield float(value), count


def _numbers_rows(column: Vector) -> bool:
    """Return whether a column has equally spaced values, each of which occurs once."""
    if len(column) < _FEWEST_OTHERS:
        return False
    steps = np.diff(np.sort(column))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0))
