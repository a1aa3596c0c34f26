"""Errors in tables: what is wrong, in which columns and rows, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Declare, Drop, Problem, ProblemError, Remedy, Set, Text
from golem.runtime.types import Matrix

# More names are not listed in a message.
_MOST_TYPED = 50
TOO_LARGE = "Values beyond 1e150 have no finite variance in floating point. Rescale the columns."


class NotNumericError(ProblemError):
    """Columns that are not numeric, and may be categories; `columns` are those to read again.

    `contents` describes columns of text, `among_numbers` the text in columns of numbers. `whole_numbers` are the
    columns in which all numbers are whole.
    """

    columns: tuple[str, ...] = ()
    contents: Mapping[str, str] = MappingProxyType({})
    among_numbers: Mapping[str, str] = MappingProxyType({})
    whole_numbers: tuple[str, ...] = ()

    def among_chosen(self, numeric: Collection[str]) -> NotNumericError:
        """Return the error for text in columns of files that the user has declared as numbers, if that is it."""
        if not self.contents or not set(self.contents) <= set(numeric):
            return self
        one = len(self.contents) == 1
        name, content = next(iter(self.contents.items()))
        what = (
            f"Column {name!r} contains text ({content})" if one else f"Columns {_described(self.contents)} contain text"
        )
        instead = "column as a category" if one else "columns as categories"
        chosen = Set("numeric", list(self.contents))
        return self._reworded(f"{what}, so ", chosen, f" cannot be used. Leave it out to use the {instead}.")

    def or_categories(self, numeric: Collection[str] = ()) -> NotNumericError:
        """Return the error with the advice to declare columns of whole numbers as categories, except numeric ones."""
        names = [name for name in self.whole_numbers if name not in numeric]
        if not names:
            return self
        are = "is a category" if len(names) == 1 else "are categories"
        error = self._reworded(self.text, f" If {quoted(names)} {are}, use ", Declare(names), ".")
        error.columns, error.among_numbers = self.columns, self.among_numbers
        return error

    def _reworded(self, *parts: str | Remedy) -> NotNumericError:
        """Return the error about the same place with another message."""
        error = NotNumericError(*parts, problems=self.problems)
        error.place = self.place
        error.tell(self.text.dialect)
        return error


class MissingValuesError(ProblemError):
    """Missing values in a table without a treatment of them that works."""


def not_numeric(
    found: Mapping[str, str], columns: int, remedy: str = "", among_numbers: bool = False
) -> NotNumericError:
    """Return the error for columns that are not numeric; `found` describes what each of them contains.

    `among_numbers` says that all these columns also contain numbers.
    """
    if among_numbers and len(found) == 1:
        name, content = next(iter(found.items()))
        what = f"Column {name!r} is numeric except for {content}."
    else:
        verb = "contain numbers and text" if among_numbers else f"{'is' if len(found) == 1 else 'are'} not numeric"
        what = f"{len(found)} of {columns} columns {verb}: {_described(found)}."
    advice = remedy or encode_or_drop(list(found))
    error = NotNumericError(what, " ", advice, problems=[Problem("text", tuple(found), what, advice)])
    error.columns = tuple(found)
    error.among_numbers = found if among_numbers else {}
    return error


def _described(found: Mapping[str, str]) -> str:
    return shortened([f"{name!r} ({content})" for name, content in found.items()])


def encode_or_drop(names: Sequence[str]) -> str:
    """Return what to do about columns of text."""
    if len(names) > _MOST_TYPED:
        return "Encode them as numbers, or use only the numeric columns."
    which = "it" if len(names) == 1 else "them"
    return Text(f"Encode {which} as numbers, or drop {which}: ", Drop(names), ".")


def no_values(names: Sequence[str]) -> str:
    """Say which columns are empty."""
    return f"Column {quoted(names)} has no values." if len(names) == 1 else f"Columns {quoted(names)} have no values."


def empty_columns(names: Sequence[str]) -> MissingValuesError:
    """Return the error for columns without values."""
    what, drop = no_values(names), Text(f"Drop {'it' if len(names) == 1 else 'them'}: ", Drop(names), ".")
    return MissingValuesError(what, " ", drop, problems=[Problem("empty", tuple(names), what, drop)])


def too_few_rows(
    n: int, dropped: int = 0, em: bool = True, least: int = 3, columns: int = 0, got: str = ""
) -> ValueError:
    """Return the error for a table with few rows, perhaps after incomplete rows were dropped.

    `em` says whether to advise Gaussian EM. `least` is how many rows so many columns need, and `got` describes n.
    """
    few = "Impute the values first, or drop columns with many missing values."
    instead = Text("Try ", Set("missing", "em"), ".") if em else few
    if not got:
        got = counted(n, "row") if n != 1 else "1 row (n_samples = 1)"  # scikit-learn's word, for its checks
    got += f" after dropping {counted(dropped, 'row')} with missing values" if dropped else ""
    enough = f"{least} rows for {counted(columns, 'column')}" if columns else f"{least} rows"
    what = f"golem needs at least {enough} (10 per column is better); got {got}."
    what += " With fewer rows, columns of pure noise would give edges." if columns else ""
    if not dropped:
        return ValueError(what)
    return MissingValuesError(what, " ", instead, problems=[Problem("missing", (), what, instead)])


def too_few_columns(names: Sequence[str]) -> ValueError:
    """Return the error for a table with fewer than two columns."""
    got = f"{quoted(names)} (n_features = 1)" if names else "none"  # scikit-learn's word, for its checks
    return ValueError(f"golem needs at least 2 columns; got {got}.")


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
    em: bool = True,
) -> None:
    """Raise a ValueError if values are infinite or NaN; it counts them per column and gives the place of the first.

    `markers` has the number of missing cells per column and marker, for those that are written in an unusual way.
    `em` says that Gaussian EM can estimate the missing values, as in tables with numbers.
    """
    if np.isfinite(X).all():
        return
    infinite = np.isinf(X)
    wrong = infinite if infinite.any() else np.isnan(X)
    found: dict[str, str] = {}
    unusual = {} if markers is None else markers
    for name, count in zip(names, wrong.sum(axis=0), strict=True):
        written = f", written {quoted(sorted(unusual[name]))}" if name in unusual else ""
        found |= {name: f"{name!r} ({counted(count, 'value')}{written})"} if count else {}
    first = place(int(wrong.any(axis=1).argmax()))
    listed = f"in {len(found)} of {len(names)} columns: {shortened(list(found.values()))}. The first is in {first}."
    levels = sorted({cell for cells in unusual.values() for cell in cells if cell.lower() == "none"})
    rename = f"If {quoted(levels)} is a value, rename it in the file." if levels else ""
    if infinite.any():
        advice = "Remove those rows or replace the values."
        raise ValueError(" ".join([f"Infinite values (inf) {listed}", advice, *([rename] if rename else [])]))
    by_em = Text.of(", use Gaussian EM ({missing='em'}),") if em else ""
    remedy = Text.of("Drop those rows ({missing='drop'}){by_em} or impute the values first.", by_em=by_em)
    if empty := [name for name, column in zip(names, wrong.T, strict=True) if column.all()]:
        if len(empty) == len(found):
            raise empty_columns(empty)
        remedy = Text(empty_columns(empty).text, " For the others: ", remedy)
    what, remedy = f"Missing values (NaN) {listed}", Text.of_sentences([remedy, rename])
    raise MissingValuesError(what, " ", remedy, problems=[Problem("missing", tuple(found), what, remedy)])
