"""Methods in a child process (`worker.py`), so that one can be stopped or crash without ending the comparison."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from golem.comparison.other_packages import Estimate
from golem.comparison.registry import Tables
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.files import naming_file, temporary_folder
from golem.runtime.types import Matrix


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended.

    Parameters
    ----------
    status : str
        "done", "time limit", "error" or "crashed".
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
    """A child process that runs methods on one table; use it in a `with` block."""

    def __init__(
        self, rows: Matrix | None, moments: Moments, knowledge: Knowledge, tables: Tables | None = None
    ) -> None:
        self._temporary = contextlib.ExitStack()
        self._folder = self._temporary.enter_context(temporary_folder("golem-compare-"))
        self._process = ChildProcess("golem.comparison.worker", str(self._folder))
        data = (rows, moments, knowledge, tables)
        path = self._folder / "data"
        with naming_file(path), path.open("wb") as file:
            pickle.dump(data, file, pickle.HIGHEST_PROTOCOL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.close()
        self._temporary.close()

    def run(self, name: str, time_limit: float | None, tick: Callable[[float], None] | None = None) -> Outcome:
        """Run a method; call `tick` with the seconds so far, a few times per second.

        A KeyboardInterrupt stops the child process and is raised again.
        """
        try:
            self._process.ask(name, time_limit, tick)
        except TimeLimitError as stop:
            return Outcome("time limit", str(stop))
        except CrashError as crash:
            return Outcome("crashed", str(crash))
        outcome: Outcome = pickle.loads((self._folder / name).read_bytes())
        return outcome
