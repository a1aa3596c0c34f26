"""Tables as they come: a treatment of missing values, and columns to leave out, so that a graph can be learned."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from golem.data.missing import MissingChoice
from golem.data.reading import Reading
from golem.data.source import Source
from golem.data.table import Table
from golem.data.table_errors import MissingValuesError, NotNumericError
from golem.data.treatment import LEAST_COMPLETE
from golem.data.unusable import Unusable, UnusableColumnsError, reasons
from golem.estimator.fit import prepare
from golem.estimator.golem import Golem
from golem.runtime.problems import Drop, ProblemError, Set
from golem.runtime.progress import ProgressDisplay

Result = TypeVar("Result")


@dataclass
class UsableTable:
    """A table in files, of which more is left out until a graph can be learned.

    Parameters
    ----------
    open_files : callable
        Opens the files, given how they are read and whether an error refuses the table.
    reading : Reading
        How the files are read; the columns to drop grow.
    missing : {"error", "drop", "em"}
        The treatment of missing values.
    chooses_missing : bool
        Whether "error" may become another treatment.
    leaves_out : bool
        Whether columns that cannot be used, or that identify rows, are left out.

    Attributes
    ----------
    source : Source
        The files without the columns that are left out.
    left_out : list of Unusable
        These columns.
    """

    open_files: Callable[[Reading, bool], Source]
    reading: Reading
    missing: MissingChoice
    chooses_missing: bool = False
    leaves_out: bool = False
    left_out: list[Unusable] = field(default_factory=list)
    _chose_drop: bool = False

    def __post_init__(self) -> None:
        self._given = self.reading, self.missing
        self.source = self.open_files(self.reading, not (self.chooses_missing or self.leaves_out))

    def learn(self, step: Callable[[], Result], progress: ProgressDisplay) -> Result:
        """Return the result of a step; repeat it while an error shows what to leave out of the table."""
        while True:
            try:
                found = step()
            except (UnusableColumnsError, MissingValuesError, NotNumericError) as error:
                if not self._mend(error, progress):
                    raise
                continue
            if self.left_out:
                progress.note(f"Left out: {reasons(self.left_out)}.")
            return found

    def read(self, progress: ProgressDisplay) -> Table:
        """Read the table; refuse to drop most of its rows without being asked, and leave out columns that name rows."""
        table = self.source.read(self.missing, progress)
        gaps = table.missing
        if self._chose_drop and gaps is not None and gaps.rows > (1 - LEAST_COMPLETE) * gaps.rows_read:
            few = f"Values are missing in {gaps.rows} of {gaps.rows_read} rows. To drop these rows, use "
            raise ProblemError(few, Set("missing", "drop"), ". Or impute the values first.")
        if self.leaves_out and (found := self.source.identifiers()):
            raise UnusableColumnsError("Some columns identify rows.", problems=found)
        return table

    def require_usable(self, model: Golem, table: Table) -> None:
        """Raise the errors of a fit about columns early, before the table is shown, if they are left out."""
        if not self.leaves_out:
            return
        with warnings.catch_warnings(action="ignore"):
            try:
                prepare(table, replace(model.settings, knowledge=None))
            except UnusableColumnsError:
                raise
            except ValueError:  # the fit raises it, after the summary of the table
                return

    def leave_out(self, columns: Sequence[Unusable]) -> None:
        """Leave out columns, and open the files again."""
        self.left_out += columns
        self.reading = replace(self.reading, drop=[*self.reading.drop, *(column.name for column in columns)])
        self._open_again()

    def _mend(self, error: Exception, progress: ProgressDisplay) -> bool:
        """Change what an error is about; if nothing helps, be strict, so that the next error says all that is wrong."""
        if not (self.chooses_missing or self.leaves_out):
            return False
        self._ask_about_names(error)
        left = len(self.source.names)
        may_leave_out = {*self.source.names} - {*self.reading.categorical}  # columns that the user has chosen stay
        known = isinstance(error, UnusableColumnsError) and may_leave_out.issuperset(
            column.name for column in error.problems
        )
        if isinstance(error, UnusableColumnsError) and known and self.leaves_out and len(error.problems) < left - 1:
            self.leave_out(error.problems)
            if error.about_experiments:
                progress.note(error.about_experiments)
            return True
        if isinstance(error, MissingValuesError) and self.chooses_missing and self.missing == "error":
            treatment = self.source.treatment(progress)
            if treatment is not None and (self.leaves_out or not treatment[1]):
                self.missing, found = treatment
                self._chose_drop = self.missing == "drop"
                self.leave_out(found)
                return True
        self.chooses_missing = self.leaves_out = self._chose_drop = False
        self.reading, self.missing = self._given
        self._open_again()
        return True

    def _ask_about_names(self, error: Exception) -> None:
        """Raise a ValueError if the table looks transposed: few rows, with names in the first column."""
        first, left = self.source.all_names[0], len(self.source.names) - 1
        for column in error.problems if isinstance(error, UnusableColumnsError) else ():
            if column.name == first and column.kind == "text" and 0 < len(column.values) < left:
                raise ProblemError(
                    f"The table looks transposed: it has {len(column.values)} rows and {left} columns of values, and "
                    f"{first!r} contains a name per row. If each row is a variable, exchange rows and columns first. "
                    "Otherwise ",
                    Drop([first]),
                    ".",
                )

    def _open_again(self) -> None:
        """Open the files without the warnings, which were given before."""
        with warnings.catch_warnings(action="ignore"):
            self.source = self.open_files(self.reading, not (self.chooses_missing or self.leaves_out))
