"""Arrays and tables of any library as rows of floats and column names."""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.data.table_errors import TOO_LARGE, not_numeric, too_few_rows
from golem.runtime.names import column_names
from golem.runtime.types import Matrix, Vector


def is_table(data: Any) -> bool:
    """Tell a pandas, Polars or PyArrow table from an array; raise a ValueError for a lazy query."""
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(data, pass_through=True)
    except DuplicateError:
        column_names(list(data.columns), len(data.columns))  # raises our own message
        raise
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(
            f"A {type(data).__module__.split('.')[0]} {type(data).__name__} is a lazy query without rows. Collect it "
            "first. If the rows do not fit into memory, use golem.readers.moments_from_file or moments_from_dask."
        )
    return isinstance(frame, nw.DataFrame)


def rows_and_names(table: Any) -> tuple[Matrix, tuple[str, ...]]:
    """Read an array or a pandas, Polars or PyArrow table as rows of shape (n, d) and column names."""
    import narwhals.stable.v1 as nw

    if not is_table(table):
        X = float_rows(table)
        return X, column_names(None, X.shape[1])
    frame = nw.from_native(table, eager_only=True)
    names = column_names(frame.columns, len(frame.columns))
    columns, text = [], []
    for series, name in zip(frame.iter_columns(), names, strict=True):
        try:
            columns.append(_float_column(series))
        except (ValueError, TypeError) as error:
            text.append(f"{name!r} ({error})")
    if text:
        raise not_numeric(text, len(names))
    return np.column_stack(columns) if columns else np.empty((len(frame), 0)), names


def _float_column(series: Any) -> Vector:
    """Turn one column of a table into floats, missing values into NaN."""
    if series.dtype.is_numeric():
        values = series.to_numpy()
        return np.asarray(values if values.dtype != object else series.to_list(), dtype=float)
    values = series.to_list()
    text = [(value, row) for row, value in enumerate(values, start=1) if isinstance(value, str | bytes)]
    if text:
        # A single cell that is not a number makes readers take the whole column for text: report that cell.
        bad = [(value, row) for value, row in text if parsed(value) is None] or text
        others = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise TypeError(f"{bad[0][0]!r} in row {bad[0][1]}{others}")
    try:
        nulls = series.is_null().to_list()  # pandas has None, NaN and NA
        return np.array([np.nan if null else value for value, null in zip(values, nulls, strict=True)], dtype=float)
    except (ValueError, TypeError):
        raise TypeError(f"type {series.dtype}") from None


def parsed(text: str | bytes) -> float | None:
    """Return the number that a text contains, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def float_rows(rows: Any) -> Matrix:
    """Return rows as floats of shape (n, d), with NaN for masked values; raise a ValueError if that is impossible."""
    try:
        X = np.asarray(without_mask(rows), dtype=float)
    except (ValueError, TypeError) as error:
        raise ValueError(f"The data must be a table of numbers ({error}).") from None
    if X.ndim != 2:
        raise ValueError(f"The data must have shape (rows, columns); got shape {X.shape}.")
    if X.size and np.abs(X[np.isfinite(X)]).max(initial=0) > 1e150:
        raise ValueError(TOO_LARGE)
    if len(X) < 2:
        raise too_few_rows(len(X))
    return X


def without_mask(rows: Any) -> Any:
    """Replace the masked values of a masked array by NaN; return anything else unchanged."""
    return np.ma.filled(rows.astype(float), np.nan) if isinstance(rows, np.ma.MaskedArray) else rows
