"""What a user hands to an estimator, read the same way by all of them: data, knowledge, words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.table_input import is_table, rows_and_names, without_mask
from golem.runtime.arrays import is_tensor, namespace, to_numpy
from golem.runtime.types import Array, Matrix


def read_data(
    estimator: BaseEstimator, X: Any, *, reset: bool = True, incomplete: bool = False
) -> tuple[Moments, Array | None]:
    """Turn data into moments and, where there are any, rows; note the columns on the estimator.

    Rows are floats in NumPy. Those of a tensor stay where they lie, in their own type (`numpy_rows` fetches them).

    Parameters
    ----------
    estimator : BaseEstimator
        Gets `n_features_in_` and, where the columns have names, `feature_names_in_`. Its `missing`, where it has such a
        parameter, says what is done about missing values. Without it they are an error.
    X : array, tensor, DataFrame (pandas, Polars), PyArrow table or Moments
        Data, samples in rows; or their moments.
    reset : bool
        Whether this is a fit; otherwise the columns are compared with those of the fit.
    incomplete : bool
        Whether rows that lack values are wanted as well (NaN), where missing="em" keeps them; otherwise there are none
        then.

    Raises
    ------
    ValueError
        If X is no table of finite numbers with at least two rows.
    """
    if isinstance(X, str | Path):
        raise ValueError(
            f"the data must be a table or Moments; got the path {str(X)!r}. golem.readers.moments_from_file reads files"
        )
    if isinstance(X, Moments):
        estimator.n_features_in_ = X.d
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
        return X, None
    missing: MissingChoice = getattr(estimator, "missing", "error")
    names: Sequence[str] | None
    # Columns without names are those of the fit by their place.
    names = None if reset else getattr(estimator, "feature_names_in_", None)
    if is_tensor(X):
        values = X.detach()
        if reset:
            vars(estimator).pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[-1]
        elif X.shape[-1] != estimator.n_features_in_:
            raise ValueError(f"X has {X.shape[-1]} columns, and the model was fitted to {estimator.n_features_in_}")
    elif is_table(X):
        values, found = rows_and_names(X)
        names = found if reset or names is not None else None
        # scikit-learn's own record of the columns; it does not know every kind of table.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if reset and hasattr(X, "column_names"):
            estimator.n_features_in_, estimator.feature_names_in_ = len(found), np.array(found, dtype=object)
    else:
        rows = without_mask(X)
        values = validate_data(estimator, rows, reset=reset, dtype=float, ensure_all_finite=False, ensure_min_samples=2)
    moments = Moments.from_rows(values, names, missing=missing)
    if moments.missing is None or not moments.missing.cells:
        return moments, values
    if missing == "drop":
        xp = namespace(values)
        return moments, values[~xp.any(xp.isnan(values), axis=1)]
    return moments, values if incomplete else None


def numpy_rows(rows: Array) -> Matrix:
    """Return the rows of `read_data` as floats in NumPy."""
    return np.asarray(to_numpy(rows), dtype=float)


def read_knowledge(knowledge: Knowledge | NamedKnowledge | None, names: Sequence[str]) -> Knowledge:
    """Return the masks for columns of these names; masks of no knowledge where there is none.

    Raises
    ------
    ValueError
        If the masks are for another number of variables, or the knowledge names something that is no column.
    """
    d = len(names)
    if knowledge is None:
        return Knowledge.of(d)
    if isinstance(knowledge, NamedKnowledge):
        return knowledge.resolve(names)
    if not isinstance(knowledge, Knowledge):
        raise ValueError(
            "knowledge is Knowledge.named(...), Knowledge.read(file) or masks, such as "
            f"Knowledge.of({d}, ...); got {type(knowledge).__name__}"
        )
    require_shape(knowledge.forbidden, d, "the knowledge masks")
    return knowledge


def check_knowledge(knowledge: Knowledge | NamedKnowledge | None, names: Sequence[str]) -> None:
    """Raise where `read_knowledge` would, without making masks of names: before a long pass over rows."""
    if isinstance(knowledge, NamedKnowledge):
        knowledge.require_columns(names)
    elif knowledge is not None:
        read_knowledge(knowledge, names)


def require_shape(array: np.ndarray[Any, Any], d: int, what: str) -> None:
    """Raise where a (d, d) matrix is expected and something else comes."""
    if array.shape != (d, d):
        raise ValueError(f"{what} must have shape ({d}, {d}), one row and column a variable; got {array.shape}")
