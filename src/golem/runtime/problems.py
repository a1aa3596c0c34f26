"""Problems that the user can fix: what is wrong, where, and what to do, as data that is written out for the reader.

A message is a `Text`: a str for users of pandas that knows its remedies, so that it can be told in another dialect.
"""

from __future__ import annotations

import ast
import functools
import inspect
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, Self, SupportsIndex, TypeVar

from golem.runtime.dialects import PANDAS, Dialect, dialect_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
# What is wrong: a setting, missing values, or a column that cannot be used.
Kind = Literal[
    "setting", "missing", "empty", "constant", "digits", "tiny", "copy", "combination", "id", "text", "date", "category"
]


class Remedy:
    """What a user can do about a problem, or a setting that a message names; each dialect writes it in its own way."""

    def _written(self, dialect: Dialect) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Drop(Remedy):
    """Drop columns."""

    columns: Sequence[str]

    def _written(self, dialect: Dialect) -> str:
        return dialect.drop(list(self.columns))


@dataclass(frozen=True)
class Declare(Remedy):
    """Turn columns into categories."""

    columns: Sequence[str]

    def _written(self, dialect: Dialect) -> str:
        return dialect.declare(list(self.columns))


@dataclass(frozen=True)
class MarkMissing(Remedy):
    """Turn values of columns into missing ones; `codes` has pairs of a column and a value, a number or a text."""

    codes: Sequence[tuple[str, str]]

    def _written(self, dialect: Dialect) -> str:
        own: dict[str, list[str]] = {}
        for name, code in self.codes:
            own.setdefault(name, []).append(code)
        return dialect.mark_missing(own)


@dataclass(frozen=True)
class Set(Remedy):
    """Set a parameter; dots stand for any value, or for any texts in a list.

    For a table in memory, `in_memory` is written instead, if only functions that read files have the parameter.
    """

    name: str
    value: Any = ...
    in_memory: str = ""

    def _written(self, dialect: Dialect) -> str:
        return dialect.set(self.name, self.value, self.in_memory)


@dataclass(frozen=True)
class Parameter(Remedy):
    """The name of a parameter."""

    name: str

    def _written(self, dialect: Dialect) -> str:
        return dialect.parameter(self.name)


@dataclass(frozen=True)
class Treat(Remedy):
    """Choose a treatment of missing values, and drop columns for it."""

    missing: Literal["drop", "em"]
    drop: Sequence[str] = ()

    def _written(self, dialect: Dialect) -> str:
        return dialect.treat(self.missing, list(self.drop))


@dataclass(frozen=True)
class KeepOne(Remedy):
    """Keep one of so many copies of each row; by default, one of all."""

    copies: int | None = None

    def _written(self, dialect: Dialect) -> str:
        return dialect.keep_one(self.copies)


class Bare(str):
    """A value of a parameter that is written without quotes, such as N or a rounded number."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


# Only functions that read files can choose the columns to drop, and a report of a table in memory needs its rows.
DROP_DEPENDENT = Set("drop_dependent", True, "golem.fit_file(..., drop_dependent=True)")
SCATTER_PLOTS = Set("scatter", True, "model.report('report.html', rows=X)")


class Text(str):
    """A message that consists of strings and remedies; the str is in one dialect, by default that of pandas.

    Examples
    --------
    >>> from golem.runtime.dialects import SHELL
    >>> text = Text.of("Drop it: {drop}, or use {missing='em'}.", drop=Drop(["age"]))
    >>> print(text)
    Drop it: X.drop(columns=['age']), or use missing='em'.
    >>> print(text.told(SHELL))
    Drop it: --drop age, or use --missing em.
    """

    parts: tuple[str | Remedy, ...]
    dialect: Dialect

    def __new__(cls, *parts: str | Remedy, dialect: Dialect = PANDAS) -> Text:
        """Join parts."""
        flat = tuple(piece for part in parts for piece in (part.parts if isinstance(part, Text) else (part,)))
        written = ""
        for part in flat:
            words = part if isinstance(part, str) else part._written(dialect)
            # Dots that stand for any value end the sentence as well.
            written += words[1:] if written.endswith("...") and words.startswith(".") else words
        self = super().__new__(cls, written)
        self.parts, self.dialect = flat, dialect
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return functools.partial(Text, dialect=self.dialect), self.parts

    @classmethod
    def of(cls, template: str, **values: object) -> Text:
        """Return a message whose template has settings in braces, and the names of values as in `str.format`.

        Examples
        --------
        >>> print(Text.of("{solver=} is not {solver='order'}; use {drop}.", solver="adam", drop=Drop(["a"])))
        solver='adam' is not solver='order'; use X.drop(columns=['a']).
        """
        parts: list[str | Remedy] = []
        for text, field, form, conversion in string.Formatter().parse(template):
            parts.append(text)
            name, is_setting, value = (field or "").partition("=")
            given = values[name] if field and not value else ""
            if is_setting:
                parts.append(Set(name, _literal(value) if value else given))
            elif isinstance(given, str | Remedy) and not conversion:
                parts.append(given)
            else:
                parts.append(format(repr(given) if conversion else given, form or ""))
        return cls(*parts)

    @classmethod
    def of_sentences(cls, sentences: Iterable[str]) -> Text:
        """Join sentences that are not empty."""
        parts = [part for sentence in sentences if sentence for part in (" ", sentence)]
        return cls(*parts[1:])

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What the message tells the user to do."""
        return tuple(part for part in self.parts if not isinstance(part, str))

    def told(self, dialect: Dialect) -> Text:
        """Return the message in another dialect."""
        return Text(*self.parts, dialect=dialect)


def _literal(value: str) -> Any:
    """Return a value that is written as in Python, or any other word as it is."""
    try:
        return ast.literal_eval(value)
    except ValueError:
        return Bare(value)


@dataclass(frozen=True)
class Problem:
    """Something wrong with columns of a table: of which kind, what it is, and advice about it."""

    kind: Kind
    columns: tuple[str, ...] = ()
    sentence: str = ""
    advice: str = ""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What the user can do about it."""
        return Text(self.sentence, self.advice).remedies


class ProblemError(ValueError):
    """An error that the user can fix; `problems` describe it, and `place` is the file in which they are."""

    place = ""
    problems: tuple[Problem, ...]

    def __init__(self, *parts: str | Remedy, problems: Sequence[Problem] = ()) -> None:
        is_text = len(parts) == 1 and isinstance(parts[0], Text)  # as for a copy, in its dialect
        super().__init__(parts[0] if is_text else Text(*parts))
        self.problems = tuple(problems) or (Problem("setting", (), self.text),)

    @classmethod
    def of(cls, template: str, **values: object) -> Self:
        """Return the error with a message as `Text.of` has it."""
        return cls(Text.of(template, **values))

    @property
    def text(self) -> Text:
        """The message, without the place."""
        text: Text = self.args[0]
        return text

    def tell(self, dialect: Dialect) -> None:
        """Use another dialect from now on."""
        self.args = (self.text.told(dialect),)

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else str(self.text)


def placed(error: Exception, place: str, dialect: Dialect | None = None) -> ValueError:
    """Return an error that begins with a place, in the dialect for it."""
    if not isinstance(error, ProblemError):
        return ValueError(f"{place}: {error}")
    error.place = f"{place}: {error.place}" if error.place else place
    if dialect is not None:
        error.tell(dialect)
    return error


def message_of(error: BaseException | str) -> str:
    """Return the message of an error or a warning, with its place, so that it can be told in another dialect."""
    if isinstance(error, ProblemError):
        return Text(f"{error.place}: ", error.text, dialect=error.text.dialect) if error.place else error.text
    first = error.args[0] if isinstance(error, BaseException) and error.args else None
    return first if isinstance(first, Text) else str(error)


def told(message: BaseException | str, dialect: Dialect) -> str:
    """Return a message, or that of an error or a warning, in a dialect."""
    text = message if isinstance(message, str) else message_of(message)
    return text.told(dialect) if isinstance(text, Text) else text


def names_remedies(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the errors of a function name remedies for the library of its table, the parameter X, data or table."""
    known = list(inspect.signature(function).parameters)
    name = next(name for name in known if name in ("X", "data", "table"))
    place = known.index(name)

    @functools.wraps(function)
    def worded(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return function(*args, **options)
        except ProblemError as error:
            error.tell(dialect_of(options[name] if name in options else args[place]))
            raise

    return worded
