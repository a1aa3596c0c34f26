"""Tables with categories as the input of a fit, and as rows to resample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.coded_tables import CodedTable, with_used_levels
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import RowsInMemory, Sample
from golem.data.table_errors import MissingValuesError, UnusableColumnsError
from golem.data.table_input import are_booleans, is_table
from golem.data.treatment import whole_refusal
from golem.data.variables import Coding
from golem.runtime.arrays import is_tensor
from golem.runtime.names import positions
from golem.runtime.types import Matrix


def read_categories(X: Any, missing: MissingChoice) -> tuple[Moments, Matrix | None] | None:
    """Return the moments and coded rows of a table with categories; None for a table of numbers."""
    if isinstance(X, Moments):
        return None if X.coding.is_numeric else (X, None)
    table = coded_table(X)
    if table is None:
        return None
    try:
        moments = table.moments(missing)
    except (MissingValuesError, UnusableColumnsError) as error:
        raise whole_refusal(table, error, missing) from None
    return moments, (table.complete() if missing == "drop" else table).rows


def coded_table(X: Any) -> CodedTable | None:
    """Return the coded rows of a table with categories; None for a table of numbers."""
    if not isinstance(X, CodedTable):
        if isinstance(X, Moments) or not _may_have_categories(X):
            return None
        X = CodedTable.read(X)
    return None if X.coding.is_numeric else X


def read_coding(X: Any) -> Coding | None:
    """Return the variables of a table with categories; None for a table of numbers."""
    if isinstance(X, Sample):
        return None if X.moments.coding.is_numeric else X.moments.coding
    found = read_categories(X, "drop")
    return None if found is None else found[0].coding


def _may_have_categories(table: Any) -> bool:
    """Return whether some columns may be categories by their types, without reading the rows."""
    import narwhals.stable.v1 as nw

    if type(table) is np.ndarray or is_tensor(table) or not is_table(table):
        return are_booleans(table)
    try:
        kinds = list(nw.from_native(table, eager_or_interchange_only=True).schema.values())
    except (TypeError, ValueError):  # a record batch of other types; the reader of numbers names its columns
        return False
    return not all(kind.is_numeric() for kind in kinds) or all(kind.is_integer() for kind in kinds)


def coded_sample(data: Any, missing: MissingChoice, names: tuple[str, ...] | None = None) -> CodedRows | None:
    """Return the rows of a table with categories, with the columns in the order of the names; None for numbers."""
    if isinstance(data, CodedRows):
        return data
    found = read_categories(data, missing)
    if found is None:
        return None
    moments, rows = found
    if rows is None:
        raise ValueError("Moments of all rows cannot be resampled. Give the rows.")
    if names is None or names == moments.variables:
        return CodedRows(moments, rows)
    return CodedRows(moments.reordered(names), rows[:, positions(names, moments.variables)])


@dataclass(frozen=True, eq=False)
class CodedRows(RowsInMemory):
    """Coded rows, of which random halves are drawn.

    A half varies around all rows as much as a bootstrap resample does, and counts as many rows as it has. A resample
    repeats rows, and discrete scores would take the repetitions for evidence. Levels that a half does not have are left
    out of its moments.
    """

    def part(self, which: NDArray[np.intp]) -> Moments:
        """Return the moments of some rows."""
        table = CodedTable(self.moments.coding, self.values[which])
        return with_used_levels(table.moments("em" if np.isnan(table.rows).any() else "error"))

    repeated = part

    def draw_with_rows(self, rng: np.random.Generator) -> tuple[Moments, Callable[[], Matrix | None]]:
        """Return the moments of a random half of the rows, and a function that returns its coded rows."""
        self._require(2 * self._least_in_half, "Halves")
        which = rng.permutation(len(self))[: len(self) // 2]
        moments = self.part(which)
        return moments, lambda: self.moments.coding.recoded(self.values[which], moments.coding)
