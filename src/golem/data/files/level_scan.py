"""The types of the columns of files, and the levels of categories: a pass over the columns that may be categories.

Parquet files declare types. In text, columns with text in the first lines are known at once; text further below is
found when the column cannot be read as numbers. A table without either is not scanned. Counting cells does not depend
on how files are cut into pieces, so neither do the levels.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from golem.data.files.batches import naming
from golem.data.files.markers import without_blanks
from golem.data.files.streaming import Task, plan
from golem.data.files.table_files import TableFile, TableFiles
from golem.data.levels import MOST_LEVELS, categories, identifiers, is_text, levels_among, warn_of_blanks
from golem.data.table_errors import NotNumericError
from golem.data.unusable import unusable_error
from golem.data.variables import LEADING_ZEROS, Coding, Variable
from golem.runtime.machine import available_cores

Result = TypeVar("Result")
# The text of a cell as written, and the name of the number in it, "" if it is missing, None if it is text.
Cell = tuple[str, str | None]
_MOST_THREADS = 8


def reading_categories(table: TableFiles, read: Callable[[TableFiles], Result]) -> tuple[TableFiles, Result]:
    """Find the types of the columns and read the files; return the table with its types, and the result.

    If a column that was thought numeric has text, its type is decided again, and the files are read again.
    """
    if table.text is None:
        text = {name for file, columns in _files(table) for name in _names(table, columns, file.texts(columns))}
        table = with_types(table, text)
    while True:
        try:
            return table, read(table)
        except NotNumericError as error:
            known = table.text or frozenset()
            if known.issuperset(error.columns):
                raise error.among_chosen(table.numeric).or_categories(table.numeric) from None
            table = with_types(table, known.union(error.columns))


def _files(table: TableFiles) -> list[tuple[TableFile, tuple[int, ...]]]:
    return list(zip(table.files, table.positions, strict=True))


def _names(table: TableFiles, columns: tuple[int, ...], some: Collection[int]) -> list[str]:
    """Return the names of columns given by their positions in a file."""
    return [name for name, j in zip(table.names, columns, strict=False) if j in some]


def with_types(table: TableFiles, text: Collection[str]) -> TableFiles:
    """Return the table with the types of its columns, given those that have text."""
    table = replace(table, text=frozenset(text), coding=Coding.numeric(table.names))
    wanted = table.categorical.union(text) - table.numeric
    return _scanned(table, wanted) if wanted else table


class _Cells:
    """The number of cells of each column, from all pieces of the files.

    A cell has its text and, if it is a number, the name of that number; "" if it is missing.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.counts: dict[str, Counter[Cell]] = {name: Counter() for name in names}
        self._lock, self.stopped = threading.Lock(), threading.Event()

    def count(self, task: Task) -> None:
        """Add the cells of a piece."""
        where = dict(zip(task.names, task.columns, strict=False))
        with naming(task.file.path):
            for batch in task.file.cells(task.piece, [where[name] for name in self.counts]):
                for name, counts in zip(self.counts, batch, strict=True):
                    found = {(cell, task.file.number_in(without_blanks(cell), name)): n for cell, n in counts.items()}
                    with self._lock:
                        self._add(name, found)
                if self.stopped.is_set():
                    return

    def _add(self, name: str, found: Mapping[Cell, int]) -> None:
        counts = self.counts[name]
        counts.update(found)
        if len(counts) > MOST_LEVELS:
            raise unusable_error([identifiers(name, {cell: n for (cell, _), n in counts.items()}, None)])

    def numbers(self, name: str) -> dict[str, int]:
        """Count the numbers of a column."""
        total: Counter[str] = Counter()
        for (_, number), count in self.counts[name].items():
            total.update({number: count} if number else {})
        return dict(total)

    def levels(self, name: str, sure: bool) -> dict[str, int] | None:
        """Return the levels of a column; None if it is one of numbers, perhaps with a few errors in it.

        `sure` says that the column is a category, by the user's choice or by its type in a Parquet file.
        """
        cells: Counter[Cell] = Counter()
        for (cell, number), count in self.counts[name].items():
            cells[without_blanks(cell), number] += count
        texts = {cell for cell, number in cells if number is None}
        if not texts and not sure:
            return None
        if not texts and not any(LEADING_ZEROS.fullmatch(cell) for cell, _ in cells):
            return self.numbers(name)
        absent = {cell for cell, number in cells if number == ""}
        present = levels_among({cell: n for (cell, _), n in cells.items()}, absent.__contains__)
        repeated_header = texts == {name}
        number_of = {cell: float(number) for cell, number in cells if number}
        is_category = is_text(present, number_of.get) and not repeated_header
        return present if sure or is_category else None


def _tasks(table: TableFiles) -> list[Task]:
    """Divide the files; the types are not known yet, so no column has to be numeric."""
    return plan(replace(table, coding=Coding(tuple(Variable(name, "category") for name in table.names))))


def _count(table: TableFiles, names: Sequence[str]) -> _Cells:
    """Count the cells of columns in all files."""
    cells, tasks = _Cells(names), _tasks(table)
    with ThreadPoolExecutor(max(1, min(available_cores(), len(tasks), _MOST_THREADS))) as pool:
        try:
            for _ in pool.map(cells.count, tasks):
                pass
        finally:
            cells.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
    return cells


def _scanned(table: TableFiles, text: Collection[str]) -> TableFiles:
    """Find the types of columns with text, or of those that are categories by choice, in one pass."""
    cells = _count(table, [name for name in table.names if name in text])
    declared = [_names(table, columns, file.texts(columns)) for file, columns in _files(table) if file.has_types]
    sure = table.categorical.union(*declared)
    found = {name: cells.levels(name, name in sure) for name in cells.counts}
    counts = {name: levels for name, levels in found.items() if levels is not None}
    with naming(table.files[0].path):
        variables = categories(counts, table.categorical)
    warn_of_blanks({name: [cell for cell, _ in cells.counts[name]] for name in variables}, variables)
    coding = Coding(tuple(variables.get(name, Variable(name)) for name in table.names))
    return replace(table, coding=coding)
