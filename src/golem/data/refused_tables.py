"""Tables in files that are refused: their summary, and all their columns that cannot be used."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import numpy as np

from golem.data.coded_tables import CodedTable
from golem.data.files.batches import naming
from golem.data.files.level_scan import reading_categories
from golem.data.files.table_files import TableFiles
from golem.data.missing import MissingChoice
from golem.data.readers import read_rows
from golem.data.table_errors import MissingValuesError, NotNumericError
from golem.data.table_summary import TableSummary
from golem.data.treatment import whole_refusal
from golem.data.unusable import Unusable, UnusableColumnsError, unusable_error, unusable_in_table
from golem.runtime.problems import Set, Text
from golem.runtime.progress import ProgressDisplay

# Larger files (in bytes) are not read again.
_LARGEST = 2**28


@contextlib.contextmanager
def describing_refusal(
    table: TableFiles, progress: ProgressDisplay, missing: MissingChoice = "error"
) -> Iterator[None]:
    """Show the summary of a table if it is refused, and name all that is wrong with it, not only what is found first.

    `missing` is the treatment of missing values that the user prefers.
    """
    try:
        yield
    except UnusableColumnsError as error:
        found, rows = _described(table, error.problems, progress)
        with naming(table.files[0].path):
            if rows is not None and np.isnan(rows.rows).any() and not any(column.sentence for column in found):
                raise whole_refusal(rows, error, missing) from None
            if len(found) > len(error.problems):
                raise unusable_error(found) from None
        raise
    except NotNumericError as error:
        found = _described(table, _mixed(error), progress)[0] if error.among_numbers else []
        if len(found) <= len(error.columns):
            raise  # it says more about these columns
        with naming(table.files[0].path):
            raise unusable_error(found) from None
    except MissingValuesError as error:
        found, rows = _described(table, (), progress)
        with naming(table.files[0].path):
            # No treatment of missing values gives a column a second level.
            if any(column.kind == "category" for column in found):
                raise unusable_error(found) from None
            if rows is not None and (whole := whole_refusal(rows, error, missing)) is not error:
                raise whole from None
        raise


def _mixed(error: NotNumericError) -> tuple[Unusable, ...]:
    """Return the columns that have text among their numbers."""
    keep = Text("encode its texts as numbers, or mark them as missing (", Set("na", [...]), ")")
    reasons = {name: f"Column {name!r} is numeric except for {text}." for name, text in error.among_numbers.items()}
    return tuple(Unusable("text", (name,), reason, keep) for name, reason in reasons.items())


def _described(
    table: TableFiles, refused: tuple[Unusable, ...], progress: ProgressDisplay
) -> tuple[list[Unusable], CodedTable | None]:
    """Show the summary of a table; return all columns that cannot be used, given those that cannot be read.

    Also return the rows, if they could be read.
    """
    found, read = list(refused), None
    while table.size <= _LARGEST:
        # The others can be read.
        names = {column.name for column in found if column.sentence and column.kind != "category"}
        if names.issuperset(table.names):
            break
        try:
            with warnings.catch_warnings(action="ignore"):  # there were the same warnings before
                typed, rows = reading_categories(table.without(names), read_rows)
        except UnusableColumnsError as error:
            found += error.problems
            continue
        except NotNumericError as error:
            if not error.among_numbers:
                break
            found += _mixed(error)
            continue
        except ValueError:  # something else is wrong with the table
            break
        coding = typed.coding
        read = CodedTable(coding, rows.values)
        summary = TableSummary.of(coding, len(rows.values), rows.values, chosen=typed.chosen)
        summary.with_unusable(found, table.names).show(progress)
        named = {column.name for column in found}
        found += [column for column in unusable_in_table(rows.values, coding) if column.name not in named]
        break
    return sorted(found, key=lambda column: table.names.index(column.name)), read
