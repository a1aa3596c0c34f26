"""Checkpoints: the state of a long solve in a file, so that a later call can continue it.

The file is an npz archive of plain arrays. `about` is a JSON text with a version and what the solve depends on: the
settings and a hash of the data. `sha256` is a hash of all other arrays. Their names begin with the stage that they
belong to, such as "golem-ev". A stage has either the state of the solver or, once it has ended, its solution.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import to_numpy
from golem.runtime.files import replacing
from golem.runtime.messages import shortened
from golem.runtime.types import Array
from golem.score.solution import Solution, solution_arrays, solution_from

Arrays = dict[str, NDArray[Any]]

_VERSION = 2
_ABOUT, _HASH = "about", "sha256"
# The arrays that the state and the solution of a stage must have, and those of a trace, if there is one.
_STATE, _SOLUTION = ("B", "m", "v", "step", "seconds"), ("weights", "status", "iterations", "seconds", "stationarity")
_TRACE = ("trace.iteration", "trace.seconds")
_MATRICES, _NUMBERS = {"weights", "B", "m", "v", "ended_weights"}, {"step", "iterations", "seconds"}
# What NumPy and zipfile raise for files that are damaged, or that they did not write.
_UNREADABLE = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
               ValueError, zipfile.BadZipFile, zlib.error)  # fmt: skip
# Seconds between two files. Writing takes at most one part in `_SHARE` of the time.
_INTERVAL, _SHARE = 20.0, 20
# Seconds between two copies of the state in memory, from which Ctrl-C writes the file.
_COPY_INTERVAL = 1.0


class Checkpoint:
    """A checkpoint file that is read at the start of a solve and replaced while it runs.

    Parameters
    ----------
    path : Path
        The file; it is created if it does not exist.
    identity : mapping of str to str
        What the solve depends on, by name. A file with another identity is refused.
    shape : tuple of int
        The shape of the weights.

    Raises
    ------
    ValueError
        If the file is not a checkpoint, is damaged, or belongs to other data or settings.
    """

    def __init__(self, path: Path, identity: Mapping[str, str], shape: tuple[int, ...]) -> None:
        self._path = path
        self._about = json.dumps({"golem_checkpoint": _VERSION} | dict(identity), sort_keys=True)
        self._arrays: Arrays = {}
        if path.exists():
            self._arrays = _read(path)
            _require_same(path, json.loads(str(self._arrays.pop(_ABOUT))), json.loads(self._about))
            if not all(
                _is_whole(self._of(stage), shape) for stage in {name.partition("/")[0] for name in self._arrays}
            ):
                raise _not_a_checkpoint(path)
        elif not path.parent.is_dir():
            raise ValueError(f"The folder of the checkpoint {str(path)!r} does not exist. Create it first.")

    def solution(self, stage: str) -> Solution | None:
        """Return the solution of a stage that has ended, else None."""
        arrays = self._of(stage)
        try:
            return solution_from(arrays) if "weights" in arrays else None
        except _UNREADABLE:  # a status that does not exist, or no trace
            raise _not_a_checkpoint(self._path) from None

    def state(self, stage: str) -> Arrays:
        """Return the state of a stage that was stopped; empty if it has not begun."""
        return self._of(stage)

    def keep(self, stage: str, arrays: Mapping[str, Array]) -> None:
        """Write the file with a new state or solution of a stage."""
        for name in [name for name in self._arrays if name.startswith(f"{stage}/")]:
            del self._arrays[name]
        self._arrays |= {f"{stage}/{name}": to_numpy(array) for name, array in arrays.items()}
        with replacing(self._path) as temporary, temporary.open("wb") as file:
            arrays = {_ABOUT: np.array(self._about), **self._arrays}
            np.savez(file, allow_pickle=False, **arrays, **{_HASH: np.array(_hash_of_all(arrays))})

    def end(self, stage: str, solution: Solution) -> None:
        """Write the file with the solution of a stage, unless it was cut short."""
        if not solution.status.is_cut_short:
            self.keep(stage, solution_arrays(solution))

    def _of(self, stage: str) -> Arrays:
        start = f"{stage}/"
        return {name.removeprefix(start): array for name, array in self._arrays.items() if name.startswith(start)}


class StageWriter:
    """Writes the state of one stage to its checkpoint, or nowhere, at bounded intervals.

    Ctrl-C can come in the middle of a step, when the state is not consistent. So a consistent one is copied every
    second, and written in the end.
    """

    def __init__(self, checkpoint: Checkpoint | None, stage: str) -> None:
        self._checkpoint, self._stage = checkpoint, stage
        self._state: Mapping[str, Array] | None = None
        self._next_copy, self._next_file = 0.0, time.perf_counter() + _INTERVAL

    @property
    def restored(self) -> Arrays:
        """The state at which an earlier call stopped; empty if there is none."""
        return {} if self._checkpoint is None else self._checkpoint.state(self._stage)

    def offer(self, state: Callable[[], Mapping[str, Array]], *, last: bool = False) -> None:
        """Copy the state if a copy is due, and write it if a file is due; both for the last state."""
        now = time.perf_counter()
        if self._checkpoint is None or not (last or now >= self._next_copy):
            return
        self._state = state()
        self._next_copy = now + _COPY_INTERVAL
        if last or now >= self._next_file:
            self.flush()

    def flush(self) -> None:
        """Write the latest copy of the state, if there is one."""
        if self._checkpoint is None or self._state is None:
            return
        began = time.perf_counter()
        self._checkpoint.keep(self._stage, self._state)
        now = time.perf_counter()
        self._next_file = now + max(_INTERVAL, _SHARE * (now - began))


def hash_of(*arrays: Array | None) -> str:
    """Return a hash of the shapes and bits of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        plain = np.ascontiguousarray(np.zeros(0) if array is None else to_numpy(array))
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.tobytes())
    return f"sha256:{digest.hexdigest()}"


def seconds_in(path: Path) -> float:
    """Return the seconds that earlier calls have spent on the solve in a checkpoint; 0 if there is no file."""
    if not path.exists():
        return 0.0
    return sum(float(array) for name, array in _read(path).items() if name.endswith("/seconds"))


def _read(path: Path) -> Arrays:
    """Read all arrays of a file; raise a ValueError if it is not a checkpoint."""
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays: Arrays = {name: archive[name] for name in archive.files}
            version = int(json.loads(str(arrays[_ABOUT]))["golem_checkpoint"])
        except _UNREADABLE:
            raise _not_a_checkpoint(path) from None
    if version != _VERSION:
        raise ValueError(
            f"The checkpoint {str(path)!r} has format {version}, but this version of golem reads format {_VERSION}. "
            "Delete it to start again."
        )
    if str(arrays.pop(_HASH, "")) != _hash_of_all(arrays):
        raise ValueError(f"The checkpoint {str(path)!r} was changed or is damaged. Delete it to start again.")
    return arrays


def _hash_of_all(arrays: Arrays) -> str:
    """Return a hash of arrays and their names."""
    return hash_of(np.array(sorted(arrays)), *(arrays[name] for name in sorted(arrays)))


def _is_whole(arrays: Arrays, shape: tuple[int, ...]) -> bool:
    """Return whether a stage has all arrays of a state or a solution, with the shapes that the solver needs."""
    points = {name: array for name, array in arrays.items() if name.startswith("trace.")}
    needed = {*(_SOLUTION if "weights" in arrays else _STATE), *(_TRACE if points else ())}
    if not needed <= arrays.keys():
        return False
    matrices = [arrays[name] for name in arrays.keys() & _MATRICES]
    numbers = [arrays[name] for name in arrays.keys() & _NUMBERS]
    return (
        all(array.shape == shape and array.dtype.kind == "f" for array in matrices)
        and all(array.shape == () and array.dtype.kind in "if" and 0 <= array < np.inf for array in numbers)
        and all(array.shape[:1] == points["trace.iteration"].shape for array in points.values())
    )


def _not_a_checkpoint(path: Path) -> ValueError:
    return ValueError(f"{str(path)!r} is not a checkpoint of golem. Delete it or name another file.")


def _require_same(path: Path, found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Raise a ValueError that names what differs."""
    differs = [name for name in sorted({*expected, *found}) if found.get(name) != expected.get(name)]
    if differs:
        raise ValueError(
            f"The checkpoint {str(path)!r} belongs to another run: {shortened(differs)} "
            f"{'differs' if len(differs) == 1 else 'differ'}. Delete it to start again, or name another file."
        )
