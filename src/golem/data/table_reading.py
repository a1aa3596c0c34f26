"""Read a table in memory, of any kind, as a `Table`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from golem.data.category_columns import read_coded
from golem.data.checks import DataWarning
from golem.data.coded_tables import CodedTable, level_counts, moments_of_parts, with_common_levels
from golem.data.levels import warn_of_codes, warn_of_rare_levels
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.robust import NOT_CHECKED, RobustChoice, robust_table
from golem.data.series_reading import INDEX_IS_TIME, SeriesChoice, series_table
from golem.data.table import Part, Table
from golem.data.table_errors import MissingValuesError
from golem.data.table_input import are_booleans, is_mapping, is_table, real_matrix, rows_and_names
from golem.data.targets import coded_labels, naming_environment, require_environment_rows, require_same_columns
from golem.data.treatment import whole_refusal
from golem.data.unusable import UnusableColumnsError
from golem.data.variables import Coding
from golem.data.wide_columns import WIDE_FROM, WideMoments, read_wide
from golem.runtime.arrays import is_tensor, to_numpy
from golem.runtime.messages import suggestion
from golem.runtime.names import column_names
from golem.runtime.problems import ProblemError, Set

Targets = Mapping[Any, Any]
Statistics = Literal["auto", "dense", "sparse"]
STATISTICS: tuple[Statistics, ...] = get_args(Statistics)


def read_table(
    X: Any,
    *,
    environments: Any = None,
    targets: Targets | None = None,
    missing: MissingChoice = "error",
    robust: RobustChoice = "off",
    names: Sequence[str] | None = None,
    statistics: Statistics = "dense",
    series: SeriesChoice | None = None,
) -> Table:
    """Return a table, whatever it is given as.

    Parameters
    ----------
    X : array, sparse matrix, tensor, DataFrame (pandas, Polars), PyArrow table, Moments, Table, or a mapping or list
        Data of shape (n, d), or their moments; a mapping from labels to tables or Moments; or the moments of shards.
    environments : str or sequence of n labels, optional
        The label of each row, or the name of the column of X that has them.
    targets : mapping, optional
        The variables that each environment changes; see `Table.of`.
    missing : {"error", "drop", "em"}
        Treatment of missing values, in each environment by itself.
    robust : {"auto", "ranks", "off"}
        Whether the moments are those of ranks, in each environment by itself; see `robust_table`.
    names : sequence of str, optional
        The variables of a fit: the columns are put in their order; see `Table.aligned`.
    statistics : {"dense", "sparse", "auto"}
        Covariances of all pairs, standardized columns, or the latter for tables with very many columns.
    series : SeriesChoice, optional
        The lags, the time and the unit of the rows. A `Table` has its own.

    Raises
    ------
    ValueError
        If X is not a table from which golem can learn.
    """
    if isinstance(X, str | Path):
        raise ValueError(
            f"fit expects a table, not a path. Read the file first, e.g. pandas.read_csv({str(X)!r}). For files larger "
            "than memory, use golem.fit_file or golem.readers.moments_from_file."
        )
    interventional = is_interventional(X, environments, targets)
    if statistics == "sparse" or (statistics == "auto" and _is_wide(X) and not interventional):
        wide = _read_wide(X, interventional, missing, robust)
        return wide if names is None else wide.aligned(names)
    if isinstance(X, Table):
        _require_only(environments, targets)
        found = X if names is None else X.aligned(names)
        series = None
    elif environments is not None or targets is not None:
        parts, is_named = _environments(X, environments, missing)
        ordered = parts if names is None else [part.aligned(names) for part in parts]
        found = Table.of_parts(ordered, targets, is_named)
    else:
        found = _series(X, series, missing) if series else _without_environments(X, missing)
        found = found if names is None else found.aligned(names)
    return robust_table(found, robust)


def _is_wide(X: Any) -> bool:
    """Return whether a table has very many columns, all of them numbers, and rows."""
    if isinstance(X, Table):
        return isinstance(X.parts[0].moments, WideMoments)
    shape: tuple[int, ...] = () if is_tensor(X) else getattr(X, "shape", ())  # nested tensors have none
    if len(shape) != 2 or shape[1] < WIDE_FROM:
        return False
    return not _may_have_categories(X) if is_table(X) else getattr(X, "dtype", np.dtype(object)).kind == "f"


def _read_wide(X: Any, interventional: bool, missing: MissingChoice, robust: RobustChoice) -> Table:
    """Return a table as standardized columns; raise a ValueError for what only covariances can do."""
    if isinstance(X, Table) and isinstance(X.parts[0].moments, WideMoments):
        return X
    if interventional:
        refuse_wide("Environments need")
    if isinstance(X, Moments | Table) or are_shards(X):
        refuse_wide("Moments are")
    if is_table(X) and _may_have_categories(X):
        refuse_wide("Categories need")
    if is_table(X):
        values, names = rows_and_names(X)
    else:
        values = X if isinstance(X, np.ndarray) else real_matrix(X)
        values = to_numpy(values)
        names = column_names(None, values.shape[1])
    if values.ndim != 2 or values.dtype.kind != "f":
        values = np.asarray(check_array(values, dtype=float, ensure_all_finite=False))
    return wide_table(values, names, has_names(X), missing, robust)


def wide_table(
    values: Any, names: Sequence[str], is_named: bool, missing: MissingChoice, robust: RobustChoice
) -> Table:
    """Return the table of an array of shape (n, d), or of a map of a file, as standardized columns."""
    if missing != "error":
        refuse_wide("The treatment of missing values needs")
    found = read_wide(values, names, is_named, robust == "ranks")
    return replace(found, robust_note=NOT_CHECKED) if robust == "auto" else found


def refuse_wide(what: str) -> NoReturn:
    """Raise a ValueError for what only covariances can do."""
    raise ProblemError(f"{what} covariances of all columns. Use ", Set("statistics", "dense"), ".")


def _series(X: Any, series: SeriesChoice, missing: MissingChoice) -> Table:
    """Return the windows of a series or panel."""
    if isinstance(X, Moments) or are_shards(X):
        raise ProblemError.of("Moments have no order of rows, so {lags=...} and {unit=...} need the rows.")
    series.check()
    found = {}
    is_named, dates = has_names(X), _dates_of_index(X) if series.lags is not None and series.time is None else None
    for name in ("time", "unit"):
        found[name] = getattr(series, name)
        if isinstance(found[name], str):
            X, found[name] = _without_column(X, found[name], name)
    lags = 0 if series.lags is None else series.lags
    if dates is None:
        return series_table(coded_rows(X), found["time"], found["unit"], lags, missing, is_named)
    table = series_table(coded_rows(X), dates, found["unit"], lags, missing, is_named)
    assert table.series is not None
    return replace(table, series=replace(table.series, notes=(INDEX_IS_TIME, *table.series.notes)))


def _dates_of_index(X: Any) -> list[Any] | None:
    """Return the dates of the index of a pandas table; None if it has no dates."""
    import narwhals.stable.v1 as nw

    index: Any = nw.maybe_get_index(nw.from_native(X)) if is_table(X) else None
    index = index.to_timestamp() if hasattr(index, "to_timestamp") else index  # of periods
    return list(index) if getattr(getattr(index, "dtype", None), "kind", "") == "M" else None


def is_interventional(X: Any, environments: Any = None, targets: Targets | None = None) -> bool:
    """Return whether data are given with environments."""
    return environments is not None or targets is not None or (isinstance(X, Table) and X.has_environments)


def are_shards(data: Any) -> bool:
    """Return whether the data are a list of moments of shards."""
    return isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(part, Moments) for part in data)


def _without_environments(X: Any, missing: MissingChoice) -> Table:
    """Return a table with one part."""
    if isinstance(X, Moments) or are_shards(X):
        return Table((_part_of_moments("", X),))
    table = coded_rows(X)
    try:
        ((moments, rows),) = moments_of_parts([table], missing)
    except (MissingValuesError, UnusableColumnsError) as error:
        raise whole_refusal(_in_numpy(table), error, missing) from None
    warn_of_codes(X, moments.coding)
    return Table.single(moments, rows, has_names(X))


def _part_of_moments(label: str, given: Any) -> Part:
    """Return a part of which the moments are given, of all rows or of shards."""
    return Part(label, given) if isinstance(given, Moments) else Part(label, merged(given), shards=tuple(given))


def coded_rows(X: Any) -> CodedTable:
    """Return the variables and the coded rows of an array or a table; the rows of a tensor stay on its device."""
    if isinstance(X, CodedTable):
        return X
    if _may_have_categories(X):
        return read_coded(X)
    if is_table(X):
        rows, names = rows_and_names(X)
        return CodedTable(Coding.numeric(names), rows)
    values = real_matrix(X)
    if not is_tensor(values):
        values = check_array(values, ensure_all_finite=False, ensure_min_samples=2, input_name="X", estimator="Golem")
    return CodedTable(Coding.numeric(column_names(None, values.shape[1])), values)


def _in_numpy(table: CodedTable) -> CodedTable:
    """Return a table with its rows as floats in NumPy."""
    return CodedTable(table.coding, np.asarray(to_numpy(table.rows), dtype=float))


def _may_have_categories(table: Any) -> bool:
    """Return whether some columns may be categories by their types, without reading the rows."""
    import narwhals.stable.v1 as nw

    if is_tensor(table) or not is_table(table):
        return are_booleans(table)
    try:
        kinds = nw.from_native(table, eager_or_interchange_only=True).schema.values()
    except (TypeError, ValueError):  # a record batch of other types; the reader of numbers names its columns
        return False
    return not all(kind.is_numeric() for kind in kinds)


def has_names(X: Any) -> bool:
    """Return whether the columns have names of their own; a TypeError of scikit-learn if some are not texts."""
    if not is_table(X):
        return isinstance(X, Moments)
    reader = BaseEstimator()
    validate_data(reader, X, skip_check_array=True)  # scikit-learn does not know the columns of PyArrow tables
    return hasattr(reader, "feature_names_in_") or hasattr(X, "column_names")


def _environments(X: Any, environments: Any, missing: MissingChoice) -> tuple[list[Part], bool]:
    """Return the parts of a table with environments, and whether its columns have names."""
    if is_mapping(X):
        _require_only(environments, None)
        return _from_mapping({str(label): part for label, part in X.items()}, missing)
    if environments is None:
        raise ProblemError.of(
            "{targets=...} needs {environments=...}, with one label per row or the name of the column that has the "
            "labels."
        )
    if isinstance(X, Moments):
        raise ProblemError.of(
            "The moments of all rows cannot be divided into environments. Give the moments of each: "
            "fit({{'control': moments, ...}}, {targets=...})."
        )
    if isinstance(environments, str):
        X, environments = _without_column(X, environments)
    whole = _in_numpy(coded_rows(X))
    labels, codes = coded_labels(environments, len(whole.rows))
    rows = {label: whole.rows[codes == k] for k, label in enumerate(labels)}
    # A categorical column can have labels without rows.
    tables = {label: CodedTable(whole.coding, own) for label, own in rows.items() if len(own)}
    return _parts_of(tables, missing), is_table(X)


def _from_mapping(given: Mapping[str, Any], missing: MissingChoice) -> tuple[list[Part], bool]:
    """Return one part per table, and whether the columns have names."""
    shapes: dict[str, tuple[int, ...]] = {label: getattr(part, "shape", ()) for label, part in given.items()}
    require_environment_rows({label: shape[0] for label, shape in shapes.items() if len(shape) == 2})
    known, tables = {}, {}
    for label, part in given.items():
        with naming_environment(label), warnings.catch_warnings(action="ignore", category=DataWarning):
            if isinstance(part, Moments) or are_shards(part):
                known[label] = _part_of_moments(label, part)
            else:
                tables[label] = _in_numpy(coded_rows(part))
    if tables:
        require_same_columns({label: table.coding.names for label, table in tables.items()})
        tables = with_common_levels(tables)
        coding = next(iter(tables.values())).coding
        warn_of_rare_levels(level_counts(coding, *(table.rows for table in tables.values())))
    read = {part.label: part for part in _parts_of(tables, missing)}
    is_named = all(isinstance(part, Moments) or is_table(part) for part in given.values())
    return [known[label] if label in known else read[label] for label in given], is_named


def _parts_of(tables: Mapping[str, CodedTable], missing: MissingChoice) -> list[Part]:
    """Return the parts of a table with environments; their coding is the same."""
    require_environment_rows({label: len(table.rows) for label, table in tables.items()})
    if not tables:
        return []
    found = moments_of_parts(list(tables.values()), missing, list(tables))
    return [Part(label, moments, rows=rows) for label, (moments, rows) in zip(tables, found, strict=True)]


def _without_column(X: Any, column: str, parameter: str = "environments") -> tuple[Any, Any]:
    """Return a table without the column that a parameter names, and that column."""
    import narwhals.stable.v1 as nw

    if not is_table(X):
        what = " names a column, but X is an array without column names. Give one value per row."
        raise ProblemError(Set(parameter, column), what)
    frame = nw.from_native(X, eager_only=True)
    if column not in frame.columns:
        hint = suggestion(column, frame.columns, "columns")
        raise ProblemError(f"There is no column {column!r} (", Set(parameter), f"). {hint}")
    return frame.drop(column).to_native(), frame[column].to_native()


def _require_only(environments: Any, targets: Targets | None) -> None:
    """Raise a ValueError if labels or targets are given twice."""
    if environments is not None:
        raise ValueError("X has one entry per environment already. Leave out environments.")
    if targets is not None:
        raise ValueError("X has targets of its own. Leave out targets.")
