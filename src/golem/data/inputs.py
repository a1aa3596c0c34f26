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
from golem.data.knowledge import Knowledge, KnowledgeLike, NamedKnowledge, as_knowledge
from golem.data.moments import Moments
from golem.data.table import Table
from golem.data.table_errors import other_width
from golem.data.table_input import is_table, real_matrix, rows_and_names
from golem.data.table_reading import read_table
from golem.data.variables import Coding
from golem.runtime.arrays import is_tensor, to_numpy
from golem.runtime.names import column_names, require_parameters
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

    def record_columns(self, table: Table) -> None:
        """Set the columns of a fit, as scikit-learn calls them."""
        self.n_features_in_ = table.d
        if table.is_named:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def read_other(self, X: Any) -> Table:
        """Return other rows, or their moments, with the columns of the fit; raise a ValueError if they have others."""
        names = getattr(self, "feature_names_in_", column_names(None, self.n_features_in_))
        if isinstance(X, Moments):
            return read_table(X).reordered(names)
        if is_tensor(X):
            if X.shape[1] != self.n_features_in_:
                raise other_width(X.shape[1], self.n_features_in_)
        elif is_table(X):
            values, found = rows_and_names(X)  # a graph with a likelihood has only numbers
            validate_data(self, X, reset=False, skip_check_array=True)
            X = CodedTable(Coding.numeric(found), values)
        elif not isinstance(X, str | Path):
            validate_data(self, real_matrix(X), reset=False, ensure_all_finite=False, ensure_min_samples=2)
        table = read_table(X, missing=getattr(self, "missing", "error"))
        require_numbers(table.moments())
        return table.aligned(names)

    def _forget(self) -> None:
        """Delete the fitted attributes, which end in an underscore; `fit` begins with this.

        So a fit that fails leaves nothing of an earlier one, which would not agree with what this one has set.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)


def numpy_rows(rows: Array) -> Matrix:
    """Return rows as floats in NumPy."""
    return np.asarray(to_numpy(rows), dtype=float)


def table_knowledge(knowledge: KnowledgeLike, table: Table) -> Knowledge:
    """Return knowledge as masks for the columns of a table; nothing causes the past.

    What is known about variables holds at every lag, unless a lag is named, such as `x@1`.
    """
    series, known = table.series, as_knowledge(knowledge)
    if series is None or not series.lags:
        return read_knowledge(known, table.names)
    if isinstance(known, Knowledge) and len(known.forbidden) == len(series.variables):
        known = known.by_name(series.variables)
    if isinstance(known, NamedKnowledge):
        known = known.at_lags(series)
    found = read_knowledge(known, table.names)
    if len(wrong := np.argwhere(found.required & np.isin(np.arange(table.d), table.past))):
        i, j = wrong[0]
        raise ValueError(f"The required edge {table.names[i]!r} -> {table.names[j]!r} points into the past. Remove it.")
    forbidden = found.forbidden.copy()
    forbidden[:, table.past] = True
    return Knowledge(forbidden, found.required)


def read_knowledge(knowledge: KnowledgeLike, names: Sequence[str]) -> Knowledge:
    """Return knowledge as masks for columns of these names; raise a ValueError if it does not fit them."""
    d, knowledge = len(names), as_knowledge(knowledge)
    if knowledge is None:
        return Knowledge.of(d)
    if isinstance(knowledge, NamedKnowledge):
        return knowledge.resolve(names)
    if not isinstance(knowledge, Knowledge):
        raise ValueError(
            f"knowledge must be a dictionary, Knowledge(...), Knowledge.read(file) or Knowledge.of({d}, ...); got "
            f"{type(knowledge).__name__}."
        )
    require_shape(knowledge.forbidden, d, "the knowledge masks")
    return knowledge


def check_knowledge(knowledge: KnowledgeLike, names: Sequence[str]) -> None:
    """Raise the errors of `read_knowledge` without building masks, before a long pass over the rows."""
    if isinstance(knowledge := as_knowledge(knowledge), NamedKnowledge):
        knowledge.require_columns(names)
    elif knowledge is not None:
        read_knowledge(knowledge, names)


def require_shape(array: np.ndarray[Any, Any], d: int, what: str) -> None:
    """Raise a ValueError if a matrix does not have shape (d, d)."""
    if array.shape != (d, d):
        raise ValueError(
            f"{what.capitalize()} must have shape ({d}, {d}), one row and column per variable; got {array.shape}."
        )
