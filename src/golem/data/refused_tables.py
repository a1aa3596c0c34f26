"""Tables in files that are refused: their summary, and all their columns that cannot be used."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from golem.data.files.batches import naming
from golem.data.files.level_scan import reading_categories
from golem.data.files.table_files import TableFiles
from golem.data.readers import rows_of
from golem.data.table_errors import MissingValuesError, NotNumericError, UnusableColumnsError
from golem.data.table_summary import TableSummary
from golem.data.unusable import Unusable, unusable_error
from golem.data.unusable_variables import unusable_in_table
from golem.data.variables import Coding
from golem.runtime.progress import ProgressDisplay

# Larger files (in bytes) are not read again.
_LARGEST = 2**28


@contextlib.contextmanager
def describing_refusal(table: TableFiles, progress: ProgressDisplay) -> Iterator[None]:
    """Show the summary of a table if it is refused, and name all columns that cannot be used, not only the first."""
    try:
        yield
    except UnusableColumnsError as error:
        found = _described(table, error.found, progress)
        if len(found) == len(error.found):
            raise
        with naming(table.files[0].path):
            raise unusable_error(found) from None
    except NotNumericError as error:
        found = _described(table, _mixed(error), progress) if error.among_numbers else []
        if len(found) <= len(error.columns):
            raise  # it says more about these columns
        with naming(table.files[0].path):
            raise unusable_error(found) from None
    except MissingValuesError:
        found = _described(table, (), progress)
        if not any(column.kind == "category" for column in found):
            raise
        # No treatment of missing values gives a column a second level.
        with naming(table.files[0].path):
            raise unusable_error(found) from None


def _mixed(error: NotNumericError) -> tuple[Unusable, ...]:
    """Return the columns that have text among their numbers."""
    keep = "encode its texts as numbers, or mark them as missing (na=[...])"
    reasons = {name: f"Column {name!r} is numeric except for {text}." for name, text in error.among_numbers.items()}
    return tuple(Unusable(name, reason=reason, keep=keep) for name, reason in reasons.items())


def _described(table: TableFiles, refused: tuple[Unusable, ...], progress: ProgressDisplay) -> list[Unusable]:
    """Show the summary of a table; return all columns that cannot be used, given those that cannot be read."""
    found = list(refused)
    while table.size <= _LARGEST:
        # The others can be read.
        names = {column.name for column in found if column.reason and column.kind != "category"}
        if names.issuperset(table.names):
            break
        try:
            with warnings.catch_warnings(action="ignore"):  # there were the same warnings before
                typed, rows = reading_categories(table.without(names), rows_of)
        except UnusableColumnsError as error:
            found += error.found
            continue
        except NotNumericError as error:
            if not error.among_numbers:
                break
            found += _mixed(error)
            continue
        except ValueError:  # something else is wrong with the table
            break
        coding = typed.coding or Coding.numeric(typed.names)
        summary = TableSummary.of(coding, len(rows.values), rows.values, chosen=typed.chosen)
        summary.with_unusable(found, table.names).show(progress)
        named = {column.name for column in found}
        found += [column for column in unusable_in_table(rows.values, coding) if column.name not in named]
        break
    return sorted(found, key=lambda column: table.names.index(column.name))
