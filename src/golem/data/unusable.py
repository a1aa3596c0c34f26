"""Columns from which no graph can be learned: identifiers, dates, constants, copies, linear combinations of others.

The fast checks are in `golem.data.checks`. If one of them fails, `unusable_columns` finds all such columns at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from golem.data.collinearity import COPY, LARGEST_SHARE, SOME, most_determined, rounding_share_of
from golem.data.table_errors import no_values
from golem.data.variables import Coding, Variable
from golem.runtime.messages import counted, quoted, shortened, shown
from golem.runtime.names import positions
from golem.runtime.problems import DROP_DEPENDENT, Drop, Kind, Problem, ProblemError, Text
from golem.runtime.types import Matrix, Vector

if TYPE_CHECKING:
    from golem.data.moments import Moments

_CONSTANT = 1e-14
# Squares of smaller numbers vanish.
_TINY = 1e-150
_ROUNDING = 1e-9
_USED = 1e-6
# A column called id, patient_id, caseID, row or index identifies rows if it has more whole numbers than this.
_ID = re.compile(r"(?i:(.*[\W_])?id|index|(row|case|record|subject|patient)[\W_]?(no|nr|number|names?)?)|.*[a-z]I[Dd]")
_MANY_NUMBERS = 20
_FEWEST_ROWS = 10
# Most sentences about identifiers and dates in one message.
_MOST_SENTENCES = 4


@dataclass(frozen=True)
class Unusable(Problem):
    """A column that cannot be used, and the columns that determine it; one that is constant or empty has none.

    The kinds are "empty", "constant", "digits" (the first 14 are constant), "tiny" (numbers), "copy", "combination",
    "id" (numbers that identify rows), "missing" (too few values), "text" (identifiers and other texts), "date" and
    "category" (with one level and missing values). Some have a sentence and advice on how to keep the column, the last
    three also the number of rows per value.
    """

    determined_by: tuple[str, ...] = ()
    values: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def determined(cls, name: str, by: Sequence[str]) -> Unusable:
        """Describe a column that others determine; without others it is constant."""
        kind: Kind = "combination" if len(by) > 1 else "copy" if by else "constant"
        return cls(kind, (name,), determined_by=tuple(by))

    @classmethod
    def constant(cls, name: str, value: float) -> Unusable:
        """Describe a column of one value; the last digits of large numbers, and tiny numbers, may differ."""
        if 0 < abs(value) < _TINY:
            sentence = f"The numbers of column {name!r} are below {_TINY:g}: their squares vanish in floating point."
            return cls("tiny", (name,), sentence, "use larger units")
        if abs(value) * _CONSTANT < 1:
            return cls("constant", (name,))
        sentence = f"Column {name!r} is constant in the first 14 digits of its numbers, which are all that golem uses."
        return cls("digits", (name,), sentence, "subtract a number of this size before golem reads it")

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.columns[0]

    @property
    def reason(self) -> str:
        """Why the column cannot be used, in a few words."""
        return f"{_REASONS[self.kind]}{f' of {quoted(self.determined_by, 3)}' if self.determined_by else ''}"


_REASONS: Mapping[Kind, str] = {
    "empty": "no values",
    "constant": "constant",
    "digits": "constant in the first 14 digits",
    "tiny": "tiny numbers",
    "copy": "copy",
    "combination": "linear combination",
    "id": "identifies rows",
    "missing": "too many missing values",
    "text": "text with too many values, or text among numbers",
    "date": "dates or times",
    "category": "one level and missing values",
}


class UnusableColumnsError(ProblemError):
    """Columns from which no graph can be learned, and what to do if they mark experiments."""

    problems: tuple[Unusable, ...]
    about_experiments: str = ""


def reasons(columns: Sequence[Unusable]) -> str:
    """Return the names of columns and why they cannot be used, on a line."""
    kinds = dict.fromkeys(column.kind for column in columns)
    names = {kind: [column.name for column in columns if column.kind == kind] for kind in kinds}
    return ", ".join(f"{quoted(names[kind], 3)} ({_REASONS[kind]})" for kind in kinds)


def is_constant(moments: Moments) -> NDArray[np.bool_]:
    """Return which columns have no variance, shape (d,)."""
    # Rounding leaves a constant column of size c with a variance of about (1e-16 c)^2.
    return moments.variances <= np.maximum(_CONSTANT**2 * moments.mean**2, _TINY**2)


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
    if not moments.has_scatter:
        return [Unusable.constant(moments.names[j], moments.mean[j]) for j in np.flatnonzero(flat)]
    varying = np.nonzero(~flat)[0]
    scale = np.sqrt(moments.variances[varying])
    R = moments.covariance[np.ix_(varying, varying)] / np.outer(scale, scale)
    found = _copies(R)
    if len(R) and moments.n > len(R) - len(found):
        found = _dependent(R)
    names = [moments.names[j] for j in varying]
    reasons = {moments.names[j]: Unusable.constant(moments.names[j], moments.mean[j]) for j in np.nonzero(flat)[0]}
    reasons |= {names[j]: Unusable.determined(names[j], [names[k] for k in basis]) for j, basis in found.items()}
    return [reasons[name] for name in moments.names if name in reasons]


def unusable_in_rows(X: Matrix, names: tuple[str, ...]) -> list[Unusable]:
    """Return the columns to drop from rows with missing values (NaN), so that EM can estimate their covariances.

    Linear combinations are found in the complete rows, if there are more of them than columns.
    """
    from golem.data.moments import Moments

    absent = np.isnan(X)
    lowest, highest = np.where(absent, np.inf, X).min(axis=0), np.where(absent, -np.inf, X).max(axis=0)
    flat = lowest >= highest
    empty = np.asarray(absent.all(axis=0))
    found = {
        names[j]: Unusable("empty", (names[j],)) if empty[j] else Unusable.constant(names[j], lowest[j])
        for j in np.nonzero(flat)[0]
    }
    varying = np.nonzero(~flat)[0]
    complete = X[~absent[:, varying].any(axis=1)][:, varying]
    if len(complete) > len(varying):
        among = unusable_columns(Moments.from_rows(complete, [names[j] for j in varying]))
        found |= {column.name: column for column in among if column.determined_by}
    return [found[name] for name in names if name in found]


def numbers_rows(column: Vector) -> bool:
    """Return whether a column has equally spaced values, each of which occurs once."""
    if len(column) < _FEWEST_ROWS:
        return False
    steps = np.diff(np.sort(column))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0))


def identifying(rows: Matrix, coding: Coding, kept: Collection[str] = ()) -> list[Unusable]:
    """Return the columns of numbers that identify rows, except those to keep.

    These count the rows from 0 or 1, or are called id or similar and contain many whole numbers.

    Examples
    --------
    >>> rows = np.column_stack([np.arange(1.0, 31), np.arange(30.0) ** 2 % 101, np.arange(30.0) + 1970])
    >>> [column.name for column in identifying(rows, Coding.numeric(["x", "subject_id", "year"]))]
    ['x', 'subject_id']
    """
    found = []
    for name, levels, column in zip(coding.names, coding.levels, rows.T, strict=True):
        values = column[np.isfinite(column)]
        if name in kept or levels or not len(values) or (values % 1).any():
            continue
        counts = values.min() in (0, 1) and values.max() < len(column) + 1 and numbers_rows(values)
        if counts or (_ID.fullmatch(name) and len(np.unique(values)) > _MANY_NUMBERS):
            found.append(Unusable("id", (name,)))
    return found


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
        error = np.finfo(float).eps * min((1 + np.abs(weights).sum()) ** 2, SOME * (1 + weights @ weights))
        if error >= LARGEST_SHARE * rest:
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


def without_levels(coding: Coding, present: Mapping[str, int] = MappingProxyType({})) -> list[Unusable]:
    """Return the categories with one level or none; `present` has the number of values of columns with gaps."""
    flat = [variable for variable in coding.variables if variable.is_category and len(variable.levels) < 2]
    return [
        _only_level(variable.name, variable.levels[0], present[variable.name])
        if variable.levels and variable.name in present
        else Unusable("constant" if variable.levels else "empty", (variable.name,))
        for variable in flat
    ]


def _only_level(name: str, level: str, rows: int) -> Unusable:
    """Describe a category with one level and missing values."""
    sentence = f"Column {name!r} has only one level, {shown(level)}, and missing values."
    advice = "write 'no' or similar into its empty cells, if that is what they mean"
    return Unusable("category", (name,), sentence, advice, values={level: rows})


def with_determined(found: Sequence[Unusable], moments: Moments, names: Sequence[str]) -> list[Unusable]:
    """Add the variables that others wholly determine, of which categories do not prevent a fit; in order of the names.

    Of variables that determine each other, the first ones are kept. A variable that earlier ones determine only in
    part, such as a city after its country, can determine these; this is seen in the opposite order.
    """
    found = list(found)
    if moments.coding.is_numeric:
        return found
    for step in (1, -1):
        dropped = {column.name for column in found}
        left = [name for name in moments.coding.names if name not in dropped][::step]
        columns = unusable_columns(moments.selected(left)) if left else []
        found += _wholly_determined(columns, moments.coding)
    return _in_order(found, names)


def _wholly_determined(columns: Sequence[Unusable], coding: Coding) -> list[Unusable]:
    """Return the variables all of whose columns of a covariance are determined, and the variables that do so."""
    owner = {name: variable for variable in coding.variables for name in variable.column_names}
    own: dict[Variable, list[Unusable]] = {}
    for column in columns:
        own.setdefault(owner[column.name], []).append(column)
    found = []
    for variable, some in own.items():
        others = dict.fromkeys(owner[name].name for column in some for name in column.determined_by)
        by = tuple(name for name in others if name != variable.name)
        if by and len(some) == variable.columns:
            found.append(Unusable.determined(variable.name, by))
    return found


def unusable_in_table(rows: Matrix, coding: Coding) -> list[Unusable]:
    """Return the variables of coded rows to drop: categories with one level, and numbers that others determine."""
    names = [variable.name for variable in coding.variables if not variable.is_category]
    numbers = unusable_in_rows(rows[:, positions(names, coding.names)], tuple(names)) if names and len(rows) else []
    present = (~np.isnan(rows)).sum(axis=0)
    gaps = {name: int(count) for name, count in zip(coding.names, present, strict=True) if count < len(rows)}
    return _in_order([*without_levels(coding, gaps), *numbers], coding.names)


def dependent_in_table(rows: Matrix, coding: Coding) -> list[Unusable]:
    """Return the variables of coded rows to drop, and those that others wholly determine in the complete rows."""
    from golem.data.moments import Moments

    found = unusable_in_table(rows, coding)
    dropped = {column.name for column in found}
    names = [name for name in coding.names if name not in dropped]
    rest, own = coding.selected(names), rows[:, positions(names, coding.names)]
    complete = own[~np.isnan(own).any(axis=1)]
    if rest.is_numeric or len(complete) <= rest.first[-1]:  # in few rows, others determine every variable
        return found
    moments = Moments.from_rows(rest.expand(complete), rest.column_names)
    return with_determined(found, replace(moments, coding=rest), coding.names)


def unusable_variables(moments: Moments) -> list[Unusable]:
    """Return the variables to drop: categories with one level, and numbers that other numbers determine.

    A category can be determined by others, because its score is bounded.
    """
    names = [variable.name for variable in moments.coding.variables if not variable.is_category]
    numbers = unusable_columns(moments.selected(names)) if names else []
    known = moments.missing
    gaps = {} if known is None else {name: known.rows_read - count for name, count in known.columns.items()}
    return _in_order([*without_levels(moments.coding, gaps), *numbers], moments.coding.names)


def _in_order(found: Sequence[Unusable], names: Sequence[str]) -> list[Unusable]:
    return sorted(found, key=lambda column: names.index(column.name))


def require_variables(moments: Moments) -> None:
    """Raise a ValueError for categories with one level and constant numbers; it names all columns to drop."""
    coding = moments.coding
    numbers = coding.first[:-1][coding.levels == 0]  # a level may occur only where an experiment sets it
    if is_constant(moments)[numbers].any() or without_levels(coding):
        raise unusable_error(unusable_variables(moments))


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
    return Text.of(
        "If {names} (0 or 1) mark experiments, such as treatments, they are not variables: write the experiment of "
        "each row into one column, and use {environment='experiment'} {targets='targets.json'} "
        "(docs/interventions.md shows how).",
        names=quoted(binary, 3),
    )


def unusable_error(found: Sequence[Unusable], binary: Sequence[str] = ()) -> UnusableColumnsError:
    """Return the error that lists all columns that cannot be used, and says how to drop them.

    `binary` are the columns of the table that contain only 0 and 1.
    """
    kinds = {column.kind for column in found}
    them = "them" if len(found) > 1 else "one" if "copy" in kinds else "it"
    reasons = [column for column in found if column.sentence]
    choose = ", or let golem choose: " if kinds & {"copy", "combination"} else ", or use "
    drop = Text(f"Drop {them}: ", Drop([column.name for column in found]))
    kept = [Text(f"To keep {column.name!r}, ", column.advice, ".") for column in reasons[:_MOST_SENTENCES]]
    advice = Text(drop, ".") if reasons else Text(drop, choose, DROP_DEPENDENT, ".")
    experiments = _about_experiments(found, binary)
    sentences = [unusable_sentence(found), advice, *kept, experiments]
    error = UnusableColumnsError(Text.of_sentences(sentences), problems=found)
    error.about_experiments = experiments
    return error


def unusable_sentence(columns: Sequence[Unusable]) -> str:
    """Say which columns cannot be used, and why."""

    def of_kind(kind: Kind) -> list[Unusable]:
        return [column for column in columns if column.kind == kind and not column.sentence]

    reasons = [column.sentence for column in columns if column.sentence]
    empty, constants = ([column.name for column in some] for some in (of_kind("empty"), of_kind("constant")))
    copies = [f"{column.determined_by[0]!r} and {column.name!r}" for column in of_kind("copy")]
    combined = of_kind("combination")
    parts, more = reasons[:_MOST_SENTENCES], len(reasons) - _MOST_SENTENCES
    parts += [f"{counted(more, 'more column')} cannot be used for the same reasons."] if more > 0 else []
    parts += [no_values(empty)] if empty else []
    if constants:
        one = len(constants) == 1
        parts.append(f"Column {constants[0]!r} is constant." if one else f"Constant columns: {quoted(constants)}.")
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
    return " ".join(parts)
