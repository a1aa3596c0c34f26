"""Tables with missing values that are refused: everything that is wrong with them, and a treatment that works."""

from __future__ import annotations

from typing import Literal

import numpy as np

from golem.data.checks import least_rows
from golem.data.coded_tables import CodedTable, drop_for_em
from golem.data.missing import MissingChoice, rows_in_common
from golem.data.table_errors import MissingValuesError
from golem.data.unusable import unusable_in_table, unusable_sentence
from golem.runtime.problems import ProblemError, Text, Treat

# With so many rows per column, EM hardly ever fails.
_MANY_ROWS = 3
# For tables with more columns, it would take long to find a treatment that works.
_MOST_COLUMNS = 200
# Rows are dropped without being asked only if at least this share of all rows is left.
LEAST_COMPLETE = 0.5


def working_treatment(table: CodedTable, preferred: MissingChoice | Literal["auto"] = "error") -> Treat | None:
    """Return a treatment of the missing values of a table that leaves enough rows for its columns, if there is one.

    EM comes first unless the other one is preferred, because it uses all rows. Columns are dropped only if neither EM
    nor the complete rows suffice: those with the most missing values, one after the other. "auto" drops rows only if
    most of them are left.
    """
    names = list(table.coding.names)
    counts = dict(zip(names, np.isnan(table.rows).sum(axis=0).tolist(), strict=True))
    while len(names) > 1:
        some = table.selected(names)
        found: list[tuple[Literal["em", "drop"], list[str] | None]]
        found = [("em", _unusable_for_em(some)), ("drop", _unusable_if_dropped(some))]
        if preferred == "auto" and np.isnan(some.rows).any(axis=1).mean() > 1 - LEAST_COMPLETE:
            found.pop()
        for missing, unusable in reversed(found) if preferred == "drop" else found:
            if unusable is not None and len(names) - len(unusable) > 1:
                left = [name for name in names if name not in unusable]
                return Treat(missing, tuple(name for name in table.coding.names if name not in left))
        worst = max(names, key=counts.__getitem__)
        if not counts[worst] or len(names) > _MOST_COLUMNS:
            return None
        names.remove(worst)
    return None


def _unusable_for_em(table: CodedTable) -> list[str] | None:
    """Return the columns to drop for EM; None if it is impossible or leaves too few rows for the others."""
    if table.coding.is_discrete or (drop := drop_for_em(table)) is None:
        return None
    # Constant columns are not among those that others determine.
    found = [column.name for column in unusable_in_table(table.rows, table.coding)]
    drop = [name for name in table.coding.names if name in drop or name in found]
    some = table.selected([name for name in table.coding.names if name not in drop])
    absent, columns = np.isnan(some.rows), int(some.coding.first[-1])
    n, complete = rows_in_common(absent, some.coding.names), int((~absent.any(axis=1)).sum())
    # Complete rows show whether columns are linear combinations of others, with which EM would fail.
    enough = complete > columns or n >= _MANY_ROWS * columns
    return drop if enough and n >= least_rows(columns) else None


def _unusable_if_dropped(table: CodedTable) -> list[str] | None:
    """Return the columns to drop if incomplete rows are dropped; None if too few rows are left for the others."""
    complete = table.complete()
    if len(complete.rows) < 2:
        return None
    found = [column.name for column in unusable_in_table(complete.rows, complete.coding)]
    columns = int(complete.coding.selected([name for name in complete.coding.names if name not in found]).first[-1])
    return found if len(complete.rows) >= max(least_rows(columns), columns + 1) else None


def whole_refusal(table: CodedTable, error: ProblemError, preferred: MissingChoice = "error") -> ProblemError:
    """Return the error that names everything that is wrong with a table with missing values, and what works.

    `error` is what was found first; it says enough if every treatment works.
    """
    absent = np.isnan(table.rows)
    is_known = any(problem.kind in ("text", "date", "category") for problem in error.problems)
    # Without empty columns, values may no longer be missing.
    if is_known or absent.shape[1] > _MOST_COLUMNS or not absent[:, ~absent.all(axis=0)].any():
        return error
    works, found = working_treatment(table, preferred), unusable_in_table(table.rows, table.coding)
    drops = _unusable_if_dropped(table)
    if drops == [] and (works == Treat("em") or table.coding.is_discrete):
        return error
    n, complete = len(absent), int((~absent.any(axis=1)).sum())
    usable = [name for name in table.coding.names if name not in {column.name for column in found}]
    columns = int(table.coding.selected(usable).first[-1])
    said = [problem.sentence for problem in error.problems if problem.kind == "missing"]
    parts = said or [f"{n - complete} of {n} rows have missing values."]
    if found:
        parts.append(unusable_sentence(found))
    if n <= columns:
        parts.append(f"Gaussian EM needs more rows than columns; there are {n} rows for {columns} columns.")
    if drops is None:
        few = f"Only {complete} of {n} rows {'is' if complete == 1 else 'are'} complete."
        parts.append(few if complete else f"No row of {n} is complete.")
    if works is None:
        parts.append("Impute the missing values first, or use more rows.")
    else:
        parts.append(Text("This works: ", works, ". Or impute the missing values first."))
    return MissingValuesError(Text.of_sentences(parts))
