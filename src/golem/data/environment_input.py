"""Reading the environments of a fit: one table with a label per row, or one table per environment."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from golem.data.checks import require_numbers
from golem.data.inputs import numpy_rows, read_data, reader_for
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table import Table, require_rows
from golem.data.table_errors import NotNumericError
from golem.data.table_input import is_mapping, is_table, real_matrix, rows_and_names
from golem.data.targets import coded_labels
from golem.runtime.messages import suggestion
from golem.runtime.names import column_names, positions
from golem.runtime.types import Matrix

Targets = Mapping[Any, Any]
# The rows of each environment by its label, which may have missing values; the columns are those of the environments.
EnvironmentRows = Mapping[str, Matrix]


def is_interventional(X: Any, environments: Any = None, targets: Targets | None = None) -> bool:
    """Return whether the input of a fit describes environments."""
    return environments is not None or targets is not None or isinstance(X, Table)


def read_environments(
    estimator: BaseEstimator, X: Any, environments: Any = None, targets: Targets | None = None
) -> Table:
    """Return the environments of a fit; record the columns on the estimator.

    Parameters
    ----------
    estimator : BaseEstimator
        Receives `n_features_in_` and, if the columns have names, `feature_names_in_`. Its parameter `missing` says how
        to treat missing values, in each environment by itself.
    X : table, array, mapping or Environments
        All rows; or a table or Moments per label.
    environments : str or sequence, optional
        The label of each row, or the name of the column of X that has them.
    targets : mapping, optional
        The columns that each environment changes; see `Table.of`.
    """
    return read_environments_and_rows(estimator, X, environments, targets)[0]


def read_environments_and_rows(
    estimator: BaseEstimator, X: Any, environments: Any = None, targets: Targets | None = None
) -> tuple[Table, EnvironmentRows | None]:
    """Return the environments of a fit and the rows of each; None if only the moments of one of them are known."""
    rows: EnvironmentRows | None = None
    if isinstance(X, Table):
        _require_only(environments, targets)
        found, named = X, True
    else:
        missing: MissingChoice = getattr(estimator, "missing", "error")
        parts, named = split_data(X, environments)
        read = _read_parts(parts, missing)
        found = Table.of({label: moments for label, (moments, _) in read.items()}, targets)
        own = {
            label: values[:, positions(found.names, moments.names)]
            for label, (moments, values) in read.items()
            if values is not None
        }
        rows = own if len(own) == len(found.labels) else None
    estimator.n_features_in_ = found.d
    if named:
        estimator.feature_names_in_ = np.array(found.names, dtype=object)
    return found, rows


def split_data(X: Any, environments: Any) -> tuple[dict[str, Any], bool]:
    """Return the data of each environment, rows as (values, names), and whether the columns have names."""
    if is_mapping(X):
        _require_only(environments, None)
        parts = {str(label): part for label, part in X.items()}
        shapes: dict[str, tuple[int, ...]] = {label: getattr(part, "shape", ()) for label, part in parts.items()}
        require_rows({label: shape[0] for label, shape in shapes.items() if len(shape) == 2})
        return parts, all(isinstance(part, Moments) or is_table(part) for part in parts.values())
    if environments is None:
        raise ValueError(
            "targets=... needs environments=..., with one label per row or the name of the column that has the labels."
        )
    if isinstance(X, Moments):
        raise ValueError(
            "The moments of all rows cannot be divided into environments. Give the moments of each: fit({'control': "
            "moments, ...}, targets=...)."
        )
    if isinstance(environments, str):
        X, environments = _without_column(X, environments)
    named = is_table(X)
    with refusing_categories():
        values = rows_and_names(X)[0] if named else numpy_rows(real_matrix(X))
    names = rows_and_names(X)[1] if named else column_names(None, values.shape[1])
    labels, codes = coded_labels(environments, len(values))
    rows = {label: values[codes == k] for k, label in enumerate(labels)}
    require_rows({label: len(part) for label, part in rows.items() if len(part)})
    # A categorical column can have labels without rows.
    return {label: (part, names) for label, part in rows.items() if len(part)}, named


def moments_of_parts(parts: Mapping[str, Any], missing: MissingChoice) -> dict[str, Moments]:
    """Return the moments of each environment, given what `split_data` returns."""
    return {label: moments for label, (moments, _) in _read_parts(parts, missing).items()}


def _read_parts(parts: Mapping[str, Any], missing: MissingChoice) -> dict[str, tuple[Moments, Matrix | None]]:
    """Return the moments of each environment, and its rows if there are any."""
    found: dict[str, tuple[Moments, Matrix | None]] = {}
    for label, part in parts.items():
        with naming_environment(label):
            if isinstance(part, tuple):
                values: Matrix = part[0]
                found[label] = Moments.from_rows(values, part[1], missing=missing), values
            else:
                moments, rows = read_data(reader_for(missing), part, incomplete=True)
                require_numbers(moments)
                found[label] = moments, None if rows is None else numpy_rows(rows)
    return found


@contextlib.contextmanager
def naming_environment(label: str) -> Iterator[None]:
    """Begin error messages with the label of the environment."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Environment {label!r}: {error}") from None


@contextlib.contextmanager
def refusing_categories() -> Iterator[None]:
    """Say in the error about columns of text that they cannot be categories here."""
    try:
        yield
    except NotNumericError as error:
        raise ValueError(f"{str(error).rstrip('.')}. Environments cannot be combined with categories yet.") from None


def _without_column(X: Any, column: str) -> tuple[Any, Any]:
    """Return a table without the column of labels, and that column."""
    import narwhals.stable.v1 as nw

    if not is_table(X):
        raise ValueError(
            f"environments={column!r} names a column, but X is an array without column names. Give one label per row."
        )
    frame = nw.from_native(X, eager_only=True)
    if column not in frame.columns:
        hint = suggestion(column, frame.columns, "columns")
        raise ValueError(f"There is no column {column!r} (environments=...). {hint}")
    return frame.drop(column).to_native(), frame[column].to_native()


def _require_only(environments: Any, targets: Targets | None) -> None:
    """Raise a ValueError if labels or targets are given twice."""
    if environments is not None:
        raise ValueError("X has one entry per environment already. Leave out environments.")
    if targets is not None:
        raise ValueError("X has targets of its own. Leave out targets.")
