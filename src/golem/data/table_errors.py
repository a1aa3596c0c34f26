"""Errors in tables: what is wrong, in which columns and rows, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from golem.runtime.messages import counted, quoted, shortened, typed_names
from golem.runtime.types import Matrix

# More names are not listed in a message.
_MOST_TYPED = 50
TOO_LARGE = "Values beyond 1e150 have no finite variance in floating point. Rescale the columns."


class NotNumericError(ValueError):
    """Columns that are not numeric, and may be categories."""

    columns: tuple[str, ...] = ()


def not_numeric(found: Mapping[str, str], columns: int, remedy: str = "") -> NotNumericError:
    """Return the error for columns that are not numeric; `found` describes what each of them contains."""
    verb = "is" if len(found) == 1 else "are"
    listed = shortened([f"{name!r} ({content})" for name, content in found.items()])
    error = NotNumericError(
        f"{len(found)} of {columns} columns {verb} not numeric: {listed}. {remedy or encode_or_drop(list(found))}"
    )
    error.columns = tuple(found)
    return error


def encode_or_drop(names: Sequence[str]) -> str:
    """Return what to do about columns of text."""
    if len(names) > _MOST_TYPED:
        return "Encode them as numbers, or name the numeric columns with --columns"
    which = "it" if len(names) == 1 else "them"
    return f"Encode {which} as numbers, or drop {which}: --drop {typed_names(names)}"


def constant(names: Sequence[str]) -> ValueError:
    """Return the error for columns without variance."""
    return ValueError(f"Constant columns: {quoted(names)}. Drop them: --drop {typed_names(names)}")


def too_few_rows(n: int, dropped: int = 0) -> ValueError:
    """Return the error for a table with fewer than two rows, perhaps after incomplete rows were dropped."""
    reason = f" after dropping {counted(dropped, 'row')} with missing values. Try missing='em'" if dropped else ""
    return ValueError(f"A table needs at least 2 rows; got n_samples = {n}{reason}.")


def other_width(columns: int, fitted: int) -> ValueError:
    """Return the error for data with another number of columns than the model."""
    return ValueError(f"The data have {columns} columns, but the model was fitted to {fitted}.")


def row_number(row: int) -> str:
    """Describe a row of a table in memory, counted from 1."""
    return f"row {row + 1}"


def require_finite(
    X: Matrix,
    names: Sequence[str],
    place: Callable[[int], str] = row_number,
    markers: Mapping[str, Mapping[str, int]] | None = None,
) -> None:
    """Raise a ValueError if values are infinite or NaN; it counts them per column and gives the place of the first.

    `markers` has the number of missing cells per column and marker, for those that are written in an unusual way.
    """
    if np.isfinite(X).all():
        return
    infinite = np.isinf(X)
    if infinite.any():
        what, wrong, remedy = "Infinite values (inf)", infinite, "Remove those rows or replace the values."
    else:
        what, wrong = "Missing values (NaN)", np.isnan(X)
        remedy = "Drop those rows (missing='drop'), use Gaussian EM (missing='em'), or impute the values first."
    found, unusual = [], {} if markers is None else markers
    for name, count in zip(names, wrong.sum(axis=0), strict=True):
        written = f", written {quoted(sorted(unusual[name]))}" if name in unusual else ""
        found += [f"{name!r} ({count}{written})"] if count else []
    empty = [name for name, column in zip(names, wrong.T, strict=True) if column.all()]
    if empty:
        remedy = f"Drop columns without values (--drop {typed_names(empty)}). For others: {remedy}"
    first = place(int(wrong.any(axis=1).argmax()))
    raise ValueError(
        f"{what} in {len(found)} of {len(names)} columns: {shortened(found)}. The first is in {first}. {remedy}"
    )
