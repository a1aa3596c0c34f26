"""Reading the input of estimators: data and knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from golem.data.checks import require_numbers
from golem.data.coded_tables import CodedTable
from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table_errors import MissingValuesError, UnusableColumnsError, other_width
from golem.data.table_input import is_table, real_matrix, rows_and_names
from golem.data.treatment import whole_refusal
from golem.data.variables import Coding
from golem.runtime.arrays import is_tensor, namespace, to_numpy
from golem.runtime.names import column_names
from golem.runtime.parameters import require_parameters
from golem.runtime.types import Array, Matrix


class TableEstimator(BaseEstimator):
    """Base of the estimators that read their data with `read_data`."""

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Raise a TypeError that suggests another name if a parameter is unknown."""
        known = signature(cls.__init__).parameters
        if all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in known.values()):
            require_parameters(cls.__name__, parameters, list(known)[1:])
        made: Self = super().__new__(cls)
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _forget(self) -> None:
        """Delete the fitted attributes, which end in an underscore; `fit` begins with this.

        So a fit that fails leaves nothing of an earlier one, which would not agree with what this one has set.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)


def read_data(
    estimator: BaseEstimator, X: Any, *, reset: bool = True, incomplete: bool = False
) -> tuple[Moments, Array | None]:
    """Return the moments and, if available, the rows of the data; record the columns on the estimator.

    Rows are NumPy floats; a tensor keeps its type and device (see `numpy_rows`).

    Parameters
    ----------
    estimator : BaseEstimator
        Receives `n_features_in_` and, if the columns have names, `feature_names_in_`. Its parameter `missing`, "error"
        by default, says how to treat missing values.
    X : array, sparse matrix, tensor, DataFrame (pandas, Polars), PyArrow table or Moments
        Data, samples in rows; or their moments.
    reset : bool
        Whether this is a fit. Otherwise the columns are compared with those of the fit.
    incomplete : bool
        Whether to return rows with missing values (NaN) if missing="em"; otherwise the rows are then None.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers with at least two rows.
    """
    if isinstance(X, str | Path):
        raise ValueError(
            f"fit expects a table, not a path. Read the file first, e.g. pandas.read_csv({str(X)!r}). For files larger "
            "than memory, use golem.fit_file or golem.readers.moments_from_file."
        )
    if isinstance(X, Moments):
        require_numbers(X)
        estimator.n_features_in_ = X.d
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
        return X, None
    missing: MissingChoice = getattr(estimator, "missing", "error")
    # Columns without names are matched with those of the fit by position.
    names: Sequence[str] | None = None if reset else getattr(estimator, "feature_names_in_", None)
    if is_tensor(X):
        values = real_matrix(X)
        if reset:
            estimator.n_features_in_ = X.shape[1]
        elif X.shape[1] != estimator.n_features_in_:
            raise other_width(X.shape[1], estimator.n_features_in_)
    elif is_table(X):
        values, found = rows_and_names(X)
        names = found if reset or names is not None else None
        # scikit-learn records the columns itself, but does not support PyArrow tables.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if reset and hasattr(X, "column_names"):
            estimator.n_features_in_, estimator.feature_names_in_ = len(found), np.array(found, dtype=object)
    else:
        rows = real_matrix(X)
        values = validate_data(estimator, rows, reset=reset, ensure_all_finite=False, ensure_min_samples=2)
    try:
        moments = Moments.from_rows(values, names, missing=missing)
    except (MissingValuesError, UnusableColumnsError) as error:
        if not reset:
            raise
        found = column_names(names, values.shape[1])
        raise whole_refusal(CodedTable(Coding.numeric(found), numpy_rows(values)), error, missing) from None
    if moments.missing is None or not moments.missing.cells:
        return moments, values
    if missing == "drop":
        xp = namespace(values)
        return moments, values[~xp.any(xp.isnan(values), axis=1)]
    return moments, values if incomplete else None


def reader_for(missing: MissingChoice) -> BaseEstimator:
    """Return an estimator for `read_data` where there is no other; scikit-learn needs one to check a table."""
    reader = type("Golem", (BaseEstimator,), {})()  # the name is that of messages
    reader.missing = missing
    return reader


def numpy_rows(rows: Array) -> Matrix:
    """Return the rows of `read_data` as floats in NumPy."""
    return np.asarray(to_numpy(rows), dtype=float)


def read_knowledge(knowledge: Knowledge | NamedKnowledge | None, names: Sequence[str]) -> Knowledge:
    """Return knowledge as masks for columns of these names; raise a ValueError if it does not fit them."""
    d = len(names)
    if knowledge is None:
        return Knowledge.of(d)
    if isinstance(knowledge, NamedKnowledge):
        return knowledge.resolve(names)
    if not isinstance(knowledge, Knowledge):
        raise ValueError(
            f"knowledge must be Knowledge.named(...), Knowledge.read(file) or Knowledge.of({d}, ...); got "
            f"{type(knowledge).__name__}."
        )
    require_shape(knowledge.forbidden, d, "the knowledge masks")
    return knowledge


def check_knowledge(knowledge: Knowledge | NamedKnowledge | None, names: Sequence[str]) -> None:
    """Raise the errors of `read_knowledge` without building masks, before a long pass over the rows."""
    if isinstance(knowledge, NamedKnowledge):
        knowledge.require_columns(names)
    elif knowledge is not None:
        read_knowledge(knowledge, names)


def require_shape(array: np.ndarray[Any, Any], d: int, what: str) -> None:
    """Raise a ValueError if a matrix does not have shape (d, d)."""
    if array.shape != (d, d):
        raise ValueError(
            f"{what.capitalize()} must have shape ({d}, {d}), one row and column per variable; got {array.shape}."
        )
