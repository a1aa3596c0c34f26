"""Columns from which no graph can be learned: identifiers, dates, constants, copies, linear combinations of others.

The fast checks are in `golem.data.checks`. If one of them fails, `unusable_columns` finds all such columns at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from golem.data.collinearity import COPY, LARGEST_SHARE, most_determined, rounding_share_of
from golem.data.table_errors import UnusableColumnsError, constant_sentence, drop_them, no_values
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.option_words import as_missing
from golem.runtime.types import Matrix, Vector

if TYPE_CHECKING:
    from golem.data.moments import Moments

_CONSTANT = 1e-14
_ROUNDING = 1e-9
_USED = 1e-6
# Most sentences about categories, identifiers and dates in one message.
_MOST_SENTENCES = 4


@dataclass(frozen=True)
class Unusable:
    """A column that cannot be used, and the columns that determine it; one that is constant or empty has none.

    Of a category, others may determine only some levels. Identifiers (texts), dates, and categories with one
    level and missing values have a `reason`, what to do to `keep` them, and the number of rows per value.
    """

    name: str
    determined_by: tuple[str, ...] = ()
    is_empty: bool = False
    is_category: bool = False
    levels: tuple[str, ...] = ()
    reason: str = ""
    keep: str = ""
    values: Mapping[str, int] = field(default_factory=dict)
    kind: Literal["text", "date", "category"] = "text"


def is_constant(moments: Moments) -> NDArray[np.bool_]:
    """Return which columns have no variance, shape (d,)."""
    # Rounding leaves a constant column of size c with a variance of about (1e-16 c)^2; below 1e-150 squares underflow.
    return moments.variances <= np.maximum(_CONSTANT**2 * moments.mean**2, 1e-300)


def unusable_columns(moments: Moments) -> list[Unusable]:
    """Return the columns to drop so that a graph can be learned from the others.

    Of columns that determine each other, the first ones are kept. With at most as many rows as columns, every column is
    a combination of others; then only constant columns and copies are returned.

    Examples
    --------
    >>> from golem.data.moments import Moments
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> table = np.column_stack([X, X.sum(axis=1), np.ones(50)])
    >>> [column.name for column in unusable_columns(Moments.from_rows(table, ["a", "b", "total", "one"]))]
    ['total', 'one']
    """
    flat = is_constant(moments)
    varying = np.nonzero(~flat)[0]
    scale = np.sqrt(moments.variances[varying])
    R = moments.covariance[np.ix_(varying, varying)] / np.outer(scale, scale)
    found = _copies(R)
    if len(R) and moments.n > len(R) - len(found):
        found = _dependent(R)
    names = [moments.names[j] for j in varying]
    reasons = {moments.names[j]: Unusable(moments.names[j]) for j in np.nonzero(flat)[0]}
    reasons |= {names[j]: Unusable(names[j], tuple(names[k] for k in basis)) for j, basis in found.items()}
    return [reasons[name] for name in moments.names if name in reasons]


def unusable_in_rows(X: Matrix, names: tuple[str, ...]) -> list[Unusable]:
    """Return the columns to drop from rows with missing values (NaN), so that EM can estimate their covariances.

    Linear combinations are found in the complete rows, if there are more of them than columns.
    """
    from golem.data.moments import Moments

    absent = np.isnan(X)
    lowest, highest = np.where(absent, np.inf, X).min(axis=0), np.where(absent, -np.inf, X).max(axis=0)
    flat = lowest >= highest
    found = {names[j]: Unusable(names[j], is_empty=bool(absent[:, j].all())) for j in np.nonzero(flat)[0]}
    varying = np.nonzero(~flat)[0]
    complete = X[~absent[:, varying].any(axis=1)][:, varying]
    if len(complete) > len(varying):
        among = unusable_columns(Moments.from_rows(complete, [names[j] for j in varying]))
        found |= {column.name: column for column in among if column.determined_by}
    return [found[name] for name in names if name in found]


def switches(moments: Moments) -> tuple[str, ...]:
    """Return the columns that contain only 0 and 1: these have the variance m (1 - m) for the mean m.

    Examples
    --------
    >>> from golem.data.moments import Moments
    >>> switches(Moments.from_rows(np.array([[0, 0.2], [1, 0.7], [1, 1.0]]), ["drug", "dose"]))
    ('drug',)
    """
    mean, variances = moments.mean, moments.variances
    found = (variances > 0) & (np.abs(variances - mean * (1 - mean)) <= _ROUNDING * variances)
    return tuple(moments.names[j] for j in np.flatnonzero(found))


def _about_experiments(found: Sequence[Unusable], binary: Sequence[str]) -> str:
    """Return what to do about columns of 0 and 1 that determine each other, as those of treatments do."""
    if not any(column.determined_by and {column.name, *column.determined_by} <= set(binary) for column in found):
        return ""
    return (
        f"If {quoted(binary, 3)} (0 or 1) mark experiments, such as treatments, they are not variables: write the "
        "experiment of each row into one column, and use environment='experiment' targets='targets.json' "
        "(docs/interventions.md shows how)."
    )


def unusable_error(found: Sequence[Unusable], binary: Sequence[str] = ()) -> UnusableColumnsError:
    """Return the error that lists all columns that cannot be used, and says how to drop them.

    `binary` are the columns of the table that contain only 0 and 1.
    """
    copies = any(len(column.determined_by) == 1 and not column.is_category for column in found)
    combined = any(len(column.determined_by) > 1 or column.is_category for column in found)
    them = "them" if len(found) > 1 else "one" if copies else "the column" if found[0].levels else "it"
    reasons = [column for column in found if column.reason]
    choose = None if reasons else "let golem choose:" if copies or combined else "use"
    remedy = drop_them([column.name for column in found], them, choose)
    kept = [f"To keep {column.name!r}, {column.keep}." for column in reasons[:_MOST_SENTENCES]]
    if levels := [(column.name, level) for column in found for level in column.levels]:
        remedy = f"If a level stands for missing values, use {as_missing(levels)}. Otherwise d{remedy[1:]}"
    experiments = _about_experiments(found, binary)
    error = UnusableColumnsError(" ".join([unusable_sentence(found), remedy, *kept, experiments]).rstrip())
    error.found = tuple(found)
    return error


def unusable_sentence(columns: Sequence[Unusable]) -> str:
    """Say which columns cannot be used, and why."""
    reasons = [column.reason for column in columns if column.reason]
    found = [column for column in columns if not column.reason]
    empty = [column.name for column in found if column.is_empty]
    constants = [column.name for column in found if not column.determined_by and not column.is_empty]
    numbers = [column for column in found if not column.is_category]
    copies = [f"{c.determined_by[0]!r} and {c.name!r}" for c in numbers if len(c.determined_by) == 1]
    combined = [column for column in numbers if len(column.determined_by) > 1]
    parts, more = reasons[:_MOST_SENTENCES], len(reasons) - _MOST_SENTENCES
    parts += [f"{counted(more, 'more column')} cannot be used for the same reasons."] if more > 0 else []
    parts += [no_values(empty)] if empty else []
    parts += [constant_sentence(constants)] if constants else []
    if len(copies) == 1:
        parts.append(f"Columns {copies[0]} are copies of each other, apart from units.")
    elif copies:
        parts.append(f"These columns are copies of each other, apart from units: {shortened(copies)}.")
    if len(combined) == 1:
        parts.append(f"Column {combined[0].name!r} is a linear combination of {quoted(combined[0].determined_by)}.")
    elif combined:
        listed = [f"{column.name!r} (of {quoted(column.determined_by, 3)})" for column in combined]
        parts.append(f"{len(combined)} columns are linear combinations of others: {shortened(listed, 3)}.")
    parts += ["This often happens when a table contains both a total and its parts."] if combined else []
    categories = [_category_sentence(column) for column in found if column.is_category and column.determined_by]
    return " ".join([*parts, *categories[:_MOST_SENTENCES]])


def _category_sentence(column: Unusable) -> str:
    """Say what determines a category, or some of its levels."""
    by = quoted(column.determined_by, 3)
    if not column.levels:
        return f"Category {column.name!r} is determined by {by}."
    one = len(column.levels) == 1
    return (
        f"{'Level' if one else 'Levels'} {quoted(column.levels, 3)} of {column.name!r} {'is' if one else 'are'} "
        f"determined by {by}."
    )


def _copies(R: Matrix) -> dict[int, tuple[int, ...]]:
    """Return the columns that are copies of earlier ones, with the first such column."""
    same = np.triu(np.abs(R) >= 1 - COPY, k=1)
    return {int(j): (int(same[:, j].argmax()),) for j in np.nonzero(same.any(axis=0))[0]}


def _dependent(R: Matrix) -> dict[int, tuple[int, ...]]:
    """Return the columns that are linear combinations of the columns kept, with those columns.

    One column after the other is added to a Cholesky factor unless what remains of it may be rounding error (see
    `golem.data.collinearity`). These errors grow in this order, so that the rest is checked again with pivots.
    """
    from scipy.linalg import solve_triangular

    found: dict[int, tuple[int, ...]] = {}
    kept: list[int] = []
    L = np.zeros_like(R)
    for j in range(len(R)):
        k = len(kept)
        row: Vector = solve_triangular(L[:k, :k], R[kept, j], lower=True, check_finite=False) if k else np.empty(0)
        rest = R[j, j] - row @ row
        weights = solve_triangular(L[:k, :k], row, lower=True, trans=1, check_finite=False) if k else row
        if np.finfo(float).eps * (1 + np.abs(weights).sum()) ** 2 >= LARGEST_SHARE * rest:
            used = np.abs(weights) > _USED * np.abs(weights).max()
            found[j] = tuple(kept[i] for i in np.nonzero(used)[0])
        else:
            L[k, :k], L[k, k] = row, np.sqrt(rest)
            kept.append(j)
    while len(kept) > 1 and rounding_share_of(R[np.ix_(kept, kept)]) >= LARGEST_SHARE:
        column, others, _ = most_determined(R[np.ix_(kept, kept)])
        found[kept[column]] = tuple(kept[k] for k in others)
        del kept[column]
    return found
