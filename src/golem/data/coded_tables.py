"""Tables with categories in memory, and the moments of their columns."""

from __future__ import annotations

import contextlib
from collections import Counter as CellCounter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.data.coded_em import coded_moments_by_em
from golem.data.files.batches import count_cells, different_cells
from golem.data.levels import (
    categories,
    dates,
    is_text,
    warn_of_rare_levels,
    warn_of_texts,
)
from golem.data.missing import Missing, MissingChoice, require_choice, rows_in_common
from golem.data.moments import Moments
from golem.data.table_errors import NotNumericError, require_finite, row_number
from golem.data.table_input import are_booleans, eager_frame, is_table, rows_and_names
from golem.data.targets import naming_environment
from golem.data.unusable import Unusable, UnusableColumnsError, unusable_error, unusable_in_table, without_levels
from golem.data.variables import Codes, Coding, Variable, number_levels
from golem.runtime.arrays import namespace
from golem.runtime.names import column_names, positions
from golem.runtime.progress import Counter
from golem.runtime.types import Array, Indices, Matrix, Vector

_NUMBERS_OR_CATEGORY = (
    "convert the column to numbers, with missing values for the text. Otherwise convert it to the type 'category' "
    "to avoid this warning"
)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table in memory: its variables and its coded rows, floats of shape (n, d); see `golem.data.variables`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = CodedTable.read(pd.DataFrame({"age": [3, 5, 4, 9] * 5, "sex": ["F", "M", "M", "F"] * 5}))
    >>> table.coding.variables[1].levels, table.moments().names
    (('F', 'M'), ('age', 'sex=M'))
    """

    coding: Coding
    rows: Array

    @classmethod
    def read(cls, table: Any) -> CodedTable:
        """Read an array, or a pandas, Polars or PyArrow table; arrays have no categories, unless they hold Booleans.

        Raises
        ------
        ValueError
            For columns that are neither numbers nor categories, such as dates, and for identifiers of rows.
        """
        if not is_table(table):
            rows, names = rows_and_names(table)
            return _of_booleans(rows, names) if are_booleans(table) else cls(Coding.numeric(names), rows)
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
        return cls(coding, rows)

    @property
    def codes(self) -> Codes:
        """Integer codes of categories without missing values, shape (n, d); see `Coding.codes`."""
        require_finite(self.rows, self.coding.names, em=not self.coding.is_discrete)
        return self.coding.codes(self.rows)

    def complete(self) -> CodedTable:
        """Return the rows without missing values, with the levels that occur in them."""
        return complete_parts([self])[0]

    def selected(self, names: Sequence[str]) -> CodedTable:
        """Return some of the variables, in the order of their names."""
        return CodedTable(self.coding.selected(names), self.rows[:, positions(names, self.coding.names)])

    def moments(self, missing: MissingChoice = "error", progress: Counter | None = None) -> Moments:
        """Return the moments of the columns of the coding; `missing` and `progress` as for `Moments.from_rows`."""
        return moments_of_parts([self], missing, progress=progress)[0][0]

    def _moments(self, missing: MissingChoice, record: Missing | None, progress: Counter | None) -> Moments:
        """Return the moments of rows that were checked; `record` says how missing values were treated."""
        X, columns, absent = self.coding.expand(self.rows), self.coding.column_names, np.isnan(self.rows)
        if missing != "em" or not absent.any():
            # Missing values are counted per variable, not per indicator.
            return replace(Moments.from_rows(X, columns), coding=self.coding, missing=record)
        if unusable := unusable_in_table(self.rows, self.coding):
            raise unusable_error(unusable)
        rows_in_common(absent, self.coding.names)  # its error names variables, not their columns
        moments = coded_moments_by_em(X, columns, progress)
        assert moments.missing is not None  # EM always records what it found
        found = {"rows_used": moments.missing.rows_used, "iterations": moments.missing.iterations}
        return replace(moments, coding=self.coding, missing=Missing.of(missing, absent, self.coding.names, **found))


def complete_parts(tables: Sequence[CodedTable]) -> list[CodedTable]:
    """Return the rows of parts of a table without missing values, with the levels that occur in them."""
    kept = [table.rows[~np.isnan(table.rows).any(axis=1)] for table in tables]
    if all(len(rows) == len(table.rows) for rows, table in zip(kept, tables, strict=True)):
        return list(tables)
    coding = tables[0].coding
    counts = level_counts(coding, *kept)
    used = coding.with_levels({name: [v for v in found if found[v]] for name, found in counts.items()})
    return [CodedTable(used, coding.recoded(rows, used)) for rows in kept]


def moments_of_parts(
    tables: Sequence[CodedTable],
    missing: MissingChoice = "error",
    labels: Sequence[str] = ("",),
    progress: Counter | None = None,
) -> list[tuple[Moments, Array]]:
    """Return the moments of each part of a table, and the rows that they are of.

    The parts share a coding. `missing` and `progress` are as for `Moments.from_rows`; with "drop", the levels are those
    that occur in the complete rows of any part.
    """
    require_choice(missing)
    coding, found = tables[0].coding, []
    if coding.is_numeric:
        for label, table in zip(labels, tables, strict=True):
            with naming_environment(label):
                moments = Moments.from_rows(table.rows, coding.names, missing=missing, progress=progress)
            found.append((moments, _used_rows(table.rows, moments)))
        return found
    if any(len(variable.levels) == 1 for variable in coding.variables):
        whole = np.concatenate([table.rows for table in tables])
        if np.isnan(whole[:, coding.levels == 1]).any():
            raise unusable_error(unusable_in_table(whole, coding))
    for label, table in zip(labels, tables, strict=True):
        with naming_environment(label):
            checked = table.rows if missing == "error" else np.where(np.isnan(table.rows), 0.0, table.rows)
            require_finite(checked, coding.names, em=not coding.is_discrete)
    used = complete_parts(tables) if missing == "drop" else tables
    by_em = not any(np.isnan(table.rows[:, coding.levels > 0]).any() for table in tables)
    records = [Missing.of(missing, np.isnan(table.rows), coding.names) for table in tables]
    for label, own, record in zip(labels, used, records, strict=True):
        with naming_environment(label):
            record.require_rows(len(own.rows), em=by_em)
    if without_levels(used[0].coding):
        raise unusable_error(unusable_in_table(np.concatenate([own.rows for own in used]), used[0].coding))
    for label, own, record in zip(labels, used, records, strict=True):
        with naming_environment(label):
            moments = own._moments(missing, None if missing == "error" else record, progress)
        found.append((moments, own.rows))
    return found


def _used_rows(rows: Array, moments: Moments) -> Array:
    """Return the rows of numbers that moments are of: all of them, or those without missing values."""
    known = moments.missing
    if known is None or not known.cells or known.method == "em":
        return rows
    xp = namespace(rows)
    return rows[~xp.any(xp.isnan(rows), axis=1)]


def with_common_levels(tables: Mapping[str, CodedTable]) -> dict[str, CodedTable]:
    """Return tables of the same variables with the order of the first one, and with the levels of all of them.

    Raise a ValueError if a column is a category in one table, and a number in another.
    """
    if all(table.coding.is_numeric for table in tables.values()):
        return dict(tables)
    names = next(iter(tables.values())).coding.names
    ordered = {label: table.selected(names) for label, table in tables.items()}
    variables = []
    for j, name in enumerate(names):
        own = {label: table.coding.variables[j] for label, table in ordered.items()}
        categories = [label for label, variable in own.items() if variable.is_category]
        # A column without values has no type.
        numbers = [
            label
            for label, variable in own.items()
            if not variable.is_category and not np.isnan(ordered[label].rows[:, j]).all()
        ]
        if categories and numbers:
            raise ValueError(
                f"Column {name!r} is a category in environment {categories[0]!r}, but a number in {numbers[0]!r}. "
                "Convert it."
            )
        counts = CellCounter[str]()
        for label in categories:
            counts.update(level_counts(ordered[label].coding, ordered[label].rows)[name])
        variables.append(Variable.of_counts(name, counts) if categories else Variable(name))
    coding = Coding(tuple(variables))
    return {label: CodedTable(coding, table.coding.recoded(table.rows, coding)) for label, table in ordered.items()}


def _of_booleans(rows: Matrix, names: Sequence[str]) -> CodedTable:
    """Return the table of an array of Booleans, given as numbers."""
    variables, codes = [], []
    for name, column in zip(names, rows.T, strict=True):
        counts = {str(bool(float(number))): n for number, n in number_levels(column).items()}
        variables.append(Variable.of_counts(name, counts))
        swapped = variables[-1].levels[:1] == ("True",)
        codes.append(1 - column if swapped else column)
    return CodedTable(Coding(tuple(variables)), np.column_stack(codes) if codes else rows)


def drop_for_em(table: CodedTable) -> list[str] | None:
    """Return the variables to drop so that Gaussian EM can estimate the moments; None if it cannot without others.

    The rows may be those of a sample, so levels that do not occur in them are ignored.
    """
    found = [variable.name for variable in unusable_in_table(table.rows, table.coding) if variable.determined_by]
    coding = table.coding.selected([name for name in table.coding.names if name not in found])
    absent = np.isnan(table.rows[:, positions(coding.names, table.coding.names)])
    present = (~absent).astype(float)
    is_possible = len(absent) > coding.first[-1] and (present.T @ present).all()
    return found if is_possible else None


def moments_of_columns(
    columns: Sequence[NDArray[Any]],
    coding: Coding,
    place: Callable[[int], str] = row_number,
    missing: Literal["error", "drop"] = "error",
    markers: Mapping[str, Mapping[str, int]] | None = None,
) -> Moments:
    """Return the moments of a batch of coded rows, given as columns; see `Moments.from_columns`."""
    if coding.is_numeric:
        return Moments.from_columns(columns, coding.names, place, missing, markers)
    absent = np.column_stack([np.isnan(column) for column in columns])
    record = Missing.of("drop", absent, coding.names, markers=markers or {}) if missing == "drop" else None
    if absent.any():
        if missing == "error":
            require_finite(np.column_stack(columns), coding.names, place, markers, em=not coding.is_discrete)
        kept = np.nonzero(~absent.any(axis=1))[0]
        columns, all_rows = [column[kept] for column in columns], place
        place = lambda row: all_rows(int(kept[row]))  # noqa: E731
    names = coding.column_names
    n, p = len(columns[0]), len(names)
    moments = Moments(n, np.zeros(p), np.zeros(p), np.zeros((p, p)), names)
    if n and p:  # categories with a single level have no columns
        moments = Moments.from_columns(coding.expand_columns(columns), names, place)
    return replace(moments, coding=coding, missing=record)


def with_used_levels(moments: Moments) -> Moments:
    """Leave out the levels of categories that no row has."""
    return parts_with_used_levels([moments])[0]


def parts_with_used_levels(parts: Sequence[Moments]) -> list[Moments]:
    """Leave out the levels that occur in no part, because rows were dropped; the parts have the same coding."""
    coding = parts[0].coding
    if coding.is_numeric:
        return list(parts)
    used = {
        name: [level for level, count in counts.items() if count]
        for name, counts in counts_in_moments(parts).items()
        if not all(counts.values())
    }
    kept: list[int] = []
    for variable, begin in zip(coding.variables, coding.first, strict=False):
        # The first level that is left is the reference, and has no column.
        left = used.get(variable.name, variable.levels)[1:]
        kept += [begin + variable.levels.index(level) - 1 for level in left] if variable.is_category else [begin]
    if not used:
        return list(parts)
    coding, some = coding.with_levels(used), np.array(kept, dtype=np.intp)
    return [part.of_columns(some, coding) for part in parts]


def counts_in_moments(parts: Sequence[Moments]) -> dict[str, dict[str, int]]:
    """Count the rows per level of each category, given the moments of all parts of the rows."""
    coding = parts[0].coding
    if coding.is_numeric:
        return {}
    n, sums = sum(part.n for part in parts), sum((part.n * part.mean for part in parts), np.zeros(parts[0].d))
    counts = {}
    for variable, begin, end in zip(coding.variables, coding.first, coding.first[1:], strict=False):
        if variable.is_category:
            found = np.rint([n - sums[begin:end].sum(), *sums[begin:end]]).astype(int)
            counts[variable.name] = dict(zip(variable.levels, found.tolist(), strict=True))
    return counts


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
    counts = count_cells(cells, rows)
    if kind == nw.String and not (is_text(counts) or (bool(counts) and all(map(_is_plain_number, counts)))):
        return None
    variable = categories({name: counts}, {name} if chosen else ())[name]
    return variable, _codes(cells, variable)[rows]


def _is_declared(series: Any) -> bool:
    """Return whether the type of a column says that it is a category."""
    import narwhals.stable.v1 as nw

    return series.dtype in (nw.Categorical, nw.Enum)


def _has_categories(series: Any) -> bool:
    """Return whether the objects of a column are texts or Booleans."""
    values = series.drop_nulls().to_list()
    texts = CellCounter(value for value in values if isinstance(value, str))
    others = {str(value): 1 for value in values if not isinstance(value, str)}
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
    code: dict[str | None, float] = {level: float(k) for k, level in enumerate(variable.levels)}
    return np.array([code.get(text, np.nan) for text in texts])


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


def level_counts(coding: Coding, *parts: Matrix) -> dict[str, dict[str, int]]:
    """Count the rows per level of each category in coded rows of one or several parts."""
    counts = {}
    for j, variable in enumerate(coding.variables):
        if variable.is_category:
            found = np.zeros(len(variable.levels), dtype=np.intp)
            for rows in parts:
                codes = rows[~np.isnan(rows[:, j]), j].astype(np.intp)
                found += np.bincount(codes, minlength=len(found))
            counts[variable.name] = dict(zip(variable.levels, found.tolist(), strict=True))
    return counts
