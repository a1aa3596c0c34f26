"""Tables of any library in memory as coded rows: which columns are categories, and their codes."""

from __future__ import annotations

import contextlib
from collections import Counter as CellCounter
from collections.abc import Sequence
from typing import Any

import numpy as np

from golem.data.coded_tables import CodedTable, level_counts
from golem.data.files.batches import count_cells, different_cells
from golem.data.files.markers import without_blanks
from golem.data.levels import (
    categories,
    dates,
    is_text,
    levels_among,
    warn_of_absent_texts,
    warn_of_blanks,
    warn_of_rare_levels,
    warn_of_texts,
)
from golem.data.table_errors import NotNumericError
from golem.data.table_input import are_booleans, eager_frame, is_table, rows_and_names
from golem.data.unusable import Unusable, UnusableColumnsError, unusable_error, unusable_in_table
from golem.data.variables import Coding, Variable, number_levels
from golem.runtime.names import column_names, positions
from golem.runtime.types import Indices, Matrix, Vector

_NUMBERS_OR_CATEGORY = (
    "convert the column to numbers, with missing values for the text. Otherwise convert it to the type 'category' "
    "to avoid this warning"
)


def read_coded(table: Any) -> CodedTable:
    """Read an array, or a pandas, Polars or PyArrow table; arrays have no categories, unless they hold Booleans.

    Raises
    ------
    ValueError
        For columns that are neither numbers nor categories, such as dates, and for identifiers of rows.
    """
    if not is_table(table):
        rows, names = rows_and_names(table)
        return _of_booleans(rows, names) if are_booleans(table) else CodedTable(Coding.numeric(names), rows)
    frame = eager_frame(table)
    names = column_names(frame.columns, len(frame.columns))
    columns = list(zip(names, frame.iter_columns(), strict=True))
    found, refused = _categories_of(columns)
    numeric = [name for name in names if name not in found and name not in refused]
    if numeric:
        # By position, because the names of a DataFrame need not be texts.
        try:
            values = rows_and_names(frame[:, positions(numeric, names)].to_native())[0]
        except NotNumericError as error:
            raise error.or_categories() from None
        found |= {name: (Variable(name), column) for name, column in zip(numeric, values.T, strict=True)}
    used = [name for name in names if name not in refused]
    coding = Coding(tuple(found[name][0] for name in used))
    # Each column is contiguous, as most of what follows goes through columns.
    rows = np.stack([found[name][1] for name in used]).T if used else np.empty((len(frame), 0))
    if refused:
        refused |= {column.name: column for column in unusable_in_table(rows, coding)}
        raise unusable_error([refused[name] for name in names if name in refused])
    declared = {name for name, series in columns if _is_declared(series)}
    counts = level_counts(coding, rows)
    warn_of_texts({name: levels for name, levels in counts.items() if name not in declared}, _NUMBERS_OR_CATEGORY)
    warn_of_rare_levels(counts)
    return CodedTable(coding, rows)


def _of_booleans(rows: Matrix, names: Sequence[str]) -> CodedTable:
    """Return the table of an array of Booleans, given as numbers."""
    variables, codes = [], []
    for name, column in zip(names, rows.T, strict=True):
        counts = {str(bool(float(number))): n for number, n in number_levels(column).items()}
        variables.append(Variable.of_counts(name, counts))
        swapped = variables[-1].levels[:1] == ("True",)
        codes.append(1 - column if swapped else column)
    return CodedTable(Coding(tuple(variables)), np.column_stack(codes) if codes else rows)


def _categories_of(
    columns: Sequence[tuple[str, Any]],
) -> tuple[dict[str, tuple[Variable, Vector]], dict[str, Unusable]]:
    """Return the categories among the columns of a table with their codes, and the columns that cannot be used."""
    import narwhals.stable.v1 as nw

    found, refused = {}, {}
    for name, series in columns:
        if _has_dates(series):
            counts = count_cells(*_cells(series))
            # Polars cannot turn durations into categories.
            refused[name] = dates(name, next(iter(counts), ""), {} if series.dtype == nw.Duration else counts)
            continue
        try:
            if (one := _category_of(name, series)) is not None:
                found[name] = one
        except UnusableColumnsError as error:
            refused[name] = error.problems[0]
    return found, refused


def _has_dates(series: Any) -> bool:
    """Return whether a column has dates or times, or periods of pandas, which narwhals does not know."""
    return series.dtype.is_temporal() or str(getattr(series.to_native(), "dtype", "")).startswith("period[")


def _has_intervals(series: Any) -> bool:
    """Return whether the levels of a column are intervals of pandas, which Arrow does not write as pandas does."""
    levels = getattr(getattr(series.to_native(), "dtype", None), "categories", None)
    return str(getattr(levels, "dtype", "")).startswith("interval")


def _category_of(name: str, series: Any) -> tuple[Variable, Vector] | None:
    """Return a category and its codes, with NaN for missing values; None for a column that is not a category.

    The type of the column decides, or its texts if it has texts or objects.
    """
    import narwhals.stable.v1 as nw

    kind = series.dtype
    chosen = _is_declared(series)
    if not (chosen or kind in (nw.Boolean, nw.String) or (kind == nw.Object and _has_categories(series))):
        return None
    cells, rows = _cells(series)
    written = count_cells(cells, rows)
    counts = levels_among(written)
    if kind == nw.String and counts and not (is_text(counts) or all(map(_is_plain_number, counts))):
        return None
    variable = categories({name: counts}, {name} if chosen else ())[name]
    warn_of_blanks({name: written}, {name: variable})
    warn_of_absent_texts({name: written})
    return variable, _codes(cells, variable)[rows]


def _is_declared(series: Any) -> bool:
    """Return whether the type of a column says that it is a category."""
    import narwhals.stable.v1 as nw

    return series.dtype in (nw.Categorical, nw.Enum)


def _has_categories(series: Any) -> bool:
    """Return whether the objects of a column are texts or Booleans."""
    values = series.drop_nulls().to_list()
    written = CellCounter(value for value in values if isinstance(value, str))
    texts = levels_among(written)
    others = {str(value): 1 for value in values if not isinstance(value, str)}
    if written and not others and not texts:
        return True
    if not texts:
        return bool(values) and all(isinstance(value, bool | np.bool_) for value in values)
    return is_text(texts | others) or (not others and all(map(_is_plain_number, texts)))


def _is_plain_number(text: str) -> bool:
    """Return whether a text is a whole number, which may be a code."""
    return text.lstrip("+-").isdecimal()


def _cells(series: Any) -> tuple[list[str | None], Indices]:
    """Return the different levels of a column of a table, None for missing values, and for each row which it has."""
    import narwhals.stable.v1 as nw

    if series.dtype != nw.Object and not _has_intervals(series):
        # Arrow has no categories with levels of several types, and no periods.
        with contextlib.suppress(TypeError, ValueError, OverflowError, NotImplementedError):
            return different_cells(series.to_arrow(), _level_name)
    values, absent = series.to_list(), series.is_null().to_list()
    texts = [None if missing else _level_name(value) for value, missing in zip(values, absent, strict=True)]
    place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return list(place), np.array([place[text] for text in texts], dtype=np.intp)


def _codes(texts: Sequence[str | None], variable: Variable) -> Vector:
    """Return the positions of levels, NaN for missing values."""
    code = {level: float(k) for k, level in enumerate(variable.levels)}
    return np.array([np.nan if text is None else code.get(without_blanks(text), np.nan) for text in texts])


def names_of_categories(frame: Any) -> list[str]:
    """Return the columns of a part of a table that are categories by their types."""
    import narwhals.stable.v1 as nw

    kinds = (nw.Categorical, nw.Enum, nw.Boolean, nw.String, nw.Object)
    return [name for name, kind in nw.from_native(frame, eager_only=True).schema.items() if kind in kinds]


def counts_of_texts(frame: Any) -> dict[str, dict[str, int]]:
    """Count the rows per level of each column of a part of a table."""
    import narwhals.stable.v1 as nw

    columns = nw.from_native(frame, eager_only=True).iter_columns()
    return {series.name: count_cells(*_cells(series)) for series in columns}


def coded_columns(frame: Any, coding: Coding) -> list[Vector]:
    """Return the columns of a part of a table with a known coding, one per variable."""
    import narwhals.stable.v1 as nw

    table = nw.from_native(frame, eager_only=True)
    numbers = [variable.name for variable in coding.variables if not variable.is_category]
    values = iter(rows_and_names(table.select(numbers).to_native())[0].T if numbers else ())
    columns = []
    for variable in coding.variables:
        if variable.is_category:
            cells, rows = _cells(table[variable.name])
            columns.append(_codes(cells, variable)[rows])
        else:
            columns.append(next(values))
    return columns


def _level_name(value: object) -> str:
    """Return the name of a level; whole numbers without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
