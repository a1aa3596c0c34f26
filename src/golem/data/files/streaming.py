"""One pass over the rows of files: pieces are read in threads, and their moments merged along a fixed tree.

The moments of parts merge exactly (Chan, Golub and LeVeque 1979), so pieces of the files can be read in any order, here
or on other machines. Pieces, batches and the tree of merges depend only on the files: the same files give the same
moments, bit by bit.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from golem.data.coded_tables import moments_of_columns
from golem.data.files.batches import Batch, Piece, batch_rows, naming
from golem.data.files.table_files import BY_COLUMN, TableFile, TableFiles
from golem.data.missing import add_markers
from golem.data.moments import Moments
from golem.data.resampling import BLOCKS, ROWS_PER_BLOCK, row_sample
from golem.data.table_errors import too_few_rows
from golem.data.targets import no_targets
from golem.data.variables import NO_VARIABLES, Coding, Variable, codes_of_numbers, number_levels
from golem.runtime.machine import available_cores, free_memory, require_memory
from golem.runtime.messages import counted
from golem.runtime.problems import ProblemError, Set, Text
from golem.runtime.progress import Counter
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Indices, Matrix

# Moments of a part of the rows, by the number of the shard.
Parts = dict[int, Moments]
# Threads decode; more than a few only wait for the disk. Together they use less than a gigabyte of memory.
_MOST_THREADS, _MEMORY = 8, 1 << 30
# Matrices of shape (d, d) per thread, for scatters and their merges.
_MATRICES = 5


@dataclass(frozen=True)
class Task:
    """A piece of a file whose moments are to be computed: columns at some positions in the file, with their names.

    `before` and `total` are the bytes of the files before this one and of all files. Each shard has the rows of an
    equal share of these bytes or, if rows are `dealt`, slices of every batch. `environment` is the number of the
    environment of all rows, BY_COLUMN if their last column has the labels, and None if there are no environments.
    Environment e has the shards from e `shards` on.
    """

    file: TableFile
    piece: Piece
    columns: tuple[int, ...]
    names: tuple[str, ...]
    before: int
    total: int
    shards: int
    missing: Literal["error", "drop"] = "error"
    coding: Coding = NO_VARIABLES
    environment: int | None = None
    labels: tuple[str, ...] = ()
    targets_source: str = "targets"
    log: tuple[int, ...] = ()
    dealt: bool = False

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variable of each column that is read; a column of labels is a category."""
        names = [self.file.names[j] for j in self.columns[len(self.names) :]]
        return (*self.coding.variables, *(Variable(name, "category", self.labels) for name in names))

    @property
    def width(self) -> int:
        """Number of columns of the moments."""
        return max(1, int(self.coding.first[-1]))

    @property
    def size(self) -> int:
        """Bytes of the piece."""
        return self.piece.end - self.piece.begin


def plan(
    table: TableFiles, shards: int = 1, missing: Literal["error", "drop"] = "error", dealt: bool = False
) -> list[Task]:
    """Divide the files into tasks, in the order of their rows."""
    tasks, before, total = [], 0, table.size
    environments = table.environments or (None,) * len(table.files)
    for file, columns, environment in zip(table.files, table.positions, environments, strict=True):
        with naming(file.path):
            variables = zip(columns, table.coding.variables, strict=False)
            file.require_numeric([j for j, variable in variables if not variable.is_category])
            pieces = file.pieces(len(columns))
        log = tuple(k for k, name in enumerate(table.names) if name in table.log)
        place = (before, total, shards, missing, table.coding, environment, table.labels, table.targets_source)
        tasks += [Task(file, piece, columns, table.names, *place, log, dealt) for piece in pieces]
        before += file.size
    return tasks


def coded_batches(task: Task) -> Iterator[Batch]:
    """Read a piece in batches of coded rows (see `golem.data.variables`)."""
    if task.coding.is_numeric and task.environment != BY_COLUMN:
        yield from task.file.batches(task.piece, task.columns)
        return
    variables = dict(zip(task.columns, task.variables, strict=True))
    text = task.file.texts(task.columns)
    levels = {j: v.levels for j, v in variables.items() if v.is_category and (j in text or not v.has_numbers)}
    codes = {j: v.levels for j, v in variables.items() if v.is_category and j not in levels}
    for batch in task.file.batches(task.piece, task.columns, levels):
        columns = [
            codes_of_numbers(column, codes[j]) if j in codes else column
            for j, column in zip(task.columns, batch.columns, strict=bool(batch.columns))
        ]
        markers = batch.markers
        for j, before, after in zip(task.columns, batch.columns, columns, strict=False):
            if j in codes and (unknown := number_levels(before[np.isnan(after)])):
                markers = add_markers(markers, {task.file.names[j]: unknown})
        yield dataclasses.replace(batch, columns=columns, markers=markers)


def labelled_batches(task: Task) -> Iterator[Batch]:
    """Read a piece in batches; with environments, their last column is the number of the environment."""
    for batch in map(functools.partial(_with_logarithms, task), coded_batches(task)):
        if task.environment is None or not batch.columns:
            yield batch
        elif task.environment >= 0:
            codes = np.full(len(batch.columns[0]), float(task.environment))
            yield dataclasses.replace(batch, columns=[*batch.columns, codes])
        else:
            yield _with_known_labels(batch, task)


def _with_logarithms(task: Task, batch: Batch) -> Batch:
    """Return a batch with the logarithms of some columns; raise a ValueError if a value is not positive."""
    if not task.log or not batch.columns:
        return batch
    columns = list(batch.columns)
    for k in task.log:
        wrong = np.flatnonzero(columns[k] <= 0)
        if len(wrong):
            row = int(wrong[0])
            what = f"Column {task.names[k]!r} has the value {columns[k][row]:g} in {batch.place(row)}, which has no "
            raise ProblemError(what, "logarithm. Leave the column out of ", Set("log"), ".")
        columns[k] = np.log(columns[k])
    return dataclasses.replace(batch, columns=columns)


def _with_known_labels(batch: Batch, task: Task) -> Batch:
    """Return a batch without markers in its column of labels; raise a ValueError if a label is missing or unknown."""
    name = task.file.names[task.columns[-1]]
    absent = np.flatnonzero(np.isnan(batch.columns[-1]))
    if len(absent):
        place, unknown = batch.place(int(absent[0])), list(batch.markers.get(name, ()))
        if unknown:
            where = f" (first in {place})"
            raise no_targets(unknown, task.labels, task.targets_source, where)
        is_all = batch.begin == 0 and batch.end == task.file.size
        count = f"{len(absent)} of {counted(len(batch.columns[-1]), 'row')}" if is_all else "some rows"
        raise ProblemError.of(
            "Column {name!r} has no label in {count}; the first is in {place}. Label these rows, or remove "
            "them from the file: {missing='drop'} does not apply to labels.",
            name=name,
            count=count,
            place=place,
        )
    return dataclasses.replace(batch, markers={key: value for key, value in batch.markers.items() if key != name})


class RoomForRows:
    """The memory for several copies of all rows, estimated from the rows read so far and their share of the files."""

    def __init__(self, total: int, copies: int) -> None:
        self._total, self._copies, self._free = total, copies, free_memory()
        self._kept = self._read = 0

    def require(self, batch: Batch) -> None:
        """Raise a ValueError if the rows will not fit, given one more batch."""
        self._kept += 8 * sum(map(len, batch.columns))
        self._read += batch.end - batch.begin
        need = self._copies * self._kept * self._total / max(1, self._read)
        neither = "Use fewer rows or columns, and neither a bootstrap, cross-validation nor "
        remedy = Text(neither, Set("missing", "em"), ".")
        require_memory("Keeping all rows in memory", need, remedy, free=self._free)


class KeptRows:
    """Rows kept in memory during a pass: all if there are at most `most` numbers, and a sample of blocks of rows."""

    def __init__(self, most: float, dtype: type = float) -> None:
        self._parts: dict[Task, list[Matrix]] | None = {}
        self._blocks: dict[Task, list[Matrix]] = {}
        self._most = self._left = most
        self._dtype = dtype
        self._lock = threading.Lock()

    def begin(self, tasks: list[Task]) -> None:
        """Fix the order of the rows, independent of the order of reading."""
        self._left = self._most
        self._parts = {task: [] for task in tasks}
        self._blocks = {task: [] for task in tasks}
        self._room = RoomForRows(tasks[0].total, copies=2)

    def add(self, task: Task, batch: Batch) -> None:
        """Keep the next rows of a piece; raise a ValueError if there is no limit and no memory."""
        for rows in _in_sample(batch, task):
            self._blocks[task].append(np.column_stack([column[rows] for column in batch.columns]))
        with self._lock:
            self._left -= sum(map(len, batch.columns))
            if self._left < 0:
                self._parts = None
            elif self._left == math.inf:
                self._room.require(batch)
            parts = self._parts
        if parts is not None and batch.columns:
            parts[task].append(np.column_stack(batch.columns).astype(self._dtype, copy=False))

    def take(self, values: Matrix) -> None:
        """Keep all rows at once."""
        self.values = values if values.size <= self._left else None
        self.sample = values[row_sample(len(values))]

    @functools.cached_property
    def sample(self) -> Matrix | None:
        """Blocks of rows from all parts of the files, or None if the rows were not read here."""
        blocks = [block for blocks in self._blocks.values() for block in blocks]
        return np.concatenate(blocks) if blocks else None

    @functools.cached_property
    def values(self) -> Matrix | None:
        """All rows, or None if they were not kept."""
        parts, self._parts = self._parts, None
        return np.concatenate([block for blocks in parts.values() for block in blocks]) if parts else None


def _in_sample(batch: Batch, task: Task) -> Iterator[slice]:
    """Yield the rows of a batch that belong to the sample: a block begins at every 20th part of the bytes."""
    n, begin, size = len(batch.columns[0]) if batch.columns else 0, task.before + batch.begin, batch.end - batch.begin
    if not n or not size:
        return
    step = task.total / BLOCKS
    length = min(ROWS_PER_BLOCK, max(1, int(n * step / size)))
    for block in range(math.ceil(begin / step), BLOCKS):
        if block * step >= begin + size:
            break
        first = int(n * (block * step - begin) / size)
        yield slice(first, first + length)


def part_moments(
    task: Task, advance: Callable[[int], None] | None = None, ahead: bool = False, keep: KeptRows | None = None
) -> Parts:
    """Return the moments of a piece; `advance` receives the bytes of each batch, `ahead` reads one batch in advance."""
    parts: Parts = {}
    with naming(task.file.path):
        batches = labelled_batches(task)
        for batch in _read_ahead(batches) if ahead else batches:
            if keep is not None:
                keep.add(task, batch)
            # Markers are counted per batch, so that a batch in several shards counts in the first.
            markers: Mapping[str, Mapping[str, int]] | None = batch.markers
            for shard, rows in _groups(batch, task):
                columns = [column[rows] for column in batch.columns[: len(task.names)]]
                place = functools.partial(_place, batch, rows)
                part = moments_of_columns(columns, task.coding, place, task.missing, markers)
                parts, markers = merged_shards(parts, {shard: part}), None
            if advance is not None:
                advance(batch.end - batch.begin)
    return parts


def _read_ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Read each batch while the one before it is processed."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def _place(batch: Batch, rows: slice | Indices, row: int) -> str:
    return batch.place(int(rows.start + row if isinstance(rows, slice) else rows[row]))


def _groups(batch: Batch, task: Task) -> Iterator[tuple[int, slice | Indices]]:
    """Divide a batch among the shards of all environments."""
    for shard, begin, end in _cut(batch, task):
        if task.environment is None:
            yield shard, slice(begin, end)
            continue
        codes = batch.columns[-1][begin:end].astype(int)
        for environment in np.unique(codes).tolist():
            yield environment * task.shards + shard, begin + np.flatnonzero(codes == environment)


def _cut(batch: Batch, task: Task) -> Iterator[tuple[int, int, int]]:
    """Divide a batch among the shards: (shard, first row, end). Each of n rows counts for 1/n of the bytes."""
    n = len(batch.columns[0]) if batch.columns else 0
    position, size = task.before + batch.begin, max(1, batch.end - batch.begin)
    if task.dealt:  # in an order that depends on the place of the batch alone
        ends = np.linspace(0, n, task.shards + 1).astype(int).tolist()
        order = np.random.default_rng(position).permutation(task.shards).tolist()
        stretches = zip(order, itertools.pairwise(ends), strict=True)
        yield from ((shard, first, end) for shard, (first, end) in stretches if first < end)
        return
    begin = 0
    for shard in range(task.shards):
        # The first row at or after the end of the shard, (shard + 1) total / shards.
        distance = (shard + 1) * task.total - position * task.shards
        end = n if shard == task.shards - 1 else max(begin, min(n, -(-distance * n // (size * task.shards))))
        if end > begin:
            yield shard, begin, end
        begin = end


def merged_shards(left: Parts, right: Parts) -> Parts:
    """Merge moments shard by shard."""
    both = dict(left)
    for shard, part in right.items():
        both[shard] = both[shard] + part if shard in both else part
    return both


def moments_of_shards(parts: Parts, shards: int) -> list[Moments]:
    """Return the moments of all shards in order; raise a ValueError if one has no rows."""
    n = sum(part.n for part in parts.values())
    if n < 2:
        categories = {name for part in parts.values() for name in part.coding.categories}
        gaps = [part.missing for part in parts.values() if part.missing is not None]
        if gaps:
            missing = functools.reduce(operator.add, gaps)
            missing.require_rows(n, em=categories.isdisjoint(missing.columns))
        raise too_few_rows(n)
    empty = shards - sum(part.n > 0 for part in parts.values())
    if empty:
        raise ValueError(f"{empty} of {shards} shards have no rows, because there are only {n} rows. Use fewer shards.")
    return [parts[shard] for shard in range(shards)]


def read_here(tasks: list[Task], progress: Counter | None = None, keep: KeptRows | None = None) -> Parts:
    """Run the tasks in threads of this process."""
    if keep is not None:
        keep.begin(tasks)
    d, total, shards = tasks[0].width, tasks[0].total, tasks[0].shards
    what = f"The covariance of {d} columns" + (f", in {shards} shards of the rows," if shards > 1 else "")
    fewer = Text("Use fewer columns (", Set("columns", [...]), " or ", Set("drop", [...]), ").")
    require_memory(what, (shards + _MATRICES) * 8 * d * d, fewer)
    stopped, lock, done = threading.Event(), threading.Lock(), 0

    def advance(size: int) -> None:
        nonlocal done
        if stopped.is_set():
            raise CancelledError
        with lock:
            done += size
            if progress is not None:
                progress(done, total)

    def results(pool: ThreadPoolExecutor) -> Iterator[Parts]:
        running: deque[Future[Parts]] = deque()
        for task in tasks:
            running.append(pool.submit(part_moments, task, advance, len(tasks) < available_cores(), keep))
            if len(running) > threads:  # one more than can run, so that no thread waits for a merge
                yield running.popleft().result()
        while running:
            yield running.popleft().result()

    threads = _threads(tasks)
    # BLAS uses threads only if a single thread reads, as for very wide tables.
    with blas_threads_for(d if threads == 1 else 0), ThreadPoolExecutor(threads) as pool:
        try:
            return tree_sum(results(pool))
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _threads(tasks: list[Task]) -> int:
    """Return the number of threads that cores, tasks and memory (reader, rows and scatters) allow."""
    d = tasks[0].width
    memory = max(task.file.memory(d) for task in tasks) + 8 * d * batch_rows(d) + _MATRICES * 8 * d * d
    return max(1, min(available_cores(), len(tasks), _MOST_THREADS, _MEMORY // memory))


def tree_sum(parts: Iterator[Parts]) -> Parts:
    """Merge neighbours in pairs, level by level, with at most one part per level in memory.

    A pair is merged as soon as both parts are known; the rest is merged from the right at the end. This is the same
    tree as that of merging a list in pairs, where an odd one moves up.
    """
    waiting: list[tuple[int, Parts]] = []
    for part in parts:
        level, whole = 0, part
        while waiting and waiting[-1][0] == level:
            whole, level = merged_shards(waiting.pop()[1], whole), level + 1
        waiting.append((level, whole))
    total: Parts = {}
    while waiting:
        total = merged_shards(waiting.pop()[1], total)
    return total
