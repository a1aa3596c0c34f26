"""Variables of tables with categories from which no graph can be learned; see `golem.data.unusable`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from golem.data.levels import without_levels
from golem.data.moments import Moments
from golem.data.unusable import Unusable, is_constant, unusable_columns, unusable_error, unusable_in_rows
from golem.data.variables import Coding, Variable
from golem.runtime.names import positions
from golem.runtime.types import Matrix


def with_determined(found: Sequence[Unusable], moments: Moments, names: Sequence[str]) -> list[Unusable]:
    """Add the variables that others wholly determine, of which categories do not prevent a fit; in order of the names.

    Of variables that determine each other, the first ones are kept. A variable that earlier ones determine only in
    part, such as a city after its country, can determine these; this is seen in the opposite order.
    """
    found = list(found)
    if moments.coding.is_numeric:
        return found
    for step in (1, -1):
        dropped = {column.name for column in found}
        left = [name for name in moments.coding.names if name not in dropped][::step]
        columns = unusable_columns(moments.selected(left)) if left else []
        variables = _by_variable(columns, moments.coding)
        found += [variable for variable in variables if variable.determined_by and not variable.levels]
    return _in_order(found, names)


def _by_variable(columns: Sequence[Unusable], coding: Coding) -> list[Unusable]:
    """Return the variables of columns of a covariance that cannot be used, and the variables that determine them."""
    owner = {name: variable for variable in coding.variables for name in variable.column_names}
    own: dict[Variable, list[Unusable]] = {}
    for column in columns:
        own.setdefault(owner[column.name], []).append(column)
    found = []
    for variable, some in own.items():
        others = dict.fromkeys(owner[name].name for column in some for name in column.determined_by)
        in_part = variable.is_category and len(some) < variable.columns
        levels = tuple(column.name.removeprefix(f"{variable.name}=") for column in some) if in_part else ()
        by = tuple(name for name in others if name != variable.name)
        found.append(Unusable(variable.name, by, any(c.is_empty for c in some), variable.is_category, levels))
    return found


def unusable_in_table(rows: Matrix, coding: Coding) -> list[Unusable]:
    """Return the variables of coded rows to drop: categories with one level, and numbers that others determine."""
    names = [variable.name for variable in coding.variables if not variable.is_category]
    numbers = unusable_in_rows(rows[:, positions(names, coding.names)], tuple(names)) if names and len(rows) else []
    present = (~np.isnan(rows)).sum(axis=0)
    gaps = {name: int(count) for name, count in zip(coding.names, present, strict=True) if count < len(rows)}
    return _in_order([*without_levels(coding, gaps), *numbers], coding.names)


def dependent_in_table(rows: Matrix, coding: Coding) -> list[Unusable]:
    """Return the variables of coded rows to drop, and those that others wholly determine in the complete rows."""
    found = unusable_in_table(rows, coding)
    dropped = {column.name for column in found}
    names = [name for name in coding.names if name not in dropped]
    rest, own = coding.selected(names), rows[:, positions(names, coding.names)]
    complete = own[~np.isnan(own).any(axis=1)]
    if rest.is_numeric or len(complete) <= rest.first[-1]:  # in few rows, others determine every variable
        return found
    moments = Moments.from_rows(rest.expand(complete), rest.column_names)
    return with_determined(found, replace(moments, coding=rest), coding.names)


def unusable_variables(moments: Moments) -> list[Unusable]:
    """Return the variables to drop: categories with one level, and numbers that other numbers determine.

    A category can be determined by others, because its score is bounded.
    """
    names = [variable.name for variable in moments.coding.variables if not variable.is_category]
    numbers = unusable_columns(moments.selected(names)) if names else []
    known = moments.missing
    gaps = {} if known is None else {name: known.rows_read - count for name, count in known.columns.items()}
    return _in_order([*without_levels(moments.coding, gaps), *numbers], moments.coding.names)


def _in_order(found: Sequence[Unusable], names: Sequence[str]) -> list[Unusable]:
    return sorted(found, key=lambda column: names.index(column.name))


def require_variables(moments: Moments) -> None:
    """Raise a ValueError for categories with one level and constant numbers; it names all columns to drop."""
    if is_constant(moments).any() or without_levels(moments.coding):
        raise unusable_error(unusable_variables(moments))
