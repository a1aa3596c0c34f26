"""Environments in files: one file per environment, or a column of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from golem.data.files.standard_input import source_name
from golem.data.files.table_files import BY_COLUMN, ENDINGS, TableFiles
from golem.data.targets import require_unique
from golem.runtime.messages import quoted, suggestion
from golem.runtime.problems import ProblemError, Set


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


def by_file(table: TableFiles) -> TableFiles:
    """Return a table whose files are one environment each; raise a ValueError if two have the same label."""
    labels = [label_of(file.path) for file in table.files]
    require_unique(labels, "the names of the files")
    return replace(table, labels=tuple(labels), environments=tuple(range(len(labels))))


def by_column(table: TableFiles, column: str, labels: Sequence[str]) -> TableFiles:
    """Return a table with a column of labels, which is not among the columns to use."""
    for file in table.files:
        if column not in file.names:
            hint = suggestion(column, file.names, "columns")
            missing = f"{source_name(file.path)}: There is no column {quoted([column])} ("
            raise ProblemError(missing, Set("environment"), f"). {hint}")
    positions = tuple(
        (*places, file.names.index(column)) for file, places in zip(table.files, table.positions, strict=True)
    )
    return replace(table, positions=positions, labels=tuple(labels), environments=(BY_COLUMN,) * len(table.files))
