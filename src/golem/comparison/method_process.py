"""Methods in a child process, so that one can be stopped or crash without ending the comparison."""

from __future__ import annotations

import contextlib
import functools
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.comparison.registry import compile_method, learn_with
from golem.comparison.result import Step
from golem.data.knowledge import Knowledge
from golem.data.table import Table
from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.files import naming_file, temporary_folder
from golem.runtime.problems import message_of

# What methods learn from: the table and the knowledge.
MethodData = tuple[Table, Knowledge]


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended.

    Parameters
    ----------
    status : str
        "done", "time limit", "error", "crashed", "not installed", "interrupted" or "not run".
    message : str
        The error, in a sentence; empty if there was none.
    estimate : Estimate, optional
        The learned graph.
    seconds : float, optional
        Running time, without starting the process and compiling.
    warnings : tuple of str
        Warnings of the method.
    """

    status: str
    message: str = ""
    estimate: Estimate | None = None
    seconds: float | None = None
    warnings: tuple[str, ...] = ()


class MethodProcess:
    """Runs methods on one table, in one child process per thread of the caller; use it in a `with` block.

    Parameters
    ----------
    data : MethodData
        What the methods learn from.
    names : sequence of str
        The methods, to count them.
    time_limit : float, optional
        Maximum seconds per method.
    callback : callable, optional
        Called with a `Step` a few times per second.
    """

    def __init__(
        self,
        data: MethodData,
        names: Sequence[str],
        time_limit: float | None = None,
        callback: Callable[[Step], None] | None = None,
    ) -> None:
        self._data, self._names, self._time_limit, self._callback = data, names, time_limit, callback
        self._children: list[ChildProcess] = []
        self._idle: list[ChildProcess] = []
        self._temporary = contextlib.ExitStack()
        self._path = self._temporary.enter_context(temporary_folder("golem-compare-")) / "data"
        with naming_file(self._path), self._path.open("wb") as file:
            pickle.dump(data, file, pickle.HIGHEST_PROTOCOL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for child in self._children:
            child.close()
        self._temporary.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _MethodProcessElsewhere, (self._data, self._names, self._time_limit)

    def run(self, name: str) -> Outcome:
        """Run a method, if it is installed. A KeyboardInterrupt stops its process and is raised again."""
        if name in OTHER_PACKAGES and not OTHER_PACKAGES[name].is_installed:
            return Outcome("not installed", OTHER_PACKAGES[name].install)
        child = self._idle.pop() if self._idle else self._another_child()
        try:
            return child.ask(name, self._time_limit, self._tick(name))  # type: ignore[no-any-return]
        except TimeLimitError as stop:
            return Outcome("time limit", str(stop))
        except CrashError as crash:
            return Outcome("crashed", str(crash))
        finally:
            self._idle.append(child)

    def _another_child(self) -> ChildProcess:
        child = ChildProcess(f"{__name__}:answer", str(self._path))
        self._children.append(child)
        return child

    def _tick(self, name: str) -> Callable[[float], None] | None:
        callback = self._callback
        if callback is None:
            return None
        number = self._names.index(name)
        return lambda seconds: callback(Step(name, number, len(self._names), seconds))


class _MethodProcessElsewhere(NamedTuple):
    """A `MethodProcess` that joblib sent to another process or machine: a child per method, and no progress."""

    data: MethodData
    names: Sequence[str]
    time_limit: float | None

    def run(self, name: str) -> Outcome:
        """Run a method."""
        with MethodProcess(*self) as process:
            return process.run(name)


def answer(name: str, start_clock: Callable[[], None]) -> Outcome:
    """Run a method, in the child."""
    data = _read_data(sys.argv[1])
    compile_method(name, data[0])
    start_clock()
    return outcome_of(name, data)


@functools.cache
def _read_data(path: str) -> MethodData:
    data: MethodData = pickle.loads(Path(path).read_bytes())
    return data


def outcome_of(name: str, data: MethodData) -> Outcome:
    """Run a method in this process and return how it ended."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            estimate = learn_with(name, *data)
        except ValueError as error:
            outcome = Outcome("error", message_of(error))
        except Exception as error:  # noqa: BLE001  other packages may raise anything; it becomes a row of the table
            outcome = Outcome("error", f"{type(error).__name__}: {error}")
        else:
            outcome = Outcome("done", "", estimate, time.perf_counter() - began)
    # Deprecations inside libraries do not concern the user.
    shown = tuple(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return replace(outcome, warnings=shown)
