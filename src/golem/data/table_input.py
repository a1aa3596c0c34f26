"""Arrays and tables of any library as rows of numbers under names, and sentences on what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.messages import shortened
from golem.runtime.names import column_names

TOO_LARGE = "values beyond 1e150 have no finite variance in floating point; rescale the columns"
REMEDY_FOR_TEXT = "drop them (on the command line --drop) or encode them as numbers"


def is_table(data: Any) -> bool:
    """Tell a pandas, Polars or PyArrow table from an array.

    Raises
    ------
    ValueError
        If it is a query whose rows are not there yet, such as a Polars LazyFrame or a Dask DataFrame.
    """
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(data, pass_through=True)
    except DuplicateError:
        column_names(list(data.columns), len(data.columns))  # says it in our words
        raise
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(
            f"a {type(data).__module__.split('.')[0]} {type(data).__name__} is a query without rows yet: collect it "
            "first, or see golem.readers (moments_from_file, moments_from_dask) for more rows than fit into memory"
        )
    return isinstance(frame, nw.DataFrame)


def rows_and_names(table: Any) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Read an array or a pandas, Polars or PyArrow table as float rows and column names.

    Raises
    ------
    ValueError
        If columns are not numeric, with their names.
    """
    import narwhals.stable.v1 as nw

    if not is_table(table):
        X = float_rows(table)
        return X, column_names(None, X.shape[1])
    frame = nw.from_native(table, eager_only=True)
    names = column_names(frame.columns, len(frame.columns))
    columns = []
    text = []
    for series, label in zip(frame.iter_columns(), names, strict=True):
        try:
            columns.append(_float_column(series))
        except (ValueError, TypeError) as error:
            text.append(f"{label!r} ({error})")
    if text:
        raise ValueError(f"{len(text)} of {len(names)} columns are not numeric: {shortened(text)}; {REMEDY_FOR_TEXT}")
    return np.column_stack(columns) if columns else np.empty((len(frame), 0)), names


def _float_column(series: Any) -> NDArray[np.float64]:
    """Turn one column of a table into floats, missing values into NaN."""
    if series.dtype.is_numeric():
        values = series.to_numpy()
        return np.asarray(values if values.dtype != object else series.to_list(), dtype=float)
    values = series.to_list()
    text = [(value, row) for row, value in enumerate(values, start=1) if isinstance(value, str | bytes)]
    if text:
        # Where one cell is no number, readers take the whole column for text: name the culprit.
        culprits = [(value, row) for value, row in text if not _is_number(value)] or text
        others = f" and {len(culprits) - 1} more" if len(culprits) > 1 else ""
        raise TypeError(f"{culprits[0][0]!r} in row {culprits[0][1]}{others}")
    try:
        nothing = series.is_null().to_list()  # pandas knows None, NaN and NA
        return np.array([np.nan if null else value for value, null in zip(values, nothing, strict=True)], dtype=float)
    except (ValueError, TypeError):
        raise TypeError(f"type {series.dtype}") from None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def float_rows(rows: Any) -> NDArray[np.float64]:
    """Check the shape of an array of rows; what a masked array hides is missing (NaN)."""
    try:
        X = np.asarray(without_mask(rows), dtype=float)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the data must be a table of numbers: {error}") from None
    if X.ndim != 2:
        raise ValueError(f"the data must be a table of shape (rows, columns); got shape {X.shape}")
    if X.size and np.abs(X[np.isfinite(X)]).max(initial=0) > 1e150:
        raise ValueError(TOO_LARGE)
    if len(X) < 2:
        raise ValueError(f"at least 2 rows are needed to estimate a covariance; got n_samples = {len(X)}")
    return X


def without_mask(rows: Any) -> Any:
    """Return what it is, a masked array with NaN in the place of what it hides."""
    return np.ma.filled(rows.astype(float), np.nan) if isinstance(rows, np.ma.MaskedArray) else rows


def require_finite(X: NDArray[np.float64], names: Sequence[str], place: Callable[[int], str] | None = None) -> None:
    """Raise a ValueError that counts the NaN and infinite values by column, and says where the first is."""
    finite = np.isfinite(X)
    if finite.all():
        return
    counts = (~finite).sum(axis=0)
    bad = [f"{names[j]!r} ({counts[j]})" for j in map(int, np.nonzero(counts)[0])]
    first = "" if place is None else f", first in {place(int((~finite).any(axis=1).argmax()))}"
    raise ValueError(
        f"NaN or inf in {len(bad)} of {len(names)} columns (count of values): {shortened(bad)}{first}; "
        + (
            "infinite values are no missing ones: mend them, or leave those rows out"
            if np.isinf(X).any()
            else "choose missing='drop' (without those rows) or missing='em' (Gaussian EM) of Golem or "
            "Moments.from_rows, on the command line --missing drop or --missing em; or impute the values first"
        )
    )
