"""Environments in files: their moments in one pass, and a source of them for `golem fit`."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from golem.data.files.batches import naming
from golem.data.files.cluster import read_on_cluster
from golem.data.files.labelling import by_column, by_file
from golem.data.files.streaming import KeptRows, Parts, plan, read_here
from golem.data.files.table_files import Paths, TableFiles
from golem.data.missing import MissingChoice, add_markers, require_choice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.table import Table, require_rows
from golem.data.table_errors import NotNumericError
from golem.data.table_reading import Targets
from golem.data.targets import naming_environment, no_rows, resolve_targets, source_of
from golem.data.unusable import Unusable, unusable_columns
from golem.runtime.problems import ProblemError
from golem.runtime.progress import Counter, ProgressDisplay
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from distributed import Client


def environments_from_file(
    path: Paths,
    targets: Mapping[str, Sequence[str]],
    *,
    environment: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
) -> Table:
    r"""Return the moments of each environment of files, in one pass; see `moments_from_file` for other parameters.

    Parameters
    ----------
    path : str, Path or several
        Files of one table, if it has a column of labels; otherwise one file per environment, whose label is the name of
        the file without its ending.
    targets : mapping of str to sequence of str
        The columns that each environment changes, by label.
    environment : str, optional
        The column of labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b,arm\n1,2,control\n3,5,control\n6,1,control\n4,4,ko\n9,3,ko\n7,8,ko\n")
    ...     found = environments_from_file(path, {"control": [], "ko": ["a"]}, environment="arm")
    >>> [part.moments.n for part in found.parts], found.targets
    ([3, 3], ((), (0,)))
    """
    table = TableFiles.open(path, columns=columns, drop=drop, header=header, na=na, hidden=environment)
    table = labelled(table, environment, targets)
    parts = environment_shards(table, 1, missing=missing, progress=progress, scheduler=scheduler)
    return Table.of({label: merged(shards) for label, shards in parts.items()}, targets)


def labelled(table: TableFiles, environment: str | None, targets: Targets | None) -> TableFiles:
    """Return opened files with the labels of their environments; raise a ValueError if targets do not fit them."""
    if environment is None:
        table = by_file(table)
    else:
        table = by_column(table, environment, [str(label) for label in targets or ()])
    table = replace(table, targets_source=source_of(targets))
    resolve_targets(targets, table.labels, table.names)
    return table


def environment_shards(
    table: TableFiles,
    shards: int,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    keep: KeptRows | None = None,
) -> dict[str, list[Moments]]:
    """Return the moments of the shards of each environment of opened files; shards without its rows are left out."""
    require_choice(missing, in_parts=shards > 1 or scheduler is not None)
    if missing == "em":
        keep = KeptRows(math.inf) if keep is None else keep
    with refusing_categories():
        tasks = plan(table, shards, "drop" if missing == "em" else missing)
        parts = read_here(tasks, progress, keep) if scheduler is None else read_on_cluster(tasks, scheduler, progress)
    gaps = [part.missing.markers for part in parts.values() if part.missing is not None]
    _require_labels(table, parts, shards)
    with naming(table.files[0].path):
        table.na.require_found(functools.reduce(add_markers, gaps, {}), table.names)
    if missing == "em" and keep is not None:
        rows = rows_by_label(table, keep)
        return {label: [_by_em(label, own, table.names)] for label, own in rows.items()}
    found: dict[str, list[Moments]] = {label: [] for label in table.labels}
    for number, part in sorted(parts.items()):
        found[table.labels[number // shards]] += [part] if part.n else []
    require_rows({label: sum(part.n for part in own) for label, own in found.items()})
    return found


def _require_labels(table: TableFiles, parts: Parts, shards: int) -> None:
    """Raise a ValueError for targets of environments that are not in the column of labels."""
    found = {number // shards for number, part in parts.items() if part.n or (part.missing and part.missing.rows_read)}
    unused = [label for number, label in enumerate(table.labels) if number not in found]
    if unused and found:
        column = table.files[0].names[table.positions[0][-1]]
        raise no_rows(unused, f"no row of column {column!r}", table.targets_source)


@contextlib.contextmanager
def refusing_categories() -> Iterator[None]:
    """Say in the error about columns of text that they cannot be categories here."""
    try:
        yield
    except NotNumericError as error:
        raise ProblemError(error.text, " Environments cannot be combined with categories yet.") from None


def rows_by_label(table: TableFiles, keep: KeptRows) -> dict[str, Matrix]:
    """Return the rows of each environment that a pass has kept."""
    rows = keep.values
    assert rows is not None  # there was no limit
    found = _divided(table, rows)
    require_rows({label: len(own) for label, own in found.items()})
    return found


def _divided(table: TableFiles, rows: Matrix) -> dict[str, Matrix]:
    """Return the rows of each environment; the last column has the numbers of the labels."""
    return {label: rows[rows[:, -1] == number, :-1] for number, label in enumerate(table.labels)}


def _by_em(label: str, rows: Matrix, names: tuple[str, ...]) -> Moments:
    """Return the moments of one environment by EM."""
    with naming_environment(label):
        return Moments.from_rows(rows, names, missing="em")


class EnvironmentSource:
    """Environments in files, read once: their moments, and the rows or shards for the steps after the fit.

    Parameters
    ----------
    table : TableFiles
        The files, with labels.
    targets : mapping
        The columns that each environment changes.
    divided : bool
        Whether rows will be resampled or divided.
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files.
    by_rows : bool
        Whether the files are small enough to be resampled row by row.
    shards : int
        Number of shards of larger files.
    most_numbers : int
        Tables with more numbers are not kept for the directions, only a sample of their rows.
    """

    checked_rows = None
    summary = None

    def __init__(
        self,
        table: TableFiles,
        targets: Targets,
        *,
        divided: bool,
        scheduler: str | None,
        by_rows: bool,
        shards: int,
        most_numbers: int = 0,
    ) -> None:
        self._table, self._targets, self._scheduler = table, targets, scheduler
        self.names, self.all_names, self.made_up_names = table.names, table.files[0].names, table.made_up_names
        self.paths = [file.path for file in table.files]
        self._by_rows = by_rows and scheduler is None
        self._shards = shards if divided and not self._by_rows else 1
        self._keeps_all = divided and self._by_rows
        self._most_numbers = most_numbers
        self._keep: KeptRows | None = None
        self._read: tuple[MissingChoice, Table] | None = None

    def read(self, missing: MissingChoice, progress: ProgressDisplay) -> Table:
        """Read the files, unless they are read already, and return the environments."""
        if self._read is None or self._read[0] != missing:
            if self._scheduler is None:
                everything = self._keeps_all or missing == "em"
                self._keep = KeptRows(math.inf if everything else self._most_numbers)
            with progress.reading(self._table.size) as show:
                self._parts = environment_shards(
                    self._table,
                    self._shards,
                    missing=missing,
                    progress=show,
                    scheduler=self._scheduler,
                    keep=self._keep,
                )
            found = {label: merged(shards) for label, shards in self._parts.items()}
            self._read = missing, Table.of(found, self._targets)
        return self._read[1]

    def unusable(self, missing: MissingChoice, progress: ProgressDisplay) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned."""
        return unusable_columns(self.read(missing, progress).moments())

    @functools.cached_property
    def sample(self) -> Table:
        """The environments with their rows to draw from, or shards of large files."""
        assert self._read is not None
        table = self._read[1]
        if self._keep is None or not self._keeps_all:
            return replace(table, parts=tuple(replace(p, shards=tuple(self._parts[p.label])) for p in table.parts))
        rows = rows_by_label(self._table, self._keep)
        return replace(table, parts=tuple(replace(part, rows=rows[part.label]) for part in table.parts))

    def sample_of_rows(self) -> None:
        """Return None: the rows are not one table."""

    def sample_of_environments(self) -> dict[str, Matrix] | None:
        """Return the rows of each environment if they were kept, otherwise a sample; None if read on a cluster."""
        if self._keep is None:
            return None
        rows = self._keep.sample if self._keep.values is None else self._keep.values
        return None if rows is None else _divided(self._table, rows)
