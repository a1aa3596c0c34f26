"""Values that are probably not measurements: codes for missing values, spikes at 0, and row numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, note, ok, warning
from golem.data.coded_tables import CodedTable, drop_for_em
from golem.data.unusable import numbers_rows
from golem.runtime.messages import quoted, shortened
from golem.runtime.problems import Drop, MarkMissing, Set, Text
from golem.runtime.types import Vector

_FEWEST_OTHERS = 10
_FEWEST_VALUES = 5
# Numbers that often stand for missing values. Other values, such as 24 in the Boston data, must be much farther away.
_USUAL_CODE = re.compile(r"-1|-?(9+|8+|7+)")
_FAR_FOR_OTHERS = 10
_ALWAYS_CODE = -99
# A spike at 0 has so many times the cells of the next most frequent value, and at least these other values.
_SPIKE, _VALUES_BESIDE_SPIKE, _FEWEST_ZEROS = 5, 10, 5
_FAR_FROM_MEAN = 3.5


def find_odd_values(checked: CheckedModel) -> Verdict | None:
    """Find values that may stand for missing ones, and columns that may number the rows.

    The first is a value that occurs more than once, at an end of its column, and is farther from all others than these
    are from each other (10 times as far, unless it is a usual code such as -999); or a 0 so far below the others that
    it cannot be one of them. The second is a column of equally spaced values, each of which occurs once. All rows are
    needed for this: the numbers of complete rows have gaps.
    """
    if checked.values is None or checked.given is None:
        return None
    codes: dict[float, dict[str, float]] = defaultdict(dict)
    cells = {checked.names[j]: checked.given.rows[:, j] for j in checked.numbers}
    columns = {name: column[np.isfinite(column)] for name, column in cells.items()}
    for name, column in columns.items():
        for value, count in _codes(column):
            codes[value][name] = count / len(checked.given.rows)
    numbering = [name for name, column in columns.items() if numbers_rows(column)]
    parts, remedies = [], []
    if codes:
        parts.append(f"{shortened([_listed(code, shares) for code, shares in codes.items()], 3)}, far from all others")
        remedies.append(_if_missing(codes, checked.given))
    if numbering:
        parts.append(f"equally spaced values in {quoted(numbering, 3)}")
        remedies.append(Text("Drop row numbers: ", Drop(numbering), "."))
        remedies.append("If the column is time, the rows are not independent.")
    if not parts:
        codes_and_numbers = "a code for missing values, and no column looks like row numbers"
        return ok(f"No value far from the others looks like {codes_and_numbers}.")
    coded = [f"{_written(code)} in {', '.join(shares)}" for code, shares in codes.items()]
    headline = f"Codes for missing values? {'; '.join(coded)}" if codes else f"Row numbers? {', '.join(numbering)}"
    return warning(f"Some values may not be measurements: {'; '.join(parts)}.", Text.of_sentences(remedies), headline)


def find_spikes(checked: CheckedModel) -> Verdict | None:
    """Find columns with many zeros among many other values; a 0 that is an odd value is not named again."""
    if checked.values is None or checked.rows is None:
        return None
    shares = {
        name: float((column == 0).mean())
        for name, column in zip(checked.number_names, checked.values.T, strict=True)
        if _has_spike(column) and not _zero_is_odd(column)
    }
    if not shares:
        return ok("No column has far more zeros than other values.")
    sentence = f"Zeros are far more frequent than any other value: {_listed(0.0, shares)}."
    return note(sentence, _if_missing({0.0: shares}, CodedTable(checked.table.coding, checked.rows)))


def _listed(code: float, shares: dict[str, float]) -> str:
    """Describe a value with its columns and shares."""
    columns = [f"{name!r} ({share:.1%} of the rows)" for name, share in shares.items()]
    return f"{_written(code)} in {shortened(columns, 5)}"


def _if_missing(codes: dict[float, dict[str, float]], table: CodedTable) -> str:
    """Return how to treat codes as missing values in their columns: by EM, if it accepts the table."""
    pairs, rows = [(name, code) for code, shares in codes.items() for name in shares], table.rows.copy()
    for name, code in pairs:
        column = rows[:, table.coding.names.index(name)]
        column[column == code] = np.nan
    drop = drop_for_em(CodedTable(table.coding, rows))
    if drop is None:
        return "If they mark missing values, impute these values first."
    replaced = MarkMissing([(name, _written(code)) for name, code in pairs])
    dropped = Text(", ", Drop(drop)) if drop else ""
    return Text("If they mark missing values, use ", replaced, dropped, " and ", Set("missing", "em"), ".")


def _written(value: float) -> str:
    return repr(float(value)).removesuffix(".0")  # every digit, as the user will search the file for it


def _codes(column: Vector) -> Iterator[tuple[float, int]]:
    """Yield the smallest and the largest value of a column if it looks like a code, and the number of its cells."""
    for value in (column.min(initial=np.inf), column.max(initial=-np.inf)):
        others = column[column != value]
        count = len(column) - len(others)
        if count < 2 or len(others) < _FEWEST_OTHERS or len(np.unique(others)) < _FEWEST_VALUES:
            continue
        gap, spread = np.abs(others - value).min(), others.max() - others.min()
        usual = _USUAL_CODE.fullmatch(_written(value)) is not None
        is_far = gap > spread * (1 if usual else _FAR_FOR_OTHERS)
        if is_far or (usual and value <= _ALWAYS_CODE and others.min() >= 0) or (value == 0 and _zero_is_odd(column)):
            yield float(value), count


def _zero_is_odd(column: Vector) -> bool:
    """Return whether several zeros lie so far from the other values, all of one sign, that they are not among them."""
    others = np.abs(column[column != 0])
    is_one_sided = column.min() >= 0 or column.max() <= 0
    if not is_one_sided or len(column) - len(others) < 2 or len(np.unique(others)) < _VALUES_BESIDE_SPIKE:
        return False
    deviation = float(others.std())
    return bool(others.min() > deviation and others.mean() > _FAR_FROM_MEAN * deviation)


def _has_spike(column: Vector) -> bool:
    """Return whether 0 is far more frequent than any of many other values."""
    others = column[column != 0]
    zeros = len(column) - len(others)
    if zeros < _FEWEST_ZEROS or not len(others):
        return False
    counts = np.unique(others, return_counts=True)[1]
    return len(counts) >= _VALUES_BESIDE_SPIKE and zeros > _SPIKE * int(counts.max())
