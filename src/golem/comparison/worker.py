"""What runs in a child process: names of methods come in, outcomes go back as files (see `method_process.py`)."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from golem.comparison.method_process import Outcome
from golem.comparison.registry import learn, prepare
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.child_process import serve
from golem.runtime.types import Matrix


def main(folder: Path) -> None:
    """Learn from the data of a folder, by one method after the other."""
    with (folder / "data").open("rb") as file:
        rows, moments, knowledge = pickle.load(file)

    def answer(name: str, start_clock: Callable[[], None]) -> None:
        prepare(name)
        start_clock()
        outcome = _outcome(name, rows, moments, knowledge)
        (folder / name).write_bytes(pickle.dumps(outcome))

    serve(answer)


def _outcome(name: str, rows: Matrix | None, moments: Moments, knowledge: Knowledge) -> Outcome:
    """Run a method, and tell how it ended."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            estimate = learn(name, rows, moments, knowledge)
        except ValueError as error:
            outcome = Outcome("error", str(error))
        except Exception as error:  # noqa: BLE001  other people's code may raise anything: it becomes a row of the table
            outcome = Outcome("error", f"{type(error).__name__}: {error}")
        else:
            outcome = Outcome("done", "", estimate, time.perf_counter() - began)
    # Of deprecations and the like inside libraries the user needs to know nothing.
    told = tuple(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return replace(outcome, warnings=told)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
