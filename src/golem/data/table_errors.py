"""Errors in tables: what is wrong, in which columns and rows, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.option_words import dropping, setting
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from golem.data.unusable import Unusable

# More names are not listed in a message.
_MOST_TYPED = 50
TOO_LARGE = "Values beyond 1e150 have no finite variance in floating point. Rescale the columns."


class NotNumericError(ValueError):
    """Columns that are not numeric, and may be categories.

    `text` describes the contents of columns of text, `among_numbers` the text in columns of numbers. `whole_numbers`
    are the columns in which all numbers are whole, and `sentence` is the message without the name of the file.
    """

    columns: tuple[str, ...] = ()
    text: Mapping[str, str] = MappingProxyType({})
    among_numbers: Mapping[str, str] = MappingProxyType({})
    whole_numbers: tuple[str, ...] = ()
    sentence: str = ""

    def among_chosen(self, numeric: Collection[str]) -> NotNumericError:
        """Return the error for text in columns of files that the user has declared as numbers, if that is it."""
        if not self.text or not set(self.text) <= set(numeric):
            return self
        file = str(self).removesuffix(self.sentence)
        option = f"{setting('numeric', list(self.text))} cannot be used. Leave it out to use the"
        if len(self.text) == 1:
            name, content = next(iter(self.text.items()))
            return NotNumericError(
                f"{file}Column {name!r} contains text ({content}), so {option} column as a category."
            )
        return NotNumericError(
            f"{file}Columns {_described(self.text)} contain text, so {option} columns as categories."
        )

    def or_categories(self, declared: Callable[[Sequence[str]], str], numeric: Collection[str] = ()) -> NotNumericError:
        """Return the error with the advice to declare columns of whole numbers as categories, unless they are numeric.

        `declared` returns how to do that, given the columns.
        """
        names = [name for name in self.whole_numbers if name not in numeric]
        if not names:
            return self
        are = "is a category" if len(names) == 1 else "are categories"
        error = NotNumericError(f"{self} If {quoted(names)} {are}, use {declared(names)}.")
        error.columns, error.among_numbers = self.columns, self.among_numbers
        return error


class MissingValuesError(ValueError):
    """Missing values in a table without a treatment of them that works; `what` is the message without a remedy."""

    what: str = ""


class UnusableColumnsError(ValueError):
    """Columns from which no graph can be learned; `found` describes them."""

    found: tuple[Unusable, ...] = ()


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
    sentence = f"{what} {remedy or encode_or_drop(list(found))}"
    error = NotNumericError(sentence)
    error.columns, error.sentence = tuple(found), sentence
    error.among_numbers = found if among_numbers else {}
    return error


def _described(found: Mapping[str, str]) -> str:
    return shortened([f"{name!r} ({content})" for name, content in found.items()])


def encode_or_drop(names: Sequence[str]) -> str:
    """Return what to do about columns of text."""
    if len(names) > _MOST_TYPED:
        return "Encode them as numbers, or use only the numeric columns."
    which = "it" if len(names) == 1 else "them"
    return f"Encode {which} as numbers, or drop {which}: {dropping(names)}."


def constant(names: Sequence[str]) -> ValueError:
    """Return the error for columns without variance."""
    return ValueError(f"{constant_sentence(names)} {drop_them(names)}")


def drop_them(names: Sequence[str], them: str = "", choose: str | None = "use") -> str:
    """Return how to drop columns from which no graph can be learned; `choose` is None if golem cannot choose them."""
    them = them or ("it" if len(names) == 1 else "them")
    instead = "" if choose is None else f", or {choose} golem.fit_file(..., drop_dependent=True)"
    return f"Drop {them}: {dropping(names)}{instead}."


def no_values(names: Sequence[str]) -> str:
    """Say which columns are empty."""
    return f"Column {quoted(names)} has no values." if len(names) == 1 else f"Columns {quoted(names)} have no values."


def constant_sentence(names: Sequence[str]) -> str:
    """Say which columns are constant."""
    return f"Column {names[0]!r} is constant." if len(names) == 1 else f"Constant columns: {quoted(names)}."


def empty_columns(names: Sequence[str]) -> MissingValuesError:
    """Return the error for columns without values."""
    return MissingValuesError(f"{no_values(names)} Drop {'it' if len(names) == 1 else 'them'}: {dropping(names)}.")


def too_few_rows(
    n: int, dropped: int = 0, em: bool = True, least: int = 3, columns: int = 0, got: str = ""
) -> ValueError:
    """Return the error for a table with few rows, perhaps after incomplete rows were dropped.

    `em` says whether to advise Gaussian EM. `least` is how many rows so many columns need, and `got` describes n.
    """
    instead = "Try missing='em'" if em else "Impute the values first, or drop columns with many missing values"
    if not got:
        got = counted(n, "row") if n != 1 else "1 row (n_samples = 1)"  # scikit-learn's word, for its checks
    got += f" after dropping {counted(dropped, 'row')} with missing values" if dropped else ""
    enough = f"{least} rows for {counted(columns, 'column')}" if columns else f"{least} rows"
    what = f"golem needs at least {enough} (10 per column is better); got {got}."
    what += " With fewer rows, columns of pure noise would give edges." if columns else ""
    if not dropped:
        return ValueError(what)
    error = MissingValuesError(f"{what} {instead}.")
    error.what = what
    return error


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
    if infinite.any():
        what, wrong, remedy = "Infinite values (inf)", infinite, "Remove those rows or replace the values."
    else:
        what, wrong = "Missing values (NaN)", np.isnan(X)
        by_em = ", use Gaussian EM (missing='em')," if em else ""
        remedy = f"Drop those rows (missing='drop'){by_em} or impute the values first."
    found, unusual = [], {} if markers is None else markers
    for name, count in zip(names, wrong.sum(axis=0), strict=True):
        written = f", written {quoted(sorted(unusual[name]))}" if name in unusual else ""
        found += [f"{name!r} ({counted(count, 'value')}{written})"] if count else []
    if empty := [name for name, column in zip(names, wrong.T, strict=True) if column.all() and not infinite.any()]:
        if len(empty) == len(found):
            raise empty_columns(empty)
        remedy = f"{empty_columns(empty)} For the others: {remedy}"
    if levels := sorted({cell for cells in unusual.values() for cell in cells if cell.lower() == "none"}):
        remedy += f" If {quoted(levels)} is a value, rename it in the file."
    first = place(int(wrong.any(axis=1).argmax()))
    sentence = f"{what} in {len(found)} of {len(names)} columns: {shortened(found)}. The first is in {first}."
    if infinite.any():
        raise ValueError(f"{sentence} {remedy}")
    error = MissingValuesError(f"{sentence} {remedy}")
    error.what = sentence
    raise error
