"""The targets of interventions: which columns each environment changes, given by the user or in a file."""

from __future__ import annotations

import contextlib
import itertools
import json
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.messages import counted, nearest, quoted, shortened, shown, suggestion
from golem.runtime.problems import Parameter, ProblemError, placed
from golem.runtime.types import Indices, Matrix, Vector

_LEAST_ROWS = 3
EXAMPLE = '{"control": [], "knockout": ["A"]}'


class TargetsFile(dict[str, list[str]]):
    """The targets of each environment, and the file that they come from."""

    def __init__(self, targets: Mapping[str, list[str]], source: str) -> None:
        super().__init__(targets)
        self.source = source


def source_of(targets: Mapping[Any, Any] | None) -> str:
    """Return what messages call the targets: the name of their file, or of the parameter."""
    return targets.source if isinstance(targets, TargetsFile) else "targets"


def no_targets(labels: Sequence[str], known: Sequence[str], source: str, place: str = "") -> ValueError:
    """Return the error for environments that have rows, but no targets; `place` is where the first row is."""
    if len(labels) == 1:
        near = nearest(labels[0], known)
        add = "Add it" if near is None else f"Did you mean {quoted([near])}? Otherwise add it"
        return ValueError(
            f"{source} lists no targets for environment {quoted(labels)}{place}. {add}, with [] for observational data."
        )
    return ValueError(
        f"{source} lists no targets for {len(labels)} environments: {quoted(labels)}{place}. Add them, with [] for "
        "observational data."
    )


def no_rows(labels: Sequence[str], rows: str, source: str) -> ValueError:
    """Return the error for environments that have targets, but no rows; `rows` says where their labels would be."""
    them, this = ("labels", "one of these labels") if len(labels) > 1 else ("label", "this label")
    return ValueError(
        f"{source} lists environment {quoted(labels)}, but {rows} has {this}. Correct the {them}, or remove "
        f"{'them' if len(labels) > 1 else 'it'} from {source}."
    )


def resolve_targets(
    targets: Mapping[Any, Any] | None, labels: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the target columns of each environment, in the order of `targets`.

    Raise a ValueError if the labels are not those of the environments, or if a target is not a column.
    """
    if not isinstance(targets, Mapping):
        raise ValueError(
            f"Environments need targets: which columns each one changes, such as {EXAMPLE}; got "
            f"{reprlib.repr(targets)}. Use [] for observational data."
        )
    require_unique(map(str, targets), "targets")
    given = {str(label): value for label, value in targets.items()}
    if any(not label.strip() for label in given):
        raise ValueError(f"{source_of(targets)} has an empty label, which means a missing one. Name the environment.")
    known = set(labels)
    unknown = [label for label in given if label not in known]
    if unnamed := [label for label in labels if label not in given]:
        are = "which is" if len(unknown) == 1 else "which are"
        more = f" {source_of(targets)} lists {quoted(unknown)}, {are} not in the data." if unknown else ""
        raise ValueError(f"{no_targets(unnamed, unknown, source_of(targets))}{more}")
    if unknown:
        hint = suggestion(unknown[0], labels, "environments")
        raise ValueError(f"{no_rows(unknown, 'no row', source_of(targets))} {hint}")
    return {label: _columns(label, value, names) for label, value in given.items()}


def _columns(label: str, targets: Any, names: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of the target columns of one environment."""
    if targets is None:
        raise ValueError(
            f"The targets of environment {shown(label)} are unknown (None). Unknown targets cannot be estimated: "
            "name the columns, or use [] for observational data."
        )
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        targets = [targets]
    found = set()
    for target in targets:
        is_number = isinstance(target, int | np.integer) and not isinstance(target, bool)
        if str(target) in names:
            found.add(list(names).index(str(target)))
        elif is_number and 0 <= target < len(names):
            found.add(int(target))
        else:
            hint = suggestion(str(target), names, "columns")
            raise ValueError(f"The target {shown_target(target)} of environment {shown(label)} is not a column. {hint}")
    return tuple(sorted(found))


def shown_target(target: Any) -> str:
    """Return a target for a message; of a long one, its beginning."""
    return quoted([target]) if isinstance(target, str) else reprlib.repr(target)


@contextlib.contextmanager
def naming_environment(label: str) -> Iterator[None]:
    """Begin error messages with the label of the environment, if it has one."""
    try:
        yield
    except ValueError as error:
        if not label:
            raise
        raise placed(error, f"Environment {shown(label)}") from None


def require_environment_rows(sizes: Mapping[str, int]) -> None:
    """Raise a ValueError for environments with too few rows, given the number of rows by label."""
    if small := [f"{shown(label)} ({counted(n, 'row')})" for label, n in sizes.items() if n < _LEAST_ROWS]:
        raise ValueError(
            f"Environments with fewer than {_LEAST_ROWS} rows: {shortened(small)}. Add rows, or leave them out."
        )


def require_same_columns(names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the columns of the first environment; raise a ValueError if another one has other columns."""
    first = next(iter(names.values()))
    for label, own in names.items():
        if sorted(own) != sorted(first):
            raise ValueError(
                f"Environment {shown(label)} has the columns {quoted(own)}, but the first one has {quoted(first)}. All "
                "environments need the same columns."
            )
    return first


def require_unique(labels: Iterable[str], where: str) -> None:
    """Raise a ValueError if two environments have the same label."""
    if twice := sorted(label for label, count in Counter(labels).items() if count > 1):
        raise ValueError(f"Environment {quoted(twice)} occurs twice in {where}. Give each environment its own label.")


def read_targets(path: str | Path) -> dict[str, list[str]]:
    """Read targets from a JSON file such as `{"control": [], "knockout": ["A"]}`; a single target needs no list.

    Raise a ValueError if it is not an object from labels to lists of column names, or has a label twice.
    """
    file = Path(path)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require_unique((label for label, _ in pairs), "the file")
        return dict(pairs)

    try:
        content: Any = json.loads(file.read_text(encoding="utf-8-sig"), object_pairs_hook=unique)
    except FileNotFoundError:
        raise ValueError(
            f"{file}: There is no such file. It must list the targets of each environment, such as {EXAMPLE}."
        ) from None
    except OSError as error:
        raise ValueError(f"{file}: The file cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: The file is not valid JSON ({str(error)[:100]}). Expected: {EXAMPLE}.") from None
    except ValueError as error:
        raise placed(error, str(file)) from None
    is_table = isinstance(content, dict) and all(
        value is None or isinstance(value, str) or (isinstance(value, list) and all(isinstance(x, str) for x in value))
        for value in content.values()
    )
    if not is_table:
        raise ValueError(f"{file}: The file must list the target columns of each environment, such as {EXAMPLE}.")
    lists = {label: [value] if isinstance(value, str) else value for label, value in content.items()}
    return TargetsFile(lists, str(file))


def coded_labels(labels: Any, rows: int) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the distinct labels of rows as text, and the number of its label for each row.

    Whole numbers that a table stores as floats are written without decimals, as they are in targets.json. Raise a
    ValueError for missing labels, which empty ones are, or another number of them.
    """
    import pyarrow as pa

    values = labels.to_arrow() if hasattr(labels, "to_arrow") else labels  # Polars
    try:
        if not isinstance(values, pa.Array | pa.ChunkedArray):
            values = pa.array(values if hasattr(values, "dtype") else list(values), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise ProblemError(
            Parameter("environments"), f" must be one label per row, all of one type: {str(error)[:100]}."
        ) from None
    if pa.types.is_nested(values.type):
        raise ProblemError(Parameter("environments"), " must be one label per row; a label cannot be a list.")
    if len(values) != rows:
        raise ValueError(f"environments must have one label per row; got {len(values)} labels for {rows} rows.")
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    distinct = coded.dictionary.to_pylist()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    empty = [k for k, value in enumerate(distinct) if value is None or not str(value).strip()]
    if len(absent := np.flatnonzero(np.isin(codes, [-1, *empty]))):
        raise ValueError(
            f"{len(absent)} of {rows} rows have no environment label; the first is row {absent[0] + 1}. Drop these "
            "rows, or label them."
        )
    if all(isinstance(value, float) and value.is_integer() for value in distinct):
        distinct = [int(value) for value in distinct]
    return tuple(str(value) for value in distinct), codes


def mean_shifts(rows: Vector, means: Matrix, targets: Sequence[Sequence[int]], scale: Vector, first: Indices) -> Matrix:
    """Return the shifts of `Table.shifts`, given numbers of rows, means and targets per environment.

    `scale` has the standard deviations of the columns, and `first` the first column of each variable and their number.
    """
    found, everything = np.zeros_like(means), range(len(means))
    for e in everything:
        others = [k for k in everything if k != e and not targets[k]]
        others = others or [k for k in everything if k != e and targets[e]]
        if others:
            away: Vector = means[e] - rows[others] @ means[others] / rows[others].sum()
            found[e] = np.divide(away, scale, out=np.zeros(len(scale)), where=scale > 0)
    return np.column_stack([_largest(found[:, begin:end]) for begin, end in itertools.pairwise(first)])


def _largest(shifts: Matrix) -> Vector:
    """Return the value of the largest size in each row."""
    return np.asarray(np.take_along_axis(shifts, np.abs(shifts).argmax(axis=1)[:, None], axis=1)[:, 0])
