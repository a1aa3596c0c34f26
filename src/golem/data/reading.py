"""How the files of a table are read: the columns to use, their types, markers of missing values, experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from golem.data.files.table_files import TableFiles, find_files, listed
from golem.data.files.transposed import transposed
from golem.data.table_reading import Targets
from golem.data.targets import EXAMPLE
from golem.data.unusable import Unusable
from golem.runtime.messages import quoted
from golem.runtime.problems import ProblemError, Set
from golem.runtime.progress import ProgressDisplay


@dataclass(frozen=True)
class Reading:
    """How files are read; see `golem.readers.moments_from_file` and `golem.readers.read_covariance`.

    Where a list is expected, a single name or marker will do.

    Examples
    --------
    >>> reading = Reading(drop="id", na=-999)
    >>> reading.drop, reading.na
    (['id'], ['-999'])
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    header: bool | None = None
    na: Sequence[Any] = ()
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    covariance: bool = False
    rows: int | None = None
    environment: str | None = None
    environments: bool = False
    log: Sequence[str] = ()
    transpose: bool = False

    def __post_init__(self) -> None:
        for name in ("columns", "drop", "na", "categorical", "numeric", "log"):
            given = getattr(self, name)
            items = None if given is None else listed(given)
            object.__setattr__(self, name, list(map(str, items)) if name == "na" and items is not None else items)

    def open(self, paths: Sequence[str], hidden: Sequence[str] = ()) -> TableFiles:
        """Open the files of a table; `hidden` columns, such as time, are not variables."""
        if self.transpose:
            files = find_files(paths)
            if len(files) > 1:
                raise ProblemError.of("Only one file can be read with {transpose=True}.")
            paths = [transposed(str(files[0]), self.header, tuple(self.na))]
        return TableFiles.open(
            paths,
            columns=self.columns,
            drop=self.drop,
            header=None if self.transpose else self.header,
            na=self.na,
            categorical=self.categorical,
            numeric=self.numeric,
            log=self.log,
            hidden=[*hidden, *([] if self.environment is None else [self.environment])],
        )

    def without(self, unusable: Sequence[Unusable], progress: ProgressDisplay) -> Reading:
        """Leave out columns that cannot be used, with a note."""
        names = [column.name for column in unusable]
        are = "which is" if len(names) == 1 else "which are"
        progress.note(f"Dropped {quoted(names)}, {are} constant or determined by other columns.")
        return replace(self, drop=[*self.drop, *names])

    def has_environments(self, targets: Targets | None) -> bool:
        """Return whether the rows come from environments; raise a ValueError if the options contradict each other."""
        if self.environment is not None and self.environments:
            raise ProblemError.of(
                "{environment=...} names the column with the experiments; {environments=True} says that each file "
                "is one. Use one of them."
            )
        given = self.environment is not None or self.environments
        if given and targets is None:
            raise ProblemError("Environments need ", Set("targets"), f", for example a JSON file with {EXAMPLE}.")
        if targets is not None and not given:
            raise ProblemError.of(
                "{targets=...} needs environments: add {environment=...} for a column that names them, or "
                "{environments=True} if each file is one."
            )
        if given and (self.covariance or self.rows is not None):
            raise ProblemError.of("A covariance matrix has no environments. Remove {covariance=True} and {rows=...}.")
        return given
