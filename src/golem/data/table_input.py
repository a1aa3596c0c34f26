"""Arrays and tables of any library as rows of floats and column names."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from golem.data.table_errors import TOO_LARGE, not_numeric, too_few_rows
from golem.runtime.arrays import as_floats, is_tensor, to_numpy
from golem.runtime.devices import Placement
from golem.runtime.machine import require_memory
from golem.runtime.messages import counted, shown
from golem.runtime.names import column_names
from golem.runtime.types import Array, Matrix, Vector

_COMPLEX = "Complex data not supported. Use real columns, such as the real and the imaginary parts."
_DICTIONARY = (
    "The data must be a table; got a dictionary. If it has one entry per column, use pandas.DataFrame(X). If it has "
    "one table per environment, give their targets as well."
)
# How NumPy's message about text begins.
_TEXT = "could not convert string to float: "
_CONTROL = re.compile("[\x1c-\x1f]")
_FEWER = "Use fewer rows or columns, or read the table from files with golem.readers.moments_from_file."


class NotNumbersError(TypeError, ValueError):
    """Objects that are not numbers: a TypeError by the rules of scikit-learn, a ValueError by those of golem."""


def is_table(data: Any) -> bool:
    """Return whether the data are a pandas, Polars or PyArrow table; raise a ValueError for a lazy query."""
    if type(data) is np.ndarray:
        return False
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    if isinstance(named := getattr(data, "column_names", None), list):  # PyArrow, whose columns are arrays
        column_names(named, len(named))
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


def is_mapping(data: Any) -> bool:
    """Return whether data have one entry per environment or column; SciPy's dictionaries of keys are matrices."""
    return isinstance(data, Mapping) and not hasattr(data, "shape")


def are_booleans(data: Any) -> bool:
    """Return whether an array, a tensor, a sparse matrix or a list of lists holds only True and False."""
    kind = str(getattr(data, "dtype", "object"))
    if kind != "object":
        return kind in ("bool", "torch.bool")
    try:
        cells = np.asanyarray(data)
    except (OverflowError, TypeError, ValueError):  # not an array; who reads the numbers says why
        return False
    types = set(map(type, cells.flat)) if cells.dtype == object else {cells.dtype.type}
    return bool(types) and types <= {bool, np.bool_}


def eager_frame(table: Any) -> Any:
    """Return a table as a DataFrame of narwhals."""
    import narwhals.stable.v1 as nw

    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:  # tables that are known only by the interchange protocol, such as a RecordBatch
        from pyarrow.interchange import from_dataframe

        return nw.from_native(from_dataframe(table), eager_only=True)


def rows_and_names(table: Any) -> tuple[Matrix, tuple[str, ...]]:
    """Read an array or a pandas, Polars or PyArrow table as rows of shape (n, d) and column names."""
    if not is_table(table):
        X = float_rows(table)
        return X, column_names(None, X.shape[1])
    frame = eager_frame(table)
    names = column_names(frame.columns, len(frame.columns))
    columns, text, whole = [], {}, []
    for series, name in zip(frame.iter_columns(), names, strict=True):
        try:
            columns.append(_float_column(series))
        except OverflowError:
            raise ValueError(f"Column {name!r}: {TOO_LARGE}") from None
        except (ValueError, TypeError) as error:
            text[name] = str(error)
            whole += [name] if _has_whole_numbers(series) else []
    if text:
        failed = not_numeric(text, len(names))
        failed.whole_numbers = tuple(whole)
        raise failed
    return np.column_stack(columns) if columns else np.empty((len(frame), 0)), names


def _float_column(series: Any) -> Vector:
    """Turn one column of a table into floats, missing values into NaN."""
    import narwhals.stable.v1 as nw

    if series.dtype.is_numeric():
        if series.dtype in (nw.Int128, nw.UInt128):  # NumPy has no such integers
            series = series.cast(nw.Float64)
        values = series.to_numpy()
        return as_floats(values if values.dtype != object else series.to_list())
    values = series.to_list()
    text = [(value, row) for row, value in enumerate(values, start=1) if isinstance(value, str | bytes)]
    if text:
        # A single cell that is not a number makes readers take the whole column for text: report that cell.
        bad = [(value, row) for value, row in text if parsed(value) is None] or text
        others = f" and text in {counted(len(bad) - 1, 'more row')}" if len(bad) > 1 else ""
        raise TypeError(f"{shown(bad[0][0])} in row {bad[0][1]}{others}")
    try:
        nulls = series.is_null().to_list()  # pandas has None, NaN and NA
        cells = [np.nan if null else value for value, null in zip(values, nulls, strict=True)]
        column = _real_numbers(np.array(cells, dtype=object))
        if column.ndim == 1:  # cells may be lists of one number each
            return column
        raise TypeError
    except (ValueError, TypeError):
        kind = series.to_native().dtype if series.dtype == nw.Unknown else series.dtype  # such as periods of pandas
        raise TypeError(f"type {str(kind)[:100]}") from None


def _has_whole_numbers(series: Any) -> bool:
    """Return whether a column that is not numeric has numbers among its texts, and only whole ones."""
    cells = [value for value in series.drop_nulls().to_list() if isinstance(value, str)]
    numbers = [number for number in map(parsed, cells) if number is not None and math.isfinite(number)]
    return bool(numbers) and all(number.is_integer() for number in numbers)


def parsed(text: str | bytes) -> float | None:
    r"""Return the number that a text contains, or None; Python takes control characters around it for blanks."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if isinstance(text, str) and _CONTROL.search(text) else number


def float_rows(rows: Any) -> Matrix:
    """Return rows as floats of shape (n, d), with NaN for masked values; raise a ValueError if that is impossible."""
    if not is_tensor(rows) and is_table(rows):
        rows = rows_and_names(rows)[0]
    X = np.asarray(to_numpy(real_matrix(rows)), dtype=float)
    if len(X) < 2:
        raise too_few_rows(len(X))
    # The check below and the moments need two copies of the rows, and the scatter and the covariance.
    require_memory(f"A table of {len(X)} rows and {X.shape[1]} columns", 16 * X.shape[1] * sum(X.shape), _FEWER)
    # Without NaN and infinite values, the first comparison suffices, and it needs no copy of the rows.
    within = X.max(initial=0.0) <= 1e150 and X.min(initial=0.0) >= -1e150
    if not within and np.abs(X[np.isfinite(X)]).max(initial=0) > 1e150:
        raise ValueError(TOO_LARGE)
    return X


def real_matrix(data: Any) -> Array:
    """Return rows of real numbers as a dense tensor on its device, or as an array of floats with NaN for masked values.

    Sparse matrices and tensors become dense. Complex numbers, dates and structured arrays are an error: NumPy and torch
    would drop imaginary parts and units without a word.
    """
    if is_tensor(data):
        return _dense_tensor(data.detach())
    if is_mapping(data):
        raise ValueError(_DICTIONARY)
    if issparse(data):
        _require_dense(data.shape)
        data = data.toarray(order="C")
    try:
        values = _real_numbers(np.asanyarray(data))
    except OverflowError:
        raise ValueError(TOO_LARGE) from None
    except (TypeError, ValueError) as error:
        reason = "its rows have different lengths" if "inhomogeneous" in str(error) else str(error).removesuffix(".")
        if reason.startswith(_TEXT):
            text = reason.removeprefix(_TEXT)
            reason = f"an array cannot contain text such as {text}. Give a DataFrame, whose text becomes categories"
        kind = NotNumbersError if isinstance(error, TypeError) else ValueError
        raise kind(f"The data must be a table of numbers: {reason}.") from None
    _require_two_axes(values.shape, data)
    return values


def _real_numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Turn an array into floats; raise a ValueError for what NumPy would convert although it is not a real number."""
    types = set(map(type, array.flat)) if array.dtype == object else {array.dtype.type}
    if any(issubclass(kind, complex | np.complexfloating) for kind in types):
        raise ValueError(_COMPLEX)
    if any(issubclass(kind, np.datetime64) for kind in types):
        raise ValueError("got dates or times. Convert them to numbers, such as days since the first date")
    if any(issubclass(kind, np.timedelta64) for kind in types):
        raise ValueError("got durations. Convert them to numbers, such as seconds or hours")
    if any(issubclass(kind, np.void) for kind in types):
        raise ValueError("got a structured array. Convert it with pandas.DataFrame")
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(float), np.nan)
    return as_floats(array)


def _dense_tensor(X: Any) -> Any:
    """Return a torch tensor without the layouts that have no rows of real numbers, or raise a ValueError."""
    if X.is_nested or X.is_meta or X.is_quantized:
        raise ValueError("The tensor is nested, quantized or without data. Convert it to a tensor of floats.")
    if X.is_complex():
        raise ValueError(_COMPLEX)
    _require_two_axes(X.shape, X)
    if str(X.layout) != "torch.strided":
        _require_dense(X.shape, str(X.device))
        X = X.to_dense()
    return X


def _require_two_axes(shape: Sequence[int], data: Any) -> None:
    if len(shape) != 2:
        received = f"shape {tuple(shape)}" if shape else type(data).__name__
        raise ValueError(f"The data must have shape (rows, columns); got {received}.")


def _require_dense(shape: Sequence[int], device: str = "cpu") -> None:
    """Raise a ValueError if a sparse matrix has no room as a dense one."""
    place = "of memory" if device == "cpu" else f"on {device}"
    need, free = 8 * shape[0] * shape[1], Placement(device).free_memory
    require_memory("A dense copy of the sparse data", need, _FEWER, free=free, place=place)
