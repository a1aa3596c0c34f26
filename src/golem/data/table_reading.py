"""Read a table in memory, of any kind, as a `Table`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from golem.data.coded_sample import read_categories
from golem.data.environment_input import Targets, is_interventional, read_environments_and_rows
from golem.data.inputs import read_data, reader_for
from golem.data.levels import warn_of_codes
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import are_shards, merged
from golem.data.table import Part, RowSource, Table
from golem.data.table_input import is_table
from golem.runtime.messages import quoted


def read_table(
    X: Any,
    *,
    environments: Any = None,
    targets: Targets | None = None,
    missing: MissingChoice = "error",
    rows: Any = None,
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
        Treatment of missing values.
    rows : array of shape (r, d), mapping from labels to such arrays, or a function that returns one, optional
        Rows of moments, or a sample of them.

    Raises
    ------
    ValueError
        If X is not a table from which golem can learn.
    """
    if isinstance(X, Table) and not X.parts[0].label and environments is None and targets is None:
        return X if rows is None else Table.single(X.parts[0].moments, _later(rows), X.is_named)
    if is_interventional(X, environments, targets):
        return _with_rows(_read_environments(X, environments, targets, missing), rows)
    if are_shards(X):
        return Table((Part("", merged(X), rows=_later(rows), shards=tuple(X)),))
    found = read_categories(X, missing)
    moments, own = read_data(reader_for(missing), X, incomplete=True) if found is None else found
    if own is not None and rows is not None:
        raise ValueError("X has rows of its own. Give rows only if X is Moments.")
    warn_of_codes(X, moments.coding)
    return Table.single(moments, _later(rows) if own is None else own, isinstance(X, Moments) or is_table(X))


def _later(rows: Any) -> RowSource:
    """Return rows that are not checked when a graph is learned: they were given with moments, for directions."""
    return rows if rows is None or callable(rows) else lambda: rows


def _read_environments(X: Any, environments: Any, targets: Targets | None, missing: MissingChoice) -> Table:
    """Return the table of several environments."""
    if isinstance(X, Table) and environments is None and targets is None:
        return X
    reader = reader_for(missing)
    found, rows = read_environments_and_rows(reader, X, environments, targets)
    return (
        _with_rows(found, rows) if hasattr(reader, "feature_names_in_") else Table(_with_rows(found, rows).parts, False)
    )


def _with_rows(table: Table, rows: Any) -> Table:
    """Return the environments of a table with their rows, a mapping from labels to rows or a function for it."""
    if rows is None:
        return table
    if any(part.rows is not None for part in table.parts):
        raise ValueError("X has rows of its own. Give rows only if X is Moments.")

    def of(label: str) -> RowSource:
        def read() -> Any:
            found = rows() if callable(rows) else rows
            if found is None:
                return None
            if not isinstance(found, Mapping) or sorted(found) != sorted(table.labels):
                labels = quoted(table.labels)
                raise ValueError(f"The rows of environments must be a dictionary with an array per label, {labels}.")
            return found[label]

        return read

    return Table(tuple(Part(p.label, p.moments, p.targets, of(p.label), p.shards) for p in table.parts), table.is_named)
