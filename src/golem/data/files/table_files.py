"""The files of one table: found by name, folder or pattern, and checked for equal columns."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict

from golem.data.checks import DataWarning
from golem.data.column_patterns import column_types, columns_of, expanded
from golem.data.files.batches import naming
from golem.data.files.csv_files import SAVED_INDEX, CsvFile
from golem.data.files.markers import NO_MARKERS, Markers
from golem.data.files.npy_files import MAGIC as NPY_MAGIC
from golem.data.files.npy_files import NpyFile
from golem.data.files.other_formats import OTHER_ENDINGS, as_parquet
from golem.data.files.parquet_files import MAGIC, ParquetFile
from golem.data.files.standard_input import source_name
from golem.data.targets import require_unique, resolve_targets, source_of
from golem.data.variables import NO_VARIABLES, Coding
from golem.runtime.messages import counted, quoted, suggestion, warn_user
from golem.runtime.names import column_names
from golem.runtime.problems import ProblemError, Set, Text
from golem.runtime.types import Matrix

# Results of `golem fit` and `golem compare`, possibly written into the folder of the data.
_RESULT_MARKS = ("graph.json", "comparison.csv")
_RESULT_TABLES = ("edges.csv", "weights.csv", "path.csv", "comparison.csv", "agreement.csv", "distances.csv")
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq", ".npy", *OTHER_ENDINGS)
# Names that pandas gives to a row index saved as a column.
_SAVED_INDEX = re.compile(rf"{SAVED_INDEX}(\.\d+)*|__index_level_\d+__")

Paths = str | Path | Iterable[str | Path]


class FileOptions(TypedDict, total=False):
    """How files are read; see `golem.readers.moments_from_file`."""

    columns: Sequence[str] | None
    drop: Sequence[str]
    header: bool | None
    na: Sequence[str]
    categorical: Sequence[str]
    numeric: Sequence[str]


# The environments of a file whose rows have labels.
BY_COLUMN = -1
TableFile = CsvFile | ParquetFile | NpyFile


@dataclass(frozen=True)
class TableFiles:
    r"""Files whose rows make one table of numbers.

    Parameters
    ----------
    files : tuple of TableFile
        The files, in the order of their rows.
    names : tuple of str
        The columns to use.
    positions : tuple of tuple of int
        Positions of these columns in each file.
    na : Markers
        The markers of missing values that the user named.
    categorical, numeric : frozenset of str
        The columns whose type the user has chosen.
    text : frozenset of str
        Columns in which text was found; None before the files were asked.
    coding : Coding
        The variables; numbers, as long as the types are not known.
    labels : tuple of str
        The environments that the rows come from, if there are several.
    environments : tuple of int
        The number of the environment of each file, or BY_COLUMN if the last of its `positions` is a column of labels.
    targets_source : str
        What messages call the targets: the name of their file.
    log : frozenset of str
        The columns of which the logarithms are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.readers import TableFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n4,4\n")
    ...     TableFiles.open(path).names
    ('a', 'b')
    """

    files: tuple[TableFile, ...]
    names: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]
    na: Markers = NO_MARKERS
    categorical: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    text: frozenset[str] | None = None
    coding: Coding = NO_VARIABLES
    labels: tuple[str, ...] = ()
    environments: tuple[int, ...] = ()
    targets_source: str = "targets"
    log: frozenset[str] = frozenset()

    @property
    def made_up_names(self) -> bool:
        """Whether the files have no header, so that the columns are named x0, x1, ..."""
        return self.files[0].made_up_names

    @property
    def chosen(self) -> frozenset[str]:
        """The columns whose type the user has chosen."""
        return self.categorical | self.numeric

    @property
    def padded(self) -> list[str]:
        """Columns of text files whose numbers have leading zeros, such as 00501, and that have no type by choice."""
        found = [
            {name for name, j in zip(self.names, columns, strict=False) if j in file.padded}
            for file, columns in zip(self.files, self.positions, strict=True)
            if isinstance(file, CsvFile)
        ]
        return [name for name in self.names if name not in self.chosen and any(name in names for names in found)]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def without(self, names: Collection[str]) -> TableFiles:
        """Return the files without some of the columns, with types still to be found."""
        kept = [k for k, name in enumerate(self.names) if name not in names]
        positions = tuple((*(columns[k] for k in kept), *columns[len(self.names) :]) for columns in self.positions)
        return replace(
            self,
            names=tuple(self.names[k] for k in kept),
            positions=positions,
            na=NO_MARKERS,
            categorical=self.categorical.difference(names),
            text=None,
            coding=Coding.numeric([self.names[k] for k in kept]),
        )

    def labelled(self, environment: str | None, targets: Mapping[Any, Any] | None) -> TableFiles:
        """Return files with the labels of their environments: one per file, or those in a column of labels.

        Raise a ValueError if the targets do not fit them.
        """
        table = self._by_file() if environment is None else self._by_column(environment, list(map(str, targets or ())))
        resolve_targets(targets, table.labels, table.names)
        return replace(table, targets_source=source_of(targets))

    def _by_file(self) -> TableFiles:
        """Return a table whose files are one environment each; raise a ValueError if two have the same label."""
        labels = [label_of(file.path) for file in self.files]
        require_unique(labels, "the names of the files")
        return replace(self, labels=tuple(labels), environments=tuple(range(len(labels))))

    def _by_column(self, column: str, labels: Sequence[str]) -> TableFiles:
        """Return a table with a column of labels, which is not among the columns to use."""
        for file in self.files:
            if column not in file.names:
                hint = suggestion(column, file.names, "columns")
                missing = f"{source_name(file.path)}: There is no column {quoted([column])} ("
                raise ProblemError(missing, Set("environment"), f"). {hint}")
        positions = tuple(
            (*places, file.names.index(column)) for file, places in zip(self.files, self.positions, strict=True)
        )
        environments = (BY_COLUMN,) * len(self.files)
        return replace(self, positions=positions, labels=tuple(labels), environments=environments)

    def rows_of_label(self, rows: Matrix, label: str) -> Matrix:
        """Return the rows of an environment, whose number is in the last column; all rows if there are none."""
        return rows[rows[:, -1] == self.labels.index(label), :-1] if self.labels else rows

    @classmethod
    def open(
        cls,
        paths: Paths,
        *,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        header: bool | None = None,
        na: Sequence[str] = (),
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        log: Sequence[str] = (),
        hidden: Sequence[str] = (),
    ) -> TableFiles:
        """Open the files of a table; see `golem.readers.moments_from_file` for the parameters.

        `hidden` are columns that are not used, and that files need not have.
        """
        files: list[TableFile] = []
        names: tuple[str, ...] = ()
        positions = []
        columns, drop = None if columns is None else listed(columns), listed(drop)
        na = [str(marker) for marker in listed(na)]
        wanted = None if columns is None else set(columns)
        for path in find_files(paths):
            with naming(path):
                file = _open(path, header, na, files)
                drop = expanded(drop, file.names, "drop") if not files else drop
                unused = [*drop, *(name for name in hidden if name in file.names)]
                # Duplicate and empty names are errors only among the columns to use.
                used = [name for name in file.names if wanted is None or name in wanted]
                column_names(used, len(used))
                if files:
                    _require_agreement(file, files[0], names, unused, selected=columns is not None)
                else:
                    names = _chosen(file, columns, unused)
                positions.append(tuple(map({name: j for j, name in enumerate(file.names)}.__getitem__, names)))
                files.append(file)
        log = columns_of(listed(log), names, "log")
        types = column_types(listed(categorical), [*listed(numeric), *log], names)
        markers, coding = Markers.of(na, files[0].names), Coding.numeric(names)
        return cls(tuple(files), names, tuple(positions), markers, *types, coding=coding, log=frozenset(log))


def label_of(path: str | Path) -> str:
    """Return the label of a file that is one environment: its name without the ending.

    Examples
    --------
    >>> label_of("data/knockout A.csv.gz")
    'knockout A'
    """
    name = Path(source_name(path)).name
    ending = max((one for one in ENDINGS if name.lower().endswith(one)), key=len, default="")
    return name[: len(name) - len(ending)] or name


def listed(items: Any) -> list[Any]:
    """Return a list of items, of one item for a single text, path or number; raise a ValueError for an array."""
    if isinstance(items, str | bytes | Path | Real):
        return [items]
    if hasattr(items, "shape"):
        raise ValueError(f"Expected names or paths; got a {type(items).__name__} of shape {items.shape}.")
    return list(items)


def find_files(paths: Paths) -> list[Path]:
    """Return the files given by names, folders and patterns; files of a folder or pattern are sorted by name.

    In folders, files that begin with a dot or an underscore are ignored: Spark and Hive write such files next to data.
    """
    found = []
    for path in listed(paths):
        if not str(path):
            raise ValueError("An empty path was given. Name a file or a folder; the current folder is '.'.")
        matches = [Path(path)]
        if not matches[0].exists() and glob.has_magic(str(path)):
            matches = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
            if not matches:
                raise ValueError(f"{path}: No file matches this pattern.")
        for match in matches:
            found += _files_in(match) if match.is_dir() else [match]
    if not found:
        raise ValueError("No files were given.")
    twice = sorted(source_name(path) for path, count in Counter(found).items() if count > 1)
    if twice:
        raise ValueError(f"Files given twice: {quoted(twice)}. Give each file once.")
    return found


def _files_in(folder: Path) -> list[Path]:
    """Return the tables in a folder and its subfolders, except results of earlier fits and truths of simulations."""
    found = []
    results = {path.parent for name in _RESULT_MARKS for path in folder.rglob(name)}
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        is_table = path.name.lower().endswith(ENDINGS) and not path.is_dir()
        is_result = path.name in _RESULT_TABLES and path.parent in results
        if is_table and not hidden and not is_result and not _is_truth(path):
            found.append(path)
    if not found:
        raise ValueError(f"{folder}: The folder contains no tables (files that end in {', '.join(ENDINGS)}).")
    return found


def _is_truth(path: Path) -> bool:
    """Return whether a file is the true graph that `golem simulate` writes next to the data."""
    if path.name != "truth.csv":
        return False
    with path.open("rb") as file:
        return file.readline().strip() in (b"source,target,weight", b"source,target")


def _open(path: Path, header: bool | None, na: Sequence[str], before: Sequence[TableFile]) -> TableFile:
    """Open a file as Parquet or as an array if its content or name says so, otherwise as text."""
    if path.is_fifo():
        raise ValueError("A pipe can be read only once. Save the table to a file.")
    if not path.stat().st_size:
        raise ValueError("The file is empty.")
    path = as_parquet(path)
    with path.open("rb") as file:
        begin = file.read(len(NPY_MAGIC))
        if begin.startswith(MAGIC) or path.suffix.lower() in (".parquet", ".pq"):
            return ParquetFile.open(path, na)
        if begin == NPY_MAGIC or path.suffix.lower() == ".npy":
            return NpyFile.open(path, na)
        return CsvFile.open(path, file, header, next((file for file in before if isinstance(file, CsvFile)), None), na)


def _chosen(file: TableFile, columns: Sequence[str] | None, drop: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns to use, given the first file."""
    present = set(file.names)
    for wanted in (columns or (), drop):
        unknown = [name for name in wanted if name not in present]
        if unknown:
            hint = suggestion(unknown[0], file.names, "columns")
            raise ValueError(f"There is no column {quoted(unknown)}{' to drop' * (wanted is drop)}. {hint}")
    if columns is None:
        index = _saved_index(file)
        columns = [name for name in file.names if name not in index]
        _warn_of_ignored_columns(file, [] if set(index) <= set(drop) else index)
    if isinstance(file, CsvFile) and (numbers := file.form.doubtful):
        said = (
            f"{source_name(file.path)}: The first line is used as the names of the columns, although it contains the "
            f"number{'s' * (len(numbers) > 1)} {quoted(numbers)}."
        )
        use = "{said} If it is a row of data, use {header=False}. Otherwise use {header=True} to avoid this warning."
        warn_user(Text.of(use, said=said), DataWarning)
    names = [name for name in columns if name not in drop]
    if not names:
        all_dropped = f"All columns are dropped: {quoted(file.names)}. Keep at least two."
        raise ValueError(all_dropped if file.names else "The table has no columns.")
    return column_names(names, len(names))


def _warn_of_ignored_columns(file: TableFile, index: Sequence[str]) -> None:
    """Warn of columns that are ignored although the user did not drop them."""
    ignored: list[str] = []
    if index:
        what = f"Column {quoted(index)} looks like a saved row index and is ignored. To keep it, rename it or list it "
        ignored.append(Text(what, "among the columns to use (", Set("columns", [...]), ")."))
    if isinstance(file, CsvFile) and file.form.padding:
        ignored.append(
            f"Ignored {counted(file.form.padding, 'field')} without a name or a value at the end of every line."
        )
    for sentence in ignored:
        warn_user(Text(f"{source_name(file.path)}: ", sentence), DataWarning)


def _saved_index(file: TableFile) -> list[str]:
    """Return the names of columns that only count the rows, as pandas and R save them."""
    return [name for name in file.names if _SAVED_INDEX.fullmatch(name)]


def _require_agreement(
    file: TableFile, first: TableFile, names: Sequence[str], drop: Sequence[str], *, selected: bool
) -> None:
    """Raise a ValueError if a file does not have the columns of the first file."""
    if file.made_up_names != first.made_up_names:
        has, lacks = (first, file) if file.made_up_names else (file, first)
        raise ProblemError.of(
            "{with_header} seems to have a header line, {without} does not. Say whether the files have one: "
            "{header=True} or {header=False}.",
            with_header=source_name(has.path),
            without=source_name(lacks.path),
        )
    present, known = set(file.names), {*names, *drop, *_saved_index(file)}
    missing = [name for name in names if name not in present]
    new = [] if selected else [name for name in file.names if name not in known]
    other = source_name(first.path)
    differences = [f"{_columns(missing)} of {other} {_verb(missing)} not in this file."] if missing else []
    differences += [f"{_columns(new)} {_verb(new)} not in {other}."] if new else []
    if differences:
        raise ProblemError(
            f"{' '.join(differences)} Use ", Set("columns", [...]), " to choose columns that all files have."
        )


def _columns(names: Sequence[str]) -> str:
    return f"Column{'s' if len(names) > 1 else ''} {quoted(names)}"


def _verb(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
