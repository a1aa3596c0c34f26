"""Coded rows of a table in memory, and the moments of their columns."""

from __future__ import annotations

from collections import Counter as CellCounter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.data.missing import Missing, MissingChoice, Patterns, require_choice, rows_in_common
from golem.data.moments import Moments
from golem.data.table_errors import require_finite, row_number
from golem.data.targets import naming_environment
from golem.data.unusable import (
    unusable_error,
    unusable_in_rows,
    unusable_in_table,
    without_levels,
)
from golem.data.variables import Codes, Coding, Variable
from golem.runtime.arrays import namespace
from golem.runtime.names import positions
from golem.runtime.progress import Counter
from golem.runtime.types import Array, Matrix

# In standard deviations: values that differ by less are equal, and smaller coefficients are zero.
_EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table in memory: its variables and its coded rows, floats of shape (n, d); see `golem.data.variables`.

    Examples
    --------
    >>> coding = Coding((Variable("age"), Variable("sex", "category", ("F", "M"))))
    >>> CodedTable(coding, np.array([[3.0, 0], [5.0, 1], [4.0, 1], [9.0, 0]])).moments().names
    ('age', 'sex=M')
    """

    coding: Coding
    rows: Array

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
        moments = _moments_by_em(X, columns, progress)
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


def _moments_by_em(X: Matrix, names: tuple[str, ...], progress: Counter | None = None) -> Moments:
    """Return the moments of the columns of a coding, with missing values (NaN), by EM.

    EM needs columns that are linearly independent; the scores of categories are bounded, so they do not. Columns that
    others determine are left out of EM. They are linear functions of the others, so their moments follow. Of columns
    that determine each other, EM uses those with the fewest missing values.
    """
    order = np.argsort(np.isnan(X).sum(axis=0), kind="stable")
    found = unusable_in_rows(X[:, order], tuple(names[j] for j in order))
    suspects = [names.index(column.name) for column in found if column.kind != "empty"]
    complete = X[~np.isnan(X).any(axis=1)]
    if not suspects or not len(complete):
        return Moments.by_em(X, names, progress=progress)
    centre, scale = complete.mean(axis=0), np.nanstd(X, axis=0)
    scale[scale == 0] = 1.0
    coefficients = _coefficients((X - centre) / scale, suspects)
    left_out = list(coefficients)
    kept = [j for j in range(len(names)) if j not in coefficients]
    own = Moments.by_em(X[:, kept], tuple(names[j] for j in kept), progress=progress, checked=True)
    T = np.eye(len(names))
    T[left_out] = np.array(list(coefficients.values())).reshape(-1, len(names))
    T = scale[:, None] * T[:, kept] / scale[kept]
    mean = centre + T @ (own.mean - centre[kept])
    scatter, patterns = T @ own.scatter @ T.T, Patterns.of(np.isnan(X))
    return Moments(own.n, mean, np.zeros(len(names)), scatter, names, own.missing, patterns=patterns)


def _coefficients(Z: Matrix, suspects: list[int]) -> dict[int, Matrix]:
    """Return the coefficients of the suspects on all other columns, for those that they determine in all rows.

    The columns are centred and scaled. Rows with other missing values may contradict the complete rows.
    """
    complete = Z[~np.isnan(Z).any(axis=1)]
    others = [j for j in range(Z.shape[1]) if j not in suspects]
    fitted = np.linalg.lstsq(complete[:, others], complete[:, suspects], rcond=None)[0]
    found = {}
    for j, own in zip(suspects, fitted.T, strict=True):
        weights = np.zeros(Z.shape[1])
        weights[others] = np.where(np.abs(own) > _EQUAL, own, 0.0)
        used = np.flatnonzero(weights)
        error = np.abs(Z[:, j] - Z[:, used] @ weights[used])  # NaN where one of the values is missing
        if not (error > _EQUAL).any():
            found[j] = weights
    return found
