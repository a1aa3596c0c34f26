"""Variables of a table, numbers or categories, and their coding as columns of numbers.

A category with K levels is one node of the graph and K - 1 columns of a covariance: an indicator (0 or 1) per level
except the first. The first level is the reference, the most frequent one. Readers return *coded rows*: floats of shape
(n, d), with numbers as they are, categories as the position of the level, and NaN for missing values. `Coding` turns
coded rows into the columns of a covariance, or into integer codes for discrete scores.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.problems import Drop, ProblemError
from golem.runtime.types import Matrix, Vector

Kind = Literal["numeric", "category"]
Codes = NDArray[np.int16]
# Whole numbers may be codes of a category if there are at most so many different ones.
FEW_VALUES = 10
# A whole number with leading zeros, such as a postcode.
LEADING_ZEROS = re.compile(r"0[0-9]+")
# Codes are kept as 16-bit integers.
_MOST_LEVELS = 2**15


@dataclass(frozen=True)
class Variable:
    """One variable of a table.

    Parameters
    ----------
    name : str
        Its column.
    kind : {"numeric", "category"}
        A number, or one of a set of levels.
    levels : tuple of str
        The levels of a category. The first is the reference level, the others are sorted.

    Examples
    --------
    >>> Variable.of_counts("sex", {"M": 10, "I": 30, "F": 20})
    Variable(name='sex', kind='category', levels=('I', 'F', 'M'))
    """

    name: str
    kind: Kind = "numeric"
    levels: tuple[str, ...] = ()

    @classmethod
    def of_counts(cls, name: str, counts: Mapping[str, int]) -> Variable:
        """Return a category with the number of rows per level: the most frequent is the reference, ties go by name."""
        ordered = sorted(counts, key=_by_name)
        reference = max(ordered, key=counts.__getitem__, default=None)
        return cls(name, "category", tuple(sorted(ordered, key=lambda level: level != reference)))

    @property
    def is_category(self) -> bool:
        """Whether the variable is a category."""
        return self.kind == "category"

    @property
    def has_numbers(self) -> bool:
        """Whether all levels are numbers; "01" is none, so that it differs from "1"."""
        return all(_by_name(level)[0] == 0 and not LEADING_ZEROS.fullmatch(level) for level in self.levels)

    @property
    def columns(self) -> int:
        """Number of columns of a covariance: 1, or one less than the number of levels."""
        return len(self.levels) - 1 if self.is_category else 1

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of these columns: the name of the variable, or one such as `sex=M` per level but the reference."""
        return tuple(f"{self.name}={level}" for level in self.levels[1:]) if self.is_category else (self.name,)


def _by_name(level: str) -> tuple[int, float, str]:
    """Sort numbers by value, then texts; "nan" is a text, because no number is above or below it."""
    try:
        number = float(level)
    except ValueError:
        number = math.nan
    return (1, 0.0, level) if math.isnan(number) else (0, number, level)


@dataclass(frozen=True)
class Coding:
    """The variables of a table, in the order of its columns.

    Examples
    --------
    >>> coding = Coding((Variable("age"), Variable("sex", "category", ("F", "I", "M"))))
    >>> coding.first, coding.column_names
    (array([0, 1, 3]), ('age', 'sex=I', 'sex=M'))
    >>> coding.expand(np.array([[3.5, 0], [7.0, 2]]))
    array([[3.5, 0. , 0. ],
           [7. , 0. , 1. ]])
    """

    variables: tuple[Variable, ...]

    @classmethod
    def numeric(cls, names: Sequence[str]) -> Coding:
        """Return the coding of a table of numbers; for the same names, the same one."""
        return _numeric(tuple(names))

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @functools.cached_property
    def is_numeric(self) -> bool:
        """Whether all variables are numbers."""
        return not any(variable.is_category for variable in self.variables)

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories."""
        return tuple(variable.name for variable in self.variables if variable.is_category)

    @property
    def is_discrete(self) -> bool:
        """Whether all variables are categories."""
        return all(variable.is_category for variable in self.variables)

    @functools.cached_property
    def first(self) -> NDArray[np.intp]:
        """First column of each variable, and the number of columns at the end, shape (d + 1,)."""
        return np.cumsum([0, *(variable.columns for variable in self.variables)])

    @functools.cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of the covariance; raise a ValueError if two are equal."""
        names = [name for variable in self.variables for name in variable.column_names]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(
                f"The columns {quoted(twice)} exist twice: once in the table, once as a level of a category. Rename "
                "these columns."
            )
        return column_names(names, len(names))

    @property
    def levels(self) -> NDArray[np.intp]:
        """Number of levels of each variable, 0 for numbers, shape (d,)."""
        return np.array([len(variable.levels) for variable in self.variables], dtype=np.intp)

    def renamed(self, names: Sequence[str]) -> Coding:
        """Return the same variables with other names."""
        return Coding(tuple(replace(one, name=name) for one, name in zip(self.variables, names, strict=True)))

    def selected(self, names: Sequence[str]) -> Coding:
        """Return the coding of some of the variables, in the order of their names."""
        by_name = dict(zip(self.names, self.variables, strict=True))
        return Coding(tuple(by_name[name] for name in names))

    def with_levels(self, levels: Mapping[str, Sequence[str]]) -> Coding:
        """Return the same variables with other levels of some categories."""
        changed = {name: tuple(found) for name, found in levels.items()}
        return Coding(tuple(replace(v, levels=changed.get(v.name, v.levels)) for v in self.variables))

    def recoded(self, rows: Matrix, other: Coding) -> Matrix:
        """Return coded rows of this coding as those of one with other levels; NaN for levels that it lacks."""
        if self == other:
            return rows
        recoded = rows.copy()
        for j, (variable, new) in enumerate(zip(self.variables, other.variables, strict=True)):
            if variable.levels != new.levels:
                code = {level: float(k) for k, level in enumerate(new.levels)}
                table = np.array([*(code.get(level, np.nan) for level in variable.levels), np.nan])
                column = rows[:, j]
                recoded[:, j] = table[np.where(np.isnan(column), len(table) - 1, column).astype(np.intp)]
        return recoded

    def columns_of(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return the positions of the columns of some variables, in the order of their names."""
        where = {name: j for j, name in enumerate(self.names)}
        parts = [np.arange(self.first[where[name]], self.first[where[name] + 1]) for name in names]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def expand_columns(self, columns: Sequence[NDArray[Any]]) -> list[Vector]:
        """Return the columns of the covariance, given one column of coded rows per variable."""
        expanded: list[Vector] = []
        for variable, column in zip(self.variables, columns, strict=True):
            if not variable.is_category:
                expanded.append(column)
                continue
            absent = np.isnan(column)
            for code in range(1, len(variable.levels)):
                indicator = (column == code).astype(float)
                indicator[absent] = np.nan
                expanded.append(indicator)
        return expanded

    def expand(self, rows: Matrix) -> Matrix:
        """Return coded rows, shape (n, d), as columns of the covariance, shape (n, p); NaN stays NaN."""
        if self.is_numeric:
            return rows
        expanded = self.expand_columns(list(rows.T))
        return np.stack(expanded).T if expanded else np.empty((len(rows), 0))

    def codes(self, rows: Matrix) -> Codes:
        """Return coded rows of categories without missing values as integers from 0, shape (n, d).

        Raises
        ------
        ValueError
            If a variable is a number, or has too many levels for 16-bit integers.
        """
        numbers = [variable.name for variable in self.variables if not variable.is_category]
        if numbers:
            raise ValueError(f"Discrete scores need categories, but these columns are numbers: {quoted(numbers)}.")
        large = [variable.name for variable in self.variables if len(variable.levels) > _MOST_LEVELS]
        if large:
            what = f"Columns with more than {_MOST_LEVELS} levels: {quoted(large)}. Drop them ("
            raise ProblemError(what, Drop(large), "), or group their levels.")
        codes: Codes = rows.astype(np.int16, order="F")  # counts go through columns
        return codes


NO_VARIABLES = Coding(())


@functools.lru_cache(maxsize=16)
def _numeric(names: tuple[str, ...]) -> Coding:
    return Coding(tuple(map(Variable, names)))


def number_name(value: float) -> str:
    """Return the name of a level that is a number; the same for 1 and 1.0.

    Examples
    --------
    >>> number_name(1.0), number_name(0.5)
    ('1', '0.5')
    """
    return f"{value + 0.0:.15g}"


def number_levels(values: Vector) -> dict[str, int]:
    """Count the values of a column of numbers, except missing ones, as levels."""
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return {number_name(value): int(count) for value, count in zip(found.tolist(), counts, strict=True)}


def codes_of_numbers(values: Vector, levels: Sequence[str]) -> Vector:
    """Return the positions of numbers among levels that are numbers, in any notation; NaN if missing or not a level."""
    code = {number_name(float(level)): float(k) for k, level in enumerate(levels)}
    found, inverse = np.unique(values, return_inverse=True)
    return np.array([code.get(number_name(value), np.nan) for value in found.tolist()])[inverse]
