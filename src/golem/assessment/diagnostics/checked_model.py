"""What the checks look at: a fitted model, its table and the rows that are given with it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from golem.assessment.diagnostics.finding import Pair, Verdict, edge_texts
from golem.data.category_columns import read_coded
from golem.data.coded_tables import CodedTable
from golem.data.moments import Moments
from golem.data.normal_scores import normal_scores
from golem.data.table import Table
from golem.data.table_input import NotNumbersError, are_booleans, is_table
from golem.data.table_reading import read_table
from golem.data.variables import Coding
from golem.estimator.direction_check import fitted_series
from golem.estimator.golem import Golem
from golem.runtime.messages import quoted, shortened
from golem.runtime.names import positions
from golem.runtime.types import BoolMatrix, Indices, Matrix
from golem.score.regression import Regressions, regressions

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class CheckedModel:
    """A fitted model, and the rows to check it with. What several checks need is computed once, when it is needed.

    Parameters
    ----------
    model : Golem
        A fitted model.
    X : array or table, optional
        The rows that it was fitted to, or a sample of them; by default those that the model has kept, if any.
    refit : bool, optional
        Whether to fit again; by default if that takes little time.
    """

    model: Golem
    X: Any = None
    refit: bool | None = None
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[CheckedModel], Result]) -> Result:
        """Return what a function of the model returns, and keep it for other checks."""
        if compute not in self._known:
            self._known[compute] = compute(self)
        found: Result = self._known[compute]
        return found

    @property
    def table(self) -> Table:
        """The variables and environments."""
        return self.model.table_

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.table.names

    @property
    def moments(self) -> Moments:
        """The moments of all rows of the model."""
        return self.model.moments_

    @property
    def graph(self) -> BoolMatrix:
        """The edges, shape (d, d)."""
        return self.model.graph_.matrix()

    @property
    def links(self) -> BoolMatrix:
        """The edges without a direction, shape (d, d)."""
        self.model.check_if_kept()
        return self.model.graph_.matrix(self.model.graph_.undecided)

    def edge_texts(self, edges: Iterable[Sequence[int]]) -> list[str]:
        """Return edges as text: "'a' -> 'b'", or "'a' --- 'b'" for a link."""
        links = self.links
        return [edge_texts([(i, j)], self.names, "---" if links[i, j] else "->")[0] for i, j in edges]

    def named(self, edges: Iterable[Sequence[int]]) -> tuple[Pair, ...]:
        """Return edges by the names of their ends."""
        return tuple((self.names[i], self.names[j]) for i, j in edges)

    @functools.cached_property
    def is_linear(self) -> bool:
        """Whether every variable is a linear function of its parents plus noise; levels of categories are not."""
        return not np.isnan(self.model.graph_.residual_variances).any()

    @functools.cached_property
    def numbers(self) -> Indices:
        """The variables that are numbers."""
        return np.flatnonzero(self.table.coding.levels == 0)

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the variables that are numbers."""
        return tuple(self.names[j] for j in self.numbers)

    @functools.cached_property
    def given(self) -> CodedTable | None:
        """All rows at hand, with NaN for missing values; None for several environments and very many columns."""
        if self.table.environments or not self.moments.has_scatter:
            return None
        rows = self.model.kept_rows() if self.X is None else self._rows_of(self.X)
        return None if rows is None else CodedTable(self.table.coding, rows)

    def _rows_of(self, X: Any) -> Matrix:
        """Return the rows of a table as the model has them: of a series, its windows."""
        is_ready = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == self.table.d and not is_table(X)
        if self.table.series is None or is_ready:
            return rows_of_model(X, self.table.coding)
        missing = "drop" if self.model.missing == "error" else self.model.missing
        with warnings.catch_warnings(action="ignore"):
            found = read_table(X, missing=missing, names=self.names, series=fitted_series(self.model))
        return np.asarray(found.parts[0].read_rows(), dtype=float)

    @functools.cached_property
    def row_numbers(self) -> Indices:
        """The numbers of the given rows that are complete, from 0."""
        return np.zeros(0, dtype=np.intp) if self.given is None else complete_row_numbers(self.given.rows)

    @functools.cached_property
    def rows(self) -> Matrix | None:
        """Complete rows, of shape (n, d): all of them if the score counts them, otherwise those given; None for few."""
        given, counted = self.given, self.model.fit_.score.counted_rows
        if counted is not None:
            return np.asarray(counted)
        return None if given is None or len(self.row_numbers) < 2 else given.rows[self.row_numbers]

    @functools.cached_property
    def values(self) -> Matrix | None:
        """The numbers in the complete rows; None without rows or numbers."""
        if self.rows is None or not len(self.numbers):
            return None
        return self.rows if len(self.numbers) == self.table.d else self.rows[:, self.numbers]

    @property
    def learned_rows(self) -> Matrix | None:
        """The complete rows as the graph was learned from them: their normal scores if the moments are those."""
        rows = self.rows
        return normal_scores(rows, self.table.coding) if rows is not None and self.table.is_ranked else rows

    @functools.cached_property
    def residuals(self) -> Matrix | None:
        """The complete rows minus what the parents explain; None without rows, or if the model is not linear."""
        if self.rows is None or not self.is_linear:
            return None
        return residuals(self.rows - self.rows.mean(axis=0), regressions(self.graph, self.moments.covariance))


# Functions that look at one thing, and return nothing where it does not exist.
Check = Callable[[CheckedModel], Verdict | None]


def residuals(centred: Matrix, fit: Regressions) -> Matrix:
    """Return centred rows minus what the parents explain, X - X B, shape (n, d)."""
    from scipy.sparse import csr_array

    explain = csr_array((fit.weights, (fit.children, fit.causes)), shape=(centred.shape[1],) * 2)  # B'
    return np.asarray(centred - (explain @ centred.T).T)


def complete_row_numbers(rows: Matrix) -> Indices:
    """Return the numbers of the rows without missing values."""
    return np.flatnonzero(np.isfinite(rows).all(axis=1))


def rows_of_model(X: Any, coding: Coding) -> Matrix:
    """Return all rows of a table as coded rows with the columns and levels of a model, and NaN for missing values.

    The columns of a table are matched by name, those of an array by position. Floats are coded already.
    """
    try:
        table = read_coded(X)
    except NotNumbersError as error:
        raise ValueError(f"{error} To check a model without its rows, call diagnose(model).") from None
    own, rows, names = table.coding, np.asarray(table.rows), coding.names
    if is_table(X):
        if sorted(own.names) != sorted(names):
            raise ValueError(f"X has the columns {quoted(own.names)}, but the model has {quoted(names)}.")
        own, rows = own.selected(names), np.take(rows, positions(names, own.names), axis=1)
    elif rows.shape[1] != len(names):
        raise ValueError(f"X has {rows.shape[1]} columns, but the model has {len(names)}.")
    elif not are_booleans(X):
        return rows
    if own == coding:
        return rows
    _require_levels(CodedTable(own, rows).complete().coding, coding)
    return own.recoded(rows, coding)


def _require_levels(own: Coding, coding: Coding) -> None:
    """Raise a ValueError if a table has other types or levels than the model; both have the same columns."""
    unknown = []
    for variable, known in zip(own.variables, coding.variables, strict=True):
        if variable.kind != known.kind:
            here, there = (f"a {'category' if one.is_category else 'number'}" for one in (variable, known))
            raise ValueError(f"Column {known.name!r} is {here} in X, but {there} in the model. Convert it.")
        levels = [level for level in variable.levels if level not in known.levels]
        unknown += [f"{variable.name!r} ({quoted(levels, 4)})"] if levels else []
    if unknown:
        raise ValueError(
            f"X has levels that the model does not have: {shortened(unknown, 4)}. Spell them as in the fit; "
            "model.variables_ lists the levels."
        )
